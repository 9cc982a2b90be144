//! What runs equally often in all executions in which every call returns.
//!
//! Exceptions begin a flow of their own at their landing pads. The compiler's own checks do not fail: a branch is one
//! that leads to code that certainly ends the execution, if no counter stands on either side. What remains is a graph
//! in which counts obey Kirchhoff's law, so that one random circulation tells which counts are always equal
//! ([`cotree_core::graph::circulation`]).

use crate::checks::failing_blocks;
use crate::flow::Flow;
use cotree_core::facts::EdgeKind;
use cotree_core::graph::circulation::{random_circulation, random_circulation_with};
use cotree_core::ids::{Block, Edge};
use std::collections::{BTreeMap, BTreeSet};

/// Which edges executions are taken not to go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Never {
    /// Edges of failed checks.
    Fails,
    /// Edges to where the execution certainly ends, too.
    Ends,
    /// These edges, and exceptions are not caught either.
    Throws,
}

/// Random circulations of a function's graph.
pub(super) struct NormalFlow {
    usual: Circulation,
    without_ends: Circulation,
    without_exceptions: Circulation,
    /// Per block: what begins there goes without a branch to where nothing can come back from.
    certainly_ends: Vec<bool>,
}

/// The numbers of one thing in the circulations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Numbers {
    pub(super) usual: i128,
    without_ends: i128,
    without_exceptions: i128,
}

/// Why two things run equally often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Equal {
    /// In all executions in which every call returns and nothing ends the execution.
    Always,
    /// In those in which nothing is thrown either. (Where an exception is caught, it may join again.)
    UnlessThrown,
}

impl Numbers {
    /// The numbers of each circulation, made by one function.
    pub(super) fn of<T>(mut number: impl FnMut(fn(&NormalFlow) -> &Circulation) -> T) -> [T; 3] {
        [number(|flow| &flow.usual), number(|flow| &flow.without_ends), number(|flow| &flow.without_exceptions)]
    }

    pub(super) fn new([usual, without_ends, without_exceptions]: [i128; 3]) -> Self {
        Self { usual, without_ends, without_exceptions }
    }

    /// Do two things run equally often? Numbers of what never runs say nothing.
    pub(super) fn equal(self, other: Self) -> Option<Equal> {
        let same = |one: i128, other: i128| one == other && one != 0;
        if self.usual == other.usual || same(self.without_ends, other.without_ends) {
            Some(Equal::Always)
        } else {
            same(self.without_exceptions, other.without_exceptions).then_some(Equal::UnlessThrown)
        }
    }
}

impl Numbers {
    /// The rest of these numbers without other ones.
    pub(super) fn less(self, other: Self) -> Self {
        Self {
            usual: self.usual - other.usual,
            without_ends: self.without_ends - other.without_ends,
            without_exceptions: self.without_exceptions - other.without_exceptions,
        }
    }

    /// Does it never run, if every call returns?
    pub(super) fn is_never(self) -> bool {
        self == Self::default()
    }

    /// May it run without an exception?
    pub(super) fn may_return(self) -> bool {
        self.without_exceptions != 0
    }

    /// These numbers, but for those that another draw did not change, and so follow from what is known. `None`: all do.
    pub(super) fn wherever_drawn(self, wanted: Self, other: Self) -> Option<Self> {
        let number = |own: i128, wanted: i128, other: i128| if own == other { own } else { wanted };
        let found = Self {
            usual: number(self.usual, wanted.usual, other.usual),
            without_ends: number(self.without_ends, wanted.without_ends, other.without_ends),
            without_exceptions: number(self.without_exceptions, wanted.without_exceptions, other.without_exceptions),
        };
        (self.usual != other.usual).then_some(found)
    }
}

impl NormalFlow {
    pub(super) fn new(flow: &Flow<'_>) -> Self {
        let ends = Ends::of(flow);
        let circulation = |never| Circulation::new(flow, &ends, never);
        Self {
            usual: circulation(Never::Fails),
            without_ends: circulation(Never::Ends),
            without_exceptions: circulation(Never::Throws),
            certainly_ends: ends.certainly,
        }
    }

    /// Does a block certainly end the execution, as the failure of a check does?
    pub(super) fn certainly_ends(&self, block: Block) -> bool {
        self.certainly_ends.get(block.index()).copied().unwrap_or(false)
    }

