//! How each family of methods lowers the probes that only it has.
//!
//! Probes that count mean the same in every method, and [`super`] lowers them. What remains are registers, tables and
//! traces: they belong to the method that keeps them. A new family is
//! a file or a folder here, and an arm in [`MethodPart::of`] and [`begin`].

mod counters;
pub(super) mod events;
pub(super) mod ipath;
pub(super) mod path;
mod registers;
pub(super) mod trace;

use super::Layer;
use super::code::Code;
use super::edges::LandingPad;
use crate::ir::Instruction;
use cotree_core::ids::FunctionId;
use cotree_core::method::events::EventPlan;
use cotree_core::method::{MethodPlan, MethodTables};
use cotree_core::probe::{PlacedProbe, Probe};
use cotree_core::unit::Layout;

/// What a method has for one function beside the probes.
#[derive(Clone, Copy)]
pub enum MethodPart<'a> {
    /// Counters: nothing.
    Counters,
    /// Counters of events, and what they lack during calls.
    Events(&'a EventPlan),
    /// Paths and where they are counted.
    Path(path::Paths<'a>),
    /// Paths across functions, and where they are counted.
    Ipath(ipath::CallPaths<'a>),
    /// Where tokens go.
    Trace(trace::Traces),
}

impl<'a> MethodPart<'a> {
    /// The part of one function of the unit. `recording`: how a trace is recorded.
    pub(crate) fn of(
        plan: &'a MethodPlan,
        layout: &'a Layout,
        function: FunctionId,
        recording: trace::Recording,
    ) -> Self {
        match plan {
            MethodPlan::None | MethodPlan::Counters(_) | MethodPlan::Calls(_) => Self::Counters,
            MethodPlan::Events(unit) => Self::Events(&unit.functions[function.index()]),
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
/// Paths across functions end before calls that may not come back: their numbers are of interest only to those who want
/// to tell the stack of a crash (`pending`).
pub(crate) fn registers_at_calls(plan: &MethodPlan, pending: bool) -> bool {
    match plan {
        MethodPlan::None | MethodPlan::Counters(_) | MethodPlan::Calls(_) => false,
        MethodPlan::Traces(_) | MethodPlan::Events(_) => false,
        MethodPlan::Ipath(_) => pending,
        MethodPlan::Paths(_) => true,
    }
}

/// One function's lowering by one method. It begins with [`begin`]; what is here is called in this order.
pub(super) trait MethodLowering<'m> {
    /// Emits a probe where the function's builder stands; false if the method has no code for it.
    fn probe(&self, code: &Code<'_, 'm>, base: u64, placed: PlacedProbe) -> bool;

    /// Emits what the unwind edges into one landing pad ask for, behind the pad: which of them was taken is known by
    /// phis only. `None` stands for an edge without probes of the method; `Err` names a probe that can't be on such an
    /// edge.
    ///
    /// # Errors
    /// The method has no code for the probe there.
    fn on_unwind_edges(
        &self,
        code: &Code<'_, 'm>,
        base: u64,
        pad: &LandingPad<'m>,
        probes: &[Option<Vec<Probe>>],
    ) -> Result<(), Probe>;

    /// Has the function's calls note what the runtime must know if they don't come back. All other code is there by
    /// then.
    fn at_calls(&self, _code: &Code<'_, 'm>) {}
}

/// Prepares a function for the layer's probes: makes registers, and sets them where its code begins. `first` is the
/// entry block's first instruction, `entry` where its code begins.
pub(super) fn begin<'a, 'm: 'a>(
    code: &Code<'_, 'm>,
    layer: &Layer<'a>,
    [first, entry]: [Instruction<'m>; 2],
) -> Box<dyn MethodLowering<'m> + 'a> {
    match layer.method {
        MethodPart::Counters | MethodPart::Events(_) => {
            let probes = layer.plan.probes.iter().map(|placed| placed.probe);
            Box::new(counters::PromotedCounters::new(code, probes, [first, entry]))
        }
        MethodPart::Trace(traces) => {
            let probes = layer.plan.probes.iter().map(|placed| placed.probe);
            Box::new(trace::Tokens::new(code, traces, probes, [first, entry]))
        }
        MethodPart::Path(paths) => Box::new(path::PathRegisters::new(code, paths, [first, entry])),
        MethodPart::Ipath(paths) => Box::new(ipath::CallPathRegisters::new(code, paths, layer.plan, [first, entry])),
    }
}
