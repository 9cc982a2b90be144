//! Decides what is done on each arc, and where the probes are (Ball & Larus 1996, §3.4, Fig. 8).
//!
//! Each path needs `r = 0` at its start, `r += Inc(c)` on each chord *c* and `table[r] += 1` at its end. The start is
//! pushed down as far as nothing else joins: a node is *fresh* if only one path leads to it, on which no increment
//! lies; the first chord after it becomes `r = Inc(c)`. The end is pulled up as far as nothing else branches off: a
//! node is
//! *counted* if only one path goes on from it, without an increment; the chord before it becomes
//! `table[r + Inc(c)] += 1`. Where the two meet, `table[Inc(c)] += 1` is left, which is written as `r = Inc(c)`,
//! `table[r] += 1`.
//!
//! With an array, the end is also pulled over increments where nothing else branches off, if more arcs with increments
//! than others join there: each arc then counts by itself, which costs no more than to add. With a window, the same is
//! done if the number, and so the word, is known on enough of the arcs. With a hash table it would take too much code.
//!
//! The paper moves both over edges alone. Here they have to stop where the probe would stand on an arc that can hold
//! none: the start at the arcs into a computed goto, the end at the arcs out of it, and at the entry.
//!
//! With a metric, the count is not pulled over the code of a block, since the metric may change there.
//!
//! Calls are inside blocks, and only the action of the block's outgoing edge comes after them. So while a call
//! runs, the register holds the same value as at the node where the block is left.

use super::classes::{Class, EdgeClasses};
use super::cost::LOOK;
use super::graph::{Node, PathGraph, Role, entered, left};
use super::increments::Increments;
use super::numbering::Numbering;
use super::types::{Arc, AtCalls, PathOptions, Window};
use super::windows::Windows;
use crate::facts::Function;
use crate::graph::cfg::Cfg;
use crate::ids::{Block, Edge, IdMap, Table};
use crate::place::placement::{Placer, add_counter};
use crate::plan::{CounterKey, CounterPlan};
use crate::probe::{Place, PlacedProbe, Probe, Reg};
use crate::weight::weighting::Weighting;

/// An action on an arc, or at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    /// `r = k`.
    Set(i64),
    /// `r += k`.
    Add(i64),
    /// `table[r + k] += 1`; the register is dead then.
    Count(Table, i64),
    /// `table[k] += 1`; the register is dead then.
    CountConstant(i64),
}

/// Placed probes, and what the register means at calls.
pub struct Placed {
    /// The probes.
    pub probes: Vec<PlacedProbe>,
    /// The counters among them.
    pub self_loops: CounterKey,
    /// See [`super::PathKey::calls`].
    pub calls: Vec<(Block, AtCalls)>,
    /// See [`super::PathPlan::in_blocks`].
    pub in_blocks: IdMap<Block, AtCalls>,
    /// See [`super::PathPlan::highest`].
    pub highest: u64,
    /// See [`super::PathKey::windows`].
    pub windows: Vec<Window>,
}

/// The function whose paths are counted.
#[derive(Clone, Copy)]
pub(super) struct PathInput<'a> {
    pub function: &'a Function,
    pub cfg: &'a Cfg,
    pub classes: &'a EdgeClasses,
    pub weighting: &'a Weighting,
}

impl PathInput<'_> {
    /// The sums along its paths.
    pub fn increments(self, numbering: &Numbering, options: PathOptions) -> Increments {
        Increments::new(self.function, self.cfg, numbering, self.classes, self.weighting, options.array)
    }
}

/// The optimised placement.
#[must_use]
pub(super) fn place(
    input: PathInput<'_>,
    numbering: &Numbering,
    increments: &Increments,
    windows: Windows,
    options: PathOptions,
) -> Placed {
    let PathInput { function, cfg, classes, weighting } = input;
    let mut moves = Moves::new(cfg, numbering.graph(), increments, classes);
    if options.metric.is_summed() {
        moves.keep_ends_behind_blocks(cfg);
    }
    moves.push_starts_down();
    let merged = |arc: Arc| {
        let (weight, splits) = match numbering.graph().role(arc) {
            Role::Real(edge) => (weighting.edge(edge), matches!(classes.class(edge), Class::Placeable(Place::Edge(_)))),
            Role::Inside(block) => (weighting.block(block), false),
            _ => (0.0, false),
        };
        match increments.increment[arc] {
            0 if splits => -weight,
            0 => 0.0,
            _ => weight,
        }
    };
    let table = match () {
        () if numbering.paths() <= options.array => Tables::Array,
        () if windows.is_wide() => Tables::Window,
        () => Tables::Hashed,
    };
    moves.pull_counts_up(&windows, merged, table);
    moves.add_the_rest();
    finish(function, cfg, numbering, increments, classes, &moves, windows)
}

