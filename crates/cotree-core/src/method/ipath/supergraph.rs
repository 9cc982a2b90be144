//! Which calls paths may cross: the call graph of a link unit as far as it is certain.
//!
//! A callee goes on with what its caller says in words of the thread's slab. A call *hands over* if it reaches the
//! callee for certain ([`crate::unit::certain_calls`]), from a function with probes that is still there when the callee
//! returns, once (no `musttail` call, neither of it nor in it, and none that returns twice; no invoke in it may return
//! twice, as what its landing pad would go on with is not one thing). If all calls of a function hand over, it is
//! *always* entered with a path, and reads the words without a question. If others may call it, too, a caller that
//! hands over also names it in a word, which the callee takes away ([`Entry::Open`](super::Entry::Open)). Where it is
//! not named, it begins a path.
//!
//! Other code may run between a caller's words and the callee that reads them: a signal handler, also one of a library
//! that calls back, or hooks that the compiler puts where functions begin and end. So what others may enter saves the
//! words when it begins, and gives them back when it returns (§9.2.1; [`keeps_words`]). The runtime takes the name of
//! the callee away while a handler runs, since that may call the very function.
//!
//! A call through a pointer names its callee by address: see [`super::groups`].
//!
//! Recursive calls are those of backedges of a depth-first search of the call graph, which need not be reducible
//! (§3.2).

use super::types::{AtCall, FunctionKey, Keys, Strategy};
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
    /// The calls that reach it for certain.
    pub callers: Vec<(FunctionId, CallId)>,
    /// Does nothing else call it?
    pub only_callers: bool,
    /// The kind of pointers that may hold its address, if a call through one reaches it for certain.
    pub pointed: Option<u32>,
    /// Calls through pointers that it makes, and the kind of each pointer, in order.
    pub pointers: Vec<(CallId, u32)>,
}

/// A call that paths may cross.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// The call.
    pub call: CallId,
    /// The callee.
    pub callee: FunctionId,
}

/// How a function may be entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entered {
    /// No caller can say with which path it calls.
    Alone,
    /// Every caller says with which path it calls.
    Always,
    /// Some callers say so, and name the function.
    Named,
}

/// How the functions may be entered.
#[must_use]
pub fn entered(functions: &[Option<FunctionInput<'_>>]) -> Vec<Entered> {
    let of = |at: &FunctionInput<'_>| {
        let reads = reads_words(at);
        let mut handing = at.callers.iter().map(|&caller| hands_over(functions, caller));
        match at.only_callers {
            _ if !reads || at.callers.is_empty() => Entered::Alone,
            true if handing.clone().all(|hands| hands) => Entered::Always,
            _ if handing.any(|hands| hands) => Entered::Named,
            _ => Entered::Alone,
        }
    };
    functions.iter().map(|at| at.as_ref().map_or(Entered::Alone, of)).collect()
}

/// Can the function go on with what its caller says, and come back?
pub(super) fn reads_words(at: &FunctionInput<'_>) -> bool {
    at.function.calls.iter().all(|call| !(call.must_tail || call.returns_twice && call.terminator))
}

/// The functions of which a lost path may have executed something, where one may be lost in each of these: all that
/// crossed calls join to them, in either direction, and the callees whose paths the caller counts when they return. One
/// flag per function.
#[must_use]
pub fn joined(Keys { functions: keys, groups }: &Keys<'_>, lost: impl IntoIterator<Item = FunctionId>) -> Vec<bool> {
    let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); keys.len()];
    for (caller, key) in keys.iter().enumerate() {
        for &(_, at) in &key.calls {
            let begun = if let AtCall::Begin(callee) = at { Some(callee) } else { None };
            for callee in begun.into_iter().chain(groups.targets(at)).map(FunctionId::index) {
                if callee >= keys.len() {
                    continue;
                }
                neighbours[caller].push(callee);
                if matches!(at, AtCall::Cross(_)) {
                    neighbours[callee].push(caller);
                }
            }
        }
    }
    let mut found = vec![false; keys.len()];
    let mut work: Vec<usize> = lost.into_iter().map(FunctionId::index).filter(|&f| f < keys.len()).collect();
    while let Some(function) = work.pop() {
        if !std::mem::replace(&mut found[function], true) {
            work.extend(&neighbours[function]);
        }
    }
    found
}

/// The functions that keep the words that pass paths, one flag per function: code that we don't see may enter them, and
/// they write the words, or call functions that do so and that no such code may enter. All other functions that they
/// call keep them by themselves, and so does what is called in tail position, when the words have been given back.
#[must_use]
pub fn keeps_words(functions: &[Option<FunctionInput<'_>>], keys: &[FunctionKey]) -> Vec<bool> {
    let stays = |&(caller, call): &(FunctionId, CallId)| {
        let at = functions.get(caller.index()).and_then(Option::as_ref);
        at.and_then(|at| at.function.calls.get(call)).is_some_and(|call| !call.must_tail)
    };
    let mut writes: Vec<bool> = keys.iter().map(|key| key.calls.iter().any(|(_, at)| at.writes())).collect();
    for at in functions.iter().flatten().filter(|at| at.only_callers) {
        at.callers.iter().for_each(|(caller, _)| writes[caller.index()] = true);
    }
    let keeps = |(writes, at): (bool, &Option<FunctionInput<'_>>)| {
        let unseen =
            |at: &FunctionInput<'_>| !at.only_callers || at.callers.is_empty() || !at.callers.iter().all(stays);
        writes && at.as_ref().is_some_and(unseen)
    };
    writes.into_iter().zip(functions).map(keeps).collect()
}

/// Can the caller read behind the call what the callee has just written there?
fn hands_over(functions: &[Option<FunctionInput<'_>>], (caller, call): (FunctionId, CallId)) -> bool {
    let at = functions.get(caller.index()).and_then(Option::as_ref);
    let call = at.and_then(|at| at.function.calls.get(call));
    call.is_some_and(hands_over_words)
}

/// Is the caller still there behind the call, once?
pub(super) fn hands_over_words(call: &Call) -> bool {
    !call.must_tail && !call.resume_marker && !call.returns_twice
}

/// Per function, its calls that hand over to functions that are entered with a path, in order.
#[must_use]
pub fn callees(functions: &[Option<FunctionInput<'_>>], entered: &[Entered]) -> Vec<Vec<Crossing>> {
    let mut calls: Vec<Vec<Crossing>> = vec![Vec::new(); functions.len()];
    for (callee, at) in FunctionId::all().zip(functions) {
        let Some(at) = at.as_ref().filter(|_| entered[callee.index()] != Entered::Alone) else { continue };
        for &(caller, call) in at.callers.iter().filter(|&&caller| hands_over(functions, caller)) {
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
