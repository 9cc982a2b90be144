//! Numbers for the paths of a link unit, dense from 0 (Melski & Reps 1998, §5 and §6.1).
//!
//! All paths begin at Entry_global. From there arcs lead to the ENTRY of each function that may begin a path
//! (Transformation 3), in piecewise profiles also to the GENTRY of each function in which one may begin elsewhere
//! (Transformation 0). Each of these arcs has a value: the number of paths through the arcs before it. Beyond it, ψ and
//! ρ do the numbering ([`super::psi_rho`]); a return adds nothing.
//!
//! In a piecewise profile a path that began within a callee may return, and then any return site can be next. So there
//! is numUnbalRLPaths\[EXIT\], the paths on from a function's EXIT if it is not known who called, and these return arcs
//! have values, too (Equations 33 to 35). They come in the order of functions and calls. If a call of the function is
//! cut, its paths may also end there: this comes first, with the value 0.
//!
//! Erratum: Algorithm 6.1 as printed sets numValidCompsFromExit to ψ_r(numUnbalRLPaths\[EXIT\]) after an unmatched
//! return; as Fig. 17 has it, it is numUnbalRLPaths\[EXIT\] of the function that is returned to.

use super::error::IpathError;
use super::graph::{ENTRY, EXIT, FlowGraph, GENTRY, Node, Role};
use super::psi_rho::{PsiRho, Summary};
use super::types::{AtCall, Entry, FunctionKey, GroupId, Groups, Keys, MOST_PATHS, Target};
use crate::facts::Function;
use crate::graph::cfg::Cfg;
use crate::ids::{CallId, FunctionId};
use crate::method::path::classes::EdgeClasses;

/// A return arc: one call behind which a path may go on from EXIT where the caller is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Return {
    /// The caller.
    pub caller: FunctionId,
    /// The call behind which the path goes on.
    pub call: CallId,
    /// The return-site vertex of the call.
    pub node: Node,
    /// edgeValue of the return arc.
    pub value: u64,
}

/// One function with its numbers.
#[derive(Clone, Debug)]
pub struct FunctionNumbers {
    /// The graph of the function.
    pub graph: FlowGraph,
    /// The linear functions ψ and ρ of the graph.
    pub linear: PsiRho,
    /// How its activations begin.
    pub entry: Entry,
    /// See [`FunctionKey::front`].
    pub front: bool,
    /// numUnbalRLPaths of its EXIT. Where paths know their callers it means nothing.
    pub paths_from_exit: u64,
    /// The return arcs of paths that don't, by rising value.
    pub returns: Vec<Return>,
    /// The value of the arc from Entry_global to ENTRY, if there is one.
    pub from_entry: Option<u64>,
    /// The value of the arc from Entry_global to GENTRY, if there is one.
    pub from_gentry: Option<u64>,
    /// numValidCompsFromExit of an activation that begins a path.
    pub alone: u64,
    /// The group that it is in, if it is in one, and what is added to the number with which a call of the group enters
    /// it: the paths of all members before it.
    pub in_group: Option<(GroupId, u64)>,
}

impl FunctionNumbers {
    /// How many paths begin at GENTRY.
    #[must_use]
    pub fn paths_of_gentry(&self) -> u128 {
        self.linear.psi[GENTRY].at(u128::from(self.paths_from_exit))
    }
}

/// An arc that leaves Entry_global.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// The value of the arc.
    pub value: u64,
    /// To which function it leads.
    pub function: FunctionId,
    /// To its ENTRY; else to its GENTRY.
    pub at_entry: bool,
}

/// The numbered paths of a unit.
#[derive(Clone, Debug)]
pub struct Numbering {
    /// Per function; `None` if it has no probes.
    pub functions: Vec<Option<FunctionNumbers>>,
    /// By rising value.
    pub starts: Vec<Start>,
    /// How many paths there are.
    pub paths: u64,
    /// Paths partition what is executed.
    pub piecewise: bool,
    /// The functions that calls through pointers may lead to.
    pub groups: Groups,
}