    /// Other random numbers, where blocks have these ones. `None`: they can't.
    pub(super) fn with(&self, blocks: &BTreeMap<Block, Numbers>, draw: u64) -> Option<Self> {
        let known = |number: fn(&Numbers) -> i128| -> Vec<(Block, i128)> {
            blocks.iter().map(|(&block, numbers)| (block, number(numbers))).collect()
        };
        Some(Self {
            usual: self.usual.with(&known(|numbers| numbers.usual), draw)?,
            without_ends: self.without_ends.with(&known(|numbers| numbers.without_ends), draw)?,
            without_exceptions: self.without_exceptions.with(&known(|numbers| numbers.without_exceptions), draw)?,
            certainly_ends: self.certainly_ends.clone(),
        })
    }

    /// The numbers of a block.
    pub(super) fn block(&self, block: Block) -> Numbers {
        Numbers::new(Numbers::of(|circulation| circulation(self).block(block)))
    }

    /// The number of a block, and
    pub(super) fn usual_block(&self, block: Block) -> i128 {
        self.usual.block(block)
    }

    /// that of an edge. `None`: it is not taken if every call returns.
    pub(super) fn usual_edge(&self, edge: Edge) -> Option<i128> {
        self.usual.edges.get(edge.index()).copied().flatten()
    }
}

/// A random circulation of a function's graph.
pub(super) struct Circulation {
    blocks: Vec<i128>,
    edges: Vec<Option<i128>>,
    /// The links between blocks, with the edge that each is.
    links: Vec<(usize, usize)>,
    edge_of: Vec<Option<Edge>>,
}

impl Circulation {
    fn new(flow: &Flow<'_>, ends: &Ends, never: Never) -> Self {
        let (function, cfg) = (flow.function, &flow.cfg);
        let exit = cfg.exit().index();
        let mut links: Vec<(usize, usize)> = vec![(exit, cfg.entry().index())];
        let mut edge_of: Vec<Option<Edge>> = vec![None];
        let mut pads = BTreeSet::new();
        for edge in cfg.edges().filter(|&edge| edge != cfg.exit_edge()) {
            let (from, to) = (cfg.src(edge), cfg.dst(edge));
            if function.edges[edge].kind == EdgeKind::InvokeUnwind {
                pads.insert(to.index());
                continue;
            }
            if fails_check(flow, ends, edge) || never != Never::Fails && leads_to_end(flow, ends, edge) {
                continue;
            }
            links.push((from.index(), to.index()));
            edge_of.push(Some(edge));
        }
        for pad in pads.into_iter().filter(|_| never != Never::Throws) {
            links.push((exit, pad));
            edge_of.push(None);
        }
        let reached = reached(exit, &links);
        let kept: Vec<usize> = (0..links.len()).filter(|&link| reached[links[link].0]).collect();
        let kept_links: Vec<(usize, usize)> = kept.iter().map(|&link| links[link]).collect();
        let edge_of: Vec<Option<Edge>> = kept.iter().map(|&link| edge_of[link]).collect();
        let numbers = random_circulation(exit + 1, &kept_links);
        let (blocks, edges) = (vec![0; exit + 1], vec![None; function.edges.len()]);
        Self { blocks, edges, links: kept_links, edge_of }.numbered(&numbers)
    }

    /// Takes the numbers of links over to blocks and edges.
    fn numbered(mut self, numbers: &[i128]) -> Self {
        self.blocks.fill(0);
        for ((&(_, to), edge), &number) in self.links.iter().zip(&self.edge_of).zip(numbers) {
            self.blocks[to] += number;
            if let Some(edge) = edge {
                self.edges[edge.index()] = Some(number);
            }
        }
        self
    }

    /// Another one, where blocks have these numbers: each is a link of its own from what comes in to what goes out.
    fn with(&self, blocks: &[(Block, i128)], draw: u64) -> Option<Self> {
        let nodes = self.blocks.len();
        let mut goes_out: Vec<usize> = (0..nodes).collect();
        blocks.iter().zip(nodes..).for_each(|((block, _), node)| goes_out[block.index()] = node);
        let mut links: Vec<(usize, usize)> = self.links.iter().map(|&(from, to)| (goes_out[from], to)).collect();
        let mut known = vec![None; links.len()];
        for &(block, number) in blocks {
            links.push((block.index(), goes_out[block.index()]));
            known.push(Some(number));
        }
        let numbers = random_circulation_with(nodes + blocks.len(), &links, &known, draw)?;
        let (links, edge_of) = (self.links.clone(), self.edge_of.clone());
        let other = Self { blocks: self.blocks.clone(), edges: self.edges.clone(), links, edge_of };
        Some(other.numbered(&numbers))
    }

