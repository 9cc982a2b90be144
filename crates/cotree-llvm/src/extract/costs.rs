//! Costs of instructions by a file of the user's (`--event-costs`): deterministic fuel.
//!
//! ```text
//! # what                   cost
//! default                  1
//! opcode   load,store      3
//! call     *alloc          50
//! function parse_*         2
//! line     vm.c:120-140    0
//! ```
//!
//! An instruction costs what the last line says that matches it. `#` begins a comment. Patterns are shell globs:
//! `opcode` is LLVM's name of the instruction; `call` is a call of such a function, or intrinsic, by name; `function`
//! is what stands in such a function, of what was inlined the function of the source; names may be mangled or not.
//! `line` is a file, with as much of its path as is needed, and a line or several. The grammar is documented in
//! `docs/events.md`.

use super::cost_error::CostFileError;
use super::extracted::Extracted;
use super::instructions::is_counted;
use crate::error::Error;
use crate::ir::Instruction;
use crate::module::Module;
use cotree_core::facts::{Function, Position, Run};
use cotree_core::ids::Block;
use cotree_profile::regular;
use cotree_profile::source_names::demangle;
use globset::{Glob, GlobMatcher};
use llvm_sys::LLVMOpcode;
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::path::Path;

/// The costs that a file gives to instructions.
#[derive(Clone, Debug, Default)]
pub struct CostFile {
    /// In the order of the file.
    rules: Vec<Rule>,
}

/// A line of the file.
#[derive(Clone, Debug)]
struct Rule {
    what: What,
    cost: u32,
}

#[derive(Clone, Debug)]
enum What {
    Everything,
    Opcodes(Vec<&'static str>),
    Call(GlobMatcher),
    Function(GlobMatcher),
    Lines(GlobMatcher, RangeInclusive<u32>),
}

/// LLVM's names of instructions, as its assembly has them.
const OPCODES: [(LLVMOpcode, &str); 62] = {
    use LLVMOpcode::*;
    [
        (LLVMRet, "ret"),
        (LLVMBr, "br"),
        (LLVMSwitch, "switch"),
        (LLVMIndirectBr, "indirectbr"),
        (LLVMInvoke, "invoke"),
        (LLVMUnreachable, "unreachable"),
        (LLVMCallBr, "callbr"),
        (LLVMFNeg, "fneg"),
        (LLVMAdd, "add"),
        (LLVMFAdd, "fadd"),
        (LLVMSub, "sub"),
        (LLVMFSub, "fsub"),
        (LLVMMul, "mul"),
        (LLVMFMul, "fmul"),
        (LLVMUDiv, "udiv"),
        (LLVMSDiv, "sdiv"),
        (LLVMFDiv, "fdiv"),
        (LLVMURem, "urem"),
        (LLVMSRem, "srem"),
        (LLVMFRem, "frem"),
        (LLVMShl, "shl"),
        (LLVMLShr, "lshr"),
        (LLVMAShr, "ashr"),
        (LLVMAnd, "and"),
        (LLVMOr, "or"),
        (LLVMXor, "xor"),
        (LLVMAlloca, "alloca"),
        (LLVMLoad, "load"),
        (LLVMStore, "store"),
        (LLVMGetElementPtr, "getelementptr"),
        (LLVMTrunc, "trunc"),
        (LLVMZExt, "zext"),
        (LLVMSExt, "sext"),
        (LLVMFPToUI, "fptoui"),
        (LLVMFPToSI, "fptosi"),
        (LLVMUIToFP, "uitofp"),
        (LLVMSIToFP, "sitofp"),
        (LLVMFPTrunc, "fptrunc"),
        (LLVMFPExt, "fpext"),
        (LLVMPtrToInt, "ptrtoint"),
        (LLVMPtrToAddr, "ptrtoaddr"),
        (LLVMIntToPtr, "inttoptr"),
        (LLVMBitCast, "bitcast"),
        (LLVMAddrSpaceCast, "addrspacecast"),
        (LLVMICmp, "icmp"),
        (LLVMFCmp, "fcmp"),
        (LLVMCall, "call"),
        (LLVMSelect, "select"),
        (LLVMVAArg, "va_arg"),
        (LLVMExtractElement, "extractelement"),
        (LLVMInsertElement, "insertelement"),
        (LLVMShuffleVector, "shufflevector"),
        (LLVMExtractValue, "extractvalue"),
        (LLVMInsertValue, "insertvalue"),
        (LLVMFreeze, "freeze"),
        (LLVMFence, "fence"),
        (LLVMAtomicCmpXchg, "cmpxchg"),
        (LLVMAtomicRMW, "atomicrmw"),
        (LLVMResume, "resume"),
        (LLVMLandingPad, "landingpad"),
        (LLVMCleanupRet, "cleanupret"),
        (LLVMCatchRet, "catchret"),
    ]
};

/// Larger files are none of costs, in bytes.
const LARGEST: u64 = 1 << 24;

/// What instructions cost of which no line says anything.
const DEFAULT: u32 = 1;

impl CostFile {
    /// Reads a file.
    ///
    /// # Errors
    /// If the file can't be read, or some line is wrong.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = regular::read_text(path, LARGEST).map_err(|source| Error::Read { path: path.to_owned(), source })?;
        Self::parse(&text).map_err(|source| Error::Costs { path: path.to_owned(), source })
    }

