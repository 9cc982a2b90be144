//! Passes through a function: which blocks can run one after the other before control goes back in a loop, and which
//! edges into a line are returns to a statement that has begun already.

use cotree_core::graph::cfg::Cfg;
use cotree_core::graph::dfs::Dfs;
use cotree_core::graph::loops::LoopForest;
use cotree_core::ids::{Block, Edge};
use std::cell::OnceCell;
use std::collections::HashSet;

/// A search that has come to so many blocks gives up: one block may follow the other, and control may come anew.
const MOST_BLOCKS: usize = 1 << 12;

/// A function, the edges on which control goes back in it, and its loops.
pub(crate) struct Passes<'a> {
    cfg: &'a Cfg,
    dfs: Dfs,
    loops: OnceCell<LoopForest>,
}

impl<'a> Passes<'a> {
    /// Searches a function for the edges on which control goes back.
    pub(crate) fn new(cfg: &'a Cfg) -> Self {
        Self { cfg, dfs: Dfs::new(cfg), loops: OnceCell::new() }
    }

    /// Can none of these other blocks run before or after the block in one pass? Then each time that the block runs is
    /// a time that none of them does.
    pub(crate) fn excludes(&self, block: Block, others: &HashSet<Block>) -> bool {
        !others.contains(&block) && !self.meets(block, others, true) && !self.meets(block, others, false)
    }

    /// Does control come to one of the others after the block (`ahead`), or before it?
    fn meets(&self, block: Block, others: &HashSet<Block>, ahead: bool) -> bool {
        let mut seen = HashSet::from([block]);
        let mut work = vec![block];
        while let Some(at) = work.pop() {
            let edges = if ahead { self.cfg.succs(at) } else { self.cfg.preds(at) };
            let next = |&edge: &Edge| if ahead { self.cfg.dst(edge) } else { self.cfg.src(edge) };
            for next in edges.iter().filter(|&&edge| !self.dfs.is_backedge(edge)).map(next) {
                if next == self.cfg.exit() || !seen.insert(next) {
                    continue;
                }
                if others.contains(&next) || seen.len() > MOST_BLOCKS {
                    return true;
                }
                work.push(next);
            }
        }
        false
    }

    /// The blocks that control passes between two visits of a line in one pass, if it takes this edge back to the line.
    ///
    /// The edge leads from a block beside the line to a block of the line. There are such blocks if every path to the
    /// edge passes one of the line's blocks, later than the beginning of each loop around the edge's end. All edges
    /// into them come from the line or from each other.
    pub(crate) fn between(&self, edge: Edge, line: &HashSet<Block>) -> Option<HashSet<Block>> {
        let loops = self.loops.get_or_init(|| LoopForest::new(self.cfg, &self.dfs));
        let around = || std::iter::successors(loops.innermost(self.cfg.dst(edge)), |&l| loops.parent(l));
        if self.dfs.is_backedge(edge) || around().any(|l| loops.is_irreducible(l)) {
            return None;
        }
        let headers: HashSet<Block> = around().map(|l| loops.header(l)).collect();
        let mut seen = HashSet::from([self.cfg.src(edge)]);
        let mut work = vec![self.cfg.src(edge)];
        while let Some(at) = work.pop() {
            if at.index() == 0 || headers.contains(&at) || seen.len() > MOST_BLOCKS {
                return None;
            }
            for before in self.cfg.preds(at).iter().map(|&e| self.cfg.src(e)) {
                if before == self.cfg.exit() {
                    return None;
                }
                if !line.contains(&before) && seen.insert(before) {
                    work.push(before);
                }
            }
        }
        Some(seen)
    }
}
