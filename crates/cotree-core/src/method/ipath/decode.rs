//! Paths from numbers, and numbers of paths (Melski & Reps 1998, Algorithms 5.1, 5.2 and 6.1, and the decoder of §6.2,
//! which the paper leaves to its readers).
//!
//! A number is decoded from the front. At each vertex the path takes the last arc whose value, in the context of the
//! path so far, is not above what is left of the number. Two stacks keep what the program passes: to where each open
//! call returns, and how many completions the caller's path has.

use super::graph::{Arc, ENTRY, EXIT, GENTRY, GEXIT, Node, Role};
use super::numbering::{FunctionNumbers, Numbering};
use super::types::Target;
use crate::ids::{CallId, FunctionId};

/// A step of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// From Entry_global to the function's ENTRY, or else its GENTRY.
    Start(FunctionId, bool),
    /// Along an arc of the function, which is not a call.
    Along(FunctionId, Arc),
    /// From the function's call to the callee's ENTRY.
    Call(FunctionId, CallId, FunctionId),
    /// From the function's call to the callee's ENTRY; all before is the context of the path.
    Descend(FunctionId, CallId, FunctionId),
    /// From a callee's EXIT to behind the function's call.
    Return(FunctionId, CallId),
}

/// The most steps of a path: plans have none with more ([`super::cuts`]), but files may.
pub(super) const MOST_STEPS: usize = 1 << 20;

/// The value of an arc where paths have `completions` completions from EXIT.
fn value(numbers: &FunctionNumbers, arc: Arc, completions: u64) -> u64 {
    u64::try_from(numbers.linear.rho[arc].at(u128::from(completions))).unwrap_or(u64::MAX)
}

/// How many completions a path has from a vertex, where it has `completions` of them from EXIT.
pub(super) fn paths_from(numbers: &FunctionNumbers, node: Node, completions: u64) -> u64 {
    u64::try_from(numbers.linear.psi[node].at(u128::from(completions))).unwrap_or(u64::MAX)
}

impl Numbering {
    /// The path with this number; `None` if there is none.
    #[must_use]
    pub fn path(&self, number: u64) -> Option<Vec<Step>> {
        let start = *self.starts.get(self.starts.partition_point(|start| start.value <= number).checked_sub(1)?)?;
        let mut rest = number - start.value;
        let mut function = start.function;
        let mut at = self.of(function)?;
        let mut node = if start.at_entry { ENTRY } else { GENTRY };
        let mut completions = if start.at_entry { at.alone } else { at.paths_from_exit };
        // Open calls: the caller, the call, the return-site vertex, and the caller's numValidCompsFromExit.
        let mut open: Vec<(FunctionId, CallId, Node, u64)> = Vec::new();
        let mut steps = vec![Step::Start(function, start.at_entry)];
        while node != GEXIT {
            if steps.len() > MOST_STEPS {
                return None;
            }
            if node == EXIT {
                if let Some((caller, call, behind, before)) = open.pop() {
                    (function, node, completions) = (caller, behind, before);
                    steps.push(Step::Return(caller, call));
                } else if start.at_entry {
                    break;
                } else {
                    let Some(back) = at.returns.iter().rev().find(|back| back.value <= rest) else { break };
                    rest -= back.value;
                    (function, node) = (back.caller, back.node);
                    completions = self.of(function)?.paths_from_exit;
                    steps.push(Step::Return(function, back.call));
                }
                at = self.of(function)?;
                continue;
            }
            let out = at.graph.out(node);
            let arc = *out.get(out.partition_point(|&arc| value(at, arc, completions) <= rest).checked_sub(1)?)?;
            rest -= value(at, arc, completions);
            if let Role::Cross(call, callee) = at.graph.role(arc) {
                let behind = at.graph.dst(arc);
                open.push((function, call, behind, completions));
                completions = paths_from(at, behind, completions);
                steps.push(Step::Call(function, call, callee));
                (function, node) = (callee, ENTRY);
                at = self.of(function)?;
                continue;
            }
            if let Role::Descend(call, target) = at.graph.role(arc) {
                open.clear();
                completions = 1;
                let callee = match target {
                    Target::Function(callee) => callee,
                    Target::Group(group) => {
                        let members = self.groups.members(group);
                        let before = |member: FunctionId| self.of(member).and_then(|at| at.in_group).map(|at| at.1);
                        let behind = members.partition_point(|&member| before(member).is_some_and(|by| by <= rest));
                        let member = *members.get(behind.checked_sub(1)?)?;
                        rest -= before(member)?;
                        member
                    }
                };
                steps.push(Step::Descend(function, call, callee));
                (function, node) = (callee, ENTRY);
                at = self.of(function)?;
                continue;
            }
            node = at.graph.dst(arc);
            steps.push(Step::Along(function, arc));
        }
        (rest == 0).then_some(steps)
    }

