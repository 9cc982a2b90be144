//! Chooses where paths are cut, so that their numbers fit (Melski & Reps 1998, §8 and §9.1).
//!
//! The number of paths is exponential in the size of a program. So calls are cut: of each function, callees first, as
//! many as are needed to keep its paths within a limit, those first that run least for each doubling that they bring.
//! What is deep in the call graph, and runs most, stays whole. If the paths of the unit together are still more than
//! the budget, the limit is lowered.
//!
//! Paths must not only be few but also short: without a branch, functions that each call the next one twice have one
//! path, which no computer can write down ([`MOST_LENGTH`]).

use super::descents::{self, Caller};
use super::error::IpathError;
use super::graph::{ENTRY, FlowGraph, GENTRY};
use super::groups::Pointers;
use super::numbering::{Numbering, Shape};
use super::psi_rho::{MOST_LENGTH, PsiRho, Summary};
use super::supergraph::{Crossing, Entered, FunctionInput, callees, crossings, entered};
use super::types::{AtCall, Entry, FunctionKey, GroupId, Groups, IpathOptions, Keys, MOST_PATHS, Target};
use crate::facts::{EdgeKind, Function};
use crate::graph::cfg::Cfg;
use crate::graph::dfs::Dfs;
use crate::ids::{Block, CallId, Edge, FunctionId, IdMap};
use crate::method::path::Cuts;
use crate::method::path::classes::EdgeClasses;
use crate::method::path::cuts::{choose as choose_within, necessary_besides};
use crate::place::supergraph::frequencies;
use crate::plan::CallPoint;
use rayon::prelude::*;

/// How many paths within a function are left by cuts at its cold edges; the next of these limits is tried if the budget
/// is too small for that. At first as many as path profiles leave, so that no path ends where those run on.
const WITHIN_FUNCTIONS: [u64; 6] = [u64::MAX, 1 << 30, 1 << 20, 1 << 10, 1 << 5, 1];
/// For an array of all paths, no function's limit is lowered further: with so few, paths cross next to nothing.
const LEAST_IN_ARRAY: u64 = 1 << 8;
/// By how much the limit of a function is lowered each time.
const STEP: u64 = 16;

