//! Numbers for paths, compact from 0, and paths from numbers (Ball & Larus 1996, §3.2 and §3.5).
//!
//! In reverse topological order each node learns how many paths lead from it to EXIT; the arc to its *i*-th successor
//! is worth the number of paths through the successors before. The sum of the values along a path is its number.
//!
//! Successors are visited in order of their numbers of paths, the one with the *most* paths *last*: sizes 1, 100 give
//! the values 0, 1, where the other order gives 0, 100. (The paper asks for small values and prints the other order.)

use super::graph::{Arc, Node, PathGraph, Role, left};
use super::profile::{Path, PathStart};
use super::{Cuts, PathError};
use crate::cfg::Cfg;
use crate::facts::Function;
use crate::ids::{Block, Edge};

/// Path numbers are kept in signed machine words.
pub const MOST_PATHS: u64 = i64::MAX as u64;

/// The paths of one function under given cuts, numbered.
#[derive(Clone, Debug)]
pub struct Numbering {
    graph: PathGraph,
    /// The arcs out of each node by rising value, grouped as in the graph.
    choices: Vec<Vec<Arc>>,
    value: Vec<u64>,
    paths: u64,
}

impl Numbering {
    /// Numbers the paths.
    ///
    /// # Errors
    /// [`PathError::Cyclic`] if a cycle has no cut, [`PathError::TooManyPaths`] for more than [`MOST_PATHS`].
    pub fn new(function: &Function, cfg: &Cfg, cuts: &Cuts) -> Result<Self, PathError> {
        if cfg.block_count() != function.blocks.len() + 1 || cfg.edge_count() != function.edges.len() + 1 {
            return Err(PathError::ForeignGraph);
        }
        let graph = PathGraph::new(function, cfg, cuts);
        if !graph.is_acyclic() {
            return Err(PathError::Cyclic);
        }
        let mut paths = vec![0u64; graph.node_count()];
        let mut value = vec![0; graph.arc_count()];
        let mut choices = vec![Vec::new(); graph.node_count()];
        for &node in graph.topological_order().iter().rev() {
            if node == graph.exit() {
                paths[node] = 1;
                continue;
            }
            let mut arcs = graph.out(node).to_vec();
            arcs.sort_by_key(|&arc| paths[graph.dst(arc)]);
            let mut sum = 0u64;
            for &arc in &arcs {
                value[arc] = sum;
                sum = sum
                    .checked_add(paths[graph.dst(arc)])
                    .filter(|&n| n <= MOST_PATHS)
                    .ok_or(PathError::TooManyPaths)?;
            }
            paths[node] = sum;
            choices[node] = arcs;
        }
        let paths = paths[graph.entry()];
        Ok(Self { graph, choices, value, paths })
    }

    /// The acyclic graph.
    #[must_use]
    pub fn graph(&self) -> &PathGraph {
        &self.graph
    }

    /// How many paths there are: numbers are below this.
    #[must_use]
    pub fn paths(&self) -> u64 {
        self.paths
    }

    /// What the arc adds to a path's number.
    #[must_use]
    pub fn value(&self, arc: Arc) -> u64 {
        self.value[arc]
    }

    /// The arcs of a path: at each node the one with the largest value that is not more than what is left of the number.
    /// `None` if there is no such path.
    #[must_use]
    pub fn arcs(&self, number: u64) -> Option<Vec<Arc>> {
        if number >= self.paths {
            return None;
        }
        let mut arcs = Vec::new();
        let (mut node, mut rest) = (self.graph.entry(), number);
        while node != self.graph.exit() {
            let arc = self.choose(node, rest)?;
            rest -= self.value[arc];
            arcs.push(arc);
            node = self.graph.dst(arc);
        }
        Some(arcs)
    }

    /// The arcs of the one beginning of a path that leads to the end of `block` and whose values sum up to `sum`.
    /// Paths continue from there with an arc of value 0, so the sum is also the number of a path through the block.
    #[must_use]
    pub fn arcs_up_to(&self, block: Block, sum: u64) -> Option<Vec<Arc>> {
        let mut arcs = self.arcs(sum)?;
        let end = arcs.iter().position(|&arc| self.graph.dst(arc) == left(block))?;
        arcs.truncate(end + 1);
        (arcs.iter().map(|&arc| self.value[arc]).sum::<u64>() == sum).then_some(arcs)
    }

    fn choose(&self, node: Node, rest: u64) -> Option<Arc> {
        let choices = &self.choices[node];
        let after = choices.partition_point(|&arc| self.value[arc] <= rest);
        choices.get(after.checked_sub(1)?).copied()
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
pub(super) fn branch(cfg: &Cfg, src: Block, dst: Block) -> Option<Edge> {
    let (out, into) = (cfg.succs(src), cfg.preds(dst));
    if out.len() <= into.len() {
        out.iter().copied().find(|&e| cfg.dst(e) == dst)
    } else {
        into.iter().copied().find(|&e| cfg.src(e) == src)
    }
}
