//! Cycle equivalence, and with it single-entry single-exit regions, in linear time (Johnson, Pearson & Pingali 1994,
//! "The program structure tree", §3).
//!
//! Two edges are *cycle equivalent* if every cycle that has one of them has the other. In a control-flow graph with its
//! edge EXIT→entry, where every block lies on a cycle, it makes no difference whether cycles follow the edges'
//! directions or not (their Theorem 5): such edges run equally often, and two of them in a row are the
//! entry and the exit of a region that control enters and leaves nowhere else.
//!
//! A depth-first search that takes edges in either direction leaves *backedges* to ancestors. The *brackets* of a tree
//! edge are the backedges from below it to above it. Edges are equivalent if they have the same set of brackets, and a
//! set is known by its size and its most recently pushed bracket, if all lists of brackets are kept in one order; where
//! two subtrees meet, a *capping* backedge makes sure of that. Lists are joined and brackets removed in constant time.
//!
//! Blocks that can't reach EXIT (endless loops) are not on the cycles that the theorem wants. Equivalence is then the
//! undirected one, which still implies the directed one.

use crate::graph::cfg::Cfg;
use crate::ids::{Block, Edge, IdMap};

const NONE: usize = usize::MAX;

/// The classes of cycle-equivalent edges.
#[derive(Clone, Debug)]
pub struct CycleEquivalence {
    class: IdMap<Edge, usize>,
    classes: usize,
}

impl CycleEquivalence {
    /// Finds the classes of a graph's edges, EXIT→entry among them.
    #[must_use]
    pub fn new(cfg: &Cfg) -> Self {
        let search = Search::new(cfg);
        let mut finder = Finder::new(cfg, &search);
        for position in (0..search.order.len()).rev() {
            finder.visit(position);
        }
        for edge in cfg.edges().filter(|&e| cfg.src(e) == cfg.dst(e)) {
            finder.brackets[edge.index()].class = finder.classes;
            finder.classes += 1;
        }
        let class = cfg.edges().map(|e| finder.brackets[e.index()].class).collect();
        Self { class, classes: finder.classes }
    }

    /// The class of an edge; `None` if it lies on no cycle.
    #[must_use]
    pub fn class(&self, edge: Edge) -> Option<usize> {
        Some(self.class[edge]).filter(|&c| c != NONE)
    }

    /// How many classes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.classes
    }

    /// Does the graph have no cycle?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.classes == 0
    }

    /// Do the two edges lie on the same cycles?
    #[must_use]
    pub fn equivalent(&self, a: Edge, b: Edge) -> bool {
        a == b || self.class(a).is_some_and(|class| self.class(b) == Some(class))
    }
}

/// A depth-first search that takes edges in either direction.
struct Search {
    /// Blocks in preorder.
    order: Vec<Block>,
    /// Per block, its position in preorder.
    position: IdMap<Block, usize>,
    /// Per position, the tree edge to it and the position that it comes from; `NONE` for roots.
    up: Vec<(usize, usize)>,
}

impl Search {
    fn new(cfg: &Cfg) -> Self {
        let mut search = Self { order: Vec::new(), position: cfg.per_block(NONE), up: Vec::new() };
        let mut stack: Vec<(Block, usize)> = Vec::new();
        for root in cfg.blocks() {
            search.enter(root, (NONE, NONE), &mut stack);
            while let Some(&mut (block, ref mut next)) = stack.last_mut() {
                let (out, into) = (cfg.succs(block), cfg.preds(block));
                let edge = out.get(*next).or_else(|| into.get(next.wrapping_sub(out.len()))).copied();
                *next += 1;
                let Some(edge) = edge else {
                    stack.pop();
                    continue;
                };
                let other = if cfg.src(edge) == block { cfg.dst(edge) } else { cfg.src(edge) };
                search.enter(other, (edge.index(), search.position[block]), &mut stack);
            }
        }
        search
    }

    /// Takes up a block that was not seen before.
    fn enter(&mut self, block: Block, up: (usize, usize), stack: &mut Vec<(Block, usize)>) {
        if self.position[block] == NONE {
            self.position[block] = self.order.len();
            self.order.push(block);
            self.up.push(up);
            stack.push((block, 0));
        }
    }
}

/// A backedge in a list of brackets. The graph's edges come first, capping ones after them.
#[derive(Clone, Copy)]
struct Bracket {
    next: usize,
    previous: usize,
    class: usize,
    /// The size of the set when this was last the topmost bracket of a tree edge, and that edge's class.
    recent: (usize, usize),
}

/// A doubly linked list of brackets, the topmost first.
#[derive(Clone, Copy)]
struct List {
    first: usize,
    last: usize,
    size: usize,
}

