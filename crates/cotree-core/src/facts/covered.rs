//! Counters that the compiler's own coverage instrumentation asks for, and where they stand.
//!
//! clang and rustc write a map of the source's regions beside their counters. A build with `--coverage` keeps the map
//! and puts no counter of theirs in: each is the count of the blocks that it stood in.

use crate::ids::Block;
use serde::{Deserialize, Serialize};

/// A function of the source for which the compiler's coverage map has counters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CoveredFunction {
    /// The name in the coverage map: the linker symbol, after the source file and a colon or semicolon if it is local.
    pub name: String,
    /// The compiler's hash of the function's structure.
    pub hash: u64,
    /// How many counters it has.
    pub counters: u32,
    /// How many test vectors its decisions have. Each has a counter, too, behind the others.
    pub vectors: u32,
}

/// A place where one of the compiler's counters stood. The counter's value is the sum of the counts of all its places:
/// inlining copies it into other functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anchor {
    /// The block.
    pub block: Block,
    /// How many call sites of the block come before it.
    pub after_sites: u32,
    /// The function of the source: an index into [`super::Module::covered`] of the module.
    pub function: u32,
    /// Which of that function's counters it is.
    pub counter: u32,
    /// The inlined copy of that function that it belongs to: an index into [`super::Function::inlined`].
    pub inlined: Option<u32>,
}
