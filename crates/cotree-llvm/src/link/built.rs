//! Fourth stage: each module gets its probes and is compiled, and its call addresses are read back from the object.

use super::job::{LinkJob, OutputKind};
use super::planned::{PlannedProgram, PlannedUnit};
use super::prepared::Prepared;
use crate::branch_weights;
use crate::emit::code_map::{self, Sites};
use crate::emit::stack_maps::Point;
use crate::emit::{self, Target};
use crate::error::Error;
use crate::extract::Extracted;
use crate::lower::{self, Layer};
use crate::module::Module;
use cotree_core::ids::{FunctionId, Site};
use cotree_profile::binary::CodeFunction;
use rayon::prelude::*;

/// A unit whose modules are compiled.
pub(super) struct BuiltUnit<'a> {
    pub(super) job: &'a LinkJob<'a>,
    pub(super) planned: PlannedProgram<'a>,
    pub(super) modules: Vec<BuiltModule>,
}

/// A compiled module.
pub(super) struct BuiltModule {
    pub(super) name: String,
    pub(super) object: Vec<u8>,
    pub(super) code: Vec<CodeFunction>,
    /// Where path registers are.
    pub(super) registers: Vec<Vec<Point>>,
    /// Symbols of machine functions whose call addresses are not known.
    pub(super) unmapped: Vec<String>,
    /// Counters of entries whose increments tell which thread runs.
    pub(super) announcing: Vec<u64>,
    /// Its debug information is there for reports only, which have it in the map.
    pub(super) lines_for_reports_only: bool,
    /// Functions whose calls note nothing, because LLVM crashes over that.
    pub(super) without_notes: Vec<String>,
}

impl<'a> PlannedUnit<'a> {
    /// Compiles all modules, each on a thread of its own.
    pub(super) fn build(self, job: &'a LinkJob<'a>) -> Result<BuiltUnit<'a>, Error> {
        let Self { modules, planned } = self;
        let mut first = 0;
        let numbered = modules.into_iter().enumerate().map(|(number, Prepared { module, extracted })| {
            let own = first;
            first += extracted.facts.functions.len();
            PlannedModule { number, first: own, module, extracted }
        });
        let numbered: Vec<PlannedModule> = numbered.collect();
        let target = Target {
            level: job.options.level,
            cpu: job.options.cpu.clone(),
            position_independent: job.kind != OutputKind::Executable,
            whole_pipeline: job.options.early,
            mapped: job.kind != OutputKind::Relocatable,
            carry_on_stack: job.options.carry_on_stack,
            careful: job.options.careful,
        };
        let build = |module: PlannedModule| module.build(job, &planned, &target);
        let modules = if target.careful {
            // Attempts are made in forked children: nothing else may go on meanwhile.
            numbered.into_iter().map(build).collect::<Result<_, Error>>()?
        } else {
            numbered.into_par_iter().map(build).collect::<Result<_, Error>>()?
        };
        Ok(BuiltUnit { job, planned, modules })
    }
}

/// A module that is about to be compiled.
struct PlannedModule {
    /// Its number in the unit.
    number: usize,
    /// The number of its first function in the unit.
    first: usize,
    module: Module,
    extracted: Extracted,
}

impl PlannedModule {
    fn build(mut self, job: &LinkJob<'_>, planned: &PlannedProgram<'_>, target: &Target) -> Result<BuiltModule, Error> {
        let layers = planned.layers(self.first..self.first + self.extracted.facts.functions.len());
        if job.options.hints_branches() {
            branch_weights::set_for_seldom_counters(&self.module, &self.extracted, &layers);
        }
        let is_profiled = !job.options.method.is_none();
        if let Some(weights) = planned.weights.as_ref().filter(|_| is_profiled) {
            branch_weights::set_from_counts(&self.module, &self.extracted, weights);
        }
        if let (Some(weights), Some(used)) = (&planned.weights, &planned.used) {
            used.apply(&self.module, &self.extracted, weights);
        }
        job.keep(&format!("{}.before.ll", self.number), &self.module)?;
        let unit = planned.to_lower();
        if is_profiled {
            self.lower(&layers, &unit)?;
            job.keep(&format!("{}.after.ll", self.number), &self.module)?;
        }
        let announcing = self.announcing(&layers, &unit);
        let sites = self.numbered_sites();
        let Self { number, first, mut module, extracted } = self;
        let lines_for_reports_only = module.has_lines_for_reports_only();
        let object = emit::compile(&mut module, target, u32::try_from(number).unwrap_or(u32::MAX))?;
        job.keep(&format!("{number}.final.ll"), &module)?;
        let symbol_of = |function: FunctionId| {
            let local = function.index().checked_sub(first)?;
            extracted.facts.functions.get(local).map(|f| f.symbol.as_str())
        };
        let calls = code_map::read(&module.name, &object.bytes, &object.functions, &sites, symbol_of)?;
        let unmapped = calls.unmapped.iter().map(|&n| object.functions[n].clone()).collect();
        let name = module.name.clone();
        if job.modules.len() <= rayon::current_num_threads() {
            // The process ends soon: taking a large module apart piece by piece would cost a tenth of the link.
            std::mem::forget(module);
        }
        let (code, registers, without_notes) = (calls.functions, calls.registers, object.without_notes);
        Ok(BuiltModule {
            name,
            object: object.bytes,
            code,
            registers,
            unmapped,
            announcing,
            lines_for_reports_only,
            without_notes,
        })
    }

    /// Puts the probes in.
    fn lower(&mut self, layers: &[Vec<Layer<'_>>], unit: &lower::Unit<'_>) -> Result<(), Error> {
        lower::lower(&mut self.module, &self.extracted, layers, unit, self.first)?;
        self.module.verify().map_err(|reason| Error::Internal {
            module: self.module.name.clone(),
            reason: format!("the instrumented module is not valid: {reason}"),
        })
    }

    /// See [`BuiltModule::announcing`].
    fn announcing(&self, layers: &[Vec<Layer<'_>>], unit: &lower::Unit<'_>) -> Vec<u64> {
        let functions = (self.first..).zip(&self.extracted.facts.functions).zip(layers);
        functions
            .filter(|((number, facts), _)| unit.announces(*number, facts))
            .filter_map(|(_, layers)| lower::entry_counter(layers))
            .collect()
    }

    /// The call sites that have probe numbers, and instructions that may fault.
    fn numbered_sites(&self) -> Sites {
        let mut sites = Sites::new();
        let mut faults = lower::fault_numbers();
        for (index, function) in self.extracted.facts.functions.iter().enumerate() {
            let id = FunctionId::new(self.first + index);
            for (site, facts) in function.sites().enumerate() {
                let number = if facts.is_fault() { faults.next() } else { Some(u32::from(facts.probe)) };
                if let Some(number) = number.filter(|&number| number != 0) {
                    sites.insert(number, (id, Site::new(site)));
                }
            }
        }
        sites
    }
}
