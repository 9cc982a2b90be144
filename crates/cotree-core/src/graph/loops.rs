//! Loops, their nesting and their exits (Ball & Larus 1994, §5).
//!
//! A *loop-entry* (header) is the target of a backedge of the depth-first search. The paper defines the *natural
//! loop* of a header *y* as *y* with all blocks from which a path that avoids *y* leads to the source of a backedge
//! to *y*, and relies on any two loops being disjoint or nested. That holds where headers dominate their loops; in
//! irreducible graphs the definition collects blocks up to the entry, and loops overlap.
//!
//! Here the loop of *y* only takes paths that stay among *y*'s descendants in the depth-first tree. For a header
//! that dominates its loop this is exactly the natural loop, since all its paths stay there. For other headers
//! it is the loop of Havlak (1997): loops always nest, and a loop that is also entered elsewhere is marked as
//! irreducible. All loops are found in almost linear time by collapsing inner loops first (Tarjan 1974; Ramalingam
//! 1999).

use crate::graph::cfg::Cfg;
use crate::graph::dfs::Dfs;
use crate::graph::forest::Forest;
use crate::graph::union_find::UnionFind;
use crate::ids::{Block, Edge, IdMap, Loop};

/// All loops of one graph. Loops are numbered such that an outer loop comes before those within it.
#[derive(Clone, Debug)]
pub struct LoopForest {
    headers: IdMap<Loop, Block>,
    innermost: IdMap<Block, Option<Loop>>,
    nest: Forest,
    /// Per edge, the outermost loop that it leaves.
    leaves: IdMap<Edge, Option<Loop>>,
    exits: IdMap<Loop, u32>,
    irreducible: IdMap<Loop, bool>,
}

impl LoopForest {
    /// Finds the loops of the part of the graph that the search has reached.
    #[must_use]
    pub fn new(cfg: &Cfg, dfs: &Dfs) -> Self {
        let enclosing = enclosing_headers(cfg, dfs);
        let mut own: IdMap<Block, Option<Loop>> = cfg.per_block(None);
        for edge in cfg.edges().filter(|&e| dfs.is_backedge(e)) {
            own[cfg.dst(edge)] = Some(Loop(0));
        }
        let mut headers: IdMap<Loop, Block> = IdMap::default();
        for &block in dfs.preorder() {
            if let Some(own) = &mut own[block] {
                *own = Loop::new(headers.len());
                headers.push(block);
            }
        }
        let around = |b: Block| enclosing[b].and_then(|header| own[header]);
        let innermost = cfg.blocks().map(|b| own[b].or_else(|| around(b))).collect();
        let parents: Vec<Option<usize>> = headers.iter().map(|&h| around(h).map(Loop::index)).collect();
        let count = headers.len();
        let mut forest = Self {
            headers,
            innermost,
            nest: Forest::new(&parents, 0..count),
            leaves: cfg.per_edge(None),
            exits: IdMap::filled(0, count),
            irreducible: IdMap::filled(false, count),
        };
        forest.follow_edges(cfg, dfs);
        forest
    }

    /// Finds what each edge leaves and where loops are entered beside their headers.
    fn follow_edges(&mut self, cfg: &Cfg, dfs: &Dfs) {
        // An edge leaves (enters) a line of loops from an inner one to an outer one. What it adds to all of them is
        // written at the two ends of the line and summed up from the inside out.
        let mut exits: IdMap<Loop, i64> = IdMap::filled(0, self.headers.len());
        let mut side_entries = exits.clone();
        let add_to_line = |sums: &mut IdMap<Loop, i64>, inner: Loop, above: Option<usize>| {
            sums[inner] += 1;
            if let Some(above) = above {
                sums[Loop::new(above)] -= 1;
            }
        };
        for edge in cfg.edges().filter(|&e| e != cfg.exit_edge() && dfs.is_reached(cfg.src(e))) {
            let (src, dst) = (self.innermost(cfg.src(edge)), self.innermost(cfg.dst(edge)));
            let common = match (src, dst) {
                (Some(a), Some(b)) => self.nest.common_ancestor(a.index(), b.index()),
                _ => None,
            };
            let below_common = common.map_or(0, |l| self.nest.depth(l) + 1);
            if let Some(src) = src.filter(|l| Some(l.index()) != common) {
                let outermost = self.nest.ancestor_at_depth(src.index(), below_common);
                self.leaves[edge] = Some(Loop::new(outermost));
                add_to_line(&mut exits, src, common);
            }
            let beside = dst.and_then(|l| if self.header(l) == cfg.dst(edge) { self.parent(l) } else { Some(l) });
            if let Some(beside) = beside.filter(|l| self.nest.depth(l.index()) >= below_common) {
                add_to_line(&mut side_entries, beside, common);
            }
        }
        for inner in self.loops().rev() {
            if let Some(outer) = self.parent(inner) {
                let (more_exits, more_entries) = (exits[inner], side_entries[inner]);
                exits[outer] += more_exits;
                side_entries[outer] += more_entries;
            }
            self.exits[inner] = u32::try_from(exits[inner]).unwrap_or(u32::MAX);
            self.irreducible[inner] = side_entries[inner] > 0;
        }
    }