    /// Reads the content of a file.
    ///
    /// # Errors
    /// The first line that is wrong.
    pub fn parse(text: &str) -> Result<Self, CostFileError> {
        let mut rules = Vec::new();
        for (line, text) in (1..).zip(text.lines()) {
            let text = text.split('#').next().unwrap_or_default();
            let words: Vec<&str> = text.split_whitespace().collect();
            if !words.is_empty() {
                rules.push(rule(&words).map_err(|what| CostFileError { line, what })?);
            }
        }
        Ok(Self { rules })
    }
}

fn rule(words: &[&str]) -> Result<Rule, String> {
    let cost_of = |text: &str| {
        let cost = text.parse::<u32>();
        cost.map_err(|_| format!("{text} is no cost: that is a whole number from 0 to {}", u32::MAX))
    };
    let (what, cost) = match *words {
        ["default", cost] => (What::Everything, cost),
        ["opcode", patterns, cost] => (What::Opcodes(opcodes(patterns)?), cost),
        ["call", pattern, cost] => (What::Call(glob(pattern)?), cost),
        ["function", pattern, cost] => (What::Function(glob(pattern)?), cost),
        ["line", place, cost] => {
            let (file, lines) = lines(place)?;
            // A name matches whole components at the end of a path.
            let anywhere = if file.starts_with('/') { file.to_owned() } else { format!("{{**/,}}{file}") };
            (What::Lines(glob(&anywhere)?, lines), cost)
        }
        [first, ..] if ["default", "opcode", "call", "function", "line"].contains(&first) => {
            return Err(format!("it must be `{first} {}COST`", if first == "default" { "" } else { "PATTERN " }));
        }
        [first, ..] => return Err(format!("{first} is none of default, opcode, call, function and line")),
        [] => return Err("there is nothing".into()),
    };
    Ok(Rule { what, cost: cost_of(cost)? })
}

fn glob(pattern: &str) -> Result<GlobMatcher, String> {
    Glob::new(pattern).map(|glob| glob.compile_matcher()).map_err(|error| error.to_string())
}

/// The instructions that a list of patterns means. One that means none is a mistake.
fn opcodes(patterns: &str) -> Result<Vec<&'static str>, String> {
    let mut found = Vec::new();
    for pattern in patterns.split(',') {
        let glob = glob(pattern)?;
        let before = found.len();
        found.extend(OPCODES.iter().map(|&(_, name)| name).filter(|name| glob.is_match(name)));
        if found.len() == before {
            return Err(format!("LLVM has no instruction {pattern}, or none that counts"));
        }
    }
    Ok(found)
}

/// `FILE:LINE` or `FILE:FIRST-LAST`.
fn lines(place: &str) -> Result<(&str, RangeInclusive<u32>), String> {
    let wrong = || format!("{place} is no place: that is FILE:LINE or FILE:FIRST-LAST");
    let (file, lines) = place.rsplit_once(':').filter(|(file, _)| !file.is_empty()).ok_or_else(wrong)?;
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    match (first.parse(), last.parse()) {
        (Ok(first), Ok(last)) if 0 < first && first <= last => Ok((file, first..=last)),
        _ => Err(wrong()),
    }
}

