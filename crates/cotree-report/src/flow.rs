//! The counts of one function in full detail: edges, and blocks split where calls did not return.
//!
//! A block's count is how often it was entered. The code after a call ran only as often as that call returned: each
//! activation that was abandoned there (`exit`, `longjmp` over it, an exception) is subtracted from the rest of the
//! block, and each that was revived there (the second return of `setjmp`) is added.

use cotree_core::facts::{Anchor, Function};
use cotree_core::graph::cfg::Cfg;
use cotree_core::ids::{Block, CallId, Edge, IdMap, Site};
use cotree_core::profile::FunctionProfile;

/// What the counts of a function are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowBound<'a> {
    /// What ran.
    Exact,
    /// The least that ran. Per block, how many of the activations that entered it may not have come past its beginning.
    Least(&'a IdMap<Block, u64>),
    /// The most that may have run.
    Most,
}

/// The counts of one function.
#[derive(Clone, Debug)]
pub struct Flow<'a> {
    /// The facts of the function.
    pub function: &'a Function,
    /// The recovered profile of the function.
    pub profile: &'a FunctionProfile,
    /// What the counts are.
    pub bound: FlowBound<'a>,
    /// The graph of the function.
    pub cfg: Cfg,
    edges: Vec<Option<u64>>,
    site_start: Vec<u32>,
    /// Per block, its first call; that of the next block ends the list.
    call_start: Vec<usize>,
}

impl<'a> Flow<'a> {
    /// The counts of a function; `None` if facts and profile do not belong together.
    #[must_use]
    pub fn new(function: &'a Function, profile: &'a FunctionProfile) -> Option<Self> {
        let cfg = function.cfg().ok()?;
        if profile.blocks.len() != function.blocks.len() {
            return None;
        }
        let mut site_start = vec![0u32; function.blocks.len() + 1];
        for site in function.sites() {
            *site_start.get_mut(site.block.index() + 1)? += 1;
        }
        for block in 0..function.blocks.len() {
            site_start[block + 1] += site_start[block];
        }
        let mut call_start = vec![0usize; function.blocks.len() + 1];
        for call in &function.calls {
            *call_start.get_mut(call.block.index() + 1)? += 1;
        }
        for block in 0..function.blocks.len() {
            call_start[block + 1] += call_start[block];
        }
        let bound = FlowBound::Exact;
        let mut flow = Self { function, profile, bound, cfg, edges: Vec::new(), site_start, call_start };
        flow.edges = match &profile.edges {
            Some(edges) if edges.len() == function.edges.len() => edges.iter().map(|&e| Some(e)).collect(),
            _ => flow.edges_from_blocks(),
        };
        Some(flow)
    }

