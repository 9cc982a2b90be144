//! Dominators and post-dominators (Lengauer & Tarjan 1979).
//!
//! Block *a* dominates block *b* if every path from the entry to *b* passes through *a*; every block dominates itself.
//! Blocks that the entry does not reach dominate nothing and are dominated by nothing. Post-dominators are the same on
//! the reversed graph, from EXIT: a block that can't reach EXIT (an endless loop) post-dominates nothing.
//!
//! The simple variant of the algorithm, with path compression only, takes `O(m log n)`. The iterative algorithms that
//! are usual in compilers are quadratic where a long chain and a wide join meet, which generated code does have.

use crate::graph::cfg::Cfg;
use crate::graph::dfs::{Dfs, Direction};
use crate::graph::forest::Forest;
use crate::ids::{Block, IdMap};

/// The dominator tree, or the post-dominator tree.
#[derive(Clone, Debug)]
pub struct Dominators {
    idom: IdMap<Block, Option<Block>>,
    reached: IdMap<Block, bool>,
    tree: Forest,
}

impl Dominators {
    /// Dominators, given a forward search.
    #[must_use]
    pub fn new(cfg: &Cfg, dfs: &Dfs) -> Self {
        Self::directed(cfg, dfs, Direction::Forward)
    }

    /// Post-dominators.
    #[must_use]
    pub fn post(cfg: &Cfg) -> Self {
        Self::directed(cfg, &Dfs::directed(cfg, Direction::Backward), Direction::Backward)
    }

    fn directed(cfg: &Cfg, dfs: &Dfs, direction: Direction) -> Self {
        let immediate = immediate_dominators(cfg, dfs, direction);
        let blocks = dfs.preorder();
        let mut idom = cfg.per_block(None);
        let mut reached = cfg.per_block(false);
        for (number, &block) in blocks.iter().enumerate() {
            reached[block] = true;
            idom[block] = (number > 0).then(|| blocks[immediate[number]]);
        }
        let parents: Vec<Option<usize>> = idom.iter().map(|b: &Option<Block>| b.map(Block::index)).collect();
        let tree = Forest::new(&parents, blocks.iter().map(|b| b.index()));
        Self { idom, reached, tree }
    }

    /// The closest dominator other than the block itself; `None` for the root and for blocks that it does not reach.
    #[must_use]
    pub fn immediate(&self, block: Block) -> Option<Block> {
        self.idom[block]
    }

    /// Does `a` dominate `b`?
    #[must_use]
    pub fn dominates(&self, a: Block, b: Block) -> bool {
        self.reached[b] && self.tree.is_ancestor(a.index(), b.index())
    }
}

/// The forest that the algorithm links bottom up; everything is in preorder numbers.
struct Links {
    semi: Vec<usize>,
    /// The vertex of least semidominator on the compressed path above.
    label: Vec<usize>,
    ancestor: Vec<Option<usize>>,
    path: Vec<usize>,
}

impl Links {
    /// The vertex of least semidominator between `v` and the root of its tree, the root excepted.
    fn eval(&mut self, v: usize) -> usize {
        let mut at = v;
        while let Some(up) = self.ancestor[at].filter(|&up| self.ancestor[up].is_some()) {
            self.path.push(at);
            at = up;
        }
        while let Some(x) = self.path.pop() {
            let above = self.ancestor[x].expect("only linked vertices were pushed");
            if self.semi[self.label[above]] < self.semi[self.label[x]] {
                self.label[x] = self.label[above];
            }
            self.ancestor[x] = self.ancestor[above];
        }
        self.label[v]
    }
}

