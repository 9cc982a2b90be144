//! Compiles a program by the counts of an earlier run (`--use`), as clang's `-fprofile-use` does.
//!
//! LLVM gets what its own instrumentation profiles give it (`PGOInstrumentation.cpp`): how often each function was
//! entered, the counts of all branches, the summary that says which counts are hot and which are cold, and attributes
//! on functions that are either. The inliner, the optimisers of loops, the code generator and the layout of blocks read
//! these.
//!
//! Whom indirect calls led to is told likewise, where that was counted ([`targets`]).
//!
//! A function gets its counts if all that is known of it is as it was when it was counted. Of others, the counts of
//! blocks that can be found again are a guess ([`cotree_core::weight::stale`]), and LLVM works out the rest.

mod targets;

use crate::branch_weights;
use crate::extract::Extracted;
use crate::ir::{At, Function, Metadata, Node};
use crate::module::Module;
use cotree_core::facts::{self, ProgramMap, Untouched};
use cotree_core::graph::cfg::Cfg;
use cotree_core::profile::FunctionProfile;
use cotree_core::weight::summary::{Cutoff, ProfileSummary};
use cotree_core::weight::weighting::Weighting;
use cotree_profile::source_names::demangle;
use cotree_profile::used::{self, How, Used, UsedFunction};
use cotree_profile::weights::targets::{BlockTargets, matched};
use cotree_profile::weights::{Entry, Guess, Weights, module_name};
use std::mem;
use std::path::Path;
use targets::{Caller, Definitions};

/// LLVM takes the greatest number of 64 bits for "unknown".
const MOST_ENTRIES: u64 = u64::MAX >> 1;

/// A program with fewer functions is not judged by how many of them the profile has, if it has any.
const FEW: usize = 8;

/// A program is another one if the profile has fewer than one in this many of its functions.
const NAMESAKES: usize = 20;

/// A profile that a program is compiled by.
pub(crate) struct UsedProfile {
    summary: ProfileSummary,
    /// What it says of each function that could have counts.
    used: Used,
    /// Whom calls may lead to; `None` if the profile says nothing of that.
    definitions: Option<Definitions>,
    /// How many namesakes its functions have in the profile, if these are so few that the profile is of other programs.
    strangers: Option<usize>,
}

