//! Extracts plain facts from bitcode: functions, blocks, edges, calls and source lines.
//!
//! The facts go into the program map. The handles that tie them to LLVM's objects stay with the module until the
//! plan is applied to the same, unchanged IR.

mod accesses;
pub(crate) mod affine;
pub(crate) mod call_queries;
mod calls;
mod cost_error;
mod costs;
mod edges;
mod extracted;
mod faults;
mod handlers;
mod handles;
mod hints;
mod instructions;
pub(crate) mod lanes;
mod lines;
mod optimised;
mod segment;
mod selection;

pub use affine::find as find_affine;
pub(crate) use calls::{NO_SITE, is_annotation, is_safe_point};
pub use cost_error::CostFileError;
pub use costs::{CostFile, add_costs};
pub use extracted::Extracted;
pub(crate) use faults::faults_at_once;
pub(crate) use handlers::installs_handlers;
pub(crate) use handles::{FunctionIr, Handles};
use instructions::{instruction_counts, is_counted};
pub(crate) use optimised::mark_optimised_before;
pub(crate) use segment::GS;
pub use selection::{Pattern, Selection};

use crate::coverage::{Counters, StoodBefore};
use crate::ir::{self, At, Value};
use crate::module::Module;
use crate::stacks;
use call_queries::CallQueriesOfModule;
use cotree_core::facts::{
    self, Access, Accesses, Anchor, BlockFacts, Call, Callee, CoveredFunction, Doubt, Function, InstructionCounts,
    LeftOut, Linkage, Run, Untouched, linker_name,
};
use cotree_core::ids::{Block, CallId, FunctionId};
use lines::Lines;
use llvm_sys::{LLVMLinkage, LLVMOpcode, LLVMVisibility};
use std::collections::{HashMap, HashSet};
use std::ffi::CStr;

/// The attribute of coroutines that are not split yet.
pub(crate) const COROUTINE: &str = "presplitcoroutine";

/// Which calls are call sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sites {
    /// The calls that may not return.
    Abandoned,
    /// All that have a frame while they are under way: stacks are told while nobody leaves them.
    All,
    /// In functions that are compiled as they are written, all of these, and instructions that may fault; in others,
    /// calls that may not return.
    Faulting {
        /// Nothing is optimised.
        everywhere: bool,
    },
}

/// Reads the facts of every function that the module defines.
#[must_use]
pub fn extract(module: &Module, selection: &Selection) -> Extracted {
    extract_with(module, selection, Sites::Abandoned, None)
}

/// Extracts facts with these call sites, and with the accesses of memory that are asked for.
pub(crate) fn extract_with(
    module: &Module,
    selection: &Selection,
    sites: Sites,
    accesses: Option<Accesses>,
) -> Extracted {
    let mut reader = Reader {
        module,
        selection,
        sites,
        accesses,
        is_sanitized: module
            .functions()
            .any(|function| SANITIZED.iter().any(|name| function.has_attribute(At::Function, name))),
        resolvers: module.ifunc_resolvers().collect(),
        of_loops: module.metadata_kind("llvm.loop"),
        lines: Lines::new(module),
        counters: Counters::of(module),
        covered: Covered::default(),
        probes: calls::ProbeNumbers::default(),
        call_queries: CallQueriesOfModule::default(),
        named: calls::words(&module.assembly()).collect(),
    };
    let mut functions = Vec::new();
    let mut handles = Vec::new();
    let mut hints = Vec::new();
    let mut uses_segment = segment::in_module(module);
    let mut taken_elsewhere = HashSet::new();
    for function in module.functions() {
        if !function.is_declaration() {
            let (facts, ir) = reader.function(FunctionId::new(functions.len()), function);
            hints.push(hints::hints(module, &ir.blocks, &facts.edges));
            functions.push(facts);
            uses_segment |= segment::in_blocks(&ir.blocks);
            handles.push(Handles::keep(module, ir));
        } else if has_use_but_calls(function) {
            taken_elsewhere.insert(linker_name(&function.name()).to_owned());
        }
    }
    let switches_stacks = refers_to(module, &stacks::SWITCHES)
        || stacks::module_assembly_switches(module)
        || functions.iter().any(|f| f.doubts.contains(&Doubt::SwitchesStacks));
    let (files, checksums) = reader.lines.into_files();
    Extracted {
        affine: vec![Vec::new(); functions.len()],
        facts: facts::Module { name: module.name.clone(), functions, covered: reader.covered.functions },
        files,
        checksums,
        handles,
        hints,
        installs_handlers: refers_to(module, &handlers::INSTALLERS),
        call_queries: reader.call_queries,
        queries_events: refers_to(module, &QUERIES)
            || QUERIES.iter().any(|name| reader.named.contains(&*name.to_string_lossy())),
        switches_stacks,
        uses_segment,
        taken_elsewhere,
        named_in_assembly: reader.named,
    }
}