    /// The number of a block.
    pub(super) fn block(&self, block: Block) -> i128 {
        self.blocks.get(block.index()).copied().unwrap_or_default()
    }
}

/// Per node, whether a path leads there from `start`.
fn reached(start: usize, links: &[(usize, usize)]) -> Vec<bool> {
    let nodes = links.iter().map(|&(from, to)| from.max(to) + 1).max().unwrap_or(0).max(start + 1);
    let mut leads_to: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    links.iter().for_each(|&(from, to)| leads_to[from].push(to));
    let mut reached = vec![false; nodes];
    let mut work = vec![start];
    while let Some(node) = work.pop() {
        if !std::mem::replace(&mut reached[node], true) {
            work.extend(&leads_to[node]);
        }
    }
    reached
}

/// Which blocks end the execution.
struct Ends {
    /// Per block: it begins the panic of a check of rustc's.
    failing: Vec<bool>,
    /// Per block: what begins there goes without a branch to where nothing can come back from.
    certainly: Vec<bool>,
    /// Per block: a counter stands in it, or where it ends the execution, behind it.
    counted: Vec<bool>,
}

impl Ends {
    fn of(flow: &Flow<'_>) -> Self {
        let (function, cfg) = (flow.function, &flow.cfg);
        let mut counted = vec![false; function.blocks.len()];
        function.anchors.iter().for_each(|anchor| counted[anchor.block.index()] = true);
        let mut certainly = vec![false; function.blocks.len()];
        let goes_on = |edge: &&Edge| function.edges[**edge].kind != EdgeKind::InvokeUnwind;
        let at_end = function.edges.iter().filter(|edge| edge.kind == EdgeKind::Unreachable).map(|edge| edge.src);
        let mut work: Vec<Block> = at_end.collect();
        while let Some(block) = work.pop() {
            if cfg.succs(block).iter().filter(goes_on).count() != 1 {
                continue;
            }
            certainly[block.index()] = true;
            let before = cfg.preds(block).iter().filter(|&&edge| edge != cfg.exit_edge()).filter(goes_on);
            for before in before.map(|&edge| cfg.src(edge)).filter(|before| !certainly[before.index()]) {
                if cfg.succs(before).iter().filter(goes_on).count() == 1 {
                    counted[before.index()] |= counted[block.index()];
                    work.push(before);
                }
            }
        }
        Self { failing: failing_blocks(function), certainly, counted }
    }
}

/// Is it an edge to where the execution certainly ends, while it may go on from there elsewhere?
fn leads_to_end(flow: &Flow<'_>, ends: &Ends, edge: Edge) -> bool {
    let certainly = |block: Block| ends.certainly.get(block.index()).copied().unwrap_or(false);
    certainly(flow.cfg.dst(edge)) && others(flow, edge).any(|other| !certainly(other))
}

/// Is it the edge of a check that has failed?
fn fails_check(flow: &Flow<'_>, ends: &Ends, edge: Edge) -> bool {
    let to = flow.cfg.dst(edge);
    let at = |of: &[bool], block: Block| of.get(block.index()).copied().unwrap_or(false);
    if at(&ends.failing, to) {
        return others(flow, edge).any(|other| !at(&ends.failing, other));
    }
    let counted = || others(flow, edge).any(|other| at(&ends.counted, other));
    leads_to_end(flow, ends, edge) && !at(&ends.counted, to) && !counted()
}

/// Where else control may go from where an edge comes from, if every call returns.
fn others<'f>(flow: &'f Flow<'_>, edge: Edge) -> impl Iterator<Item = Block> + use<'f> {
    let to = flow.cfg.dst(edge);
    let goes_on = |edge: &&Edge| flow.function.edges.get(**edge).is_some_and(|e| e.kind != EdgeKind::InvokeUnwind);
    let leaving = flow.cfg.succs(flow.cfg.src(edge)).iter().filter(goes_on);
    leaving.map(|&other| flow.cfg.dst(other)).filter(move |&other| other != to)
}