/// The keys of all functions.
///
/// # Errors
/// [`IpathError::TooManyPaths`] if the budget is too small even if no path crosses a call.
pub(super) fn choose(
    functions: &[Option<FunctionInput<'_>>],
    options: IpathOptions,
    piecewise: bool,
) -> Result<(Vec<FunctionKey>, Groups), IpathError> {
    let entered = entered(functions);
    let callees = callees(functions, &entered);
    let wanted = crossings(functions, &callees, options.strategy);
    let shapes: Vec<Option<Shape<'_>>> =
        functions.iter().map(|at| at.as_ref().map(|at| Shape { function: at.function, cfg: &at.cfg })).collect();
    let numbered = |keys: &[FunctionKey], groups: &Groups| {
        Numbering::new(&shapes, &Keys { functions: keys.iter().collect(), groups }, piecewise)
    };
    for (attempt, within) in WITHIN_FUNCTIONS.into_iter().enumerate() {
        let within = if options.budget == MOST_PATHS { within } else { within.min(options.budget) };
        let chooser = Chooser::new(functions, (&entered, [&callees, &wanted]), (options, within), piecewise);
        let most = options.budget.min(options.function);
        let limits = || std::iter::successors(Some(most), |&limit| (limit > 0).then_some(limit / STEP));
        // An array for all paths is worth some calls, but not most of them, unless the user has said how many paths
        // there may be. Functions that have too many by themselves stay out of it.
        let all_in_array = attempt == 0 && options.function < options.budget && options.array < options.budget;
        let tried = limits().filter(|&limit| all_in_array && limit >= LEAST_IN_ARRAY).map(|limit| (limit, true));
        for (limit, in_array) in tried.chain(limits().map(|limit| (limit, false))) {
            let crossed = chooser.within(limit);
            let (mut keys, groups) = chooser.keys(&crossed, &chooser.descents(&crossed, options.descents));
            match numbered(&keys, &groups) {
                Ok(numbering)
                    if numbering.paths <= options.budget
                        && (!in_array || paths_of_small(&numbering, options.function) <= options.array) =>
                {
                    chooser.bring_to_front(&mut keys, &numbering, options.array);
                    return Ok((keys, groups));
                }
                Ok(_) | Err(IpathError::TooManyPaths(_)) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Err(IpathError::TooManyPaths(options.budget))
}

struct Chooser<'a> {
    functions: &'a [Option<FunctionInput<'a>>],
    /// Per function, how it may be entered.
    entered: &'a [Entered],
    /// Per function, its calls of functions that may be entered with a path.
    callees: &'a [Vec<Crossing>],
    /// Per function, the calls that paths may cross.
    wanted: &'a [Vec<Crossing>],
    /// The calls through pointers that paths may enter.
    pointers: Pointers,
    /// Per function.
    cuts: Vec<(EdgeClasses, Cuts)>,
    /// Per function, how often it is thought to run.
    frequency: Vec<f64>,
    piecewise: bool,
}

impl<'a> Chooser<'a> {
    fn new(
        functions: &'a [Option<FunctionInput<'a>>],
        (entered, [callees, wanted]): (&'a [Entered], [&'a [Vec<Crossing>]; 2]),
        (options, within): (IpathOptions, u64),
        piecewise: bool,
    ) -> Self {
        let cuts = |at: &Option<FunctionInput<'_>>| {
            let Some(FunctionInput { function, cfg, weighting, .. }) = at else {
                return None;
            };
            let classes = EdgeClasses::new(function, cfg);
            let mut cuts = necessary_besides(caught_again(function, cfg), cfg, &classes);
            let is_cut = |block| cuts.blocks.binary_search(&block).is_ok();
            let self_loops = cfg.edges().filter(|&e| cfg.src(e) == cfg.dst(e) && !is_cut(cfg.dst(e)));
            let self_loops: Vec<_> = self_loops.filter(|&e| cfg.dst(e) != cfg.exit()).collect();
            cuts.edges.extend(self_loops);
            cuts.edges.sort_unstable();
            let cuts = choose_within(function, cfg, &classes, weighting, cuts, within);
            Some((classes, in_landing_pads(function, cfg, cuts)))
        };
        let cuts: Vec<_> = functions.par_iter().map(cuts).collect();
        let nothing = || {
            let cfg = Cfg::new(1, []).expect("one block and no edge");
            (EdgeClasses::new(&Function::default(), &cfg), Cuts::default())
        };
        let cuts = cuts.into_iter().map(|cuts| cuts.unwrap_or_else(nothing)).collect();
        let points: Vec<Vec<CallPoint>> = functions
            .iter()
            .map(|at| {
                let callers = at.iter().flat_map(|at| &at.callers);
                let point = |&(function, call): &(FunctionId, CallId)| {
                    let facts = functions.get(function.index())?.as_ref()?.function.calls.get(call)?;
                    Some(CallPoint { function, block: facts.block, after_sites: 0 })
                };
                callers.filter_map(point).collect()
            })
            .collect();
        let weigh = |point: &CallPoint| weight(functions, point.function, point.block);
        let frequency = frequencies(&points, weigh);
        let pointers = Pointers::none(functions.len());
        let mut chooser = Self { functions, entered, callees, wanted, pointers, cuts, frequency, piecewise };
        if options.descents > 0 && !piecewise {
            chooser.pointers = Pointers::new(functions, wanted, |caller, call| chooser.weight(caller, call));
        }
        chooser
    }

    /// Per function, the calls that paths cross if none has more paths than that, where it can be.
    fn within(&self, limit: u64) -> Vec<Vec<Crossing>> {
        let mut crossed: Vec<Vec<Crossing>> = vec![Vec::new(); self.functions.len()];
        if limit == 0 {
            return crossed;
        }
        let mut summaries = vec![Summary::default(); self.functions.len()];
        for function in self.callees_first() {
            if self.functions[function.index()].is_none() {
                continue;
            }
            let mut calls = self.wanted[function.index()].clone();
            let price = |crossing: &Crossing| {
                let Summary { entry, longest } = summaries[crossing.callee.index()];
                let doublings = f64::from(entry.at(1).max(2).ilog2()) + longest as f64 / MOST_LENGTH as f64;
                self.weight(function, crossing.call) / doublings
            };
            calls.sort_by(|a, b| price(b).total_cmp(&price(a)).then(a.call.cmp(&b.call)));
            let fits = |count: usize| {
                let linear = self.linear(function, &calls[..count], &summaries);
                let paths = linear.psi[ENTRY].and(linear.psi[GENTRY]).at(1);
                let fits = paths <= u128::from(limit) && linear.longest <= MOST_LENGTH;
                (fits, linear)
            };
            let (mut low, mut high) = (0, calls.len());
            let (all, mut linear) = fits(high);
            if !all {
                while low < high {
                    let middle = (low + high).div_ceil(2);
                    if fits(middle).0 {
                        low = middle;
                    } else {
                        high = middle - 1;
                    }
                }
                linear = fits(low).1;
                calls.truncate(low);
            }
            summaries[function.index()] = Summary { entry: linear.psi[ENTRY], longest: linear.longest };
            calls.sort_unstable_by_key(|crossing| crossing.call);
            crossed[function.index()] = calls;
        }
        crossed
    }

    fn callees_first(&self) -> Vec<FunctionId> {
        let Pointers { groups, calls } = &self.pointers;
        let mut open: Vec<usize> = vec![0; self.wanted.len()];
        let mut callers: Vec<Vec<usize>> = vec![Vec::new(); open.len()];
        for (caller, (crossings, calls)) in self.wanted.iter().zip(calls).enumerate() {
            let mut reached: Vec<GroupId> = calls.iter().map(|call| call.1).collect();
            reached.sort_unstable();
            reached.dedup();
            let reached = reached.iter().flat_map(|&group| groups.members(group));
            for callee in crossings.iter().map(|crossing| crossing.callee).chain(reached.copied()) {
                open[caller] += 1;
                callers[callee.index()].push(caller);
            }
        }
        let mut order: Vec<usize> = (0..open.len()).filter(|&function| open[function] == 0).collect();
        let mut next = 0;
        while let Some(&callee) = order.get(next) {
            next += 1;
            for &caller in &callers[callee] {
                open[caller] -= 1;
                if open[caller] == 0 {
                    order.push(caller);
                }
            }
        }
        order.into_iter().map(FunctionId::new).collect()
    }

    fn linear(&self, function: FunctionId, crossed: &[Crossing], summaries: &[Summary]) -> PsiRho {
        let Some(at) = &self.functions[function.index()] else { return PsiRho::default() };
        let (classes, cuts) = &self.cuts[function.index()];
        let mut sorted = crossed.to_vec();
        sorted.sort_unstable_by_key(|crossing| crossing.call);
        // Whether the callee of a cut call reads what its caller says is not known yet.
        let calls = self.at_calls(function, (&sorted, &[]), |_| true);
        let key = FunctionKey { entry: Entry::Alone, cuts: cuts.clone(), calls, ..FunctionKey::default() };
        let graph = FlowGraph::new(at.function, &at.cfg, classes, &key, self.piecewise);
        let groups = &self.pointers.groups;
        PsiRho::new(&graph, |target| Summary::of(target, groups, |callee| summaries[callee.index()]))
    }

    /// What becomes of paths at the calls of a function. `called` are functions into which some call is crossed.
    fn at_calls(
        &self,
        function: FunctionId,
        (crossed, descended): (&[Crossing], &[(CallId, AtCall)]),
        called: impl Fn(FunctionId) -> bool,
    ) -> Vec<(CallId, AtCall)> {
        let Some(FunctionInput { function: facts, .. }) = &self.functions[function.index()] else { return Vec::new() };
        let find = |list: &[Crossing], call: CallId| {
            list.binary_search_by_key(&call, |crossing| crossing.call).ok().map(|index| list[index].callee)
        };
        let all = &self.callees[function.index()];
        let mut unwinds = IdMap::filled(false, facts.blocks.len());
        for edge in facts.edges.iter().filter(|edge| edge.kind == EdgeKind::InvokeUnwind) {
            unwinds[edge.src] = true;
        }
        let at = |(call, at): (CallId, &crate::facts::Call)| {
            if let Some(callee) = find(crossed, call) {
                return Some((call, AtCall::Cross(callee)));
            }
            if let Ok(index) = descended.binary_search_by_key(&call, |at| at.0) {
                return Some(descended[index]);
            }
            let told = |&callee: &FunctionId| self.entered[callee.index()] == Entered::Always && called(callee);
            if let Some(callee) = find(all, call).filter(told) {
                return Some((call, AtCall::Begin(callee)));
            }
            let throws = at.terminator && unwinds.get(at.block) == Some(&true);
            let leaves = (at.is_site || throws) && !at.resume_marker && !at.must_tail;
            leaves.then_some((call, if at.returns_twice { AtCall::Cut } else { AtCall::Pass }))
        };
        facts.calls.numbered().filter_map(at).collect()
    }

    /// Per function, the calls by which paths descend where they cross these. None, if paths may not have so many.
    fn descents(&self, crossed: &[Vec<Crossing>], limit: u64) -> Vec<Vec<(CallId, AtCall)>> {
        if limit == 0 || self.piecewise {
            return vec![Vec::new(); self.functions.len()];
        }
        let order = self.callees_first();
        let mut callers: Vec<Option<Caller>> = self.functions.iter().map(|_| None).collect();
        let mut summaries = vec![Summary::default(); self.functions.len()];
        for &id in &order {
            let number = id.index();
            let Some(at) = &self.functions[number] else { continue };
            let linear = self.linear(id, &crossed[number], &summaries);
            summaries[number] = Summary { entry: linear.psi[ENTRY], longest: linear.longest };
            let is_crossed = |call: CallId| crossed[number].iter().any(|crossing| crossing.call == call);
            let others = self.wanted[number].iter().filter(|crossing| !is_crossed(crossing.call));
            let others = others.map(|crossing| (crossing.call, AtCall::Descend(crossing.callee)));
            let reached = self.pointers.calls[number].iter().map(|&(call, group)| (call, AtCall::Reach(group)));
            let mut others: Vec<(CallId, AtCall)> = others.chain(reached).collect();
            others.sort_unstable_by_key(|at| at.0);
            let calls = self.at_calls(id, (&crossed[number], &others), |_| true);
            let (classes, cuts) = &self.cuts[number];
            let key = FunctionKey { entry: Entry::Alone, cuts: cuts.clone(), calls, ..FunctionKey::default() };
            let graph = FlowGraph::new(at.function, &at.cfg, classes, &key, false);
            callers[number] = Some(Caller { graph, linear });
        }
        descents::choose(&callers, (&order, &self.pointers.groups), |caller, call| self.weight(caller, call), limit)
    }

    /// The keys, and the groups that some call enters.
    fn keys(&self, crossed: &[Vec<Crossing>], descended: &[Vec<(CallId, AtCall)>]) -> (Vec<FunctionKey>, Groups) {
        let mut groups = self.pointers.groups.clone();
        let mut reached = vec![false; groups.0.len()];
        let mut called = vec![false; self.functions.len()];
        crossed.iter().flatten().for_each(|crossing| called[crossing.callee.index()] = true);
        for &(_, at) in descended.iter().flatten() {
            match at.entered() {
                Some(Target::Function(callee)) => called[callee.index()] = true,
                Some(Target::Group(group)) => reached[group.index()] = true,
                None => {}
            }
        }
        groups.0.iter_mut().zip(reached).filter(|(_, reached)| !reached).for_each(|(members, _)| members.clear());
        let mut in_group = vec![false; self.functions.len()];
        groups.0.iter().flatten().for_each(|member| in_group[member.index()] = true);
        let mut keys: Vec<FunctionKey> = vec![FunctionKey::default(); self.functions.len()];
        for (number, at) in self.functions.iter().enumerate() {
            if at.is_none() {
                continue;
            }
            let function = FunctionId::new(number);
            let entry = match self.entered[number] {
                Entered::Always if called[number] => Entry::Called { cut: false },
                Entered::Named if called[number] => Entry::Open,
                _ if in_group[number] => Entry::Open,
                _ => Entry::Alone,
            };
            let calls =
                self.at_calls(function, (&crossed[number], &descended[number]), |callee| called[callee.index()]);
            let enterable = self.entered[number] != Entered::Alone;
            keys[number] = FunctionKey { entry, cuts: self.cuts[number].1.clone(), calls, front: false, enterable };
        }
        let begun: Vec<FunctionId> = keys
            .iter()
            .flat_map(|key| &key.calls)
            .filter_map(|&(_, at)| if let AtCall::Begin(callee) = at { Some(callee) } else { None })
            .collect();
        for callee in begun {
            keys[callee.index()].entry = Entry::Called { cut: true };
        }
        (keys, groups)
    }

    /// Gives the words of an array to the functions that begin the most paths for each word that they take.
    fn bring_to_front(&self, keys: &mut [FunctionKey], numbering: &Numbering, array: u64) {
        let mut wanted: Vec<(f64, u128, usize)> = Vec::new();
        for (number, (at, key)) in self.functions.iter().zip(keys.iter()).enumerate() {
            let (Some(at), Some(numbers)) = (at, numbering.of(FunctionId::new(number))) else { continue };
            let paths = numbers
                .from_entry
                .map_or(0, |_| numbers.linear.psi[ENTRY].at(1))
                .saturating_add(numbers.from_gentry.map_or(0, |_| numbers.paths_of_gentry()));
            let edges: f64 = key.cuts.edges.iter().map(|&edge| at.weighting.edge(edge)).sum();
            let blocks: f64 = key.cuts.blocks.iter().map(|&block| at.weighting.block(block)).sum();
            let calls = key.calls.iter().filter(|call| matches!(call.1, AtCall::Cut));
            let calls: f64 = calls.map(|call| at.weighting.block(at.function.calls[call.0].block)).sum();
            let begun = self.frequency[number] * (1.0 + edges + blocks + calls);
            wanted.push((begun / paths.max(1) as f64, paths, number));
        }
        wanted.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.2.cmp(&b.2)));
        let mut left = u128::from(array);
        for (_, paths, number) in wanted {
            if paths <= left {
                left -= paths;
                keys[number].front = true;
            }
        }
    }

    fn weight(&self, function: FunctionId, call: CallId) -> f64 {
        let facts = self.functions[function.index()].as_ref().and_then(|at| at.function.calls.get(call));
        facts.map_or(0.0, |call| self.frequency[function.index()] * weight(self.functions, function, call.block))
    }
}

