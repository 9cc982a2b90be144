//! Which calls can reach a query: a question about events while the program runs.
//!
//! A query reads the counter, so nothing may be lacking of it in any activation below. It is known from the whole call graph
//! which calls can't lead to one. Calls through pointers, and calls of functions outside of the unit that are not known to be
//! quiet, may lead anywhere.
//!
//! The same calls are those at which an activation may be abandoned, or re-entered, while the program goes on: it takes a
//! function outside of the unit to throw or to jump. The repairs that this would need are made after the run only, so here, too, nothing
//! may be lacking.

use crate::facts::{Call, Callee, Function, Linkage, ProgramMap};
use crate::unit::{Names, Queries};

/// Per function and call, whether it can reach a query. In a unit that is `preemptible`, a call by name of a function that others can
/// see may reach another one of that name.
#[must_use]
pub fn calls_that_reach(program: &ProgramMap, queries: &Queries<'_>, preemptible: bool) -> Vec<Vec<bool>> {
    let modules = program.modules.iter().enumerate();
    let functions: Vec<(usize, &Function)> =
        modules.flat_map(|(module, facts)| facts.functions.iter().map(move |function| (module, function))).collect();
    let names = Names::new(&functions);
    let callees = |module: usize, call: &Call| match call.callee_name() {
        Some(name) if !call.callee_uncertain => Some((names.find(module, name), queries.quiet.contains(name))),
        _ => None,
    };
    let at_once = |module: usize, call: &Call| {
        call.returns_twice
            || match (&call.callee, callees(module, call)) {
                _ if call.resume_marker => false,
                (Callee::Assembly, _) => false,
                (_, Some((callees, quiet))) => {
                    let visible = |&callee: &usize| functions[callee].1.linkage != Linkage::Internal;
                    (callees.is_empty() && !quiet) || (preemptible && callees.iter().any(visible))
                }
                (_, None) => true,
            }
    };
    let mut reaching: Vec<Vec<bool>> = functions
        .iter()
        .map(|(module, function)| function.calls.iter().map(|call| at_once(*module, call)).collect())
        .collect();
    // What reaches a query makes all that call it reach one.
    let mut callers: Vec<Vec<(usize, usize)>> = vec![Vec::new(); functions.len()];
    for (caller, (module, function)) in functions.iter().enumerate() {
        for (number, call) in function.calls.iter().enumerate() {
            for &callee in callees(*module, call).map_or(&[][..], |(callees, _)| callees) {
                callers[callee].push((caller, number));
            }
        }
    }
    let mut reached: Vec<bool> = reaching.iter().map(|calls| calls.contains(&true)).collect();
    let mut work: Vec<usize> = (0..functions.len()).filter(|&function| reached[function]).collect();
    while let Some(callee) = work.pop() {
        for &(caller, call) in &callers[callee] {
            reaching[caller][call] = true;
            if !std::mem::replace(&mut reached[caller], true) {
                work.push(caller);
            }
        }
    }
    reaching
}