/// A function that is to be numbered.
#[derive(Clone, Copy, Debug)]
pub struct Shape<'a> {
    /// The function.
    pub function: &'a Function,
    /// The function's control-flow graph.
    pub cfg: &'a Cfg,
}

/// The graph of each measured function by its key.
pub(super) fn graphs(
    shapes: &[Option<Shape<'_>>],
    keys: &Keys<'_>,
    piecewise: bool,
) -> Result<Vec<Option<FlowGraph>>, IpathError> {
    let keys = &keys.functions;
    if shapes.len() != keys.len() {
        return Err(IpathError::ForeignUnit);
    }
    let graph = |(id, (shape, key)): (FunctionId, (&Option<Shape<'_>>, &&FunctionKey))| {
        let Some(Shape { function, cfg }) = shape.filter(|_| key.entry != Entry::Unmeasured) else { return Ok(None) };
        let classes = EdgeClasses::new(function, cfg);
        let graph = FlowGraph::new(function, cfg, &classes, key, piecewise);
        let missing = key.calls.iter().find(|(call, _)| function.calls.get(*call).is_none());
        if let Some(&(call, _)) = missing {
            return Err(IpathError::NoSuchCall(id, call));
        }
        if !key.calls.is_sorted_by(|a, b| a.0 < b.0) || !graph.is_acyclic() {
            return Err(IpathError::Cyclic(id));
        }
        Ok(Some(graph))
    };
    FunctionId::all().zip(shapes.iter().zip(keys)).map(graph).collect()
}

/// The functions, each after all that paths cross into from it.
///
/// # Errors
/// If a call crosses into a function that is not entered so, or there is a cycle.
pub(super) fn callees_first(Keys { functions: keys, groups }: &Keys<'_>) -> Result<Vec<FunctionId>, IpathError> {
    let mut open = vec![0usize; keys.len()];
    let mut callers: Vec<Vec<FunctionId>> = vec![Vec::new(); keys.len()];
    for (caller, key) in FunctionId::all().zip(keys) {
        for &(call, at) in &key.calls {
            let entry = |callee: FunctionId| keys.get(callee.index()).map(|key| key.entry);
            if let AtCall::Begin(callee) = at
                && entry(callee) != Some(Entry::Called { cut: true })
            {
                return Err(IpathError::NoSuchCall(caller, call));
            }
            for callee in groups.targets(at) {
                match entry(callee) {
                    Some(Entry::Open) => {}
                    Some(entry) if entry.is_called() && !matches!(at, AtCall::Reach(_)) => {}
                    _ => return Err(IpathError::NoSuchCall(caller, call)),
                }
                open[caller.index()] += 1;
                callers[callee.index()].push(caller);
            }
        }
    }
    let mut order: Vec<FunctionId> = (0..keys.len()).filter(|&f| open[f] == 0).map(FunctionId::new).collect();
    let mut next = 0;
    while let Some(&callee) = order.get(next) {
        next += 1;
        for &caller in &callers[callee.index()] {
            open[caller.index()] -= 1;
            if open[caller.index()] == 0 {
                order.push(caller);
            }
        }
    }
    if order.len() == keys.len() { Ok(order) } else { Err(IpathError::Recursive) }
}

impl Numbering {
    /// Numbers the paths.
    ///
    /// # Errors
    /// [`IpathError::TooManyPaths`] where there are more than [`MOST_PATHS`]; others where the keys can't be those of
    /// these functions.
    pub fn new(shapes: &[Option<Shape<'_>>], keys: &Keys<'_>, piecewise: bool) -> Result<Self, IpathError> {
        let graphs = graphs(shapes, keys, piecewise)?;
        let order = callees_first(keys)?;
        let linear = linear(&graphs, &order, keys.groups);
        let in_groups = in_groups(&linear, keys.groups)?;
        let from_exit = paths_from_exit(&graphs, &linear, &keys.functions, &order);
        if from_exit.iter().any(|(paths, _)| *paths > u128::from(MOST_PATHS)) {
            return Err(IpathError::TooManyPaths(MOST_PATHS));
        }
        let mut functions: Vec<Option<FunctionNumbers>> = Vec::with_capacity(graphs.len());
        let all = graphs.into_iter().zip(linear).zip(from_exit).zip(&keys.functions).zip(in_groups);
        for ((((graph, linear), (paths, returns)), key), in_group) in all {
            functions.push(graph.map(|graph| FunctionNumbers {
                graph,
                linear,
                entry: key.entry,
                front: key.front,
                paths_from_exit: to_word(paths),
                returns,
                from_entry: None,
                from_gentry: None,
                alone: 1,
                in_group,
            }));
        }
        let groups = keys.groups.clone();
        let mut numbering = Self { functions, starts: Vec::new(), paths: 0, piecewise, groups };
        numbering.start()?;
        Ok(numbering)
    }

    /// Gives the arcs of Entry_global their values: those of functions at the front first, which words of the slab can
    /// count.
    fn start(&mut self) -> Result<(), IpathError> {
        let mut starts: Vec<(u128, FunctionId, bool, bool)> = Vec::new();
        for at_entry in [true, false] {
            for (id, numbers) in FunctionId::all().zip(&self.functions) {
                let Some(numbers) = numbers else { continue };
                let paths = match at_entry {
                    true if numbers.entry.begins() => numbers.linear.psi[ENTRY].at(1),
                    false if self.piecewise => numbers.linear.psi[GENTRY].at(u128::from(numbers.paths_from_exit)),
                    _ => 0,
                };
                if paths > 0 {
                    starts.push((paths, id, at_entry, numbers.front));
                }
            }
        }
        starts.sort_by_key(|&(.., front)| !front);
        let mut value = 0u128;
        for (paths, function, at_entry, _) in starts {
            let start = Start { value: to_word(value), function, at_entry };
            value = value.saturating_add(paths);
            if value > u128::from(MOST_PATHS) {
                return Err(IpathError::TooManyPaths(MOST_PATHS));
            }
            if let Some(numbers) = &mut self.functions[function.index()] {
                let slot = if at_entry { &mut numbers.from_entry } else { &mut numbers.from_gentry };
                *slot = Some(start.value);
            }
            self.starts.push(start);
        }
        self.paths = to_word(value);
        Ok(())
    }

    /// The numbers of a function with probes.
    #[must_use]
    pub fn of(&self, function: FunctionId) -> Option<&FunctionNumbers> {
        self.functions.get(function.index())?.as_ref()
    }

    /// A bound on how often a path can enter each function: maxEnters (§3.2). It saturates.
    #[must_use]
    pub fn max_enters(&self, keys: &Keys<'_>) -> Vec<u64> {
        let begins = |numbers: &Option<FunctionNumbers>| {
            u64::from(numbers.as_ref().is_some_and(|numbers| numbers.from_entry.is_some() || self.piecewise))
        };
        let mut most: Vec<u64> = self.functions.iter().map(begins).collect();
        let order = callees_first(keys).unwrap_or_default();
        for &caller in order.iter().rev() {
            let Some(numbers) = self.of(caller) else { continue };
            let crossed = numbers.graph.crossings().map(|(_, _, callee)| Target::Function(callee));
            let entered = crossed.chain(numbers.graph.descents().map(|(_, _, target)| target));
            for callee in entered.flat_map(|target| self.groups.functions(target)) {
                most[callee.index()] = most[callee.index()].saturating_add(most[caller.index()]);
            }
        }
        most
    }
}

/// Per node of a function whose activations begin paths, the number of the path to there, the sum of the values so far,
/// if it is the only one.
pub(super) fn only_paths(numbers: &FunctionNumbers) -> Vec<Option<u64>> {
    /// Number, and numValidCompsFromExit; or there are several.
    #[derive(Clone, Copy)]
    enum To {
        Nothing,
        One(u64, u64),
        Several,
    }
    let graph = &numbers.graph;
    let mut to = vec![To::Nothing; graph.node_count()];
    if numbers.entry == Entry::Alone {
        to[ENTRY] = numbers.from_entry.map_or(To::Several, |start| To::One(start, numbers.alone));
        to[GENTRY] = numbers.from_gentry.map_or(To::Several, |start| To::One(start, numbers.paths_from_exit));
        for &node in graph.topological_order() {
            for &arc in graph.out(node) {
                let value = |completions| u64::try_from(numbers.linear.rho[arc].at(u128::from(completions))).ok();
                let next = match (to[node], graph.role(arc)) {
                    (To::One(number, completions), role) if !matches!(role, Role::Cross(..)) => {
                        let sum = value(completions).and_then(|value| number.checked_add(value));
                        sum.map_or(To::Several, |sum| To::One(sum, completions))
                    }
                    (To::Nothing, _) => continue,
                    _ => To::Several,
                };
                let there = &mut to[graph.dst(arc)];
                *there = if matches!(there, To::Nothing) { next } else { To::Several };
            }
        }
    }
    to.into_iter().map(|to| if let To::One(number, _) = to { Some(number) } else { None }).collect()
}

#[allow(clippy::cast_possible_truncation, reason = "checked against the most paths there may be")]
const fn to_word(paths: u128) -> u64 {
    if paths > MOST_PATHS as u128 { MOST_PATHS } else { paths as u64 }
}

/// Per function, its group, and the paths of all members before it.
fn in_groups(linear: &[PsiRho], groups: &Groups) -> Result<Vec<Option<(GroupId, u64)>>, IpathError> {
    let mut offsets = vec![None; linear.len()];
    for (number, members) in groups.0.iter().enumerate() {
        let mut paths = 0u128;
        for &member in members {
            let slot = offsets.get_mut(member.index()).ok_or(IpathError::ForeignUnit)?;
            if slot.replace((GroupId::new(number), to_word(paths))).is_some() {
                return Err(IpathError::ForeignUnit);
            }
            paths = paths.saturating_add(summary(&linear[member.index()]).entry.at(1));
        }
        if paths > u128::from(MOST_PATHS) {
            return Err(IpathError::TooManyPaths(MOST_PATHS));
        }
    }
    Ok(offsets)
}

/// The ψ and ρ of all functions.
fn linear(graphs: &[Option<FlowGraph>], order: &[FunctionId], groups: &Groups) -> Vec<PsiRho> {
    let mut linear: Vec<PsiRho> = vec![PsiRho::default(); graphs.len()];
    for &function in order {
        if let Some(graph) = &graphs[function.index()] {
            linear[function.index()] =
                PsiRho::new(graph, |target| Summary::of(target, groups, |callee| summary(&linear[callee.index()])));
        }
    }
    linear
}

/// What callers need to know of a function.
fn summary(linear: &PsiRho) -> Summary {
    Summary { entry: linear.psi.get(ENTRY).copied().unwrap_or_default(), longest: linear.longest }
}

/// numUnbalRLPaths of each EXIT, and the return arcs that leave it (Equations 33 to 35), callers first.
fn paths_from_exit(
    graphs: &[Option<FlowGraph>],
    linear: &[PsiRho],
    keys: &[&FunctionKey],
    order: &[FunctionId],
) -> Vec<(u128, Vec<Return>)> {
    let mut callers: Vec<Vec<(FunctionId, CallId, Node)>> = vec![Vec::new(); graphs.len()];
    for (caller, graph) in FunctionId::all().zip(graphs) {
        for (arc, call, callee) in graph.iter().flat_map(FlowGraph::crossings) {
            let node = graph.as_ref().map_or(EXIT, |graph| graph.dst(arc));
            callers[callee.index()].push((caller, call, node));
        }
    }
    let mut all: Vec<(u128, Vec<Return>)> = vec![Default::default(); graphs.len()];
    for &function in order.iter().rev() {
        let ends = keys[function.index()].entry.begins();
        let (mut paths, mut returns) = (u128::from(ends), Vec::new());
        for &(caller, call, node) in &callers[function.index()] {
            returns.push(Return { caller, call, node, value: to_word(paths) });
            paths = paths.saturating_add(linear[caller.index()].psi[node].at(all[caller.index()].0));
        }
        all[function.index()] = (paths, returns);
    }
    all
}
