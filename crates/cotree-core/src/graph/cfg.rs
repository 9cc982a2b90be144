//! The control-flow graph of one function.
//!
//! Vertices are basic blocks plus the virtual EXIT; edges are the transfers of control plus the virtual edge
//! EXIT→entry, which makes Kirchhoff's law hold at the entry and at EXIT (Ball & Larus 1994, §2). Parallel edges and
//! self-loops are ordinary edges with numbers of their own.

use crate::ids::{Block, Edge, IdMap};

/// Why a block and edge list is not a control-flow graph.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CfgError {
    /// There is no entry.
    #[error("a control-flow graph needs at least one block")]
    Empty,
    /// An edge names a block that does not exist, leaves EXIT or enters nothing.
    #[error("edge {0} runs from {1} to {2}, but there are only {3} blocks")]
    DanglingEdge(Edge, Block, Block, usize),
    /// Too large for 32-bit numbers.
    #[error("the graph has too many blocks or edges ({0})")]
    TooLarge(usize),
}

/// A control-flow graph with virtual EXIT and the edge EXIT→entry (always the last edge).
#[derive(Clone, Debug)]
pub struct Cfg {
    ends: IdMap<Edge, (Block, Block)>,
    /// Edge numbers grouped by source, then by target; `*_start[b]..*_start[b + 1]` is block `b`'s group.
    by_source: Vec<Edge>,
    source_start: Vec<u32>,
    by_target: Vec<Edge>,
    target_start: Vec<u32>,
}

impl Cfg {
    /// Builds the graph of `blocks` real blocks (the first is the entry, EXIT is added as block number `blocks`) from
    /// real edges; the edge EXIT→entry is added last.
    ///
    /// # Errors
    /// See [`CfgError`].
    pub fn new(blocks: usize, edges: impl IntoIterator<Item = (Block, Block)>) -> Result<Self, CfgError> {
        if blocks == 0 {
            return Err(CfgError::Empty);
        }
        if blocks >= u32::MAX as usize {
            return Err(CfgError::TooLarge(blocks));
        }
        let exit = Block::new(blocks);
        let mut ends: IdMap<Edge, (Block, Block)> = edges.into_iter().collect();
        if ends.len() >= u32::MAX as usize {
            return Err(CfgError::TooLarge(ends.len()));
        }
        if let Some((bad, &(src, dst))) = ends.numbered().find(|&(_, &(src, dst))| src >= exit || dst > exit) {
            return Err(CfgError::DanglingEdge(bad, src, dst, blocks));
        }
        ends.push((exit, Block(0)));
        let (by_source, source_start) = group(&ends, blocks + 1, |&(src, _)| src);
        let (by_target, target_start) = group(&ends, blocks + 1, |&(_, dst)| dst);
        Ok(Self { ends, by_source, source_start, by_target, target_start })
    }

    /// The first block.
    #[must_use]
    pub fn entry(&self) -> Block {
        Block(0)
    }

    /// The virtual EXIT.
    #[must_use]
    pub fn exit(&self) -> Block {
        Block::new(self.block_count() - 1)
    }

    /// The virtual edge EXIT→entry.
    #[must_use]
    pub fn exit_edge(&self) -> Edge {
        Edge::new(self.ends.len() - 1)
    }

    /// Vertices, EXIT included.
    #[must_use]
    pub fn block_count(&self) -> usize {
        self.source_start.len() - 1
    }

    /// Edges, EXIT→entry included.
    #[must_use]
    pub fn edge_count(&self) -> usize {
        self.ends.len()
    }

    /// All vertices, EXIT last.
    pub fn blocks(&self) -> impl DoubleEndedIterator<Item = Block> + ExactSizeIterator + use<> {
        (0..u32::try_from(self.block_count()).expect("checked at construction")).map(Block)
    }

    /// All edges, EXIT→entry last.
    pub fn edges(&self) -> impl DoubleEndedIterator<Item = Edge> + ExactSizeIterator + use<> {
        (0..u32::try_from(self.edge_count()).expect("checked at construction")).map(Edge)
    }

    /// A map with an item for each vertex, EXIT included.
    #[must_use]
    pub fn per_block<T: Clone>(&self, item: T) -> IdMap<Block, T> {
        IdMap::filled(item, self.block_count())
    }

    /// A map with an item for each edge, EXIT→entry included.
    #[must_use]
    pub fn per_edge<T: Clone>(&self, item: T) -> IdMap<Edge, T> {
        IdMap::filled(item, self.edge_count())
    }

    /// The block that the edge leaves.
    #[must_use]
    pub fn src(&self, edge: Edge) -> Block {
        self.ends[edge].0
    }

    /// The block that the edge enters.
    #[must_use]
    pub fn dst(&self, edge: Edge) -> Block {
        self.ends[edge].1
    }

    /// Outgoing edges, in edge order.
    #[must_use]
    pub fn succs(&self, block: Block) -> &[Edge] {
        slice(&self.by_source, &self.source_start, block)
    }

    /// Incoming edges, in edge order.
    #[must_use]
    pub fn preds(&self, block: Block) -> &[Edge] {
        slice(&self.by_target, &self.target_start, block)
    }
}

/// Counting sort of the edges by one end.
fn group(ends: &[(Block, Block)], blocks: usize, end: impl Fn(&(Block, Block)) -> Block) -> (Vec<Edge>, Vec<u32>) {
    let mut start = vec![0u32; blocks + 1];
    for e in ends {
        start[end(e).index() + 1] += 1;
    }
    for b in 0..blocks {
        start[b + 1] += start[b];
    }
    let mut next = start.clone();
    let mut sorted = vec![Edge(0); ends.len()];
    for (i, e) in ends.iter().enumerate() {
        let slot = &mut next[end(e).index()];
        sorted[*slot as usize] = Edge::new(i);
        *slot += 1;
    }
    (sorted, start)
}

fn slice<'a>(sorted: &'a [Edge], start: &[u32], block: Block) -> &'a [Edge] {
    &sorted[start[block.index()] as usize..start[block.index() + 1] as usize]
}
