//! Prime paths of a graph (Ammann and Offutt, *Introduction to Software Testing*, 2nd edition 2016, §7.2.1).
//!
//! A path is *simple* if no vertex stands on it twice, except that the first may also be the last (a simple cycle). A
//! *prime path* is a simple path that is no proper part of another simple path. A program that has run each prime path
//! of a function has turned each loop at least twice and left it, and has run each acyclic path between loops. Unlike
//! the paths of Ball & Larus 1996, prime paths go on over backedges.
//!
//! [`PrimePaths`] lists them by depth-first search, and keeps them as a tree of common beginnings. With a link from
//! each node to the longest ending that is a beginning, too, the tree is the automaton of Aho and Corasick (1975): it
//! follows an execution block by block ([`PrimePaths::step`]) and tells when a prime path has just run
//! ([`PrimePaths::ran`]). Since no prime path is part of another, at most one ends at each block.

use super::strong;
use crate::ids::{Block, IdMap};
use std::collections::VecDeque;

/// The search gives up after this many steps per prime path that is allowed, and as many as it takes to look from each
/// vertex at all others.
const STEPS_PER_PATH: usize = 64;

/// At most this many steps are granted for looking from each vertex at all others.
const MOST_LOOKS: usize = 1 << 24;

/// The number of a prime path, in the order in which the search finds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PrimePath(pub u32);

/// How far an execution has come: the longest part of what has run last that some prime path begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress(u32);

impl Progress {
    /// Nothing has run that is known.
    pub const NONE: Self = Self(ROOT);
}

/// There are more prime paths than was allowed, or finding them takes too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyPaths;

const ROOT: u32 = 0;
const NONE: u32 = u32::MAX;

/// A beginning of prime paths.
#[derive(Clone, Copy, Debug)]
struct Node {
    block: Block,
    parent: u32,
    first_child: u32,
    next_sibling: u32,
    /// The longest proper ending of this beginning that is a beginning, too.
    shorter: u32,
    /// The prime path that this is all of.
    path: u32,
}

impl Node {
    const fn new(block: Block, parent: u32) -> Self {
        Self { block, parent, first_child: NONE, next_sibling: NONE, shorter: ROOT, path: NONE }
    }
}

/// The prime paths of a graph.
#[derive(Clone, Debug)]
pub struct PrimePaths {
    nodes: Vec<Node>,
    /// Per prime path, the node that ends it.
    ends: Vec<u32>,
    /// Per block, the node of the beginning that is this block alone.
    starts: IdMap<Block, u32>,
}

impl PrimePaths {
    /// Finds the prime paths of the graph of these vertices (`true` in `vertices`) and edges. Edges of other vertices,
    /// and edges that stand there twice, add nothing.
    ///
    /// # Errors
    /// If there are more than `most`, or if the search takes more steps than such a number is worth.
    pub fn new(
        vertices: &IdMap<Block, bool>,
        edges: impl IntoIterator<Item = (Block, Block)>,
        most: usize,
    ) -> Result<Self, TooManyPaths> {
        let mut search = Search::new(vertices, edges, most);
        for start in vertices.numbered().filter(|(_, exists)| **exists).map(|(block, _)| block) {
            search.paths_from(start)?;
        }
        let mut found = search.found;
        found.link();
        Ok(found)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none: only a graph without vertices has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The numbers of all.
    pub fn numbers(&self) -> impl ExactSizeIterator<Item = PrimePath> + use<> {
        (0..u32::try_from(self.ends.len()).expect("nodes have numbers of 32 bits")).map(PrimePath)
    }

    /// The blocks of a prime path, first to last. The last is the first again in a cycle.
    ///
    /// # Panics
    /// If there is no such path.
    #[must_use]
    pub fn blocks(&self, path: PrimePath) -> Vec<Block> {
        let mut node = self.ends[path.0 as usize];
        let mut blocks = Vec::new();
        while node != ROOT {
            blocks.push(self.nodes[node as usize].block);
            node = self.nodes[node as usize].parent;
        }
        blocks.reverse();
        blocks
    }

    /// Follows an execution into its next block.
    #[must_use]
    pub fn step(&self, progress: Progress, block: Block) -> Progress {
        let mut node = progress.0;
        while node != ROOT {
            match self.child(node, block) {
                Some(child) => return Progress(child),
                None => node = self.nodes[node as usize].shorter,
            }
        }
        Progress(self.starts.get(block).copied().filter(|&start| start != NONE).unwrap_or(ROOT))
    }

    /// The prime path that has just run whole.
    #[must_use]
    pub fn ran(&self, progress: Progress) -> Option<PrimePath> {
        Some(self.nodes[progress.0 as usize].path).filter(|&path| path != NONE).map(PrimePath)
    }

    fn child(&self, node: u32, block: Block) -> Option<u32> {
        let mut child = self.nodes[node as usize].first_child;
        while child != NONE {
            let it = &self.nodes[child as usize];
            if it.block == block {
                return Some(child);
            }
            child = it.next_sibling;
        }
        None
    }

    /// Appends a node. Its siblings are those of `parent`, or it begins paths.
    fn grow(&mut self, parent: u32, block: Block) -> u32 {
        let node = u32::try_from(self.nodes.len()).expect("steps are limited");
        let mut new = Node::new(block, parent);
        if parent == ROOT {
            self.starts[block] = node;
        } else {
            new.next_sibling = std::mem::replace(&mut self.nodes[parent as usize].first_child, node);
        }
        self.nodes.push(new);
        node
    }

    /// Finds for each node the longest proper ending that is a beginning, too, in the order of their lengths.
    fn link(&mut self) {
        let mut work: VecDeque<u32> = self.starts.iter().copied().filter(|&start| start != NONE).collect();
        while let Some(node) = work.pop_front() {
            let mut child = self.nodes[node as usize].first_child;
            while child != NONE {
                let Node { block, next_sibling, .. } = self.nodes[child as usize];
                let Progress(shorter) = self.step(Progress(self.nodes[node as usize].shorter), block);
                self.nodes[child as usize].shorter = shorter;
                work.push_back(child);
                child = next_sibling;
            }
        }
    }
}

/// A depth-first search for simple paths.
struct Search {
    succs: IdMap<Block, Vec<Block>>,
    preds: IdMap<Block, Vec<Block>>,
    /// Per vertex, its strongly connected component.
    component: IdMap<Block, u32>,
    on_path: IdMap<Block, bool>,
    most: usize,
    steps: usize,
    found: PrimePaths,
}

/// The last vertex of the path that is being searched.
struct Tip {
    block: Block,
    /// How many of its successors have been looked at.
    next: usize,
    /// The path goes on to one that is not on it.
    extended: bool,
    /// How many predecessors of the first vertex are not on the path.
    missing: usize,
    /// The node of the path up to here, once something is found.
    node: Option<u32>,
}

impl Search {
    fn new(vertices: &IdMap<Block, bool>, edges: impl IntoIterator<Item = (Block, Block)>, most: usize) -> Self {
        let empty = || IdMap::filled(Vec::new(), vertices.len());
        let (mut succs, mut preds) = (empty(), empty());
        let exists = |block: Block| vertices.get(block).copied().unwrap_or_default();
        for (from, to) in edges.into_iter().filter(|&(from, to)| exists(from) && exists(to)) {
            succs[from].push(to);
            preds[to].push(from);
        }
        for list in succs.iter_mut().chain(preds.iter_mut()) {
            list.sort_unstable();
            list.dedup();
        }
        let component = strong::components(vertices.len(), |vertex, arrow| {
            succs[Block::new(vertex)].get(arrow).map(|to| Some(to.index()))
        });
        Self {
            on_path: IdMap::filled(false, vertices.len()),
            component: component.into_iter().collect(),
            steps: most
                .saturating_mul(STEPS_PER_PATH)
                .saturating_add(vertices.len().saturating_mul(vertices.len()).saturating_mul(4).min(MOST_LOOKS)),
            most,
            found: PrimePaths {
                nodes: vec![Node::new(Block(0), ROOT)],
                ends: Vec::new(),
                starts: IdMap::filled(NONE, vertices.len()),
            },
            succs,
            preds,
        }
    }

