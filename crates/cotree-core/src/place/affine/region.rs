//! One loop as a region of the graph: its blocks, the edges within it and out of it, and the sums of movements on those
//! edges around its cycles.
//!
//! A depth-first tree that takes edges in either direction spans the loop. It has two uses. A movement per edge gives
//! each block the sum along its tree path, and each edge off the tree a *surplus* by which its cycle through the tree
//! moves: the movements around all cycles follow from these surpluses. And since edges off such a tree join a block
//! with one above it, the tree edges that a set of them covers are counted by sums over subtrees, in linear time.

use crate::graph::cfg::Cfg;
use crate::graph::loops::LoopForest;
use crate::ids::{Block, Edge, IdMap, Loop};
use std::collections::BTreeSet;

/// A loop with a spanning tree. Blocks are named by their position in preorder; the header is 0.
pub struct LoopRegion {
    /// The blocks of the region in preorder.
    pub blocks: Vec<Block>,
    /// Edges that leave it, with the positions of the blocks that they leave.
    pub exits: Vec<(Edge, usize)>,
    /// Edges that enter its header from outside.
    pub entries: Vec<Edge>,
    /// The edges within it: source, target, and whether the tree has it.
    inner: Vec<Inner>,
    /// Per block but the header: its parent, and the tree edge to it as an index into `inner`.
    up: Vec<(usize, usize)>,
}

#[derive(Clone, Copy)]
struct Inner {
    edge: Edge,
    src: usize,
    dst: usize,
    tree: bool,
}

/// An edge of the region that a movement counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The edge.
    pub edge: Edge,
    /// How far each passage moves.
    pub step: i128,
    /// Per block, how far it has moved when the block is reached, beyond what passages account for; 0 at the header.
    pub potential: Vec<i128>,
}

impl LoopRegion {
    /// Surveys a loop that is entered through its header only.
    #[must_use]
    pub fn new(cfg: &Cfg, loops: &LoopForest, l: Loop, numbers: &mut IdMap<Block, usize>) -> Self {
        Self::survey(cfg, loops, l, numbers, |edge| edge != cfg.exit_edge() && loops.contains(l, cfg.dst(edge)))
    }

    /// Surveys what is left of such a loop if it never takes this edge.
    #[must_use]
    pub fn without(cfg: &Cfg, loops: &LoopForest, l: Loop, numbers: &mut IdMap<Block, usize>, never: Edge) -> Self {
        let open = |edge| edge != never && edge != cfg.exit_edge() && loops.contains(l, cfg.dst(edge));
        let mut reached = BTreeSet::from([loops.header(l)]);
        let mut work = vec![loops.header(l)];
        while let Some(block) = work.pop() {
            let next = cfg.succs(block).iter().filter(|&&edge| open(edge)).map(|&edge| cfg.dst(edge));
            work.extend(next.filter(|&next| reached.insert(next)));
        }
        Self::survey(cfg, loops, l, numbers, |edge| open(edge) && reached.contains(&cfg.src(edge)))
    }

    /// Surveys a loop within which only `open` edges can be taken.
    fn survey(
        cfg: &Cfg,
        loops: &LoopForest,
        l: Loop,
        numbers: &mut IdMap<Block, usize>,
        open: impl Fn(Edge) -> bool,
    ) -> Self {
        let header = loops.header(l);
        let mut region = Self {
            blocks: vec![header],
            exits: Vec::new(),
            entries: Vec::new(),
            inner: Vec::new(),
            up: vec![(0, usize::MAX)],
        };
        const UNSEEN: usize = usize::MAX;
        // Membership first: numbers are given below, in preorder.
        numbers[header] = 0;
        let mut stack: Vec<(usize, usize)> = vec![(0, 0)];
        let mut tree_edges = Vec::new();
        while let Some((at, next)) = stack.last_mut() {
            let block = region.blocks[*at];
            let (out, into) = (cfg.succs(block), cfg.preds(block));
            let (edge, other) = if let Some(&edge) = out.get(*next) {
                (edge, cfg.dst(edge))
            } else if let Some(&edge) = into.get(*next - out.len()) {
                (edge, cfg.src(edge))
            } else {
                stack.pop();
                continue;
            };
            *next += 1;
            // Backward, an edge may come from outside.
            if numbers[other] != UNSEEN || !loops.contains(l, cfg.src(edge)) || !open(edge) {
                continue;
            }
            let number = region.blocks.len();
            numbers[other] = number;
            region.blocks.push(other);
            region.up.push((*at, edge.index()));
            tree_edges.push(edge);
            stack.push((number, 0));
        }
        tree_edges.sort_unstable();
        for (src, &block) in region.blocks.iter().enumerate() {
            for &edge in cfg.succs(block) {
                match numbers[cfg.dst(edge)] {
                    _ if !loops.contains(l, cfg.dst(edge)) => region.exits.push((edge, src)),
                    dst if open(edge) => {
                        let tree = tree_edges.binary_search(&edge).is_ok();
                        if tree {
                            // A tree edge may point up.
                            let child = src.max(dst);
                            region.up[child].1 = region.inner.len();
                        }
                        region.inner.push(Inner { edge, src, dst, tree });
                    }
                    _ => {}
                }
            }
        }
        region.exits.sort_unstable();
        region.entries = cfg.preds(header).iter().copied().filter(|&e| !loops.contains(l, cfg.src(e))).collect();
        for &block in &region.blocks {
            numbers[block] = UNSEEN;
        }
        region
    }

