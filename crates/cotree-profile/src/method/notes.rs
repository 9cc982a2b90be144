//! What can be said of a profile only because of its method.

use super::path::{self, PathNote};
use super::trace::TraceNote;
use cotree_core::method::MethodPlan;
use cotree_rt::layout::Flags;
use std::fmt;

/// A note of one family of methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodNote {
    /// On paths.
    Paths(PathNote),
    /// On traces.
    Trace(TraceNote),
    /// Events of signal handlers may count for calls that they interrupted.
    HandlersMixed,
    /// Paths of signal handlers may go on with paths that they interrupted.
    PathsMixed,
}

impl MethodNote {
    /// Does it put counts in doubt?
    pub(crate) fn doubtful(self) -> bool {
        match self {
            Self::Paths(note) => note.doubtful(),
            Self::Trace(note) => note.doubtful(),
            Self::HandlersMixed | Self::PathsMixed => true,
        }
    }
}

impl fmt::Display for MethodNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Paths(note) => note.fmt(f),
            Self::Trace(note) => note.fmt(f),
            Self::HandlersMixed => {
                f.write_str("events of a signal handler may count for the calls that it interrupted")
            }
            Self::PathsMixed => f.write_str("paths of a signal handler may go on with those that it interrupted"),
        }
    }
}

/// The notes on a unit with this plan, by the flags of its runs.
pub(crate) fn notes(plan: &MethodPlan, flags: Flags) -> impl Iterator<Item = MethodNote> {
    let note = |flag, note| flags.has(flag).then_some(MethodNote::Trace(note));
    let traces = [
        note(Flags::TRACE_CUT, TraceNote::Cut),
        note(Flags::TRACE_LOST, TraceNote::Lost),
        note(Flags::TRACE_PAUSED, TraceNote::Paused),
    ];
    path::notes(plan.paths(), flags.has(Flags::PATHS_MISSING))
        .map(MethodNote::Paths)
        .chain(traces.into_iter().flatten())
        .chain(flags.has(Flags::HANDLERS_MIXED).then_some(match plan {
            MethodPlan::Ipath(_) => MethodNote::PathsMixed,
            _ => MethodNote::HandlersMixed,
        }))
}

/// Do the flags of the runs say that counts of this plan are missing?
pub(crate) fn counts_missing(plan: &MethodPlan, flags: Flags) -> bool {
    match plan {
        MethodPlan::None
        | MethodPlan::Counters(_)
        | MethodPlan::Calls(_)
        | MethodPlan::Traces(_)
        | MethodPlan::Events(_) => false,
        // Registers of abandoned activations use the same tables as paths.
        MethodPlan::Paths(_) => flags.has(Flags::PATHS_MISSING),
        MethodPlan::Ipath(_) => flags.has(Flags::PATHS_MISSING) || flags.has(Flags::HANDLERS_MIXED),
    }
}
