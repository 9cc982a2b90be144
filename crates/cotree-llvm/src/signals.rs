//! Which functions signal handlers may run.
//!
//! A handler interrupts anywhere. Where it bumps a counter that the interrupted code holds in a register, its increments
//! would be overwritten; so functions that both may run get increments of one instruction each. The answer errs on the
//! side of "may": any function of a handler's type whose address is taken may be a handler, and a call through a pointer
//! may reach any function whose address is taken.

use crate::link::Prepared;
use std::collections::{HashMap, HashSet};

/// Functions that install handlers.
const INSTALLERS: [&str; 9] =
    ["signal", "sigaction", "__sigaction", "bsd_signal", "sysv_signal", "__sysv_signal", "ssignal", "sigset", "sigvec"];

/// One flag per function of the unit, in order.
pub(crate) fn reachable(modules: &[Prepared]) -> Vec<bool> {
    let functions: Vec<_> =
        modules.iter().flat_map(|m| m.extracted.facts.functions.iter().zip(&m.extracted.handles)).collect();
    let mut marked = vec![false; functions.len()];
    let installs = |(_, handles): &(_, &crate::extract::Handles)| {
        INSTALLERS.iter().any(|name| handles.calls.direct.contains(*name))
    };
    if !functions.iter().any(installs) {
        return marked;
    }
    let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
    for (number, (facts, _)) in functions.iter().enumerate() {
        by_name.entry(&facts.symbol).or_default().push(number);
    }
    let taken: Vec<usize> = (0..functions.len()).filter(|&n| functions[n].0.address_taken).collect();
    let mut work: Vec<usize> = taken.iter().copied().filter(|&n| functions[n].1.calls.handler_type).collect();
    let mut through_pointers = false;
    let mut seen: HashSet<&str> = HashSet::new();
    while let Some(number) = work.pop() {
        if std::mem::replace(&mut marked[number], true) {
            continue;
        }
        let calls = &functions[number].1.calls;
        for name in &calls.direct {
            if seen.insert(name) {
                work.extend(by_name.get(name.as_str()).into_iter().flatten());
            }
        }
        if calls.indirect && !std::mem::replace(&mut through_pointers, true) {
            work.extend(&taken);
        }
    }
    marked
}
