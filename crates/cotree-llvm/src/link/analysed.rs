//! Second stage: analyses of the unit as a whole. They say who may call each function, which functions signal handlers
//! may run, and how the counters are reached.

use super::access::access;
use super::callers;
use super::job::{LinkJob, Setting};
use super::known_callers::{known_callers, reached_by_name};
use super::native;
use super::pointers;
use super::prepared::{Prepared, PreparedUnit};
use super::program::{build, program_map};
use super::safe_points;
use super::signals::Handlers;
use crate::lower::Access;
use crate::stacks;
use cotree_core::facts::{Doubt, ProgramMap};
use cotree_core::method::Method;
use cotree_core::unit::PointerKinds;
use rayon::prelude::*;

/// A unit with the results of these analyses. Lists are indexed by the functions' numbers in the unit.
pub(super) struct AnalysedUnit<'a> {
    pub(super) setting: Setting<'a>,
    pub(super) modules: Vec<Prepared>,
    pub(super) program: ProgramMap,
    /// Functions that only calls by name in these modules can call.
    pub(super) callers_known: Vec<bool>,
    /// Functions that a call by name reaches for certain.
    pub(super) reached_by_name: Vec<bool>,
    /// Where calls through pointers may lead, if paths are to follow them.
    pub(super) pointers: PointerKinds,
    /// Functions that code outside of the unit's profiled functions may call.
    pub(super) foreign: Vec<bool>,
    /// Functions that may run before thread-local variables have values.
    pub(super) resolving: Vec<bool>,
    pub(super) handlers: Handlers,
    /// How the counters are reached if there are not too many.
    pub(super) access: Access,
}

impl<'a> PreparedUnit<'a> {
    /// Analyses the modules' facts together.
    pub(super) fn analyse(self) -> AnalysedUnit<'a> {
        let Self { setting, modules } = self;
        let mut modules = safe_points::add(&setting, modules);
        let (options, link) = (setting.options, setting.link);
        if let Some(job) = link {
            callers::complete(&mut modules, &job.request.modules);
        }
        let switching = !options.method.is_none() && link.is_some_and(natives_switch_stacks);
        let mut program = program_map(setting.name.clone(), options.method, &mut modules, switching);
        program.build = build(options, &modules);
        if link.is_none() {
            doubt_call_sites(&mut program);
        }
        let inputs = link.map(|job| &*job.request.modules);
        let reached_by_name = reached_by_name(&modules, inputs, &options.foreign, setting.shared);
        let follows = options.method == Method::Ipath;
        let pointers = if follows { pointers::kinds(&modules, &reached_by_name) } else { PointerKinds::default() };
        AnalysedUnit {
            callers_known: known_callers(&modules, inputs, &options.foreign),
            reached_by_name,
            pointers,
            foreign: callers::foreign(&modules),
            resolving: callers::resolving(&modules),
            handlers: Handlers::new(&modules, setting.native_references(), setting.shared),
            access: access(&setting, &modules),
            setting,
            modules,
            program,
        }
    }
}

/// Does some native code of the link change stacks by itself?
fn natives_switch_stacks(job: &LinkJob<'_>) -> bool {
    job.request.native_references.iter().any(|name| stacks::switches(name))
        || job.request.natives.par_iter().any(native::switches_stacks)
}

/// Outside of a link, return addresses are not read back from the objects, so early exits can't be attributed to call
/// sites.
fn doubt_call_sites(program: &mut ProgramMap) {
    for function in program.modules.iter_mut().flat_map(|m| &mut m.functions) {
        if function.sites().len() > 0 {
            function.doubts.push(Doubt::UnmappedCallSites);
        }
    }
}