/// The naive placement: nothing is moved, and only actions on the same arc are merged.
#[must_use]
pub fn place_naively(
    function: &Function,
    cfg: &Cfg,
    numbering: &Numbering,
    increments: &Increments,
    classes: &EdgeClasses,
) -> Placed {
    let graph = numbering.graph();
    let windows = Windows::none(numbering);
    let mut moves = Moves::new(cfg, graph, increments, classes);
    for arc in 0..graph.arc_count() {
        let k = increments.increment[arc];
        moves.actions[arc] = match (graph.src(arc) == graph.entry(), graph.dst(arc) == graph.exit()) {
            (true, true) => Some(Action::CountConstant(k)),
            (true, false) => Some(Action::Set(k)),
            (false, true) => Some(Action::Count(windows.of_arc(arc), k)),
            (false, false) => Some(Action::Add(k)).filter(|_| k != 0),
        };
    }
    finish(function, cfg, numbering, increments, classes, &moves, windows)
}

/// Where paths are counted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tables {
    Array,
    /// Most of them in a window.
    Window,
    Hashed,
}

/// The actions of all arcs, while they are being moved.
struct Moves<'a> {
    graph: &'a PathGraph,
    increment: &'a [i64],
    actions: Vec<Option<Action>>,
    /// Only one path without increments leads to the node, and nothing has been put into the register on it.
    fresh: Vec<bool>,
    /// The paths through the node have been counted before it is reached, each with this added to its number so far.
    counted: Vec<Option<i64>>,
    /// The start of paths can't be pushed to this node.
    no_start: Vec<bool>,
    /// The end of paths can't be pulled to this node.
    no_end: Vec<bool>,
}

impl<'a> Moves<'a> {
    fn new(cfg: &Cfg, graph: &'a PathGraph, increments: &'a Increments, classes: &EdgeClasses) -> Self {
        let nodes = graph.node_count();
        let (mut no_start, mut no_end) = (vec![false; nodes], vec![false; nodes]);
        no_end[entered(cfg.entry())] = true;
        for arc in 0..graph.arc_count() {
            let nowhere = match graph.role(arc) {
                Role::Real(edge) => !matches!(classes.class(edge), Class::Placeable(_)),
                Role::ToDispatch(_) | Role::FromDispatch(_) => true,
                _ => false,
            };
            if nowhere {
                no_start[graph.src(arc)] = true;
                no_end[graph.dst(arc)] = true;
            }
        }
        for &edge in graph.self_loops() {
            no_end[left(cfg.src(edge))] = true; // Counted inside, it would be counted with each turn.
        }
        for arc in 0..graph.arc_count() {
            if let Role::Again(_) = graph.role(arc) {
                no_start[graph.src(arc)] = true; // Its number is kept there.
                no_end[graph.dst(arc)] = true;
            }
        }
        Self {
            graph,
            increment: &increments.increment,
            actions: vec![None; graph.arc_count()],
            fresh: vec![false; nodes],
            counted: vec![None; nodes],
            no_start,
            no_end,
        }
    }

    /// Keeps all code of a block in the metric of its path.
    fn keep_ends_behind_blocks(&mut self, cfg: &Cfg) {
        for block in cfg.blocks().filter(|&b| b != cfg.exit()) {
            self.no_end[left(block)] = true;
        }
    }

    fn push_starts_down(&mut self) {
        let graph = self.graph;
        self.fresh[graph.entry()] = true;
        for &node in graph.topological_order() {
            if !self.fresh[node] {
                continue;
            }
            for &arc in graph.out(node) {
                let dst = graph.dst(arc);
                if self.increment[arc] == 0 && graph.inward(dst).len() == 1 && !self.no_start[dst] {
                    self.fresh[dst] = true;
                } else {
                    self.actions[arc] = Some(Action::Set(self.increment[arc]));
                }
            }
        }
    }