    /// The number of a path; `None` if it is none.
    #[must_use]
    pub fn number(&self, steps: &[Step]) -> Option<u64> {
        let (&Step::Start(first, at_entry), rest) = steps.split_first()? else { return None };
        let start = self.starts.iter().find(|start| (start.function, start.at_entry) == (first, at_entry))?;
        let (mut number, mut function) = (start.value, first);
        let mut at = self.of(first)?;
        let mut completions = if at_entry { at.alone } else { at.paths_from_exit };
        let mut open: Vec<(FunctionId, CallId, u64)> = Vec::new();
        for &step in rest {
            match step {
                Step::Start(..) => return None,
                Step::Along(of, arc) => {
                    if of != function || arc >= at.graph.arc_count() {
                        return None;
                    }
                    number = number.checked_add(value(at, arc, completions))?;
                }
                Step::Call(_, call, callee) => {
                    let crossing = at.graph.crossings().find(|crossing| crossing.1 == call)?.0;
                    number = number.checked_add(value(at, crossing, completions))?;
                    let behind = at.graph.dst(crossing);
                    open.push((function, call, completions));
                    completions = paths_from(at, behind, completions);
                    function = callee;
                }
                Step::Descend(_, call, callee) => {
                    let (descent, _, target) = at.graph.descents().find(|descent| descent.1 == call)?;
                    number = number.checked_add(value(at, descent, completions))?;
                    match target {
                        Target::Function(only) if only != callee => return None,
                        Target::Function(_) => {}
                        Target::Group(group) => {
                            self.groups.members(group).binary_search(&callee).ok()?;
                            number = number.checked_add(self.of(callee)?.in_group?.1)?;
                        }
                    }
                    open.clear();
                    (completions, function) = (1, callee);
                }
                Step::Return(caller, call) => {
                    if let Some((opened, by, before)) = open.pop() {
                        if (opened, by) != (caller, call) {
                            return None;
                        }
                        completions = before;
                    } else {
                        let back = at.returns.iter().find(|back| (back.caller, back.call) == (caller, call))?;
                        number = number.checked_add(back.value)?;
                        completions = self.of(caller)?.paths_from_exit;
                    }
                    function = caller;
                }
            }
            at = self.of(function)?;
        }
        Some(number)
    }
}

impl Numbering {
    /// The beginnings of paths that end at a node of a function and have a number, by which the path is decoded that
    /// goes on by arcs of value 0 from there. There is one, except where the node comes again behind these.
    #[must_use]
    pub fn beginnings(&self, number: u64, function: FunctionId, node: Node) -> Vec<Vec<Step>> {
        let Some(steps) = self.path(number) else { return Vec::new() };
        let end = |step: Step| {
            let at = |function: FunctionId| self.of(function).map(|of| &of.graph);
            Some(match step {
                Step::Start(function, true) | Step::Call(.., function) | Step::Descend(.., function) => {
                    (function, ENTRY)
                }
                Step::Start(function, false) => (function, GENTRY),
                Step::Along(function, arc) => (function, at(function)?.dst(arc)),
                Step::Return(function, call) => {
                    let crossing = at(function)?.crossings().find(|crossing| crossing.1 == call)?.0;
                    (function, at(function)?.dst(crossing))
                }
            })
        };
        let ends = (1..=steps.len()).filter(|&length| end(steps[length - 1]) == Some((function, node)));
        let beginnings = ends.map(|length| steps[..length].to_vec());
        beginnings.filter(|steps| self.number(steps) == Some(number)).collect()
    }
}

/// Where the active suffix of a path begins: at the last surrogate with which a path begins, or the last call by which
/// it only descends. All before is its context-prefix (§3.4).
#[must_use]
pub fn active_suffix(numbering: &Numbering, steps: &[Step]) -> usize {
    let begins = |step: &Step| match *step {
        Step::Along(function, arc) => numbering.of(function).is_some_and(|at| at.graph.role(arc).begins()),
        Step::Descend(..) => true,
        _ => false,
    };
    steps.iter().rposition(begins).unwrap_or(0)
}
