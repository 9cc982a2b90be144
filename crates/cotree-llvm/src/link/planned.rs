//! Third stage: plans the unit and assigns its counters.

use super::analysed::AnalysedUnit;
use super::call_queries;
use super::job::Setting;
use super::prepared::{Prepared, affine_variables, hints};
use super::signals::Handlers;
use crate::error::Error;
use crate::extract;
use crate::lower::{self, Access, Layer, MethodPart, Recording};
use crate::profile_use::UsedProfile;
use cotree_core::facts::ProgramMap;
use cotree_core::ids::{FunctionId, Word};
use cotree_core::method::MethodPlan;
use cotree_core::method::events::call_queries::CallQueries;
use cotree_core::unit::{Layout, UnitFacts, UnitPlan};
use cotree_profile::weights::Weights;
use std::ops::Range;

/// The most words of counters with which code and data of the program are still within two gigabytes.
const MOST_COUNTERS: u64 = 3 << 26;

/// The counters that displacements of 32 bits reach through the segment register, from wherever the code is.
const MOST_IN_SEGMENT: u64 = 1 << 26;

/// A unit with its plan.
pub(super) struct PlannedUnit<'a> {
    pub(super) modules: Vec<Prepared>,
    /// The data that all modules share; each of these has a thread of its own from here on.
    pub(super) planned: PlannedProgram<'a>,
}

/// The plan of a unit and what goes with it. Lists are indexed by the functions' numbers in the unit.
pub(super) struct PlannedProgram<'a> {
    pub(super) setting: Setting<'a>,
    pub(super) program: ProgramMap,
    foreign: Vec<bool>,
    resolving: Vec<bool>,
    pub(super) handlers: Handlers,
    /// How the counters are reached.
    pub(super) access: Access,
    /// The counts of an earlier run.
    pub(super) weights: Option<Weights>,
    /// What the program is compiled by, if nothing is counted.
    pub(super) used: Option<UsedProfile>,
    pub(super) plan: UnitPlan,
    pub(super) layout: Layout,
    /// The calls that the program asks about.
    pub(super) call_queries: CallQueries,
    /// For each line that it asks about, the words that say which activations of its calls are the outermost ones.
    pub(super) asked_lines: Vec<Vec<Word>>,
}

impl<'a> AnalysedUnit<'a> {
    /// Plans all functions.
    pub(super) fn plan(self) -> Result<PlannedUnit<'a>, Error> {
        let Self { setting, modules, program, callers_known, reached_by_name, pointers, .. } = self;
        let Self { foreign, resolving, handlers, access, .. } = self;
        let options = setting.options;
        let weights = options.weights().map(Weights::open).transpose()?;
        let sources = || modules.iter().map(|prepared| prepared.module.source_file()).collect();
        let used = match (options.weights(), &weights) {
            (Some(path), Some(weights)) if options.uses_profile() => {
                Some(UsedProfile::new(&program, sources(), path, weights))
            }
            _ => None,
        };
        let previous = weights.iter().flat_map(|w| program.functions().map(|(module, f)| w.of(&module.name, f)));
        let call_queries = call_queries::find(&setting, &modules, &program)?;
        let facts = UnitFacts {
            hints: hints(&modules),
            variables: affine_variables(&modules),
            callers_known,
            reached_by_name,
            pointers,
            check_thread: if access == Access::Segment { foreign.clone() } else { Vec::new() },
            previous: previous.collect(),
            preemptible: setting.shared || setting.link.is_none(),
            queried: queries_events(&setting, &modules),
            queried_calls: call_queries.by_function(program.functions().count()),
            program: &program,
        };
        let plan = UnitPlan::of(&facts, options.method, options.choices(setting.shared), options.verify())?;
        let asked_lines = match &plan.method {
            MethodPlan::Events(unit) => call_queries.words(unit),
            _ => None,
        };
        let unmeasured =
            || Error::Internal { module: program.name.clone(), reason: "a call is asked for, and not measured".into() };
        let asked_lines = match (asked_lines, call_queries.calls.is_empty()) {
            (Some(lines), _) => lines,
            (None, true) => Vec::new(),
            (None, false) => return Err(unmeasured()),
        };
        let layout = plan.layout();
        let words = layout.counter_count + layout.cache_count;
        if words > MOST_COUNTERS {
            let [bytes, most] = [words, MOST_COUNTERS].map(|words| words.saturating_mul(8));
            return Err(Error::TooManyCounters { unit: program.name, bytes, most });
        }
        let far = access == Access::Segment && words >= MOST_IN_SEGMENT;
        let access = if far { Access::ThreadInExecutable } else { access };
        let planned = PlannedProgram {
            setting,
            program,
            foreign,
            resolving,
            handlers,
            access,
            weights,
            used,
            plan,
            layout,
            call_queries,
            asked_lines,
        };
        Ok(PlannedUnit { modules, planned })
    }
}

impl PlannedProgram<'_> {
    /// The facts about the unit that lowering needs.
    pub(super) fn to_lower(&self) -> lower::Unit<'_> {
        lower::Unit {
            access: self.access,
            spare: self.layout.counter_count + self.layout.cache_count,
            interruptible: &self.handlers.may_run,
            foreign: &self.foreign,
            resolving: &self.resolving,
            // They are read back from the objects, which only a link has.
            registers_at_calls: self.setting.link.is_some() && lower::registers_at_calls(&self.plan.method),
            // What it says is read back from the executable.
            fault_paths: self.setting.link.is_some() && self.setting.options.asked.fault_paths == Some(true),
            limits: self.limits(),
            targets: self.targets(),
            asked_lines: &self.call_queries.line_of,
        }
    }

    fn targets(&self) -> Option<lower::Targets<'_>> {
        Some(lower::Targets { plan: self.plan.targets.as_ref()?, first: self.layout.targets? })
    }

    fn limits(&self) -> Option<lower::Limits> {
        let MethodPlan::Events(plan) = &self.plan.method else { return None };
        let first = |words: u64| lower::Limits {
            counters: self.layout.main.first().copied().unwrap_or(0),
            words,
            kinds: plan.kinds.len() as u64,
        };
        self.layout.tables.queries().filter(|_| self.setting.options.events().limits).map(first)
    }

    /// The plans of a range of functions, with the places of their counters.
    pub(super) fn layers(&self, functions: Range<usize>) -> Vec<Vec<Layer<'_>>> {
        let (plan, layout) = (&self.plan, &self.layout);
        let options = &self.setting.options;
        let recording = Recording { in_ring: options.asked.trace_ring.is_some(), timed: options.traces().timed };
        functions
            .map(|f| {
                let function = FunctionId::new(f);
                let own = plan.method.function(function).map(|own| Layer {
                    plan: own,
                    base: layout.main[f],
                    method: MethodPart::of(&plan.method, layout, function, recording),
                });
                let mut layers: Vec<Layer<'_>> = own.into_iter().collect();
                if let Some(plans) = &plan.check {
                    layers.push(Layer {
                        plan: (&plans[f]).into(),
                        base: layout.check[f],
                        method: MethodPart::Counters,
                    });
                }
                layers
            })
            .collect()
    }
}

/// Does anything in the link ask for events while the program runs?
fn queries_events(setting: &Setting<'_>, modules: &[Prepared]) -> bool {
    modules.iter().any(|prepared| prepared.extracted.queries_events)
        || setting.native_references().iter().any(|name| extract::queries_events(name))
}
