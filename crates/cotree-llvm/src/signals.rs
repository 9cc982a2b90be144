//! Which functions signal handlers may run.
//!
//! A handler interrupts anywhere. Where it bumps a counter that the interrupted code holds in a register, its increments
//! would be overwritten; so functions that both may run get increments of one instruction each. The answer errs on the
//! side of "may": where the unit refers to a function that installs handlers, any function whose address is taken may be
//! one (C programs cast all kinds of functions to handlers), and a call through a pointer may reach any of them. In a
//! shared library everything may, since the handlers of whole programs are not seen.

use crate::link::Prepared;
use std::collections::{HashMap, HashSet};

/// Functions that install handlers.
pub(crate) const INSTALLERS: [&std::ffi::CStr; 9] = [
    c"signal",
    c"sigaction",
    c"__sigaction",
    c"bsd_signal",
    c"sysv_signal",
    c"__sysv_signal",
    c"ssignal",
    c"sigset",
    c"sigvec",
];

/// One flag per function of the unit, in order.
pub(crate) fn reachable(modules: &[Prepared], shared: bool) -> Vec<bool> {
    let functions: Vec<_> =
        modules.iter().flat_map(|m| m.extracted.facts.functions.iter().zip(&m.extracted.handles)).collect();
    let mut marked = vec![shared; functions.len()];
    if shared || !modules.iter().any(|m| m.extracted.installs_handlers) {
        return marked;
    }
    let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
    for (number, (facts, _)) in functions.iter().enumerate() {
        by_name.entry(&facts.symbol).or_default().push(number);
    }
    // Whatever a handler may call through a pointer has its address taken, and is a root already.
    let mut work: Vec<usize> = (0..functions.len()).filter(|&n| functions[n].0.address_taken).collect();
    let mut seen: HashSet<&str> = HashSet::new();
    while let Some(number) = work.pop() {
        if std::mem::replace(&mut marked[number], true) {
            continue;
        }
        for name in &functions[number].1.calls {
            if seen.insert(name) {
                work.extend(by_name.get(name.as_str()).into_iter().flatten());
            }
        }
    }
    marked
}
