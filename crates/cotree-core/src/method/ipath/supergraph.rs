//! Which calls paths may cross: the call graph of a link unit as far as it is certain.
//!
//! A callee goes on with what its caller says, so all its callers must say it: a function is *entered with a path* only
//! if every call of it is one that we see ([`crate::unit::callers`]), from a function with probes that is still there
//! when the callee returns, once (no `musttail` call, neither of it nor in it, and none that returns twice). Signal
//! handlers, and what they call, may run between a caller's words and the callee that reads them: no path crosses their
//! calls. All other functions begin paths of their own.
//!
//! Recursive calls are those of backedges of a depth-first search of the call graph, which need not be reducible
//! (§3.2).

use super::types::Strategy;
use crate::facts::{Call, Function, Linkage};
use crate::graph::cfg::Cfg;
use crate::ids::{CallId, FunctionId};
use crate::weight::weighting::Weighting;

/// A function that is planned.
#[derive(Clone, Debug)]
pub struct FunctionInput<'a> {
    /// The function.
    pub function: &'a Function,
    /// The function's control-flow graph.
    pub cfg: Cfg,
    /// How often its edges run.
    pub weighting: Weighting,
    /// The number of its module.
    pub module: usize,
    /// A signal handler may run it.
    pub interruptible: bool,
    /// Every call of it, if all are known.
    pub callers: Option<Vec<(FunctionId, CallId)>>,
}

/// A call that paths may cross.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// The call.
    pub call: CallId,
    /// The callee.
    pub callee: FunctionId,
}

/// The functions that are entered with a path wherever they are called, one flag per function.
#[must_use]
pub fn entered_with_path(functions: &[Option<FunctionInput<'_>>]) -> Vec<bool> {
    let call = |&(caller, call): &(FunctionId, CallId)| {
        functions.get(caller.index())?.as_ref().filter(|at| !at.interruptible)?.function.calls.get(call)
    };
    let is = |at: &FunctionInput<'_>| {
        let callers = at.callers.as_deref().unwrap_or_default();
        !at.interruptible
            && !callers.is_empty()
            && callers.iter().all(|caller| call(caller).is_some_and(hands_over))
            && at.function.calls.iter().all(|call| !call.must_tail)
    };
    functions.iter().map(|at| at.as_ref().is_some_and(is)).collect()
}

/// Can the caller read behind the call what the callee has just written there?
const fn hands_over(call: &Call) -> bool {
    !call.must_tail && !call.resume_marker && !call.returns_twice
}

/// Per function, its calls of functions that are entered with a path, in order.
#[must_use]
pub fn callees(functions: &[Option<FunctionInput<'_>>]) -> Vec<Vec<Crossing>> {
    let entered = entered_with_path(functions);
    let mut calls: Vec<Vec<Crossing>> = vec![Vec::new(); functions.len()];
    for (callee, at) in FunctionId::all().zip(functions) {
        for &(caller, call) in at.iter().filter(|_| entered[callee.index()]).flat_map(|at| at.callers.iter().flatten())
        {
            calls[caller.index()].push(Crossing { call, callee });
        }
    }
    for calls in &mut calls {
        calls.sort_unstable_by_key(|crossing| crossing.call);
        calls.dedup_by_key(|crossing| crossing.call);
    }
    calls
}

/// The [`callees`] that paths may cross by the strategy. The calls that are crossed form no cycle.
#[must_use]
pub fn crossings(
    functions: &[Option<FunctionInput<'_>>],
    callees: &[Vec<Crossing>],
    strategy: Strategy,
) -> Vec<Vec<Crossing>> {
    let allowed = |(caller, calls): (&Option<FunctionInput<'_>>, &Vec<Crossing>)| {
        let allows = |crossing: &&Crossing| {
            let both = caller.as_ref().zip(functions[crossing.callee.index()].as_ref());
            both.is_some_and(|(caller, callee)| match strategy {
                Strategy::All => true,
                Strategy::Leaf => callees[crossing.callee.index()].is_empty(),
                Strategy::File => caller.module == callee.module && callee.function.linkage == Linkage::Internal,
                Strategy::Local => caller.module == callee.module,
            })
        };
        calls.iter().filter(allows).copied().collect()
    };
    let mut calls: Vec<Vec<Crossing>> = functions.iter().zip(callees).map(allowed).collect();
    cut_recursion(&mut calls);
    calls
}

/// Removes the calls of backedges.
fn cut_recursion(calls: &mut [Vec<Crossing>]) {
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut state = vec![State::New; calls.len()];
    for root in 0..calls.len() {
        if state[root] != State::New {
            continue;
        }
        state[root] = State::Open;
        let mut stack = vec![(root, 0usize)];
        while let Some((function, next)) = stack.last_mut() {
            let Some(crossing) = calls[*function].get(*next) else {
                state[*function] = State::Done;
                stack.pop();
                continue;
            };
            let callee = crossing.callee.index();
            match state[callee] {
                State::Open => {
                    calls[*function].remove(*next);
                }
                State::New => {
                    *next += 1;
                    state[callee] = State::Open;
                    stack.push((callee, 0));
                }
                State::Done => *next += 1,
            }
        }
    }
}