/// The counts of a function.
enum Counts<'a> {
    /// The counts of the very function.
    Counted(&'a Entry),
    /// What those of another version of it tell.
    Guessed(Guess<'a>),
    /// There is another version of it, of which nothing is known but its counts.
    Changed,
    /// The function is not in the profile.
    Unknown,
}

impl<'a> Counts<'a> {
    fn of(weights: &'a Weights, module: &str, function: &facts::Function) -> Self {
        if !weights.knows(&function.symbol) {
            return Self::Unknown;
        }
        match weights.same(module, function) {
            Some(entry) => Self::Counted(entry),
            None => weights.guess(module, function).map_or(Self::Changed, Self::Guessed),
        }
    }

    fn profile(&self) -> Option<&FunctionProfile> {
        match self {
            Self::Counted(entry) => Some(&entry.profile),
            Self::Guessed(guess) => Some(&guess.profile),
            Self::Changed | Self::Unknown => None,
        }
    }

    /// Whom indirect calls led to.
    fn targets(&self) -> &[BlockTargets] {
        match self {
            Self::Counted(entry) => &entry.targets,
            Self::Guessed(guess) => &guess.targets,
            Self::Changed | Self::Unknown => &[],
        }
    }

    fn builds(&self) -> Vec<usize> {
        match self {
            Self::Counted(entry) => entry.builds.clone(),
            Self::Guessed(guess) => guess.entry.builds.clone(),
            Self::Changed | Self::Unknown => Vec::new(),
        }
    }
}

impl UsedProfile {
    /// Compares a program with the profile in a file. Per module of the program, `sources` has the name of its source
    /// file.
    pub(crate) fn new(program: &ProgramMap, sources: Vec<String>, path: &Path, weights: &Weights) -> Self {
        let functions =
            program.functions().filter(|(_, function)| may_have_counts(function)).map(|(module, function)| {
                let counts = Counts::of(weights, &module.name, function);
                let blocks = function.blocks.len() as u64;
                let (how, known) = match &counts {
                    Counts::Counted(_) => (How::Counted, blocks),
                    Counts::Guessed(guess) => (How::Guessed, guess.pairs as u64),
                    Counts::Changed => (How::Changed, 0),
                    Counts::Unknown => (How::Unknown, 0),
                };
                let (symbol, module) = (function.symbol.clone(), module_name(&module.name).to_owned());
                let calls = matched(function, counts.targets()).count() as u64;
                UsedFunction { symbol, module, how, blocks, known, builds: counts.builds(), calls }
            });
        let functions: Vec<UsedFunction> = functions.collect();
        let has_targets = functions.iter().any(|function| function.calls > 0);
        let definitions = has_targets.then(|| Definitions::of(program, sources));
        let of_file = || path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let profile = if weights.profile.is_empty() { of_file() } else { weights.profile.clone() };
        let used = Used { schema: used::SCHEMA.into(), profile, builds: weights.builds.clone(), functions };
        let summary = ProfileSummary::of(weights.functions());
        Self { summary, used, definitions, strangers: None }.unless_of_others()
    }

    /// Drops the counts if the profile is one of other programs: the few namesakes that it has are other functions.
    ///
    /// A build system names one profile for all that it links, a program and its libraries and helpers. So that is no
    /// mistake yet, and no error, but it is said.
    fn unless_of_others(mut self) -> Self {
        let functions = self.used.functions.len();
        let known = functions - self.used.of(How::Unknown).count();
        let few = if functions >= FEW { functions.div_ceil(NAMESAKES) } else { 1 };
        if functions > 0 && known < few {
            self.strangers = Some(known);
            self.definitions = None;
            for function in &mut self.used.functions {
                let (symbol, module) = (mem::take(&mut function.symbol), mem::take(&mut function.module));
                let blocks = function.blocks;
                *function =
                    UsedFunction { symbol, module, how: How::Unknown, blocks, known: 0, builds: Vec::new(), calls: 0 };
            }
        }
        self
    }

    /// What it says of each function, for whoever asks later.
    pub(crate) fn used(&self) -> &Used {
        &self.used
    }

    /// A sentence about functions that are compiled by a guess or without counts, if there are such.
    pub(crate) fn warning(&self, unit: &str) -> Option<String> {
        let Some(known) = self.strangers else {
            return self.used.sentence(demangle).map(|sentence| format!("{unit}: {sentence}"));
        };
        let (profile, functions) = (&self.used.profile, self.used.functions.len());
        let has = match (known, functions) {
            (0, 1) => "does not have its only function".to_owned(),
            (0, _) => format!("has none of its {functions} functions"),
            _ => format!("has only {known} of its {functions} functions"),
        };
        Some(format!(
            "{unit} is compiled without counts: {profile} is a profile of other programs and {has}; if {unit} should have counts, name \
             a profile that has runs of it, too, or a folder of such profiles"
        ))
    }

    /// Tells LLVM the counts of the functions of a module, which has this number in the unit, and is perhaps compiled
    /// as one with others.
    pub(crate) fn apply(
        &self,
        (number, module): (usize, &Module),
        across_modules: bool,
        extracted: &Extracted,
        weights: &Weights,
    ) {
        if self.summary.total == 0 || self.strangers.is_some() {
            return;
        }
        self.add_summary(module);
        let caller =
            self.definitions.as_ref().map(|definitions| Caller { module, number, definitions, across_modules });
        if let Some(caller) = &caller {
            caller.name_locals(extracted);
        }
        for (function, handles) in extracted.facts.functions.iter().zip(&extracted.handles) {
            if !may_have_counts(function) {
                continue;
            }
            let counts = Counts::of(weights, &module.name, function);
            let Some(profile) = counts.profile() else { continue };
            let Ok(cfg) = function.cfg() else { continue };
            if !fits(&cfg, profile) {
                continue;
            }
            let ir = handles.open(module);
            self.classify(module, ir.function, profile);
            if let Some(weighting) = Weighting::from_profile(&cfg, profile) {
                branch_weights::set_in_function(module, function, ir, &weighting, branch_weights::exactly);
            }
            if let Some(caller) = &caller {
                for (call, targets) in matched(function, counts.targets()) {
                    // What becomes a call when coroutines are split has no pointer yet.
                    if let Some(call) = ir.calls[call.index()].as_call().filter(|call| call.intrinsic().is_none()) {
                        caller.tell(call, targets);
                    }
                }
            }
        }
    }

    /// Says how often a function was entered, and whether that makes it hot or cold. What its author says of that
    /// stays.
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
    let edges = profile.edges.as_ref().map(|edges| edges.len());
    edges.is_some_and(|edges| edges + 1 == cfg.edge_count()) && profile.blocks.len() + 1 == cfg.block_count()
}