/// Immediate dominators in preorder numbers; the root's own is itself.
fn immediate_dominators(cfg: &Cfg, dfs: &Dfs, direction: Direction) -> Vec<usize> {
    let blocks = dfs.preorder();
    let n = blocks.len();
    let number = |b: Block| dfs.number(b);
    let mut links =
        Links { semi: (0..n).collect(), label: (0..n).collect(), ancestor: vec![None; n], path: Vec::new() };
    let mut idom = vec![0; n];
    // The vertices that wait for vertex `v`, as a list: first, and next after each.
    let mut waiting: Vec<Option<usize>> = vec![None; n];
    let mut next_waiting: Vec<Option<usize>> = vec![None; n];

    for w in (1..n).rev() {
        for edge in direction.inward(cfg, blocks[w]) {
            if let Some(v) = number(direction.tail(cfg, edge)) {
                let u = links.eval(v);
                links.semi[w] = links.semi[w].min(links.semi[u]);
            }
        }
        let semi = links.semi[w];
        next_waiting[w] = waiting[semi].replace(w);
        let parent = dfs.parent(blocks[w]).and_then(number).expect("every vertex but the root has a parent");
        links.ancestor[w] = Some(parent);
        let mut list = waiting[parent].take();
        while let Some(v) = list {
            let u = links.eval(v);
            idom[v] = if links.semi[u] < links.semi[v] { u } else { parent };
            list = next_waiting[v];
        }
    }
    for w in 1..n {
        if idom[w] != links.semi[w] {
            idom[w] = idom[idom[w]];
        }
    }
    idom
}

#[cfg(test)]
mod tests {
    use super::Dominators;
    use crate::graph::cfg::Cfg;
    use crate::graph::dfs::{Dfs, Direction};
    use crate::ids::{Block, IdMap};
    use proptest::prelude::*;

    /// Which blocks are reached without passing through `without`?
    fn reach(cfg: &Cfg, direction: Direction, without: Option<Block>) -> IdMap<Block, bool> {
        let mut seen = cfg.per_block(false);
        let mut open = vec![direction.root(cfg)];
        while let Some(b) = open.pop() {
            if Some(b) != without && !std::mem::replace(&mut seen[b], true) {
                open.extend(direction.onward(cfg, b).map(|e| direction.head(cfg, e)));
            }
        }
        seen
    }

    proptest! {
        /// The definition is the oracle: without `a`, `b` is out of reach.
        #[test]
        fn agrees_with_the_definition(
            (blocks, edges) in (1..12usize).prop_flat_map(|n| (Just(n), prop::collection::vec((0..n, 0..=n), 0..30)))
        ) {
            let cfg = Cfg::new(blocks, edges.into_iter().map(|(a, b)| (Block::new(a), Block::new(b)))).unwrap();
            for (doms, direction) in [
                (Dominators::new(&cfg, &Dfs::new(&cfg)), Direction::Forward),
                (Dominators::post(&cfg), Direction::Backward),
            ] {
                let all = reach(&cfg, direction, None);
                for a in cfg.blocks() {
                    let around = reach(&cfg, direction, Some(a));
                    for b in cfg.blocks() {
                        let expected = all[b] && !around[b];
                        prop_assert_eq!(doms.dominates(a, b), expected, "{} {} {:?}", a, b, direction);
                    }
                }
                for b in cfg.blocks() {
                    if let Some(idom) = doms.immediate(b) {
                        prop_assert!(idom != b && doms.dominates(idom, b));
                        prop_assert!(cfg.blocks().all(|c| c == b || !doms.dominates(c, b) || doms.dominates(c, idom)));
                    } else {
                        prop_assert!(b == direction.root(&cfg) || !all[b]);
                    }
                }
            }
        }
    }

    #[test]
    fn post_dominators_of_a_diamond() {
        let cfg = Cfg::new(4, [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)].map(|(a, b)| (Block(a), Block(b)))).unwrap();
        let post = Dominators::post(&cfg);
        assert_eq!(post.immediate(Block(0)), Some(Block(3)));
        assert_eq!(post.immediate(Block(3)), Some(cfg.exit()));
        assert_eq!(post.immediate(cfg.exit()), None);
    }

    /// A long chain whose end and whose start both lead to many blocks: the iterative algorithms take a walk along the
    /// whole chain for each of them.
    #[test]
    fn a_chain_with_a_wide_join() {
        let n = 100_000u32;
        let chain = (0..n).map(|i| (i, i + 1));
        let wide = (n + 1..2 * n).flat_map(|i| [(n, i), (0, i)]);
        let edges = chain.chain(wide).map(|(a, b)| (Block(a), Block(b)));
        let cfg = Cfg::new(2 * n as usize, edges).unwrap();
        let doms = Dominators::new(&cfg, &Dfs::new(&cfg));
        assert!((n + 1..2 * n).all(|i| doms.immediate(Block(i)) == Some(Block(0))));
        assert!((1..=n).all(|i| doms.immediate(Block(i)) == Some(Block(i - 1))));
    }
}
