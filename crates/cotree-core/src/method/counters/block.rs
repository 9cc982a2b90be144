//! The redundant reference: a counter on every block and on every edge.
//!
//! The other methods are compared with it and checked against it. Each count is read off its own counter, so
//! neither Kirchhoff's law nor the early exits of the run are needed. Only the number of entries is a difference, if
//! edges lead back to the entry block.

use super::error::CounterError;
use super::measured::Measured;
use super::readings::Readings;
use crate::facts::Function;
use crate::graph::cfg::Cfg;
use crate::ids::{Block, Edge, IdMap};
use crate::place::placement::{Placer, add_block_counter, add_counter};
use crate::plan::CounterPlan;
use crate::profile::FunctionProfile;

/// Counts entries into each block, then traversals of each edge, EXIT→entry excepted.
#[must_use]
pub fn plan(function: &Function, cfg: &Cfg) -> CounterPlan {
    let placer = Placer::new(function, cfg);
    let mut plan = CounterPlan::default();
    for block in cfg.blocks().filter(|&b| b != cfg.exit()) {
        add_block_counter(&mut plan, block);
    }
    for edge in cfg.edges().filter(|&e| e != cfg.exit_edge()) {
        add_counter(&mut plan, placer.counter(edge));
    }
    plan
}

/// Reads the counts off.
///
/// # Errors
/// See [`CounterError`].
pub fn recover(cfg: &Cfg, measured: Measured<'_>) -> Result<FunctionProfile, CounterError> {
    let readings = Readings::new(cfg, measured)?;
    let blocks: Option<IdMap<Block, i128>> = readings.blocks.iter().copied().collect();
    let edges: Option<IdMap<Edge, i128>> = readings.edges.iter().take(measured.function.edges.len()).copied().collect();
    let (Some(blocks), Some(edges)) = (blocks, edges) else {
        return Err(CounterError::Underdetermined);
    };
    let entry = cfg.entry();
    let back: i128 = cfg.preds(entry).iter().filter(|&&e| e != cfg.exit_edge()).map(|&e| edges[e]).sum();
    let entries = blocks[entry] - back;
    Ok(FunctionProfile::from_flows(entries, blocks, Some(edges), measured.early, readings.consistent))
}
