//! MC/DC and branches of Rust: rustc's coverage map has neither, so decisions are found in the source.
//!
//! A condition is tied to the branches of the early code by the line and the column where it begins ([`branches`]), in
//! each copy of its code that inlining has made. Where all conditions of a decision are tied, their outcomes get
//! counters, and the decision gets what clang gives those of C: a variable that adds up the number of the test vector,
//! and a request to count it ([`super::vectors`]). What cannot be tied is declared, with the reason, and nothing of it
//! is counted.
//!
//! The decisions of a file stand in a section of the executable, once for all modules ([`section`]).

mod branches;
mod section;
mod source;

use super::increments::{INCREMENT, call};
use super::split;
use super::vectors::UPDATE;
use crate::ir::phis::{self, Move};
use crate::ir::{At, Block, Builder, Function, Instruction, Location, Value};
use crate::module::Module;
use branches::{Places, Teller};
use cotree_core::decision::{Next, Numbering};
use cotree_profile::coverage::{decision_hash, decision_name};
use llvm_sys::LLVMOpcode;
use source::{Kind, SourceDecision};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

/// More vectors of a decision are not counted.
const MOST_VECTORS: u32 = 1 << 16;

/// A decision whose outcomes are counted: its name, and how many vectors it has. Its counters are numbered: for each
/// condition how often it was false and how often it was true.
pub(super) struct Counted {
    pub(super) name: String,
    pub(super) vectors: u32,
}

/// A file with its decisions.
struct SourceFile {
    found: source::SourceDecisions,
    text: Vec<String>,
}

/// Asks for counters of all decisions of a module that can be tied. They have numbers in the place of names.
pub(super) fn count(module: &mut Module) -> Vec<Counted> {
    let unchanged: &Module = module;
    let mut files: HashMap<String, Option<SourceFile>> = HashMap::new();
    let mut paths: HashMap<_, String> = HashMap::new();
    let mut counted: Vec<Counted> = Vec::new();
    let mut numbers: HashMap<String, u64> = HashMap::new();
    let mut failures: BTreeSet<(String, source::Place, &'static str)> = BTreeSet::new();
    let is_optimised = is_optimised(unchanged);
    for function in unchanged.functions().filter(|function| !function.is_declaration()) {
        if !function.instructions().any(super::lowered::is_counter) {
            continue;
        }
        let mut path = |location: Location<'_>| -> String {
            let Some(file) = location.scope().file() else { return String::new() };
            let key = (file.directory(), file.name());
            let known = paths.entry(key);
            known
                .or_insert_with_key(|(folder, name)| {
                    let path = Path::new(folder).join(name);
                    let path = path.to_string_lossy().into_owned();
                    files.entry(path.clone()).or_insert_with(|| read(&path, file.md5(unchanged)));
                    path
                })
                .clone()
        };
        let places = Places::of(function, &mut path);
        for (path, file) in files.iter().filter_map(|(path, file)| Some((path, file.as_ref()?))) {
            for decision in &file.found.decisions {
                let lines = decision.start.0..=decision.end.0;
                let copies: BTreeSet<_> =
                    lines.filter_map(|line| places.copies.get(&(path.clone(), line))).flatten().copied().collect();
                for copy in copies {
                    match tie(&places, path, decision, copy) {
                        Ok(Some(tellers)) => {
                            if is_optimised {
                                failures.insert((path.clone(), decision.start, section::SHORTCUT));
                            }
                            let name = decision_name(path, decision.start);
                            let number = *numbers.entry(name.clone()).or_insert_with(|| {
                                let vectors = vectors_of(decision).map_or(0, |numbering| numbering.vectors);
                                counted.push(Counted { name, vectors });
                                counted.len() as u64 - 1
                            });
                            instrument(unchanged, function, decision, &tellers, number);
                        }
                        Ok(None) => {}
                        Err(reason) => drop(failures.insert((path.clone(), decision.start, reason))),
                    }
                }
            }
        }
    }
    let mut section = String::new();
    for (path, file) in files.iter().collect::<BTreeMap<_, _>>() {
        match file {
            Some(file) => section.push_str(&section::of_file(path, &file.text)),
            None if !path.is_empty() && !path.starts_with("/rustc/") => {
                failures.insert((path.clone(), (0, 0), section::UNREADABLE));
            }
            None => {}
        }
    }
    section.push_str(&section::of_failures(&failures));
    if !section.is_empty() {
        module.append_assembly(&section);
    }
    module.sweep();
    counted
}

/// Whether rustc has optimised the module before it made LLVM's code of it: then it may have led control past
/// conditions whose outcomes it knew, and vectors are missing. rustc promises what parameters are only if it optimises.
fn is_optimised(module: &Module) -> bool {
    module.functions().any(|function| {
        (0..function.parameter_count()).any(|index| function.has_attribute(At::Parameter(index), "noundef"))
            || function.has_attribute(At::Return, "noundef")
    })
}

/// Reads a source file, if it is the one that was compiled.
fn read(path: &str, md5: Option<[u8; 16]>) -> Option<SourceFile> {
    let text = std::fs::read(path).ok()?;
    if md5.is_some_and(|md5| md5 != section::md5(&text)) {
        return None;
    }
    let found = source::decisions(std::str::from_utf8(&text).ok()?)?;
    let text = found.decisions.iter().map(section::line).chain(found.macros.iter().map(|&at| section::macro_line(at)));
    Some(SourceFile { text: text.collect(), found })
}

/// The numbers of a decision's vectors, if it has several conditions and no more vectors than are counted.
fn vectors_of(decision: &SourceDecision) -> Option<Numbering> {
    let numbering = decision.graph.numbering().filter(|numbering| numbering.vectors <= MOST_VECTORS)?;
    (decision.conditions.len() > 1).then_some(numbering)
}

