//! What pages are made of.

use crate::costs::Costs;
use crate::method::trace::Traced;
use crate::method::trace::rows::Rows;
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
    /// What is wrong with a source file as it is now, if it is not what was built.
    pub fault: &'p dyn Fn(&str) -> Option<&'static str>,
    /// Where the profile is from: names and values for the overview.
    pub facts: Vec<(String, String)>,
    /// The profile of another run that this one is compared with, if it is.
    pub before: Option<Before<'p>>,
    /// The trace of the only link unit, where there is one.
    pub trace: Option<TraceContent<'p>>,
}

/// The profile of another run.
pub struct Before<'p> {
    /// The link units of that profile.
    pub units: &'p [Unit<'p>],
    /// What the profile is called.
    pub name: String,
}

/// The trace that pages show.
pub struct TraceContent<'p> {
    /// The threads.
    pub traced: &'p Traced<'p>,
    /// How functions and ends are called.
    pub rows: &'p Rows<'p>,
    /// How many blocks, the last ones of each part of a thread, are shown with all steps.
    pub steps: u64,
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
