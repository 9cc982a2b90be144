//! What follows from the map of a binary alone: the chords at which an event counter adds nothing, and the numbering of
//! paths across functions without cuts.

use anyhow::Result;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// An event counter of one program (Ball 1994, §3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Events {
    /// Chords of the spanning trees.
    pub chords: u64,
    /// Chords whose increment is zero.
    pub zero: u64,
    /// Points at which a query needs an increment: the ends of blocks.
    pub queries: u64,
    /// Points whose query increment is zero.
    pub zero_queries: u64,
}

/// Paths across functions, without any cut for the sake of numbers (Melski & Reps 1998, §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Across {
    /// Bits of the number of all observable paths.
    pub bits: f64,
    /// Additions to path numbers that edges need, one by one.
    pub on_edges: u64,
    /// Additions that chords need once they are factored out.
    pub on_chords: u64,
}

/// Asks the map of a binary.
pub fn of(_binary: &Path) -> Result<(Option<Events>, Option<Across>)> {
    Ok((None, None))
}
