//! Trip counts of loops.
//!
//! A loop is entered whenever control comes to its header from outside; each arrival at the header begins a trip. With
//! exact edge counts both are plain sums, no matter how often the loop body leaves early.

use crate::flow::Flow;
use cotree_core::dfs::Dfs;
use cotree_core::facts::Position;
use cotree_core::ids::Block;
use cotree_core::loops::LoopForest;

/// One loop and how it ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Its header.
    pub header: Block,
    /// Where the header is in the source.
    pub position: Option<Position>,
    /// Loops around it.
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
        loops.push(Loop {
            header,
            position: position(flow, &forest, number),
            depth: forest.depth(number),
            entries,
            trips,
            instructions: instructions[number.index()],
        });
    }
    loops
}

/// The header's first line, or that of the first block of the loop that has one.
fn position(flow: &Flow<'_>, forest: &LoopForest, number: cotree_core::ids::Loop) -> Option<Position> {
    let header = forest.header(number);
    let blocks = std::iter::once(header).chain(flow.cfg.blocks().filter(|&b| forest.contains(number, b)));
    let mut lines = blocks.filter_map(|b| flow.function.blocks.get(b.index())?.lines.first());
    lines.next().map(|span| span.at)
}
