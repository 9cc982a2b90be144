//! What pages are made of.

use crate::costs::Costs;
use crate::names::Names;
use crate::source::Sources;
use crate::unit::Unit;

/// What pages are made of.
pub struct Pages<'p> {
    /// The link units, all with counts of blocks.
    pub units: &'p [Unit<'p>],
    /// What they have cost.
    pub costs: &'p Costs<'p>,
    /// How names of functions are shown.
    pub names: Names,
    /// The sources.
    pub sources: &'p dyn Sources,
    /// Where the profile is from: names and values for the overview.
    pub facts: Vec<(String, String)>,
}
