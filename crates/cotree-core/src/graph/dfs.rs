//! Depth-first search of a control-flow graph: numberings, retreating edges, reverse postorder.
//!
//! The virtual edge EXIT→entry is not followed, nor is it a backedge, "even though it is identified as such by
//! depth-first search" (Ball & Larus 1994, §5). Blocks that the search does not reach have no numbers, and no edge out
//! of such a block is a backedge.

use crate::graph::cfg::Cfg;
use crate::ids::{Block, Edge, IdMap};

/// In which direction edges are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the entry, along the edges.
    Forward,
    /// From EXIT, against the edges.
    Backward,
}

impl Direction {
    /// Where a search starts.
    #[must_use]
    pub fn root(self, cfg: &Cfg) -> Block {
        match self {
            Self::Forward => cfg.entry(),
            Self::Backward => cfg.exit(),
        }
    }

    /// The edges that lead on from the block, EXIT→entry excepted.
    pub fn onward(self, cfg: &Cfg, block: Block) -> impl Iterator<Item = Edge> {
        let edges = match self {
            Self::Forward => cfg.succs(block),
            Self::Backward => cfg.preds(block),
        };
        edges.iter().copied().filter(|&e| e != cfg.exit_edge())
    }

    /// The edges that lead to the block, EXIT→entry excepted.
    pub fn inward(self, cfg: &Cfg, block: Block) -> impl Iterator<Item = Edge> {
        let edges = match self {
            Self::Forward => cfg.preds(block),
            Self::Backward => cfg.succs(block),
        };
        edges.iter().copied().filter(|&e| e != cfg.exit_edge())
    }

    /// Where following the edge leads to.
    #[must_use]
    pub fn head(self, cfg: &Cfg, edge: Edge) -> Block {
        match self {
            Self::Forward => cfg.dst(edge),
            Self::Backward => cfg.src(edge),
        }
    }

    /// Where following the edge starts.
    #[must_use]
    pub fn tail(self, cfg: &Cfg, edge: Edge) -> Block {
        match self {
            Self::Forward => cfg.src(edge),
            Self::Backward => cfg.dst(edge),
        }
    }
}

const UNREACHED: u32 = u32::MAX;

/// A finished search.
#[derive(Clone, Debug)]
pub struct Dfs {
    preorder: Vec<Block>,
    postorder: Vec<Block>,
    pre: IdMap<Block, u32>,
    post: IdMap<Block, u32>,
    parent: IdMap<Block, Option<Block>>,
    backedge: IdMap<Edge, bool>,
}

impl Dfs {
    /// Searches from the entry.
    #[must_use]
    pub fn new(cfg: &Cfg) -> Self {
        Self::directed(cfg, Direction::Forward)
    }

    /// Searches in the given direction, trying edges in edge order.
    #[must_use]
    pub fn directed(cfg: &Cfg, direction: Direction) -> Self {
        let blocks = cfg.block_count();
        let mut dfs = Self {
            preorder: Vec::with_capacity(blocks),
            postorder: Vec::with_capacity(blocks),
            pre: cfg.per_block(UNREACHED),
            post: cfg.per_block(UNREACHED),
            parent: cfg.per_block(None),
            backedge: cfg.per_edge(false),
        };
        let root = direction.root(cfg);
        let mut open = vec![(root, direction.onward(cfg, root))];
        dfs.enter(root);
        while let Some((block, edges)) = open.last_mut() {
            let block = *block;
            if let Some(edge) = edges.next() {
                let next = direction.head(cfg, edge);
                if dfs.pre[next] == UNREACHED {
                    dfs.parent[next] = Some(block);
                    dfs.enter(next);
                    open.push((next, direction.onward(cfg, next)));
                } else if dfs.post[next] == UNREACHED {
                    dfs.backedge[edge] = true; // It leads to a block that is still open.
                }
            } else {
                dfs.post[block] = u32::try_from(dfs.postorder.len()).expect("blocks have 32-bit numbers");
                dfs.postorder.push(block);
                open.pop();
            }
        }
        dfs
    }

