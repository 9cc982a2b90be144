//! Compiles a program by the counts of an earlier run (`--use`), as clang's `-fprofile-use` does.
//!
//! LLVM gets what its own instrumentation profiles give it (`PGOInstrumentation.cpp`): how often each function was entered, the counts of
//! all branches, the summary that says which counts are hot and which are cold, and attributes on functions that are either. The
//! inliner, the optimisers of loops, the code generator and the layout of blocks read these.
//!
//! A function gets its counts if its graph is the one that was counted. Others are compiled as without a profile.

use crate::branch_weights;
use crate::error::Error;
use crate::extract::Extracted;
use crate::ir::{At, Function, Metadata, Node};
use crate::module::Module;
use cotree_core::facts::{self, ProgramMap, Untouched};
use cotree_core::graph::cfg::Cfg;
use cotree_core::profile::FunctionProfile;
use cotree_core::weight::summary::{Cutoff, ProfileSummary};
use cotree_core::weight::weighting::Weighting;
use cotree_profile::weights::Weights;
use std::path::Path;

/// LLVM takes the greatest number of 64 bits for "unknown".
const MOST_ENTRIES: u64 = u64::MAX >> 1;

/// A program with fewer functions is not judged by their names: it may be a build system's test.
const FEW: usize = 8;

/// A program is another one if the profile has fewer than one in so many of its functions.
const NAMESAKES: usize = 20;

/// So many functions that have changed are named.
const NAMED: usize = 3;

/// A profile that a program is compiled by.
pub(crate) struct UsedProfile {
    summary: ProfileSummary,
    /// How many functions there are that could have counts.
    functions: usize,
    /// How many of them the profile has, of the same graph or another.
    known: usize,
    /// Symbols of those of another graph.
    changed: Vec<String>,
}

impl UsedProfile {
    /// Compares a program with a profile.
    pub(crate) fn new(program: &ProgramMap, weights: &Weights) -> Self {
        let mut used =
            Self { summary: ProfileSummary::of(weights.functions()), functions: 0, known: 0, changed: Vec::new() };
        for (module, function) in program.functions().filter(|(_, function)| may_have_counts(function)) {
            used.functions += 1;
            if weights.knows(&function.symbol) {
                used.known += 1;
                if weights.of(&module.name, function).is_none() {
                    used.changed.push(function.symbol.clone());
                }
            }
        }
        used
    }

    /// The same, unless it is the profile of another program.
    pub(crate) fn checked(self, path: &Path, unit: &str) -> Result<Self, Error> {
        if self.functions >= FEW && self.known < self.functions.div_ceil(NAMESAKES) {
            let (functions, known) = (self.functions, self.known);
            return Err(Error::OtherProgram { path: path.into(), unit: unit.into(), functions, known });
        }
        Ok(self)
    }

    /// A sentence about functions that are compiled without counts, if there are such.
    pub(crate) fn warning(&self, unit: &str) -> Option<String> {
        let (changed, unknown) = (self.changed.len(), self.functions - self.known);
        if changed + unknown == 0 {
            return None;
        }
        let mut names = self.changed.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        if changed > NAMED {
            names.push_str(", …");
        }
        let names = if names.is_empty() { names } else { format!(" ({names})") };
        Some(format!(
            "{unit}: of {} functions {changed} have changed since the profile{names} and {unknown} are not in it: these are compiled without \
             counts",
            self.functions
        ))
    }

    /// Tells LLVM the counts of a module's functions.
    pub(crate) fn apply(&self, module: &Module, extracted: &Extracted, weights: &Weights) {
        if self.summary.total == 0 {
            return;
        }
        self.add_summary(module);
        for (function, handles) in extracted.facts.functions.iter().zip(&extracted.handles) {
            let known = weights.of(&module.name, function).filter(|_| may_have_counts(function));
            let Some(profile) = known else { continue };
            let Ok(cfg) = function.cfg() else { continue };
            if !fits(&cfg, profile) {
                continue;
            }
            let ir = handles.open(module);
            self.classify(module, ir.function, profile);
            if let Some(weighting) = Weighting::from_profile(&cfg, profile) {
                branch_weights::set_in_function(module, function, ir, &weighting, branch_weights::exactly);
            }
        }
    }

    /// Says how often a function was entered, and whether that makes it hot or cold. What its author says of that stays.
    fn classify<'m>(&self, module: &'m Module, function: Function<'m>, profile: &FunctionProfile) {
        let entries = profile.blocks.first().copied().unwrap_or(0).min(MOST_ENTRIES);
        let most = profile.blocks.iter().copied().max().unwrap_or(0);
        let count = module.int64().constant(entries).as_metadata();
        let node = module.node(&[module.metadata_string("function_entry_count"), count]);
        function.set_metadata(module.metadata_kind("prof"), node);
        let has = |name| function.has_attribute(At::Function, name);
        if has("hot") || has("cold") {
            return;
        }
        let add = |name| function.add_attribute(At::Function, module.attribute(name));
        let is_hot = |count| self.summary.hot().is_some_and(|hot| count >= hot);
        if is_hot(entries) && !has("noinline") && !has("optnone") {
            add("inlinehint");
        }
        if is_hot(most) {
            add("hot");
        } else if self.summary.cold().is_some_and(|cold| most <= cold) {
            add("cold");
            if most == 0 && !has("optnone") && !has("minsize") {
                add("optsize");
            }
        }
    }

    /// Adds the profile's summary, in the form that LLVM's `ProfileSummary::getFromMD` reads.
    fn add_summary(&self, module: &Module) {
        const FLAG: &str = "ProfileSummary";
        if module.has_flag(FLAG) {
            return;
        }
        let summary = &self.summary;
        let number = |count: u64| module.int64().constant(count).as_metadata();
        let pair = |key: &str, value| -> Metadata<'_> { *module.node(&[module.metadata_string(key), value]) };
        let cutoff = |cutoff: &Cutoff| -> Metadata<'_> {
            *module.node(&[number(cutoff.share.into()), number(cutoff.count), number(cutoff.blocks.into())])
        };
        let cutoffs: Vec<Metadata<'_>> = summary.cutoffs.iter().map(cutoff).collect();
        let node: Node<'_> = module.node(&[
            pair("ProfileFormat", module.metadata_string("InstrProf")),
            pair("TotalCount", number(summary.total)),
            pair("MaxCount", number(summary.most)),
            pair("MaxInternalCount", number(summary.most_inside)),
            pair("MaxFunctionCount", number(summary.most_entries)),
            pair("NumCounts", number(summary.blocks)),
            pair("NumFunctions", number(summary.functions)),
            pair("DetailedSummary", *module.node(&cutoffs)),
        ]);
        module.add_flag(FLAG, node);
    }
}

/// Could the function have been counted, if this build counted anything?
fn may_have_counts(function: &facts::Function) -> bool {
    matches!(function.untouched, None | Some(Untouched::NotAsked))
}

/// Are there as many counts as the graph has blocks and edges?
fn fits(cfg: &Cfg, profile: &FunctionProfile) -> bool {
    let edges = profile.edges.as_ref().map(Vec::len);
    edges.is_some_and(|edges| edges + 1 == cfg.edge_count()) && profile.blocks.len() + 1 == cfg.block_count()
}