/// The functions by which programs ask for events.
const QUERIES: [&CStr; 5] = [
    c"cotree_event_call_count",
    c"cotree_event_count",
    c"cotree_event_count_total",
    c"cotree_event_limit",
    c"cotree_event_limit_total",
];

/// Is it the name of such a function?
pub(crate) fn queries_events(symbol: &str) -> bool {
    QUERIES.iter().any(|name| name.to_bytes() == symbol.as_bytes())
}

/// The attributes of functions that sanitizers put checks into.
const SANITIZED: [&str; 7] = [
    "sanitize_address",
    "sanitize_hwaddress",
    "sanitize_memory",
    "sanitize_thread",
    "sanitize_type",
    "sanitize_numerical_stability",
    "sanitize_realtime",
];

/// The functions of the source whose coverage counters stand in a module, numbered as they come.
#[derive(Default)]
struct Covered {
    functions: Vec<CoveredFunction>,
    numbers: HashMap<CoveredFunction, u32>,
}

impl Covered {
    fn number(&mut self, function: CoveredFunction) -> u32 {
        *self.numbers.entry(function).or_insert_with_key(|function| {
            self.functions.push(function.clone());
            self.functions.len() as u32 - 1
        })
    }
}

/// Reads functions of one module.
struct Reader<'a, 'm> {
    module: &'m Module,
    selection: &'a Selection,
    sites: Sites,
    accesses: Option<Accesses>,
    /// A sanitizer has put its checks in. Each may end the process, and they come after LLVM has found out which
    /// functions return always.
    is_sanitized: bool,
    resolvers: HashSet<Value<'m>>,
    /// The kind of metadata that loops have.
    of_loops: ir::MetadataKind,
    lines: Lines<'m>,
    counters: Counters,
    covered: Covered,
    probes: calls::ProbeNumbers,
    call_queries: CallQueriesOfModule,
    /// See [`Extracted::named_in_assembly`].
    named: HashSet<String>,
}

impl<'m> Reader<'_, 'm> {
    /// The facts of a definition, and what they are the facts of.
    fn function(&mut self, id: FunctionId, function: ir::Function<'m>) -> (Function, FunctionIr<'m>) {
        let symbol = function.name();
        let blocks = reachable_blocks(function);
        let numbers: HashMap<ir::Block<'m>, Block> =
            blocks.iter().enumerate().map(|(i, &b)| (b, Block::new(i))).collect();
        let position = self.lines.function_position(function);
        let mut facts = Function {
            linkage: linkage_of(function),
            address_taken: address_taken(function),
            position,
            ..Function::default()
        };
        let mut doubts = Vec::new();
        if optimised::optimised_before(function, &blocks, self.of_loops) {
            doubts.push(Doubt::OptimisedBefore);
        }
        let (edges, modelled) = edges::edges(&blocks, &numbers);
        facts.edges = edges.into();
        facts.untouched = self.untouched(function, modelled).or_else(|| {
            let file = position.map(|p| self.lines.file(p.file));
            self.selection.excludes(&symbol, file).then_some(Untouched::Excluded)
        });
        // An activation that ends in a function that the user excluded does not affect the counts of others. Exceptions
        // that reach a landing pad in it do, since nothing there says where they continue. Coroutines are split after
        // this, but for their calls they are like functions with probes.
        let numbered = match facts.untouched {
            None | Some(Untouched::Coroutine) => true,
            Some(Untouched::Excluded) => !facts.edges.iter().any(|edge| edge.kind.exceptional()),
            Some(_) => false,
        };
        let as_written = match self.sites {
            Sites::Faulting { everywhere } => everywhere || function.has_attribute(At::Function, "optnone"),
            Sites::Abandoned | Sites::All => false,
        };
        let all_calls = as_written || self.sites == Sites::All || self.is_sanitized;
        let faults = as_written && facts.untouched.is_none();
        let mut calls = Vec::new();
        let mut accesses = Vec::new();
        let wanted = self.accesses.filter(|_| facts.untouched.is_none());
        self.lines.begin_function();
        for (number, block) in blocks.iter().enumerate() {
            let mut sites = 0;
            let mut counts = InstructionCounts::default();
            let mut spans = Vec::new();
            let mut runs = Vec::new();
            let mut calls_before = 0;
            for instruction in block.instructions() {
                for StoodBefore { function, counter, location } in self.counters.before(self.module, instruction) {
                    let function = self.covered.number(function);
                    let inlined = location.and_then(|location| self.lines.copy_of(location));
                    let block = Block::new(number);
                    facts.anchors.push(Anchor { block, after_sites: sites, function, counter, inlined });
                }
                let mut line = None;
                if is_counted(instruction) {
                    let own = instruction_counts(instruction);
                    counts = counts.plus(own);
                    line = self.lines.add(&mut spans, instruction, sites);
                    add_to_run(&mut runs, line.map(|line| line.span), calls_before, own);
                }
                if let Some(wanted) = wanted {
                    for (kind, length, ir) in accesses::of(self.module, instruction) {
                        let Some(kind) = wanted.of(kind) else { continue };
                        let (block, before) = (Block::new(number), CallId::new(calls.len()));
                        facts.accesses.push(Access { block, before, kind, length, span: line.map(|line| line.span) });
                        accesses.push(ir);
                    }
                    if accesses::is_left_out(self.module, instruction) {
                        let (block, span) = (Block::new(number), line.map(|line| line.span));
                        facts.left_out.push(LeftOut { block, span });
                    }
                }
                calls::note_assembly(&mut self.named, instruction);
                doubts.extend(calls::doubt(instruction));
                let fault = || (faults && faults::may_fault(instruction)).then(|| Call::site(Block(0), Callee::Fault));
                let Some(mut call) = calls::call(instruction).or_else(fault) else { continue };
                call.block = Block::new(number);
                call.is_site |= all_calls && !call.must_tail && call.callee != Callee::Assembly;
                sites += u32::from(call.is_site);
                if call.is_site && !call.is_fault() {
                    call.probe = if numbered { self.probes.next() } else { 0 };
                    if call.probe == 0 && facts.untouched.is_none() {
                        doubts.push(Doubt::UnmappedCallSites);
                    }
                }
                calls_before += 1;
                call.line = line.filter(|_| !call.resume_marker);
                self.call_queries.add(self.module, (id, CallId::new(calls.len())), instruction, line.is_some());
                facts.calls.push(call);
                calls.push(instruction);
            }
            facts.blocks.push(BlockFacts { instructions: counts, lines: spans, runs });
        }
        facts.inlined = self.lines.end_function();
        doubts.sort_unstable();
        doubts.dedup();
        facts.doubts = doubts;
        facts.symbol = symbol;
        (facts, FunctionIr { function, blocks, calls, accesses, affine: Vec::new() })
    }

    /// Why the function gets no probes, if its own nature is the reason.
    fn untouched(&self, function: ir::Function<'m>, modelled: bool) -> Option<Untouched> {
        let has = |name: &str| function.has_attribute(At::Function, name);
        if has("naked") {
            Some(Untouched::Naked)
        } else if self.resolvers.contains(&function.into()) {
            Some(Untouched::IfuncResolver)
        } else if has(COROUTINE) {
            Some(Untouched::Coroutine)
        } else if has("noprofile") || has("skipprofile") {
            Some(Untouched::AuthorForbids)
        } else if !modelled {
            Some(Untouched::UnmodelledControlFlow)
        } else {
            None
        }
    }
}

