//! Which calls can reach a query: a question about events while the program runs.
//!
//! A query reads the counter, so nothing may be lacking of it in any activation below. It is known from the whole call
//! graph which calls can't lead to one. Calls through pointers, and calls of functions outside of the unit that are not
//! known to be [quiet](crate::facts::quiet), may lead anywhere.
//!
//! These calls are also those at which an activation may be abandoned, or re-entered, while the program goes on: it
//! takes a function outside of the unit to throw or to jump. The repairs that this would need are made after the run
//! only, so here, too, nothing may be lacking.

use crate::facts::{Call, Callee, Function, Linkage, ProgramMap};
use crate::ids::{CallId, IdMap};
use crate::unit::Names;

/// The functions of a unit, and which of them calls enter.
pub(super) struct CallGraph<'a> {
    /// With their modules, in unit order.
    pub functions: Vec<(usize, &'a Function)>,
    names: Names<'a>,
    preemptible: bool,
}

/// What a call may enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entered<'a> {
    /// These functions.
    pub functions: &'a [usize],
    /// Code that is not known, and all that it calls.
    pub unknown: bool,
}

impl<'a> CallGraph<'a> {
    pub fn new(program: &'a ProgramMap, preemptible: bool) -> Self {
        let modules = program.modules.iter().enumerate();
        let functions: Vec<(usize, &Function)> = modules
            .flat_map(|(module, facts)| facts.functions.iter().map(move |function| (module, function)))
            .collect();
        Self { names: Names::new(&functions), functions, preemptible }
    }

    /// What a call of a function enters.
    pub fn entered(&self, caller: usize, call: &Call) -> Entered<'_> {
        let (module, function) = self.functions[caller];
        let nobody = Entered { functions: &[], unknown: false };
        if call.resume_marker || matches!(call.callee, Callee::Assembly | Callee::Fault) {
            return nobody;
        }
        let Some(name) = call.callee_name().filter(|_| !call.callee_uncertain) else {
            return Entered { unknown: true, ..nobody };
        };
        let functions = self.names.find(module, name);
        let visible = |&callee: &usize| self.functions[callee].1.linkage != Linkage::Internal;
        let outside = functions.is_empty() && !function.calls_quietly(call, name);
        Entered { functions, unknown: outside || (self.preemptible && functions.iter().any(visible)) }
    }
}

/// Per function and call, whether it can reach a query. In a unit that is `preemptible`, a call by name of a function
/// that others can see may reach another one of that name.
#[must_use]
pub fn calls_that_reach(program: &ProgramMap, preemptible: bool) -> Vec<IdMap<CallId, bool>> {
    let graph = CallGraph::new(program, preemptible);
    let mut reaching: Vec<IdMap<CallId, bool>> = Vec::with_capacity(graph.functions.len());
    // What reaches a query makes all that call it reach one.
    let mut callers: Vec<Vec<(usize, CallId)>> = vec![Vec::new(); graph.functions.len()];
    for (caller, (_, function)) in graph.functions.iter().enumerate() {
        let mut calls = IdMap::default();
        for (number, call) in function.calls.numbered() {
            let entered = graph.entered(caller, call);
            calls.push(call.returns_twice || entered.unknown);
            for &callee in entered.functions {
                callers[callee].push((caller, number));
            }
        }
        reaching.push(calls);
    }
    let mut reached: Vec<bool> = reaching.iter().map(|calls| calls.contains(&true)).collect();
    let mut work: Vec<usize> = (0..graph.functions.len()).filter(|&function| reached[function]).collect();
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