/// Gives each instruction of the module its cost.
pub fn add_costs(module: &Module, extracted: &mut Extracted, file: &CostFile) {
    let mut names = HashMap::new();
    let files = &extracted.files;
    for (function, handles) in extracted.facts.functions.iter_mut().zip(&extracted.handles) {
        let ir = handles.open(module);
        let costs: Vec<Vec<u64>> = ir
            .blocks
            .iter()
            .zip(function.blocks.numbered())
            .map(|(block, (id, facts))| {
                let mut counted = block.instructions().filter(|&instruction| is_counted(instruction));
                let cost_of_run = |run: &Run| {
                    let place = InstructionPlace::new(function, id, run.span, files, &mut names);
                    let rules: Vec<&Rule> = file.rules.iter().rev().filter(|rule| place.is_of(rule)).collect();
                    let own = counted.by_ref().take(run.instructions.total as usize);
                    own.map(|instruction| u64::from(cost(&rules, instruction))).sum()
                };
                facts.runs.iter().map(cost_of_run).collect()
            })
            .collect();
        for (block, costs) in function.blocks.iter_mut().zip(costs) {
            block.runs.iter_mut().zip(costs).for_each(|(run, cost)| run.cost = cost);
        }
    }
}

/// Where instructions stand.
struct InstructionPlace<'a> {
    symbol: &'a str,
    source_name: String,
    at: Option<(&'a str, u32)>,
}

impl<'a> InstructionPlace<'a> {
    fn new(
        function: &'a Function,
        block: Block,
        span: Option<u32>,
        files: &'a [String],
        names: &mut HashMap<String, String>,
    ) -> Self {
        let span = span.map(|span| &function.blocks[block].lines[span as usize]);
        let copy = span.and_then(|span| span.inlined).map(|copy| &function.inlined[copy as usize].symbol);
        let symbol = copy.unwrap_or(&function.symbol);
        let source_name = names.entry(symbol.clone()).or_insert_with(|| demangle(symbol)).clone();
        let at = |p: Position| files.get(p.file as usize).map(|file| (file.as_str(), p.line));
        Self { symbol, source_name, at: span.and_then(|span| at(span.at)) }
    }

    /// May a rule concern what stands here?
    fn is_of(&self, rule: &Rule) -> bool {
        match &rule.what {
            What::Everything | What::Opcodes(_) | What::Call(_) => true,
            What::Function(name) => name.is_match(self.symbol) || name.is_match(&self.source_name),
            What::Lines(file, lines) => {
                self.at.is_some_and(|(path, line)| lines.contains(&line) && file.is_match(path))
            }
        }
    }
}

/// The cost of an instruction by the rules of its place, the last one first.
fn cost(rules: &[&Rule], instruction: Instruction<'_>) -> u32 {
    let callee = || {
        let call = instruction.as_call()?;
        let called = call.called();
        let is_named = call.intrinsic().is_some() || call.callee().is_some() || called.is_alias();
        is_named.then(|| called.name())
    };
    let means = |rule: &&&Rule| match &rule.what {
        What::Everything | What::Function(_) | What::Lines(..) => true,
        What::Opcodes(names) => {
            let own = OPCODES.iter().find(|(opcode, _)| *opcode == instruction.opcode());
            own.is_some_and(|(_, name)| names.contains(name))
        }
        What::Call(name) => callee().is_some_and(|callee| name.is_match(&callee) || name.is_match(demangle(&callee))),
    };
    rules.iter().find(means).map_or(DEFAULT, |rule| rule.cost)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        CostFile::parse(text).expect_err("it must be refused").to_string()
    }

    #[test]
    fn mistakes_are_named_with_their_lines() {
        assert!(CostFile::parse("# nothing\n\ndefault 2 # two\nopcode f*,load 3\nline a.c:3-4 0\n").is_ok());
        assert_eq!(error("default 1\nopcode laod 3"), "line 2: LLVM has no instruction laod, or none that counts");
        assert_eq!(error("opcode load"), "line 1: it must be `opcode PATTERN COST`");
        assert_eq!(error("default"), "line 1: it must be `default COST`");
        assert_eq!(error("load 3"), "line 1: load is none of default, opcode, call, function and line");
        assert_eq!(error("\n\ndefault -1"), "line 3: -1 is no cost: that is a whole number from 0 to 4294967295");
        assert_eq!(error("line a.c 3"), "line 1: a.c is no place: that is FILE:LINE or FILE:FIRST-LAST");
        assert_eq!(error("line a.c:9-3 3"), "line 1: a.c:9-3 is no place: that is FILE:LINE or FILE:FIRST-LAST");
        assert!(error("function [ 3").starts_with("line 1: "));
    }
}