    fn pull_counts_up(&mut self, windows: &Windows, merged: impl Fn(Arc) -> f64, tables: Tables) {
        let graph = self.graph;
        self.counted[graph.exit()] = Some(0);
        for &node in graph.topological_order().iter().rev() {
            let Some(rest) = self.counted[node] else { continue };
            for &arc in graph.inward(node) {
                let (src, k) = (graph.src(arc), self.increment[arc].wrapping_add(rest));
                let worthwhile = || match tables {
                    Tables::Array => graph.inward(src).len() == 1 || self.gain(src, &merged) > 0.0,
                    Tables::Window => graph.inward(src).len() == 1 || self.gain_by_constants(src, &merged) > 0.0,
                    Tables::Hashed => false,
                };
                if matches!(graph.role(arc), Role::DeadEnd(_)) {
                    self.actions[arc] = None; // Never taken.
                } else if graph.out(src).len() == 1
                    && !self.no_end[src]
                    && src != graph.entry()
                    && (self.increment[arc] == 0 || worthwhile())
                {
                    self.counted[src] = Some(k);
                    self.actions[arc] = None;
                } else if self.fresh[src] {
                    self.actions[arc] = Some(Action::CountConstant(k));
                } else {
                    self.actions[arc] = Some(Action::Count(windows.of_arc(arc), k));
                }
            }
        }
    }

    /// How many instructions are saved if paths are counted on the arcs into the node instead of after it.
    fn gain(&self, node: Node, merged: impl Fn(Arc) -> f64) -> f64 {
        self.graph.inward(node).iter().map(|&arc| merged(arc)).sum()
    }

    /// The gain where a path is looked for in a window, but for paths whose numbers are known on the arc into the node.
    fn gain_by_constants(&self, node: Node, merged: impl Fn(Arc) -> f64) -> f64 {
        let gain = |&arc: &Arc| match merged(arc) {
            weight if self.fresh[self.graph.src(arc)] => weight.abs() * LOOK,
            weight => weight,
        };
        self.graph.inward(node).iter().map(gain).sum()
    }

    fn add_the_rest(&mut self) {
        for (arc, action) in self.actions.iter_mut().enumerate() {
            let never_taken = matches!(self.graph.role(arc), Role::DeadEnd(_));
            let over = self.counted[self.graph.dst(arc)].is_some();
            if action.is_none() && self.increment[arc] != 0 && !never_taken && !over {
                *action = Some(Action::Add(self.increment[arc]));
            }
        }
    }
}

/// Per node, the sum of the values on the path to it, if there is only one path.
fn only_paths(numbering: &Numbering) -> Vec<Option<u64>> {
    let graph = numbering.graph();
    let mut sums = vec![None; graph.node_count()];
    sums[graph.entry()] = Some(0);
    for &node in graph.topological_order() {
        if let [arc] = graph.inward(node) {
            sums[node] = sums[graph.src(*arc)].map(|sum: u64| sum + numbering.value(*arc));
        }
    }
    sums
}

/// No sum of the values along the beginning of a path is higher.
fn highest(numbering: &Numbering) -> u64 {
    let graph = numbering.graph();
    let mut highest = vec![0u64; graph.node_count()];
    for &node in graph.topological_order() {
        let sums = graph.inward(node).iter().map(|&arc| highest[graph.src(arc)].saturating_add(numbering.value(arc)));
        highest[node] = sums.max().unwrap_or(0);
    }
    highest.into_iter().max().unwrap_or(0)
}

/// Arcs by what they stand for.
struct Arcs {
    of_edge: IdMap<Edge, Option<Arc>>,
    end_of_edge: IdMap<Edge, Option<Arc>>,
    begin_after_edge: IdMap<Block, Option<Arc>>,
    /// Inside, or the end and the beginning at a cut block.
    at_start: IdMap<Block, Vec<Arc>>,
}

impl Arcs {
    fn new(cfg: &Cfg, graph: &PathGraph) -> Self {
        let mut arcs = Self {
            of_edge: cfg.per_edge(None),
            end_of_edge: cfg.per_edge(None),
            begin_after_edge: cfg.per_block(None),
            at_start: cfg.per_block(Vec::new()),
        };
        for arc in 0..graph.arc_count() {
            match graph.role(arc) {
                Role::Real(edge) => arcs.of_edge[edge] = Some(arc),
                Role::EndOnEdge(edge) | Role::EndOfTurn(edge) => arcs.end_of_edge[edge] = Some(arc),
                Role::BeginAfterEdge(block) => arcs.begin_after_edge[block] = Some(arc),
                Role::Inside(block) | Role::EndAtBlock(block) | Role::BeginAtBlock(block) => {
                    arcs.at_start[block].push(arc); // The end comes first in arc order.
                }
                // A new activation's register is 0; the other arcs never have an action.
                Role::Enter | Role::ToDispatch(_) | Role::FromDispatch(_) | Role::DeadEnd(_) | Role::Again(_) => {}
            }
        }
        arcs
    }
}

