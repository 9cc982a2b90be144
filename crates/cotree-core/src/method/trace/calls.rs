//! What calls mean to the streams of a unit.
//!
//! A call by name of a function of the unit is [`CallKind::Direct`]. If that function writes nothing, nor anybody whom
//! it calls, the call is [`CallKind::Tokenless`] and ends no segment: the callee has one path and no loop, records
//! no entry, tells no address, and all its calls are untraced or tokenless themselves. If it may leave by a
//! `musttail` call of who knows whom, the caller can't know when that call is over, and the call is
//! [`CallKind::Forwarded`].

use super::plan::TraceCalls;
use super::types::CallKind;
use crate::facts::Function;
use crate::ids::{CallId, FunctionId};

/// At most this many blocks of functions that write nothing may run one after the other.
const MOST_TOKENLESS: u64 = 1 << 16;

/// Finds out which of the direct calls are tokenless or forwarded. Lists have an entry per function of the unit.
pub(super) fn refine(functions: &[&Function], calls: &mut [TraceCalls]) {
    let tokenless = tokenless(functions, calls);
    let forwards = forwards(functions, calls);
    for (function, calls) in functions.iter().zip(calls) {
        for (call, kind) in &mut calls.kinds {
            let must_tail = function.calls[*call].must_tail;
            if let CallKind::Direct(callee) = *kind {
                // Where an activation comes back once more, a control byte has to say so.
                if forwards[callee.index()] || function.calls[*call].returns_twice {
                    *kind = CallKind::Forwarded(callee);
                } else if tokenless[callee.index()] > 0 && !must_tail && !function.calls[*call].terminator {
                    *kind = CallKind::Tokenless(callee);
                }
            }
        }
    }
}

fn kind(calls: &TraceCalls, call: CallId) -> CallKind {
    match calls.kinds.binary_search_by_key(&call, |listed| listed.0) {
        Ok(found) => calls.kinds[found].1,
        Err(_) => CallKind::Opaque,
    }
}

/// Who calls whom by name, callees first.
fn callers(calls: &[TraceCalls]) -> Vec<Vec<FunctionId>> {
    let mut callers = vec![Vec::new(); calls.len()];
    for (caller, calls) in FunctionId::all().zip(calls) {
        for (_, kind) in &calls.kinds {
            if let Some(listed) = kind.callee().and_then(|callee| callers.get_mut(callee.index())) {
                listed.push(caller);
            }
        }
    }
    callers
}

/// Per function, how many blocks run in it and its callees if it is tokenless, else 0.
fn tokenless(functions: &[&Function], calls: &[TraceCalls]) -> Vec<u64> {
    let callers = callers(calls);
    let mut tokenless = vec![0u64; functions.len()];
    let mut open: Vec<usize> = (0..functions.len()).collect();
    while let Some(function) = open.pop() {
        if tokenless[function] > 0 {
            continue;
        }
        if let Some(size) = tokenless_size(functions[function], &calls[function], &tokenless) {
            tokenless[function] = size;
            open.extend(callers[function].iter().map(|caller| caller.index()));
        }
    }
    tokenless
}

fn tokenless_size(function: &Function, calls: &TraceCalls, tokenless: &[u64]) -> Option<u64> {
    let blocks = function.blocks.len();
    if calls.records_entry || function.untouched.is_some() || !function.accesses.is_empty() || blocks == 0 {
        return None;
    }
    // One edge out of each block, and none of them backwards, as each block is reached from the entry.
    let mut next = vec![None; blocks];
    for edge in &function.edges {
        if next.get_mut(edge.src.index())?.replace(edge.dst.index()).is_some() || !edge.kind.splittable() {
            return None;
        }
    }
    let mut at = 0;
    let mut size = 0u64;
    while let Some(to) = next.get(at) {
        size += 1;
        if size > blocks as u64 {
            return None;
        }
        at = (*to)?;
    }
    for (call, facts) in function.calls.numbered() {
        match kind(calls, call) {
            CallKind::Untraced => {}
            CallKind::Direct(callee) if !facts.must_tail && !facts.terminator && !facts.returns_twice => {
                match tokenless.get(callee.index()) {
                    Some(0) | None => return None,
                    Some(&callees) => size = size.saturating_add(callees),
                }
            }
            _ => return None,
        }
    }
    (size <= MOST_TOKENLESS).then_some(size)
}

/// Per function, whether it may leave by a `musttail` call of who knows whom, directly or through others.
fn forwards(functions: &[&Function], calls: &[TraceCalls]) -> Vec<bool> {
    let tails = |function: usize| functions[function].calls.numbered().filter(|(_, facts)| facts.must_tail);
    let mut forwards = vec![false; functions.len()];
    let mut open = Vec::new();
    for function in 0..functions.len() {
        if tails(function).any(|(call, _)| kind(&calls[function], call) == CallKind::Opaque) {
            forwards[function] = true;
            open.push(function);
        }
    }
    let callers = callers(calls);
    while let Some(function) = open.pop() {
        for caller in callers[function].iter().map(|caller| caller.index()) {
            let passes_on = |(call, _)| kind(&calls[caller], call).callee() == Some(FunctionId::new(function));
            if !forwards[caller] && tails(caller).any(passes_on) {
                forwards[caller] = true;
                open.push(caller);
            }
        }
    }
    forwards
}
