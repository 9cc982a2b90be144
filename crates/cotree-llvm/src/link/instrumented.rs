//! Fourth stage, first half: each module gets its probes, or is told the counts that it is compiled by.

use super::job::LinkJob;
use super::planned::PlannedProgram;
use crate::branch_weights;
use crate::emit::code_map::Sites;
use crate::emit::{self, Level, Target};
use crate::error::Error;
use crate::extract::Extracted;
use crate::lower::{self, First, Layer};
use crate::module::Module;
use cotree_core::ids::{FunctionId, Site};
use llvm_sys::LLVMLinkage;
use std::collections::HashMap;
use std::ffi::CString;

/// A module that is about to get its probes.
pub(super) struct PlannedModule {
    /// The number of the module in the unit.
    pub(super) number: usize,
    /// The number of its first function in the unit, and the numbers of call sites that modules have to which it is
    /// joined.
    pub(super) first: First,
    pub(super) module: Module,
    pub(super) extracted: Extracted,
    /// New names of functions that only this module sees, where others have a function of that name.
    pub(super) renamed: HashMap<String, String>,
}

/// A module with its probes, not yet optimised.
pub(super) struct InstrumentedModule {
    pub(super) module: Module,
    pub(super) contents: Contents,
}

/// What is known of the code in a module, or in several that are compiled as one.
pub(super) struct Contents {
    /// The numbers of the modules in the unit.
    pub(super) members: Vec<usize>,
    /// The call sites that have probe numbers.
    pub(super) sites: Sites,
    /// The functions that it has to define, with their symbols.
    pub(super) symbols: Vec<(FunctionId, String)>,
    /// Counters of entries whose increments tell which thread runs.
    pub(super) thread_word_counters: Vec<u64>,
    /// The module's debug information is there for reports only, which have it in the map.
    pub(super) lines_for_reports_only: bool,
}

impl Contents {
    /// The contents of both. Their call sites have different numbers.
    pub(super) fn and(mut self, other: Self) -> Self {
        self.members.extend(other.members);
        self.sites.extend(other.sites);
        self.symbols.extend(other.symbols);
        self.thread_word_counters.extend(other.thread_word_counters);
        self.lines_for_reports_only &= other.lines_for_reports_only;
        self
    }
}

impl PlannedModule {
    /// Puts the probes in, and tells LLVM what is known of counts.
    pub(super) fn instrument(
        mut self,
        job: &LinkJob<'_>,
        planned: &PlannedProgram<'_>,
        target: &Target,
    ) -> Result<InstrumentedModule, Error> {
        let layers = planned.layers(self.first.function..self.first.function + self.extracted.facts.functions.len());
        if job.options.hints_branches() {
            branch_weights::set_for_seldom_counters(&self.module, &self.extracted, &layers);
        }
        let is_profiled = !job.options.method.is_none();
        if let Some(weights) = planned.weights.as_ref().filter(|_| is_profiled) {
            branch_weights::set_from_counts(&self.module, &self.extracted, weights);
        }
        if let (Some(weights), Some(used)) = (&planned.weights, &planned.used) {
            used.apply((self.number, &self.module), target.across_modules, &self.extracted, weights);
        }
        job.keep(&format!("{}.before.ll", self.number), &self.module)?;
        let unit = planned.to_lower();
        if is_profiled {
            self.lower(&layers, &unit)?;
            // Notes of paths load registers. What the optimiser makes of the code must not depend on these loads.
            if unit.fault_paths
                && target.level != Level::O0
                && layers.iter().flatten().any(|layer| layer.method.notes_paths())
            {
                emit::promote_variables(&mut self.module, target)?;
            }
            job.keep(&format!("{}.after.ll", self.number), &self.module)?;
        }
        let symbols = self.symbols();
        self.rename();
        if target.across_modules && target.whole_pipeline {
            emit::simplify(&mut self.module, target)?;
        }
        let contents = Contents {
            members: vec![self.number],
            sites: self.numbered_sites(),
            symbols,
            thread_word_counters: self.thread_word_counters(&layers, &unit),
            lines_for_reports_only: self.module.has_lines_for_reports_only(),
        };
        Ok(InstrumentedModule { module: self.module, contents })
    }

    /// Puts the probes in.
    fn lower(&mut self, layers: &[Vec<Layer<'_>>], unit: &lower::Unit<'_>) -> Result<(), Error> {
        lower::lower(&mut self.module, &self.extracted, layers, unit, self.first)?;
        self.module.verify().map_err(|reason| Error::Internal {
            module: self.module.name.clone(),
            reason: format!("the instrumented module is not valid: {reason}"),
        })
    }

    /// Gives local functions their new names.
    fn rename(&self) {
        if self.renamed.is_empty() {
            return;
        }
        for function in self.module.functions().filter(|function| function.is_local()) {
            if let Some(name) = self.renamed.get(&function.name()) {
                function.set_name(name);
            }
        }
    }

    /// See [`Contents::symbols`]: new names where functions get such.
    fn symbols(&self) -> Vec<(FunctionId, String)> {
        let is_defined = |name: &str| {
            let function = CString::new(name).ok().and_then(|name| self.module.function(&name));
            function.is_some_and(|f| f.linkage() != LLVMLinkage::LLVMAvailableExternallyLinkage)
        };
        let functions = (self.first.function..).map(FunctionId::new).zip(&self.extracted.facts.functions);
        functions
            .map(|(id, function)| (id, &function.symbol))
            .filter(|(_, symbol)| is_defined(symbol))
            .map(|(id, symbol)| (id, self.renamed.get(symbol).unwrap_or(symbol).clone()))
            .collect()
    }

    /// See [`Contents::thread_word_counters`].
    fn thread_word_counters(&self, layers: &[Vec<Layer<'_>>], unit: &lower::Unit<'_>) -> Vec<u64> {
        let functions = (self.first.function..).zip(&self.extracted.facts.functions).zip(layers);
        functions
            .filter(|((number, facts), _)| unit.checks_thread(*number, facts))
            .filter_map(|(_, layers)| lower::entry_counter(layers))
            .collect()
    }

    /// The call sites that have probe numbers, and instructions that may fault.
    fn numbered_sites(&self) -> Sites {
        let mut sites = Sites::new();
        let mut faults = lower::fault_numbers(self.first.fault);
        for (index, function) in self.extracted.facts.functions.iter().enumerate() {
            let id = FunctionId::new(self.first.function + index);
            for (site, facts) in function.sites().enumerate() {
                let number = match facts.probe {
                    _ if facts.is_fault() => faults.next(),
                    0 => None,
                    number => Some(u32::from(self.first.probe + number)),
                };
                if let Some(number) = number {
                    sites.insert(number, (id, Site::new(site)));
                }
            }
        }
        sites
    }
}