fn finish(
    function: &Function,
    cfg: &Cfg,
    numbering: &Numbering,
    increments: &Increments,
    classes: &EdgeClasses,
    moves: &Moves,
    mut windows: Windows,
) -> Placed {
    let graph = numbering.graph();
    let arcs = Arcs::new(cfg, graph);
    let mut plan = CounterPlan::default();
    let on_edge = |edge: Edge| -> Vec<Action> {
        let ends = arcs.end_of_edge[edge].filter(|&arc| graph.role(arc) == Role::EndOnEdge(edge));
        let begins = ends.and(arcs.begin_after_edge[cfg.dst(edge)]);
        let parts = [arcs.of_edge[edge], arcs.end_of_edge[edge], begins];
        parts.into_iter().flatten().filter_map(|arc| moves.actions[arc]).collect()
    };
    for block in cfg.blocks().filter(|&b| b != cfg.exit()) {
        let mut here = Vec::new();
        if let [only] = cfg.preds(block)
            && classes.class(*only) == Class::Placeable(Place::Start(block))
        {
            here.extend(on_edge(*only));
        }
        here.extend(arcs.at_start[block].iter().filter_map(|&arc| moves.actions[arc]));
        emit(&mut plan.probes, &mut windows, Place::Start(block), here);
    }
    for edge in cfg.edges().filter(|&e| e != cfg.exit_edge()) {
        if let Class::Placeable(place @ (Place::End(_) | Place::Edge(_))) = classes.class(edge) {
            emit(&mut plan.probes, &mut windows, place, on_edge(edge));
        }
    }
    let placer = Placer::new(function, cfg);
    for &edge in graph.self_loops() {
        add_counter(&mut plan, placer.counter(edge));
    }
    let mut blocks: Vec<Block> = function.sites().map(|s| s.block).filter(|&b| b < cfg.exit()).collect();
    blocks.sort_unstable();
    blocks.dedup();
    let only_paths = only_paths(numbering);
    let at_calls = |node: Node| match only_paths[node] {
        _ if moves.counted[node].is_some() => AtCalls::Counted,
        Some(prefix) => AtCalls::Known(prefix),
        None => AtCalls::Query(increments.query[node]),
    };
    let mut in_blocks = cfg.per_block(AtCalls::Counted);
    for block in cfg.blocks().filter(|&b| b != cfg.exit()) {
        in_blocks[block] = at_calls(left(block));
    }
    let calls = blocks.into_iter().map(|block| (block, in_blocks[block])).collect();
    let highest = highest(numbering);
    Placed { probes: plan.probes, self_loops: plan.key, calls, in_blocks, highest, windows: windows.into_list() }
}

/// Merges what can be merged and adds the probes.
fn emit(probes: &mut Vec<PlacedProbe>, windows: &mut Windows, place: Place, actions: Vec<Action>) {
    let mut merged: Vec<Action> = Vec::with_capacity(actions.len());
    for action in actions {
        let both = match (merged.last(), action) {
            (Some(Action::Set(a)), Action::Add(b)) => Action::Set(a.wrapping_add(b)),
            (Some(Action::Add(a)), Action::Add(b)) => Action::Add(a.wrapping_add(b)),
            (Some(Action::Set(a)), Action::Count(_, b)) => Action::CountConstant(a.wrapping_add(b)),
            (Some(Action::Add(a)), Action::Count(table, b)) => Action::Count(table, a.wrapping_add(b)),
            (Some(Action::Set(_) | Action::Add(_)), Action::Set(_) | Action::CountConstant(_)) => action,
            _ => {
                merged.push(action);
                continue;
            }
        };
        merged.pop();
        merged.push(both);
    }
    for action in merged {
        let (first, second) = match action {
            Action::Set(k) => (Probe::Set(Reg::PathSum, k), None),
            Action::Add(k) => (Probe::Add(Reg::PathSum, k), None),
            Action::Count(table, k) => (Probe::CountPath(table, Reg::PathSum, k), None),
            Action::CountConstant(k) => {
                (Probe::Set(Reg::PathSum, k), Some(Probe::CountPath(windows.of_number(k), Reg::PathSum, 0)))
            }
        };
        probes.extend([Some(first), second].into_iter().flatten().map(|probe| PlacedProbe { place, probe }));
    }
}
