//! Calls through pointers (Melski & Reps 1998, §9.2.3).
//!
//! The paper has a chain of comparisons at such a call, one for each function that it may lead to. Here the callee
//! compares: the caller writes the negated address that it calls into the word that names callees, and a function that
//! is called by pointers compares that with its own. So a call costs as much whether it may lead to three functions or
//! to a thousand, and functions that no other module can name are known by their addresses as well.
//!
//! A *group* has the functions that pointers of one kind, which is the type of the function, may lead to. They have
//! numbers of their own: behind the number of the path to the call, each member has as many as it has paths, and adds
//! those of the members before it when it finds its own address. That sum is one for all calls of the group, so the
//! caller does not need to know whom it calls. Paths only descend there ([`AtCall::Reach`](super::AtCall::Reach)).
//!
//! Calls that paths enter form no cycle. So a function is in no group if some call through such a pointer may come out
//! of what it calls. It begins a path by itself where a pointer leads to it.

use super::supergraph::{Crossing, FunctionInput, hands_over_words, reads_words};
use super::types::{GroupId, Groups, MOST_GROUPS};
use crate::ids::{CallId, FunctionId};
use std::collections::BTreeMap;

/// The calls through pointers that paths may enter.
#[derive(Clone, Debug, Default)]
pub(super) struct Pointers {
    /// The functions of each group.
    pub groups: Groups,
    /// Per function, its calls and the group of each, in order.
    pub calls: Vec<Vec<(CallId, GroupId)>>,
}

impl Pointers {
    /// No such calls.
    pub fn none(functions: usize) -> Self {
        Self { groups: Groups::default(), calls: vec![Vec::new(); functions] }
    }

    /// Makes groups of the functions. Paths may enter the calls by name in `crossings`, which form no cycle. Pointers
    /// come in the order of their weight, so that what runs most is in nobody's way.
    pub fn new(
        functions: &[Option<FunctionInput<'_>>],
        crossings: &[Vec<Crossing>],
        weight: impl Fn(FunctionId, CallId) -> f64,
    ) -> Self {
        let mut kinds: BTreeMap<u32, Kind> = BTreeMap::new();
        for (id, at) in FunctionId::all().zip(functions) {
            let Some(at) = at else { continue };
            if let Some(kind) = at.pointed.filter(|_| reads_words(at)) {
                kinds.entry(kind).or_default().members.push(id);
            }
            for &(call, kind) in &at.pointers {
                if at.function.calls.get(call).is_some_and(hands_over_words) {
                    let kind = kinds.entry(kind).or_default();
                    kind.calls.push((id, call));
                    kind.weight += weight(id, call);
                }
            }
        }
        let mut kinds: Vec<Kind> = kinds.into_values().filter(|kind| !kind.calls.is_empty()).collect();
        kinds.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        let mut pointers = Self::none(functions.len());
        let mut graph = Graph::new(crossings);
        for Kind { mut members, calls, .. } in kinds {
            let leads_to_calls = graph.leading_to(calls.iter().map(|&(caller, _)| caller));
            members.retain(|member| !leads_to_calls[member.index()]);
            if members.is_empty() || pointers.groups.0.len() >= MOST_GROUPS {
                continue;
            }
            let group = GroupId::new(pointers.groups.0.len());
            graph.add(calls.iter().map(|&(caller, _)| caller), &members);
            calls.iter().for_each(|&(caller, call)| pointers.calls[caller.index()].push((call, group)));
            pointers.groups.0.push(members);
        }
        pointers.calls.iter_mut().for_each(|calls| calls.sort_unstable());
        pointers
    }
}

/// Pointers of one kind.
#[derive(Default)]
struct Kind {
    members: Vec<FunctionId>,
    calls: Vec<(FunctionId, CallId)>,
    weight: f64,
}

/// Who calls each function, and each group: these are numbered behind the functions.
struct Graph {
    callers: Vec<Vec<usize>>,
}

impl Graph {
    fn new(crossings: &[Vec<Crossing>]) -> Self {
        let mut callers = vec![Vec::new(); crossings.len()];
        for (caller, calls) in crossings.iter().enumerate() {
            calls.iter().for_each(|crossing| callers[crossing.callee.index()].push(caller));
        }
        Self { callers }
    }

    fn add(&mut self, callers: impl Iterator<Item = FunctionId>, members: &[FunctionId]) {
        let group = self.callers.len();
        self.callers.push(callers.map(FunctionId::index).collect());
        members.iter().for_each(|member| self.callers[member.index()].push(group));
    }

    /// The functions and groups from which calls lead to one of these functions, themselves included.
    fn leading_to(&self, functions: impl Iterator<Item = FunctionId>) -> Vec<bool> {
        let mut leads = vec![false; self.callers.len()];
        let mut work: Vec<usize> = functions.map(FunctionId::index).collect();
        while let Some(at) = work.pop() {
            if !std::mem::replace(&mut leads[at], true) {
                work.extend(&self.callers[at]);
            }
        }
        leads
    }
}
