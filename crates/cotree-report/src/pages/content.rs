//! What pages are made of.

use crate::costs::Costs;
use crate::names::Names;
use crate::source::Sources;
use crate::unit::Unit;
use cotree_core::facts::events::EventKind;

/// What pages are made of.
pub struct Pages<'p> {
    /// What the link units have cost.
    pub costs: &'p Costs<'p>,
    /// How names of functions are shown.
    pub names: Names,
    /// The sources.
    pub sources: &'p dyn Sources,
    /// Where the profile is from: names and values for the overview.
    pub facts: Vec<(String, String)>,
}

impl<'p> Pages<'p> {
    /// The link units.
    pub(super) fn units(&self) -> &'p [Unit<'p>] {
        self.costs.units
    }

    /// The kind of events by which functions and lines are compared: instructions, where these are known.
    pub(super) fn kind(&self) -> EventKind {
        let usual = EventKind::Instructions;
        let known = &self.costs.kinds;
        if known.contains(&usual) { usual } else { known.first().copied().unwrap_or(usual) }
    }
}
