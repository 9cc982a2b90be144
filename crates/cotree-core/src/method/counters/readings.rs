//! Readings: the counts of edges and blocks that counters give directly, before flow conservation is applied.

use super::error::CounterError;
use super::measured::Measured;
use crate::facts::Function;
use crate::graph::cfg::Cfg;
use crate::ids::{Block, Edge, IdMap};
use crate::plan::{FixedEdge, Measure};
use crate::profile::EarlyExits;

/// The measured counts by what they measure, with the early exits by block.
pub(super) struct Readings {
    /// Per edge (EXIT→entry included), the count if a counter measured it.
    pub edges: IdMap<Edge, Option<i128>>,
    /// Per real block, the entries into it if a counter measured them.
    pub blocks: IdMap<Block, Option<i128>>,
    /// Per block, activations that entered it and left by no edge. For EXIT it is the negated sum of all others,
    /// because those activations go there instead (Ball & Larus 1994, §3.2, Fig. 7).
    pub early: IdMap<Block, i128>,
    /// No two counters contradict each other.
    pub consistent: bool,
}

impl Readings {
    /// Checks that all parts fit together, and sorts the counts.
    pub fn new(cfg: &Cfg, measured: Measured<'_>) -> Result<Self, CounterError> {
        let Measured { function, key, counts, early } = measured;
        if cfg.block_count() != function.blocks.len() + 1 || cfg.edge_count() != function.edges.len() + 1 {
            return Err(CounterError::ForeignGraph);
        }
        if counts.len() != key.measures.len() {
            return Err(CounterError::CounterMismatch { expected: key.measures.len(), found: counts.len() });
        }
        let mut readings = Self {
            edges: cfg.per_edge(None),
            blocks: IdMap::filled(None, function.blocks.len()),
            early: early_by_block(function, cfg, early)?,
            consistent: true,
        };
        for (i, (&measure, &count)) in key.measures.iter().zip(counts).enumerate() {
            let slot = match measure {
                Measure::Edge(edge) => readings.edges.get_mut(edge),
                Measure::Block(block) => readings.blocks.get_mut(block),
            };
            let slot = slot.ok_or(CounterError::UnknownMeasure(i, measure))?;
            readings.consistent &= note(slot, i128::from(count));
        }
        Ok(readings)
    }

    /// Carries measured blocks over to edges that are the only ones into them or out of them.
    pub fn edges_from_blocks(&mut self, cfg: &Cfg) {
        for block in self.blocks.ids() {
            let Some(entries) = self.blocks[block] else { continue };
            if let &[only] = cfg.preds(block) {
                self.consistent &= note(&mut self.edges[only], entries);
            }
            if let &[only] = cfg.succs(block) {
                self.consistent &= note(&mut self.edges[only], entries - self.early[block]);
            }
        }
    }

    /// Adds an edge that needs no counter, by how often the edge that it follows from ran.
    pub fn fixed(&mut self, fixed: &FixedEdge, of: i128) {
        match of.checked_mul(i128::from(fixed.times)) {
            Some(flow) => self.consistent &= note(&mut self.edges[fixed.edge], flow),
            None => {
                self.consistent = false;
                self.edges[fixed.edge].get_or_insert(0);
            }
        }
    }

    /// Adds how often the function was entered.
    pub fn entered(&mut self, cfg: &Cfg, entries: i128) {
        self.consistent &= note(&mut self.edges[cfg.exit_edge()], entries);
    }

    /// Could a run have had these entries into the function and into its blocks? Measured blocks must agree, and after
    /// early exits no negative flow may remain that leaves a block or reaches EXIT.
    pub fn admit(&self, entries: i128, blocks: &[i128]) -> bool {
        let agreed = self.blocks.iter().zip(blocks).all(|(measured, &count)| measured.is_none_or(|m| m == count));
        let left = blocks.iter().zip(&self.early).all(|(&count, &early)| count >= early);
        agreed && left && self.early.last().is_none_or(|&early_at_exit| entries + early_at_exit >= 0)
    }
}

/// Fills a slot; `false` if it holds something else already.
fn note(slot: &mut Option<i128>, value: i128) -> bool {
    slot.replace(value).is_none_or(|old| old == value)
}

fn early_by_block(function: &Function, cfg: &Cfg, early: &EarlyExits) -> Result<IdMap<Block, i128>, CounterError> {
    let mut by_block = cfg.per_block(0i128);
    if early.at_site.is_empty() {
        return Ok(by_block);
    }
    if early.at_site.len() != function.sites().len() {
        return Err(CounterError::SiteMismatch { expected: function.sites().len(), found: early.at_site.len() });
    }
    for (site, &count) in function.sites().zip(&early.at_site) {
        if site.block >= cfg.exit() {
            return Err(CounterError::UnknownBlock(site.block));
        }
        by_block[site.block] += i128::from(count);
        by_block[cfg.exit()] -= i128::from(count);
    }
    Ok(by_block)
}
