//! Numbers for paths, compact from 0, and paths from numbers (Ball & Larus 1996, §3.2 and §3.5).
//!
//! In reverse topological order each node learns how many paths lead from it to EXIT; the arc to its *i*-th successor
//! is worth the number of paths through the successors before. The sum of the values along a path is its number.
//!
//! Successors are visited in order of their numbers of paths, the one with the *most* paths *last*: sizes 1, 100 give
//! the values 0, 1, where the other order gives 0, 100. (The paper asks for small values and prints the other order.)
//!
//! # Rare arcs
//!
//! Some arcs may be *rare* ([`Cuts::rare`]): they lead to code that seldom runs. The paths that avoid these arcs come
//! first: they have the numbers below [`Numbering::window`]. All numbers then have two digits. The low digit numbers
//! paths along other arcs. The high digit says which rare arcs a path takes; the value of each is a multiple of the
//! window. What only rare arcs lead to is left by rare arcs alone. A node has room for the low digits of all its paths,
//! also those along rare arcs. So sums never carry, and no two paths have the same number. But some numbers belong to
//! no path.
//!
//! All of this also works backward: then nodes learn how many paths lead to them from ENTRY, and choose between the
//! arcs that enter them. That can need fewer numbers. Rare code often leads to code that all errors of a function
//! share. Numbered forward, each arc to that code would need as many low digits as paths lead on from there; fewer
//! paths may lead to it.

use super::error::PathError;
use super::graph::{DirectedView, Node, PathGraph, Role, left};
use super::profile::{Path, PathStart};
use super::types::{Arc, Cuts, MOST_PATHS};
use crate::facts::Function;
use crate::graph::cfg::Cfg;
use crate::ids::{Block, Edge};

/// The numbered paths of one function with its cuts.
#[derive(Clone, Debug)]
pub struct Numbering {
    graph: PathGraph,
    /// Do nodes choose between the arcs that enter them, not those that leave them?
    backward: bool,
    choices: Vec<Choices>,
    value: Vec<u64>,
    paths: u64,
    window: u64,
    end: u64,
}

/// The arcs that a node chooses from, by rising value.
#[derive(Clone, Debug, Default)]
struct Choices {
    common: Vec<Arc>,
    rare: Vec<Arc>,
}

/// The counts of a node.
#[derive(Clone, Copy, Default)]
struct Count {
    paths: u64,
    /// How many low digits these need.
    low: u64,
    /// How many high digits.
    high: u64,
}

impl Numbering {
    /// Numbers the paths.
    ///
    /// # Errors
    /// [`PathError::Cyclic`] if a cycle has no cut, [`PathError::TooManyPaths`] for numbers of [`MOST_PATHS`] and more.
    pub fn new(function: &Function, cfg: &Cfg, cuts: &Cuts) -> Result<Self, PathError> {
        if cfg.block_count() != function.blocks.len() + 1 || cfg.edge_count() != function.edges.len() + 1 {
            return Err(PathError::ForeignGraph);
        }
        let graph = PathGraph::new(function, cfg, cuts);
        if !graph.is_acyclic() {
            return Err(PathError::Cyclic);
        }
        let view = DirectedView::new(&graph, cuts.backward);
        let rare = view.all_rare(&cuts.rare);
        let mut counts = vec![Count::default(); graph.node_count()];
        let mut value = vec![0u64; graph.arc_count()];
        let mut choices = vec![Choices::default(); graph.node_count()];
        let add =
            |sum: u64, more: u64| sum.checked_add(more).filter(|&sum| sum <= MOST_PATHS).ok_or(PathError::TooManyPaths);
        for node in view.order().rev() {
            if node == view.end() {
                counts[node] = Count { paths: 1, low: 1, high: 1 };
                continue;
            }
            let of = |arc: Arc| counts[view.target(arc)];
            let (mut rare, mut common): (Vec<Arc>, Vec<Arc>) = view.next_arcs(node).iter().partition(|&&arc| rare[arc]);
            common.sort_by_key(|&arc| of(arc).low);
            rare.sort_by_key(|&arc| of(arc).high);
            let mut count = Count::default();
            for &arc in &common {
                value[arc] = count.low;
                count.low = add(count.low, of(arc).low)?;
                count.high = count.high.max(of(arc).high);
            }
            for &arc in &rare {
                value[arc] = count.high;
                count.low = count.low.max(of(arc).low);
                count.high = add(count.high, of(arc).high)?;
            }
            for arc in common.iter().chain(&rare) {
                count.paths = add(count.paths, of(*arc).paths)?;
            }
            counts[node] = count;
            choices[node] = Choices { common, rare };
        }
        let Count { paths, low: window, high } = counts[view.start()];
        let end = window.checked_mul(high).filter(|&end| end <= MOST_PATHS).ok_or(PathError::TooManyPaths)?;
        for &arc in choices.iter().flat_map(|choices| &choices.rare) {
            value[arc] = value[arc].checked_mul(window).ok_or(PathError::TooManyPaths)?;
        }
        Ok(Self { graph, backward: cuts.backward, choices, value, paths, window, end })
    }

    /// The acyclic graph.
    #[must_use]
    pub fn graph(&self) -> &PathGraph {
        &self.graph
    }