struct Finder<'a> {
    cfg: &'a Cfg,
    search: &'a Search,
    brackets: Vec<Bracket>,
    lists: Vec<List>,
    /// Per position: the topmost position that a backedge from at or below it reaches.
    high: Vec<usize>,
    /// Per position: its children's best two, and the second is what is left without the first.
    below: Vec<(usize, usize)>,
    /// Per position, capping backedges that end there.
    capped: Vec<Vec<usize>>,
    classes: usize,
}

impl<'a> Finder<'a> {
    fn new(cfg: &'a Cfg, search: &'a Search) -> Self {
        let n = search.order.len();
        let bracket = Bracket { next: NONE, previous: NONE, class: NONE, recent: (NONE, NONE) };
        Self {
            cfg,
            search,
            brackets: vec![bracket; cfg.edge_count()],
            lists: vec![List { first: NONE, last: NONE, size: 0 }; n],
            high: vec![NONE; n],
            below: vec![(NONE, NONE); n],
            capped: vec![Vec::new(); n],
            classes: 0,
        }
    }

    fn new_class(&mut self) -> usize {
        self.classes += 1;
        self.classes - 1
    }

    /// Fig. 4 of the paper, for one block; children have been visited and have handed up what they know.
    fn visit(&mut self, at: usize) {
        let block = self.search.order[at];
        // Backedges that end here, from below, and those that begin here.
        let (mut ending, mut beginning) = (Vec::new(), Vec::new());
        for &edge in self.cfg.succs(block).iter().chain(self.cfg.preds(block)) {
            let (src, dst) = (self.cfg.src(edge), self.cfg.dst(edge));
            let other = self.search.position[if src == block { dst } else { src }];
            let tree = self.search.up[other.max(at)].0 == edge.index();
            if src == dst || tree {
                continue;
            }
            if other > at { ending.push(edge.index()) } else { beginning.push((edge.index(), other)) }
        }
        let high_here = beginning.iter().map(|b| b.1).min().unwrap_or(NONE);
        let (high_below, second) = self.below[at];
        self.high[at] = high_here.min(high_below);

        for cap in std::mem::take(&mut self.capped[at]) {
            self.remove(at, cap);
        }
        for edge in ending {
            self.remove(at, edge);
            if self.brackets[edge].class == NONE {
                self.brackets[edge].class = self.new_class();
            }
        }
        for (edge, _) in beginning {
            self.push(at, edge);
        }
        if second < high_here && second < at {
            let cap = self.brackets.len();
            self.brackets.push(Bracket { next: NONE, previous: NONE, class: NONE, recent: (NONE, NONE) });
            self.capped[second].push(cap);
            self.push(at, cap);
        }
        let (edge, parent) = self.search.up[at];
        if parent == NONE {
            return;
        }
        let List { first, size, .. } = self.lists[at];
        if first != NONE {
            if self.brackets[first].recent.0 != size {
                self.brackets[first].recent = (size, self.new_class());
            }
            let class = self.brackets[first].recent.1;
            self.brackets[edge].class = class;
            if size == 1 {
                self.brackets[first].class = class;
            }
        }
        let (best, second) = &mut self.below[parent];
        if self.high[at] < *best {
            *second = std::mem::replace(best, self.high[at]);
        } else {
            *second = (*second).min(self.high[at]);
        }
        self.join(parent, at);
    }

    fn push(&mut self, at: usize, bracket: usize) {
        let first = self.lists[at].first;
        self.brackets[bracket].next = first;
        self.brackets[bracket].previous = NONE;
        if first == NONE {
            self.lists[at].last = bracket
        } else {
            self.brackets[first].previous = bracket
        }
        self.lists[at].first = bracket;
        self.lists[at].size += 1;
    }

    /// Takes a bracket out of the list that it is in, which is that of position `at`.
    fn remove(&mut self, at: usize, bracket: usize) {
        let Bracket { next, previous, .. } = self.brackets[bracket];
        if previous == NONE {
            self.lists[at].first = next
        } else {
            self.brackets[previous].next = next
        }
        if next == NONE {
            self.lists[at].last = previous
        } else {
            self.brackets[next].previous = previous
        }
        self.lists[at].size -= 1;
    }

    /// Puts the list of a child before the list that its parent has so far.
    fn join(&mut self, parent: usize, child: usize) {
        let (above, list) = (self.lists[parent], self.lists[child]);
        if list.first == NONE {
            return;
        }
        self.lists[parent] = if above.first == NONE {
            list
        } else {
            self.brackets[list.last].next = above.first;
            self.brackets[above.first].previous = list.last;
            List { first: list.first, last: above.last, size: above.size + list.size }
        };
    }
}
