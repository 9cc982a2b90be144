//! Trip counts of loops.
//!
//! A loop is entered whenever control reaches its header from outside; each arrival at the header begins a trip. With
//! exact edge counts both are plain sums, however often the loop is left early.

use crate::flow::Flow;
use cotree_core::facts::{Inlined, Position};
use cotree_core::graph::dfs::Dfs;
use cotree_core::graph::loops::LoopForest;
use cotree_core::ids::Block;

/// One loop and how it ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The header of the loop.
    pub header: Block,
    /// Where the loop is in the source: the first line of its header, and if other functions were inlined there, the
    /// line of the call.
    pub position: Option<Position>,
    /// The inlined copy that all of it belongs to, if it is not the function's own.
    pub inlined: Option<u32>,
    /// How many loops are around it.
    pub depth: u32,
    /// Times it was entered from outside.
    pub entries: u64,
    /// Arrivals at the header: trips begun.
    pub trips: u64,
    /// Instructions executed in it, inner loops included.
    pub instructions: u128,
}

impl Loop {
    /// Trips per entry.
    #[must_use]
    pub fn average(&self) -> Option<f64> {
        (self.entries > 0).then(|| self.trips as f64 / self.entries as f64)
    }
}

/// The loops of a function that have one entry, outer loops first. Loops whose edges are not known, and those with
/// several entries (irreducible ones), are left out.
#[must_use]
pub fn of_function(flow: &Flow<'_>) -> Vec<Loop> {
    let dfs = Dfs::new(&flow.cfg);
    let forest = LoopForest::new(&flow.cfg, &dfs);
    let mut instructions = vec![0u128; forest.len()];
    for (index, facts) in flow.function.blocks.iter().enumerate() {
        let block = Block::new(index);
        let executed = u128::from(flow.block(block)) * u128::from(facts.instructions.total);
        let mut at = forest.innermost(block);
        while let Some(inside) = at {
            instructions[inside.index()] += executed;
            at = forest.parent(inside);
        }
    }
    let lines = lines_of_loops(flow, &forest);
    let mut loops = Vec::new();
    for number in forest.loops().filter(|&l| !forest.is_irreducible(l)) {
        let header = forest.header(number);
        let mut entries = Some(0u64);
        let mut trips = Some(0u64);
        for &edge in flow.cfg.preds(header) {
            let count = if edge == flow.cfg.exit_edge() { Some(flow.entries()) } else { flow.edge(edge) };
            trips = trips.zip(count).map(|(a, b)| a.saturating_add(b));
            if !forest.contains(number, flow.cfg.src(edge)) {
                entries = entries.zip(count).map(|(a, b)| a.saturating_add(b));
            }
        }
        let (Some(entries), Some(trips)) = (entries, trips) else { continue };
        let lines = lines[number.index()];
        loops.push(Loop {
            header,
            position: position(flow, header, lines),
            inlined: lines.copy,
            depth: forest.depth(number),
            entries,
            trips,
            instructions: instructions[number.index()],
        });
    }
    loops
}

/// Where loops are in the source.
#[derive(Clone, Copy, Default)]
struct Lines {
    /// The first of its blocks that has a line.
    block: Option<Block>,
    /// The innermost inlined copy that holds all of its lines; `None` for the function itself.
    copy: Option<u32>,
}

impl Lines {
    /// The better place of those of two parts of a loop.
    fn join(self, other: Self, copies: &[Inlined]) -> Self {
        match (self.block, other.block) {
            (None, _) => other,
            (_, None) => self,
            (Some(a), Some(b)) => Self { block: Some(a.min(b)), copy: common(self.copy, other.copy, copies) },
        }
    }
}

/// The innermost copy that holds both. A copy comes after the one around it.
fn common(mut a: Option<u32>, mut b: Option<u32>, copies: &[Inlined]) -> Option<u32> {
    while a != b {
        let inner = if a > b { &mut a } else { &mut b };
        *inner = inner.and_then(|copy| copies.get(copy as usize)?.parent);
    }
    a
}

/// For every loop, by its number.
fn lines_of_loops(flow: &Flow<'_>, forest: &LoopForest) -> Vec<Lines> {
    let copies = &flow.function.inlined;
    let mut lines = vec![Lines::default(); forest.len()];
    for (index, facts) in flow.function.blocks.iter().enumerate() {
        let block = Block::new(index);
        let mut spans = facts.lines.iter().map(|span| span.inlined);
        let Some(first) = spans.next() else { continue };
        let copy = spans.fold(first, |copy, other| common(copy, other, copies));
        let own = Lines { block: Some(block), copy };
        let mut at = forest.innermost(block);
        while let Some(inside) = at {
            let sum = &mut lines[inside.index()];
            *sum = sum.join(own, copies);
            at = forest.parent(inside);
        }
    }
    lines
}

/// The line of the header, or of the first block of the loop that has one. In `while ((c = getchar()) != EOF)` all of
/// the header may belong to the inlined `getchar` although the loop does not: then this is the line of the call.
fn position(flow: &Flow<'_>, header: Block, lines: Lines) -> Option<Position> {
    let copies = &flow.function.inlined;
    let first = |block: Block| flow.function.blocks.get(block)?.lines.first();
    let first = first(header).or_else(|| first(lines.block?))?;
    // The outermost of the copies that hold the first line but not the whole loop.
    let chain = std::iter::successors(first.inlined, |&copy| copies.get(copy as usize)?.parent);
    let called = chain.take_while(|&copy| Some(copy) != lines.copy).last();
    called.and_then(|copy| copies.get(copy as usize)?.call).or(Some(first.at))
}
