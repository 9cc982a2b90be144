//! The single-function case: a plan's probes over walks of its graph.

use super::process::Process;
use super::state::Registers;
use super::walk::{FUNCTION, GraphWalk, GraphWalkError, THREAD};
use crate::facts::Function;
use crate::graph::cfg::Cfg;
use crate::ids::Table;
use crate::place::affine::AffineVariable;
use crate::plan::FunctionPlan;
use std::collections::BTreeMap;

/// Everything that probes write to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// The counters of the plan.
    pub counters: Vec<u64>,
    /// The path tables: how often each path number was counted.
    pub paths: BTreeMap<(Table, i64), u64>,
    /// The path tables: the events between beginning and end of each path.
    pub sums: BTreeMap<(Table, i64), i64>,
    /// The bytes of the trace.
    pub trace: Vec<u8>,
    /// The thread's event counter.
    pub events: i64,
}

/// Runs the probes of one plan in one thread.
pub struct Machine<'a> {
    process: Process<'a>,
}

impl<'a> Machine<'a> {
    /// A machine with all counters at 0.
    ///
    /// # Panics
    /// If the plan is not for this graph.
    #[must_use]
    pub fn new<'p>(function: &'a Function, cfg: &'a Cfg, plan: impl Into<FunctionPlan<'p>>) -> Self {
        let mut process = Process::new([(function, cfg)]).with_plans([plan]).without_log();
        process.open(THREAD);
        Self { process }
    }

    /// A machine whose program has affine variables. They enter their loops with all kinds of values.
    #[must_use]
    pub fn with_variables(mut self, variables: &'a [AffineVariable]) -> Self {
        self.process = self.process.with_variables(FUNCTION, variables);
        self
    }

    /// A machine whose program reports events: see [`Process::with_events`].
    #[must_use]
    pub fn with_events(mut self, events: &'a mut dyn FnMut() -> i64) -> Self {
        self.process = self.process.with_events(events);
        self
    }

    /// Runs a walk with fresh registers; gives the registers at its end.
    ///
    /// # Errors
    /// Where it is no walk of the function.
    pub fn run(&mut self, walk: &GraphWalk) -> Result<Registers, GraphWalkError> {
        self.run_with(walk, Registers::default())
    }

    /// Runs a walk of an activation that has run before.
    ///
    /// # Errors
    /// Where it is no walk of the function.
    ///
    /// # Panics
    /// If the plan uses counters that it does not have.
    pub fn run_with(&mut self, walk: &GraphWalk, registers: Registers) -> Result<Registers, GraphWalkError> {
        self.process.drawn = walk.edges.len() as u64;
        self.process.walk(walk, registers)
    }

    /// What the probes have written so far.
    #[must_use]
    pub fn effects(&self) -> Effects {
        let Some(state) = self.process.state(THREAD) else { return Effects::default() };
        let counts = state.functions[FUNCTION.index()].clone();
        Effects {
            counters: counts.counters,
            paths: counts.paths,
            sums: counts.sums,
            trace: state.trace.clone(),
            events: state.events,
        }
    }

    /// What the probes have written.
    #[must_use]
    pub fn into_effects(self) -> Effects {
        self.effects()
    }
}

/// The counters after all walks, each an activation of its own.
///
/// # Errors
/// Where one of them is no walk of the function.
pub fn run<'p>(
    function: &Function,
    cfg: &Cfg,
    plan: impl Into<FunctionPlan<'p>>,
    walks: &[GraphWalk],
) -> Result<Vec<u64>, GraphWalkError> {
    let mut machine = Machine::new(function, cfg, plan);
    for walk in walks {
        machine.run(walk)?;
    }
    Ok(machine.into_effects().counters)
}