    /// Activations begun.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.profile.entries
    }

    /// Times a block was entered.
    #[must_use]
    pub fn block(&self, block: Block) -> u64 {
        self.profile.blocks.get(block).copied().unwrap_or(0)
    }

    /// How often the code after the first `sites` call sites of a block ran.
    #[must_use]
    pub fn after(&self, block: Block, sites: u32) -> u64 {
        let start = self.site_start[block.index()];
        let end = self.site_start[block.index() + 1].min(start.saturating_add(sites));
        let gone: i128 = (start..end).map(|s| i128::from(self.early(s))).sum();
        let gone = gone + if sites > 0 { self.interrupted(block) } else { 0 };
        u64::try_from((i128::from(self.block(block)) - gone).max(0)).unwrap_or(u64::MAX)
    }

    /// How often the code after the first `sites` call sites of a block ran, if it is not the first of the block.
    #[must_use]
    pub fn past_beginning(&self, block: Block, sites: u32) -> u64 {
        let count = i128::from(self.after(block, sites)) - if sites == 0 { self.interrupted(block) } else { 0 };
        u64::try_from(count.max(0)).unwrap_or(u64::MAX)
    }

    /// How often a place was passed where a counter of the compiler's coverage stood: one of the function's anchors.
    #[must_use]
    pub fn anchor(&self, anchor: &Anchor) -> u64 {
        let anchors = &self.function.anchors;
        let first = anchors.partition_point(|other| other.block < anchor.block);
        if anchors.get(first).is_some_and(|first| std::ptr::eq(first, anchor)) {
            self.after(anchor.block, anchor.after_sites)
        } else {
            self.past_beginning(anchor.block, anchor.after_sites)
        }
    }

    /// How many of the activations that entered a block may not have come past its beginning.
    fn interrupted(&self, block: Block) -> i128 {
        match self.bound {
            FlowBound::Least(interrupted) => interrupted.get(block).copied().unwrap_or(0).into(),
            FlowBound::Exact | FlowBound::Most => 0,
        }
    }

    /// How often the code after the first `calls` calls of a block ran.
    fn after_calls(&self, block: Block, calls: u32) -> u64 {
        let start = self.call_start[block.index()];
        let before = (start..self.call_start[block.index() + 1]).take(calls as usize);
        let sites = before.filter(|&call| self.function.calls[CallId::new(call)].is_site).count();
        self.after(block, sites as u32)
    }

    /// How often a run of instructions of a block ran, behind so many of its calls.
    #[must_use]
    pub fn run(&self, block: Block, after_calls: u32) -> u64 {
        if self.profile.early.is_empty() { self.block(block) } else { self.after_calls(block, after_calls) }
    }

    /// How often a call was made.
    #[must_use]
    pub fn call(&self, call: CallId) -> u64 {
        let block = self.function.calls[call].block;
        let before = call.index().saturating_sub(self.call_start[block.index()]);
        if self.profile.early.is_empty() { self.block(block) } else { self.after_calls(block, before as u32) }
    }

    /// Are there calls in a run of instructions of a block?
    #[must_use]
    pub fn calls_in_span(&self, block: Block, span: usize) -> bool {
        let calls = self.call_start[block.index()]..self.call_start[block.index() + 1];
        let mut spans = calls.filter_map(|call| self.function.calls[CallId::new(call)].line);
        spans.any(|line| line.span as usize == span)
    }

    /// How often control passed a block's terminator.
    #[must_use]
    pub fn left(&self, block: Block) -> u64 {
        self.after(block, u32::MAX)
    }

    /// Activations abandoned at a call site minus those revived there.
    #[must_use]
    pub fn early(&self, site: u32) -> i64 {
        self.profile.early.get(Site(site)).copied().unwrap_or(0)
    }

    /// How many call sites a block has.
    #[must_use]
    pub fn site_count(&self, block: Block) -> u32 {
        self.site_start[block.index() + 1] - self.site_start[block.index()]
    }

    /// The number of a block's first call site.
    #[must_use]
    pub fn first_site(&self, block: Block) -> u32 {
        self.site_start[block.index()]
    }

    /// How often an edge was taken; `None` where the method measures only blocks and the count does not follow from
    /// them.
    #[must_use]
    pub fn edge(&self, edge: Edge) -> Option<u64> {
        self.edges.get(edge.index()).copied().flatten()
    }

    /// Derives edges from block counts. The sums of the edges into and out of each block are known, so the only unknown
    /// edge of such a sum is what the other edges leave. The edge is then known in its other sum, too.
    fn edges_from_blocks(&self) -> Vec<Option<u64>> {
        let blocks = self.function.blocks.len();
        // Sums: edges out of block b are number b, those into it number blocks + b. Nothing counts the edges into EXIT.
        let sides = |edge: Edge| {
            let (src, dst) = (self.cfg.src(edge), self.cfg.dst(edge));
            let target = (dst != self.cfg.exit()).then_some(blocks + dst.index());
            std::iter::once(src.index()).chain(target)
        };
        let mut rest = vec![0i128; 2 * blocks];
        for block in (0..blocks).map(Block::new) {
            rest[block.index()] = i128::from(self.left(block));
            rest[blocks + block.index()] = i128::from(self.block(block));
        }
        rest[blocks] -= i128::from(self.entries());
        let mut unknown = vec![0u32; 2 * blocks];
        for edge in self.cfg.edges().filter(|&e| e != self.cfg.exit_edge()) {
            for side in sides(edge) {
                unknown[side] += 1;
            }
        }
        let mut found: Vec<Option<i128>> = vec![None; self.function.edges.len()];
        let mut work: Vec<usize> = (0..2 * blocks).filter(|&s| unknown[s] == 1).collect();
        while let Some(side) = work.pop() {
            let edges = if side < blocks {
                self.cfg.succs(Block::new(side))
            } else {
                self.cfg.preds(Block::new(side - blocks))
            };
            let last = edges.iter().find(|e| found.get(e.index()).is_some_and(Option::is_none));
            let Some(&edge) = last else { continue };
            let count = rest[side];
            found[edge.index()] = Some(count);
            for side in sides(edge) {
                rest[side] -= count;
                unknown[side] -= 1;
                if unknown[side] == 1 {
                    work.push(side);
                }
            }
        }
        found.into_iter().map(|f| f.and_then(|f| u64::try_from(f).ok())).collect()
    }
}