/// How many paths begin in functions in which at most so many do.
fn paths_of_small(numbering: &Numbering, most: u64) -> u64 {
    let ends = numbering.starts.iter().skip(1).map(|start| start.value).chain([numbering.paths]);
    let paths = numbering.starts.iter().zip(ends).map(|(start, end)| end - start.value);
    paths.filter(|&paths| paths <= most).fold(0, u64::saturating_add)
}

/// The landing pads that lead to their own invokes. Paths are counted there, since none is on an unwind edge.
fn caught_again(function: &Function, cfg: &Cfg) -> IdMap<Block, bool> {
    let dfs = Dfs::new(cfg);
    let mut pads = cfg.per_block(false);
    for (edge, facts) in function.edges.numbered() {
        if facts.kind == EdgeKind::InvokeUnwind && dfs.is_backedge(edge) && facts.dst != cfg.exit() {
            pads[facts.dst] = true;
        }
    }
    pads
}

/// These cuts, where those on unwind edges are made in the landing pads.
fn in_landing_pads(function: &Function, cfg: &Cfg, mut cuts: Cuts) -> Cuts {
    let unwinds = |edge: &Edge| function.edges[*edge].kind == EdgeKind::InvokeUnwind && cfg.dst(*edge) != cfg.exit();
    let pads: Vec<Block> = cuts.edges.iter().copied().filter(unwinds).map(|edge| cfg.dst(edge)).collect();
    cuts.edges.retain(|edge| !unwinds(edge));
    cuts.blocks.extend(pads);
    cuts.blocks.sort_unstable();
    cuts.blocks.dedup();
    cuts
}

fn weight(functions: &[Option<FunctionInput<'_>>], function: FunctionId, block: Block) -> f64 {
    let at = functions.get(function.index()).and_then(Option::as_ref);
    at.map_or(0.0, |at| at.weighting.block(block))
}
