//! Functions whose entries follow from their callers, and everything that calls them.
//!
//! The map names the callees of calls already: a function is called by the calls of its name, and only by those of its
//! module if it is internal. Only further calls are listed (in maps that list only call sites, calls that are certain
//! to return). If some calls of its name do not call the function, all calls of the function are listed.

use crate::map::MapError;
use crate::map::sections::Stream;
use crate::wire::streams::{Reader, Writer};
use cotree_core::facts::{Callee, Function, Linkage, ProgramMap};
use cotree_core::ids::{Block, FunctionId};
use cotree_core::method::counters::UnitCounterPlan;
use cotree_core::method::counters::chords::ChordMethod;
use cotree_core::plan::{CallPoint, DerivedEntry};
use std::collections::{BTreeMap, HashMap};

/// The calls that are not assigned to a callee yet.
struct NamedCalls<'a> {
    /// By callee, and by the first function of the caller's module.
    by_name: HashMap<&'a str, BTreeMap<u32, Vec<CallPoint>>>,
    /// Per function its name, its linkage, and the first function of its module.
    functions: Vec<(&'a str, Linkage, u32)>,
}

impl<'a> NamedCalls<'a> {
    fn new(program: &'a ProgramMap) -> Self {
        let mut calls = Self { by_name: HashMap::new(), functions: Vec::new() };
        let mut number = 0;
        for module in &program.modules {
            let first = number;
            for function in &module.functions {
                calls.functions.push((&function.symbol, function.linkage, first));
                for (call, after_sites) in function.calls.after_sites() {
                    if let Callee::Symbol(name) = &call.callee
                        && function.untouched.is_none()
                        && !call.resume_marker
                    {
                        let point = CallPoint { function: FunctionId(number), block: call.block, after_sites };
                        calls.by_name.entry(name).or_default().entry(first).or_default().push(point);
                    }
                }
                number += 1;
            }
        }
        calls
    }

    /// The calls that should be those of a function, in order. No call is given to two functions, so a small file can't
    /// name the same calls again and again.
    fn take(&mut self, function: FunctionId) -> Vec<CallPoint> {
        let Some(&(name, linkage, module)) = self.functions.get(function.index()) else { return Vec::new() };
        let Some(calls) = self.by_name.get_mut(name) else { return Vec::new() };
        match linkage {
            Linkage::Internal => calls.remove(&module).unwrap_or_default(),
            _ => std::mem::take(calls).into_values().flatten().collect(),
        }
    }
}

pub(super) fn write(entries: &[DerivedEntry], program: &ProgramMap, w: &mut Writer) {
    if entries.is_empty() {
        return;
    }
    let mut named = NamedCalls::new(program);
    w.put(Stream::Entry, entries.len() as u64);
    let mut last = FunctionId(0);
    for entry in entries {
        w.put_step(Stream::Entry, last.0, entry.function.0);
        last = entry.function;
        let rest = without(&entry.calls, &named.take(entry.function));
        let listed = rest.as_deref().unwrap_or(&entry.calls);
        w.put(Stream::Entry, (listed.len() as u64) << 1 | u64::from(rest.is_none()));
        let mut before = CallPoint { function: entry.function, block: Block(0), after_sites: 0 };
        for call in listed {
            w.put_step(Stream::Caller, before.function.0, call.function.0);
            w.put(Stream::CallBlock, u64::from(call.block.0));
            w.put(Stream::CallAfter, u64::from(call.after_sites));
            before = *call;
        }
    }
}

pub(super) fn read(r: &mut Reader<'_>, program: &ProgramMap) -> Result<Vec<DerivedEntry>, MapError> {
    if r.left(Stream::Entry) == 0 {
        return Ok(Vec::new());
    }
    let mut named = NamedCalls::new(program);
    let count = r.get_count(Stream::Entry, Stream::Entry)?;
    let mut entries: Vec<DerivedEntry> = Vec::with_capacity(count);
    for _ in 0..count {
        let function = FunctionId(r.get_step(Stream::Entry, entries.last().map_or(0, |e| e.function.0))?);
        let number = r.get(Stream::Entry)?;
        let listed = usize::try_from(number >> 1).ok().filter(|&n| n <= r.left(Stream::Caller));
        let listed = listed.ok_or(MapError::Invalid("a count is larger than its stream"))?;
        let predicted = named.take(function);
        let mut calls = if number & 1 == 0 { predicted } else { Vec::new() };
        let mut before = function;
        for _ in 0..listed {
            before = FunctionId(r.get_step(Stream::Caller, before.0)?);
            let block = Block(r.get_u32(Stream::CallBlock)?);
            calls.push(CallPoint { function: before, block, after_sites: r.get_u32(Stream::CallAfter)? });
        }
        calls.sort_unstable();
        entries.push(DerivedEntry { function, calls });
    }
    Ok(entries)
}

/// What is left of sorted calls without the named ones, if these are all among them.
fn without(calls: &[CallPoint], named: &[CallPoint]) -> Option<Vec<CallPoint>> {
    let mut named = named.iter().peekable();
    let left = calls.iter().filter(|call| named.next_if(|known| known == call).is_none()).copied().collect();
    named.peek().is_none().then_some(left)
}

/// Checks what the derived entries refer to.
pub(super) fn check(unit: &UnitCounterPlan, functions: &[&Function]) -> Result<(), MapError> {
    if !unit.entries.is_empty() && ChordMethod::of(unit.method).is_none() {
        return Err(MapError::Invalid("entries are derived by a method that does not"));
    }
    if !unit.entries.is_sorted_by(|a, b| a.function < b.function) {
        return Err(MapError::Invalid("functions with derived entries are not in order"));
    }
    for entry in &unit.entries {
        check_entry(entry, functions)
            .map_err(|what| MapError::InvalidFunction { function: entry.function.index(), what })?;
    }
    Ok(())
}

fn check_entry(entry: &DerivedEntry, functions: &[&Function]) -> Result<(), &'static str> {
    let measured =
        |id: FunctionId| functions.get(id.index()).copied().filter(|f| f.untouched.is_none() && !f.blocks.is_empty());
    if measured(entry.function).is_none() {
        return Err("its entries are derived, but it is not measured");
    }
    if !entry.calls.is_sorted() {
        return Err("its callers are not in order");
    }
    let known = |call: &CallPoint| {
        let caller = measured(call.function).filter(|caller| call.block < caller.exit());
        caller.is_some_and(|caller| caller.sites_of(call.block).count() >= call.after_sites as usize)
    };
    if entry.calls.iter().all(known) { Ok(()) } else { Err("it is called where nothing is") }
}