    /// How many paths there are: numbers are below this, if no arc is rare.
    #[must_use]
    pub fn paths(&self) -> u64 {
        self.paths
    }

    /// What all numbers are below.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.end
    }

    /// What the numbers of paths that take no rare arc are below, and no others.
    #[must_use]
    pub fn window(&self) -> u64 {
        self.window
    }

    /// The approximate part of the paths that begin with an arc whose numbers are below that, if no arc is rare and
    /// numbers rise with the paths from ENTRY.
    pub(super) fn share_below(&self, begin: Arc, words: u64) -> f64 {
        let first = self.value[begin];
        let next =
            self.choices[self.graph.entry()].common.iter().map(|&arc| self.value[arc]).find(|&value| value > first);
        match words.saturating_sub(first) {
            0 => 0.0,
            some if some < next.unwrap_or(self.end) - first => 0.5,
            _ => 1.0,
        }
    }

    /// What the arc adds to a path's number.
    #[must_use]
    pub fn value(&self, arc: Arc) -> u64 {
        self.value[arc]
    }

    /// The arcs of a path: at each node the one with the largest value that is not more than what is left of the
    /// number, or of its low digit if that is less than any rare arc is worth. `None` if there is no such path.
    #[must_use]
    pub fn arcs(&self, number: u64) -> Option<Vec<Arc>> {
        let view = self.view();
        if number >= self.end {
            return None;
        }
        self.arcs_from(view.start(), number)
    }

    /// The arcs of the one beginning of a path that leads to the end of `block` and whose values sum up to `sum`.
    #[must_use]
    pub fn arcs_up_to(&self, block: Block, sum: u64) -> Option<Vec<Arc>> {
        if self.backward {
            return self.arcs_from(left(block), sum);
        }
        // Paths continue from there with an arc of value 0, so the sum is also the number of a path through the block.
        let mut arcs = self.arcs(sum)?;
        let end = arcs.iter().position(|&arc| self.graph.dst(arc) == left(block))?;
        arcs.truncate(end + 1);
        (arcs.iter().map(|&arc| self.value[arc]).sum::<u64>() == sum).then_some(arcs)
    }

    fn view(&self) -> DirectedView<'_> {
        DirectedView::new(&self.graph, self.backward)
    }

    /// The arcs from `node` to the end whose values sum up to `rest`, in the order of a path.
    fn arcs_from(&self, mut node: Node, mut rest: u64) -> Option<Vec<Arc>> {
        let view = self.view();
        let mut arcs = Vec::new();
        while node != view.end() {
            let arc = self.choose(node, rest)?;
            rest -= self.value[arc];
            arcs.push(arc);
            node = view.target(arc);
        }
        if self.backward {
            arcs.reverse();
        }
        (rest == 0).then_some(arcs)
    }

    fn choose(&self, node: Node, rest: u64) -> Option<Arc> {
        let last = |arcs: &[Arc], rest: u64| {
            let after = arcs.partition_point(|&arc| self.value[arc] <= rest);
            arcs.get(after.checked_sub(1)?).copied()
        };
        let Choices { common, rare } = &self.choices[node];
        last(rare, rest).or_else(|| last(common, rest % self.window))
    }

    /// The path with this number; `None` if there is none.
    #[must_use]
    pub fn path(&self, cfg: &Cfg, number: u64) -> Option<Path> {
        self.arcs(number).map(|arcs| self.path_along(cfg, &arcs))
    }

    /// The path, or beginning of a path, along these arcs.
    #[must_use]
    pub fn path_along(&self, cfg: &Cfg, arcs: &[Arc]) -> Path {
        let mut path = Path {
            start: PathStart::Entry,
            blocks: Vec::new(),
            edges: Vec::new(),
            to_exit: false,
            context: Vec::new(),
            turns: Vec::new(),
        };
        let mut goto = None;
        for &arc in arcs {
            match self.graph.role(arc) {
                Role::Enter | Role::EndAtBlock(_) | Role::DeadEnd(_) => {}
                Role::BeginAfterEdge(block) => path.start = PathStart::Cut(block),
                Role::BeginAtBlock(block) => {
                    path.start = PathStart::Cut(block);
                    path.blocks.push(block);
                }
                Role::Inside(block) => path.blocks.push(block),
                Role::Again(block) => {
                    path.start = PathStart::Cut(block);
                    path.blocks = vec![block];
                    path.context.append(&mut path.edges);
                    path.turns.push(block);
                }
                Role::Real(edge) | Role::EndOnEdge(edge) | Role::EndOfTurn(edge) => path.edges.push(edge),
                Role::ToDispatch(block) => goto = Some(block),
                Role::FromDispatch(block) => path.edges.extend(goto.and_then(|src| branch(cfg, src, block))),
            }
        }
        path.to_exit = path.edges.last().is_some_and(|&edge| cfg.dst(edge) == cfg.exit());
        path
    }
}

/// The edge by which a computed goto reaches a target.
pub(in crate::method) fn branch(cfg: &Cfg, src: Block, dst: Block) -> Option<Edge> {
    let (out, into) = (cfg.succs(src), cfg.preds(dst));
    if out.len() <= into.len() {
        out.iter().copied().find(|&e| cfg.dst(e) == dst)
    } else {
        into.iter().copied().find(|&e| cfg.src(e) == src)
    }
}
