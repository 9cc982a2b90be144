//! Which blocks can run one after the other before control goes back in a loop.

use cotree_core::graph::cfg::Cfg;
use cotree_core::graph::dfs::Dfs;
use cotree_core::ids::{Block, Edge};
use std::collections::HashSet;

/// A search that has come to so many blocks gives up, and says that one may follow the other.
const MOST_BLOCKS: usize = 1 << 12;

/// A function without the edges on which control goes back.
pub(crate) struct Forward<'a> {
    cfg: &'a Cfg,
    dfs: Dfs,
}

impl<'a> Forward<'a> {
    /// The graph without the back edges of a depth-first search.
    pub(crate) fn new(cfg: &'a Cfg) -> Self {
        Self { cfg, dfs: Dfs::new(cfg) }
    }

    /// Can none of these other blocks run before or after the block in one pass? Then each time that the block runs is
    /// a time that none of them does.
    pub(crate) fn excludes(&self, block: Block, others: &HashSet<Block>) -> bool {
        !others.contains(&block) && !self.meets(block, others, true) && !self.meets(block, others, false)
    }

    /// Does control come to one of the others on its way from the block (`ahead`), or to the block?
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
}
