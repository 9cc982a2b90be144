//! Fourth stage: each module gets its probes and is compiled, by itself or with others, and call addresses are read
//! back from the object.

use super::built_module::BuiltModule;
use super::instrumented::PlannedModule;
use super::job::LinkJob;
use super::joined;
use super::planned::{PlannedProgram, PlannedUnit};
use super::prepared::Prepared;
use crate::emit::Target;
use crate::error::Error;
use crate::lower;
use crate::lower::First;
use cotree_lto::protocol::OutputKind;
use rayon::prelude::*;
use std::collections::HashMap;

/// A unit whose modules are compiled.
pub(super) struct BuiltUnit<'a> {
    pub(super) job: &'a LinkJob<'a>,
    pub(super) planned: PlannedProgram<'a>,
    pub(super) modules: Vec<BuiltModule>,
}

impl<'a> PlannedUnit<'a> {
    /// Compiles all modules: each on a thread of its own, or those that are compiled as one together.
    pub(super) fn build(self, job: &'a LinkJob<'a>) -> Result<BuiltUnit<'a>, Error> {
        let Self { modules, planned } = self;
        let mut next = First::default();
        let numbered = modules.into_iter().enumerate().map(|(number, Prepared { module, extracted })| {
            let first = next;
            next.function += extracted.facts.functions.len();
            next.call_query += extracted.call_queries.queries.len();
            next.block = next.block.saturating_add(lower::blocks_of(&extracted));
            PlannedModule { number, first, module, extracted, renamed: HashMap::new() }
        });
        let numbered: Vec<PlannedModule> = numbered.collect();
        let target = Target {
            level: job.options.level,
            cpu: job.options.cpu.clone(),
            position_independent: job.request.kind != OutputKind::Executable,
            whole_pipeline: job.options.early(),
            across_modules: job.options.across_modules(),
            mapped: job.request.kind != OutputKind::Relocatable,
            carry_on_stack: job.options.carry_on_stack(),
            careful: job.options.careful,
        };
        let alone = |module: PlannedModule| module.instrument(job, &planned, &target)?.compile(job, &target);
        let modules = if target.across_modules {
            let build = |group: joined::Group| group.build(job, &planned, &target);
            let groups = joined::groups(numbered, !job.options.method.is_none());
            in_parallel_unless(target.careful, groups, build)?.into_iter().flatten().collect()
        } else {
            in_parallel_unless(target.careful, numbered, alone)?
        };
        Ok(BuiltUnit { job, planned, modules })
    }
}

/// Where `careful`, attempts are made in forked children: nothing else may go on meanwhile.
fn in_parallel_unless<T: Send, R: Send>(
    careful: bool,
    items: Vec<T>,
    work: impl Fn(T) -> Result<R, Error> + Send + Sync,
) -> Result<Vec<R>, Error> {
    if careful { items.into_iter().map(work).collect() } else { items.into_par_iter().map(work).collect() }
}