    /// How many loops there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.headers.len()
    }

    /// Is the graph free of loops?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.headers.is_empty()
    }

    /// All loops, outer ones first.
    pub fn loops(&self) -> impl DoubleEndedIterator<Item = Loop> + ExactSizeIterator + use<> {
        (0..self.headers.len()).map(Loop::new)
    }

    /// The loop's header.
    #[must_use]
    pub fn header(&self, l: Loop) -> Block {
        self.headers[l]
    }

    /// The loop that this block is the header of.
    #[must_use]
    pub fn headed_by(&self, block: Block) -> Option<Loop> {
        self.innermost(block).filter(|&l| self.header(l) == block)
    }

    /// The innermost loop that contains the block; for a header that is its own loop.
    #[must_use]
    pub fn innermost(&self, block: Block) -> Option<Loop> {
        self.innermost[block]
    }

    /// The innermost loop around this one.
    #[must_use]
    pub fn parent(&self, l: Loop) -> Option<Loop> {
        self.nest.parent(l.index()).map(Loop::new)
    }

    /// The innermost loop that contains both blocks.
    #[must_use]
    pub fn common(&self, a: Block, b: Block) -> Option<Loop> {
        let (a, b) = (self.innermost(a)?, self.innermost(b)?);
        self.nest.common_ancestor(a.index(), b.index()).map(Loop::new)
    }

    /// In how many loops this one lies.
    #[must_use]
    pub fn depth(&self, l: Loop) -> u32 {
        self.nest.depth(l.index())
    }

    /// Is the block in the loop?
    #[must_use]
    pub fn contains(&self, l: Loop, block: Block) -> bool {
        self.innermost(block).is_some_and(|inner| self.nest.is_ancestor(l.index(), inner.index()))
    }

    /// Can the loop be entered other than through its header?
    #[must_use]
    pub fn is_irreducible(&self, l: Loop) -> bool {
        self.irreducible[l]
    }

    /// How many edges leave the loop: |loop-exits|.
    #[must_use]
    pub fn exit_count(&self, l: Loop) -> u32 {
        self.exits[l]
    }

    /// The outermost loop that the edge leaves; `None` if it leaves none. (It leaves every loop between that one and
    /// the innermost loop of its source.)
    #[must_use]
    pub fn outermost_left(&self, edge: Edge) -> Option<Loop> {
        self.leaves[edge]
    }
}

/// Per block, the header of the innermost loop that contains it as something other than the header.
///
/// Headers are visited in reverse preorder, so inner loops are collapsed into their headers before outer ones are
/// looked for. An edge that is neither a tree edge nor a backedge is added when the common ancestor of its ends is
/// visited: only then can a loop contain both, and so every predecessor that is met belongs to the loop.
fn enclosing_headers(cfg: &Cfg, dfs: &Dfs) -> IdMap<Block, Option<Block>> {
    let blocks = dfs.preorder();
    let n = blocks.len();
    let number = |b: Block| dfs.number(b);
    let parent: Vec<Option<usize>> = blocks.iter().map(|&b| dfs.parent(b).and_then(number)).collect();

    // Edges as (common ancestor, source, target), the deepest ancestor last.
    let tree = Forest::new(&parent, 0..n);
    let mut joins: Vec<(usize, usize, usize)> = cfg
        .edges()
        .filter(|&e| e != cfg.exit_edge() && !dfs.is_backedge(e))
        .filter_map(|e| Some((number(cfg.src(e))?, number(cfg.dst(e))?)))
        .filter_map(|(src, dst)| Some((tree.common_ancestor(src, dst)?, src, dst)))
        .collect();
    joins.sort_unstable();

    let mut sets = UnionFind::new(n);
    let mut top: Vec<usize> = (0..n).collect(); // the header that stands for a set, by representative
    let mut added: Vec<Vec<usize>> = vec![Vec::new(); n]; // sources of the edges added so far, by target
    let mut enclosing = vec![None; n];
    let mut seen_by = vec![usize::MAX; n];
    let mut body = Vec::new();
    for header in (0..n).rev() {
        while let Some((_, src, dst)) = joins.pop_if(|join| join.0 == header) {
            added[top[sets.find(dst)]].push(src);
        }
        let meet = |from: usize, sets: &mut UnionFind, seen_by: &mut Vec<usize>, body: &mut Vec<usize>| {
            let member = top[sets.find(from)];
            if member != header && std::mem::replace(&mut seen_by[member], header) != header {
                body.push(member);
            }
        };
        for &edge in cfg.preds(blocks[header]) {
            if dfs.is_backedge(edge) {
                meet(
                    number(cfg.src(edge)).expect("a backedge leaves a reached block"),
                    &mut sets,
                    &mut seen_by,
                    &mut body,
                );
            }
        }
        let mut next = 0;
        while let Some(&member) = body.get(next) {
            next += 1;
            let sources = std::mem::take(&mut added[member]);
            for from in sources.into_iter().chain(parent[member]) {
                meet(from, &mut sets, &mut seen_by, &mut body);
            }
        }
        for member in body.drain(..) {
            enclosing[member] = Some(header);
            sets.union(member, header);
        }
        let set = sets.find(header);
        top[set] = header;
    }
    let mut by_block = cfg.per_block(None);
    for (member, header) in enclosing.into_iter().enumerate() {
        by_block[blocks[member]] = header.map(|h: usize| blocks[h]);
    }
    by_block
}
