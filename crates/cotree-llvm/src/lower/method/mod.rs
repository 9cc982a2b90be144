//! How each family of methods lowers the probes that only it has.
//!
//! Probes that count mean the same in every method, and [`super`] lowers them. What remains are registers, tables and
//! traces: they belong to the method that keeps them. A new family is
//! a file or a folder here, and an arm in [`MethodPart::of`] and [`begin`].

mod counters;
pub(super) mod events;
pub(super) mod ipath;
pub(super) mod lowering;
pub(super) mod path;
mod registers;
pub(super) mod trace;

use super::code::Code;
use crate::extract::FunctionIr;
use crate::ir::Instruction;
use crate::module::Module;
use cotree_core::ids::FunctionId;
use cotree_core::method::events::EventPlan;
use cotree_core::method::{MethodPlan, MethodTables};
use cotree_core::plan::FunctionPlan;
use cotree_core::unit::Layout;
use lowering::MethodLowering;

/// What a method has for one function beside the probes.
#[derive(Clone, Copy)]
pub enum MethodPart<'a> {
    /// Counters: nothing.
    Counters,
    /// Counters of events, and what they lack during calls; the first of the words that say which activations are the
    /// outermost ones.
    Events(&'a EventPlan, Option<u64>),
    /// Paths and where they are counted.
    Path(path::Paths<'a>),
    /// Paths across functions, and where they are counted.
    Ipath(ipath::CallPaths<'a>),
    /// Where tokens go.
    Trace(trace::Traces),
}

impl<'a> MethodPart<'a> {
    /// Sees to it that activations have frames of their own where the method tells them apart by these. Instructions
    /// are as they were extracted.
    pub(in crate::lower) fn keep_frames(self, module: &Module, ir: &FunctionIr<'_>) {
        if let Self::Events(plan, _) = self {
            events::keep_frames(module, ir, plan);
        }
    }

    /// Whether debug information is to say on which path the program was after a fault.
    pub(crate) fn notes_paths(&self) -> bool {
        matches!(self, Self::Path(_) | Self::Ipath(_))
    }

    /// The part of one function of the unit. `recording`: how a trace is recorded.
    pub(crate) fn of(
        plan: &'a MethodPlan,
        layout: &'a Layout,
        function: FunctionId,
        recording: trace::Recording,
    ) -> Self {
        match plan {
            MethodPlan::None | MethodPlan::Counters(_) | MethodPlan::Calls(_) => Self::Counters,
            MethodPlan::Events(unit) => {
                Self::Events(&unit.functions[function.index()], layout.tables.outermost().map(|(first, _)| first))
            }
            MethodPlan::Paths(unit) => Self::Path(path::Paths {
                plan: &unit.functions[function.index()],
                table: layout.tables.paths()[function.index()],
                function,
                metric: unit.metric,
            }),
            MethodPlan::Ipath(unit) => match &layout.tables {
                MethodTables::Ipath(tables) => Self::Ipath(ipath::CallPaths::new(unit, tables, function)),
                _ => Self::Counters,
            },
            MethodPlan::Traces(_) => {
                let words = layout.tables.trace().expect("a trace has its words");
                Self::Trace(trace::Traces { words, function, recording })
            }
        }
    }
}

/// Does the method ask calls to note where its registers are, so that the runtime finds them if a call doesn't come
/// back?
///
/// Paths run on past calls that may not come back: what they have executed is lost without their numbers.
pub(crate) const fn registers_at_calls(plan: &MethodPlan) -> bool {
    match plan {
        MethodPlan::None | MethodPlan::Counters(_) | MethodPlan::Calls(_) => false,
        MethodPlan::Traces(_) | MethodPlan::Events(_) => false,
        MethodPlan::Ipath(_) | MethodPlan::Paths(_) => true,
    }
}

/// Prepares a function for the probes of a plan and its method's part: makes registers, and sets them where its code
/// begins. `first` is the entry block's first instruction, `entry` where its code begins.
pub(super) fn begin<'a, 'm: 'a>(
    code: &Code<'_, 'm>,
    part: MethodPart<'a>,
    plan: &FunctionPlan<'a>,
    [first, entry]: [Instruction<'m>; 2],
) -> Box<dyn MethodLowering<'m> + 'a> {
    match part {
        MethodPart::Events(_, words) => Box::new(events::EventCounters::new(code, words, plan, [first, entry])),
        MethodPart::Counters => {
            let probes = plan.probes.iter().map(|placed| placed.probe);
            Box::new(counters::PromotedCounters::new(code, probes, [first, entry]))
        }
        MethodPart::Trace(traces) => {
            let probes = plan.probes.iter().map(|placed| placed.probe);
            Box::new(trace::Tokens::new(code, traces, probes, [first, entry]))
        }
        MethodPart::Path(paths) => Box::new(path::PathRegisters::new(code, paths, [first, entry])),
        MethodPart::Ipath(paths) => Box::new(ipath::CallPathRegisters::new(code, paths, *plan, [first, entry])),
    }
}