    fn enter(&mut self, block: Block) {
        self.pre[block] = u32::try_from(self.preorder.len()).expect("blocks have 32-bit numbers");
        self.preorder.push(block);
    }

    /// The blocks reached, each before those first reached through it.
    #[must_use]
    pub fn preorder(&self) -> &[Block] {
        &self.preorder
    }

    /// The blocks reached, each after those first reached through it.
    #[must_use]
    pub fn postorder(&self) -> &[Block] {
        &self.postorder
    }

    /// A topological order of the graph without its backedges.
    pub fn reverse_postorder(&self) -> impl ExactSizeIterator<Item = Block> {
        self.postorder.iter().rev().copied()
    }

    /// The block's position in [`Self::preorder`]; `None` if it was not reached.
    #[must_use]
    pub fn number(&self, block: Block) -> Option<usize> {
        Some(self.pre[block]).filter(|&n| n != UNREACHED).map(|n| n as usize)
    }

    /// Was the block reached?
    #[must_use]
    pub fn is_reached(&self, block: Block) -> bool {
        self.pre[block] != UNREACHED
    }

    /// The block through which this one was first reached.
    #[must_use]
    pub fn parent(&self, block: Block) -> Option<Block> {
        self.parent[block]
    }

    /// Does the edge lead to its own source or to an ancestor of it in the depth-first tree?
    #[must_use]
    pub fn is_backedge(&self, edge: Edge) -> bool {
        self.backedge[edge]
    }

    /// Is `above` the block itself or an ancestor of it in the depth-first tree? Both must have been reached.
    #[must_use]
    pub fn is_ancestor(&self, above: Block, block: Block) -> bool {
        self.pre[above] <= self.pre[block] && self.post[above] >= self.post[block]
    }
}

#[cfg(test)]
mod tests {
    use super::{Dfs, Direction};
    use crate::graph::cfg::Cfg;
    use crate::ids::Block;

    fn cfg(blocks: usize, edges: &[(u32, u32)]) -> Cfg {
        Cfg::new(blocks, edges.iter().map(|&(a, b)| (Block(a), Block(b)))).unwrap()
    }

    /// 0→1, 1→2, 2→1 (back), 1→3, 0→3 (cross), 3→3 (back), 3→EXIT; 4→3 is never reached.
    fn example() -> Cfg {
        cfg(5, &[(0, 1), (1, 2), (2, 1), (1, 3), (0, 3), (3, 3), (3, 5), (4, 3)])
    }

    #[test]
    fn orders_and_backedges() {
        let cfg = example();
        let dfs = Dfs::new(&cfg);
        assert_eq!(dfs.preorder(), [0, 1, 2, 3, 5].map(Block));
        assert_eq!(dfs.reverse_postorder().collect::<Vec<_>>(), [0, 1, 3, 5, 2].map(Block));
        let back: Vec<u32> = cfg.edges().filter(|&e| dfs.is_backedge(e)).map(|e| e.0).collect();
        assert_eq!(back, [2, 5], "EXIT→entry is not one, nor is the unreached 4→3");
        assert_eq!(dfs.parent(Block(3)), Some(Block(1)));
        assert_eq!((dfs.number(Block(4)), dfs.is_reached(Block(4))), (None, false));
        assert!(dfs.is_ancestor(Block(1), Block(3)) && !dfs.is_ancestor(Block(2), Block(3)));
    }

    #[test]
    fn backwards_from_exit() {
        let dfs = Dfs::directed(&example(), Direction::Backward);
        assert_eq!(dfs.preorder(), [5, 3, 1, 0, 2, 4].map(Block));
    }

    #[test]
    fn depth_is_no_limit() {
        let chain: Vec<(u32, u32)> = (0..200_000).map(|i| (i, i + 1)).collect();
        assert_eq!(Dfs::new(&cfg(200_000, &chain)).preorder().len(), 200_001);
    }
}