/// What tells the outcomes of each condition of a decision in one copy of its code. `Ok(None)`: the code is not there.
fn tie<'m>(
    places: &Places<'m>,
    path: &str,
    decision: &SourceDecision,
    copy: Option<Location<'m>>,
) -> Result<Option<Vec<Vec<Teller<'m>>>>, &'static str> {
    let last = decision.conditions.len() - 1;
    let tellers: Vec<Option<Vec<Teller<'m>>>> = (0..)
        .zip(&decision.conditions)
        .map(|(index, condition)| places.tellers(path, condition, copy, decision.is_value && index == last))
        .collect();
    if decision.conditions.iter().any(|condition| condition.kind == Kind::Pattern) {
        return Err(section::PATTERN);
    }
    if decision.conditions.iter().any(|condition| condition.kind == Kind::Constant) {
        return Err(section::CONSTANT);
    }
    if decision.conditions.len() > 1 && vectors_of(decision).is_none() {
        return Err(section::TOO_MANY);
    }
    let Some(all) = tellers.into_iter().collect::<Option<Vec<_>>>() else { return Err(section::UNTIED) };
    if is_entered_in_the_midst(decision, &all) { Err(section::SHORTCUT) } else { Ok(Some(all)) }
}

/// Whether control comes to a condition but from conditions that lead to it: rustc knew the outcome of one before it.
fn is_entered_in_the_midst(decision: &SourceDecision, tellers: &[Vec<Teller<'_>>]) -> bool {
    let own: HashSet<Block<'_>> = tellers.iter().flatten().filter_map(|teller| teller.block()).collect();
    let behind_first: Vec<Block<'_>> = tellers[1..].iter().flatten().filter_map(|teller| teller.block()).collect();
    let _ = decision;
    let mut seen: HashSet<Block<'_>> = HashSet::new();
    let mut work = behind_first;
    while let Some(block) = work.pop() {
        let users = block.as_value().users();
        let mut is_entry = true;
        for before in users.into_iter().filter_map(Value::as_instruction).filter_map(Instruction::block) {
            is_entry = false;
            if !own.contains(&before) && seen.insert(before) {
                work.push(before);
            }
        }
        if is_entry {
            return true;
        }
    }
    false
}

/// Puts in what counts the outcomes of a decision's conditions, and its vectors.
fn instrument<'m>(
    module: &'m Module,
    function: Function<'m>,
    decision: &SourceDecision,
    tellers: &[Vec<Teller<'m>>],
    number: u64,
) {
    let sum = vectors_of(decision).and_then(|numbering| {
        let first = function.entry()?.first()?;
        Some((numbering, Builder::before(module, first).variable(module.int32())))
    });
    let hash = decision_hash(&section::line(decision));
    for (condition, tellers) in (0u16..).zip(tellers) {
        let count = |builder: &Builder<'m>, outcome: bool| {
            let int = |value: u64| module.int64().constant(value);
            let name = [int(number), int(hash)];
            let counters = module.int32().constant(2 * decision.conditions.len() as u64);
            let index = module.int32().constant(2 * u64::from(condition) + u64::from(outcome));
            call(builder, INCREMENT, &[name[0], name[1], counters, index]);
            let Some((numbering, sum)) = &sum else { return };
            let added = module.int32().constant(numbering.added[usize::from(condition)][usize::from(outcome)].into());
            let value = match condition {
                0 => added,
                _ => builder.add(builder.load(module.int32(), *sum), added),
            };
            builder.store(value, *sum);
            if let Next::Made(_) = decision.graph.next(condition, outcome) {
                call(builder, UPDATE, &[name[0], name[1], module.int32().constant(0), *sum]);
            }
        };
        for teller in tellers {
            match *teller {
                Teller::Branch(branch, true_first) => {
                    for (index, outcome) in [(0, true_first), (1, !true_first)] {
                        let Some(next) = branch.successor(index) else { continue };
                        let edge = module.insert_block(next);
                        let builder = Builder::at_end(module, edge);
                        count(&builder, outcome);
                        builder.jump(next);
                        branch.set_successor(index, edge);
                        let from = branch.block().expect("it is in a block");
                        if let Some(first) = next.first() {
                            let moved = [Move { from, to: edge, all: false }];
                            phis::redirect(next, &moved, &Builder::before(module, first));
                        }
                    }
                }
                Teller::Store(store, negated) => {
                    let (Some(value), Some(behind)) = (store.operand(0), store.next()) else { continue };
                    if let Some(constant) = value.constant().filter(|_| value.is_constant_int()) {
                        count(&Builder::before(module, behind), (constant & 1 == 1) != negated);
                        continue;
                    }
                    let rest = store.block().expect("it is in a block");
                    let head = split::head_before(module, behind);
                    let sides = [true, false].map(|outcome| {
                        let side = module.insert_block(rest);
                        let builder = Builder::at_end(module, side);
                        count(&builder, outcome != negated);
                        builder.jump(rest);
                        side
                    });
                    let builder = Builder::at_end(module, head);
                    let condition = truth(&builder, value);
                    builder.branch(condition, sides[0], sides[1]);
                }
            }
        }
    }
}

/// The truth value that a byte holds.
fn truth<'m>(builder: &Builder<'m>, byte: Value<'m>) -> Value<'m> {
    let bit = builder.module().int1();
    let widened = byte.as_instruction().filter(|widened| widened.opcode() == LLVMOpcode::LLVMZExt);
    let value = widened.and_then(|widened| widened.operand(0)).filter(|value| value.ty() == bit);
    value.unwrap_or_else(|| builder.truncate(byte, bit))
}