    /// Finds the prime paths that begin at a vertex. One that is no cycle has all its predecessors on it, or it could
    /// begin earlier.
    fn paths_from(&mut self, start: Block) -> Result<(), TooManyPaths> {
        let around = |&pred: &Block| self.component[pred] == self.component[start];
        if !self.preds[start].iter().all(around) && !self.turns(start) {
            return Ok(());
        }
        let mut path = vec![self.enter(start, start, self.preds[start].len())?];
        while let Some(tip) = path.last_mut() {
            let (block, missing) = (tip.block, tip.missing);
            if let Some(&next) = self.succs[block].get(tip.next) {
                tip.next += 1;
                if next == start {
                    // A longer simple path, and whole.
                    tip.extended = true;
                    let node = self.keep(&mut path);
                    self.end(node, Some(start))?;
                } else if !self.on_path[next] {
                    tip.extended = true;
                    if missing > 0 && self.component[next] != self.component[start] {
                        // The predecessors that are missing can't come any more.
                        continue;
                    }
                    let entered = self.enter(next, start, missing)?;
                    path.push(entered);
                }
                continue;
            }
            if !tip.extended && missing == 0 {
                let node = self.keep(&mut path);
                self.end(node, None)?;
            }
            self.on_path[block] = false;
            path.pop();
        }
        Ok(())
    }

    /// Whether a cycle goes through the vertex.
    fn turns(&self, vertex: Block) -> bool {
        self.succs[vertex].iter().any(|&next| self.component[next] == self.component[vertex])
    }

    fn enter(&mut self, block: Block, start: Block, missing: usize) -> Result<Tip, TooManyPaths> {
        self.steps = self.steps.checked_sub(1).ok_or(TooManyPaths)?;
        self.on_path[block] = true;
        let is_pred = self.preds[start].binary_search(&block).is_ok();
        Ok(Tip { block, next: 0, extended: false, missing: missing - usize::from(is_pred), node: None })
    }

    /// The node of the path.
    fn keep(&mut self, path: &mut [Tip]) -> u32 {
        let known = path.iter().rposition(|tip| tip.node.is_some());
        let mut node = known.and_then(|at| path[at].node).unwrap_or(ROOT);
        for tip in &mut path[known.map_or(0, |at| at + 1)..] {
            node = self.found.grow(node, tip.block);
            tip.node = Some(node);
        }
        node
    }

    /// Notes a prime path: that of the node, or the cycle that goes on to its first vertex.
    fn end(&mut self, node: u32, cycle: Option<Block>) -> Result<(), TooManyPaths> {
        if self.found.ends.len() >= self.most {
            return Err(TooManyPaths);
        }
        let node = cycle.map_or(node, |first| self.found.grow(node, first));
        self.found.nodes[node as usize].path = u32::try_from(self.found.ends.len()).map_err(|_| TooManyPaths)?;
        self.found.ends.push(node);
        Ok(())
    }
}