    /// A table for [`Self::new`], for a graph of so many blocks.
    #[must_use]
    pub fn numbers(cfg: &Cfg) -> IdMap<Block, usize> {
        cfg.per_block(usize::MAX)
    }

    /// The edges within the loop.
    pub fn edges(&self) -> impl Iterator<Item = Edge> {
        self.inner.iter().map(|inner| inner.edge)
    }

    /// The size of the region, for callers with a limit on work.
    #[must_use]
    pub fn size(&self) -> usize {
        self.blocks.len() + self.inner.len()
    }

    /// Sums of movements along the tree, from the header to each block.
    fn sums(&self, movement: impl Fn(Edge) -> i128) -> Vec<i128> {
        let mut sums = vec![0; self.blocks.len()];
        for block in 1..self.blocks.len() {
            let (parent, edge) = self.up[block];
            let edge = &self.inner[edge];
            let by = movement(edge.edge);
            sums[block] = sums[parent] + if edge.src == parent { by } else { -by };
        }
        sums
    }

    /// All edges that the movement counts (see [`crate::place::affine`]); none if it counts no single edge of the loop.
    /// The edges are cycle equivalent within the loop.
    #[must_use]
    pub fn counted(&self, movement: impl Fn(Edge) -> i128) -> Vec<Edge> {
        let sums = self.sums(&movement);
        let surplus = |e: &Inner| if e.tree { 0 } else { movement(e.edge) + sums[e.src] - sums[e.dst] };
        let moving: Vec<&Inner> = self.inner.iter().filter(|e| surplus(e) != 0).collect();
        if moving.is_empty() {
            return Vec::new();
        }
        // A tree edge is on the cycles of exactly those edges that cover it. It is counted if those are the moving
        // ones.
        let mut covered = vec![(0isize, 0isize); self.blocks.len()];
        for edge in self.inner.iter().filter(|e| !e.tree) {
            let moves = isize::from(surplus(edge) != 0);
            let (above, below) = (edge.src.min(edge.dst), edge.src.max(edge.dst));
            covered[below].0 += 1;
            covered[below].1 += moves;
            covered[above].0 -= 1;
            covered[above].1 -= moves;
        }
        for block in (1..self.blocks.len()).rev() {
            let parent = self.up[block].0;
            covered[parent].0 += covered[block].0;
            covered[parent].1 += covered[block].1;
        }
        let all = moving.len().cast_signed();
        let mut found: Vec<Edge> = (1..self.blocks.len())
            .filter(|&b| covered[b] == (all, all))
            .map(|b| self.inner[self.up[b].1].edge)
            .collect();
        if let [only] = moving[..] {
            found.push(only.edge);
        }
        found.sort_unstable();
        found
    }

    /// How the movement counts one of the edges that [`Self::counted`] gave. `None` if it does not: the surpluses of
    /// the cycles through the edge differ.
    #[must_use]
    pub fn count(&self, edge: Edge, movement: impl Fn(Edge) -> i128) -> Option<Counted> {
        let (step, potential) = self.multiple(|e| e == edge, movement)?;
        Some(Counted { edge, step, potential })
    }

    /// By how much the movement differs from one circuit of the loop to the next, if that is always the same: not 0.
    #[must_use]
    pub fn step_per_circuit(&self, movement: impl Fn(Edge) -> i128) -> Option<i128> {
        let mut back: Vec<Edge> = self.inner.iter().filter(|e| e.dst == 0).map(|e| e.edge).collect();
        back.sort_unstable();
        Some(self.multiple(|edge| back.binary_search(&edge).is_ok(), movement)?.0)
    }

    /// Does the movement around every cycle equal some step times the passages? Gives the step, not 0, and the
    /// potentials of what is left.
    fn multiple(&self, passes: impl Fn(Edge) -> bool, movement: impl Fn(Edge) -> i128) -> Option<(i128, Vec<i128>)> {
        let moved = self.sums(&movement);
        let passed = self.sums(|e| i128::from(passes(e)));
        let mut step = None;
        for inner in self.inner.iter().filter(|e| !e.tree) {
            let by = movement(inner.edge) + moved[inner.src] - moved[inner.dst];
            let passages = i128::from(passes(inner.edge)) + passed[inner.src] - passed[inner.dst];
            let agrees = match passages {
                0 => by == 0,
                _ => by % passages == 0 && *step.get_or_insert(by / passages) * passages == by,
            };
            if !agrees {
                return None;
            }
        }
        let step = step.filter(|&s| s != 0)?;
        let potential = moved.iter().zip(passed).map(|(moved, passed)| moved - step * passed).collect();
        Some((step, potential))
    }
}
