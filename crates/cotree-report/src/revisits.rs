//! Which of the ways that control comes to a line are returns to a statement that has begun already.

use cotree_core::graph::cfg::Cfg;
use cotree_core::graph::dfs::Dfs;
use cotree_core::graph::loops::LoopForest;
use cotree_core::ids::{Block, Edge};
use std::collections::HashSet;

/// A search that has come to so many blocks gives up, and says that control may come anew.
const MOST_BLOCKS: usize = 1 << 12;

/// Loops of a function, and the edges on which control goes back in them.
pub(crate) struct Revisits<'a> {
    cfg: &'a Cfg,
    dfs: Dfs,
    loops: LoopForest,
}

impl<'a> Revisits<'a> {
    /// Finds the loops of a function.
    pub(crate) fn new(cfg: &'a Cfg) -> Self {
        let dfs = Dfs::new(cfg);
        let loops = LoopForest::new(cfg, &dfs);
        Self { cfg, dfs, loops }
    }

    /// The blocks that control passes between two visits of a line in one pass, if it takes this edge back to the line.
    ///
    /// The edge leads from a block beside the line to a block of the line. There are such blocks if every way to the
    /// edge passes one of the line's blocks, later than the beginning of each loop around the edge's end. All ways
    /// into them come from the line or from each other.
    pub(crate) fn between(&self, edge: Edge, line: &HashSet<Block>) -> Option<HashSet<Block>> {
        let around = || std::iter::successors(self.loops.innermost(self.cfg.dst(edge)), |&l| self.loops.parent(l));
        if self.dfs.is_backedge(edge) || around().any(|l| self.loops.is_irreducible(l)) {
            return None;
        }
        let headers: HashSet<Block> = around().map(|l| self.loops.header(l)).collect();
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