/// Blocks that can be reached from the entry, in layout order.
fn reachable_blocks(function: ir::Function<'_>) -> Vec<ir::Block<'_>> {
    let mut seen = HashSet::new();
    let mut work: Vec<ir::Block<'_>> = function.entry().into_iter().collect();
    while let Some(block) = work.pop() {
        if seen.insert(block) {
            work.extend(block.terminator().successors());
        }
    }
    function.blocks().filter(|block| seen.contains(block)).collect()
}

/// Adds an instruction to the runs of its block.
fn add_to_run(runs: &mut Vec<Run>, span: Option<u32>, after_calls: u32, instruction: InstructionCounts) {
    match runs.last_mut().filter(|run| run.span == span && run.after_calls == after_calls) {
        Some(run) => run.instructions = run.instructions.plus(instruction),
        None => runs.push(Run { span, after_calls, instructions: instruction, cost: 0 }),
    }
}

fn linkage_of(function: ir::Function<'_>) -> Linkage {
    match function.linkage() {
        LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage => Linkage::Internal,
        LLVMLinkage::LLVMExternalLinkage => Linkage::External,
        _ => Linkage::Copy,
    }
}

/// Is there a use other than calling it, or may code that we do not see call it? How other modules use a hidden
/// function is decided in `callers`.
fn address_taken(function: ir::Function<'_>) -> bool {
    let hidden =
        linkage_of(function) == Linkage::Internal || function.visibility() == LLVMVisibility::LLVMHiddenVisibility;
    !hidden || has_use_but_calls(function)
}

fn has_use_but_calls(function: ir::Function<'_>) -> bool {
    let function = Value::from(function);
    function.users().into_iter().any(|user| {
        let call = user.as_call().filter(|call| call.opcode() != LLVMOpcode::LLVMCallBr);
        let called = call.is_some_and(|call| call.called() == function);
        !called || user.operands().filter(|&operand| operand == function).count() > 1
    })
}

/// Does the module declare or define one of these functions?
fn refers_to(module: &Module, names: &[&CStr]) -> bool {
    names.iter().any(|name| module.function(name).is_some())
}
