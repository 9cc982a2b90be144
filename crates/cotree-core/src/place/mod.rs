//! Chooses what to count and where, so that all counts are determined at the least cost.
//!
//! - [`spanning`]: which edges need a counter.
//! - [`placement`]: where such a counter is put.
//! - [`affine`]: loop variables that count in place of a counter.
//! - [`promotion`]: counters that are in registers while a loop runs.
//! - [`supergraph`]: functions whose entries follow from their callers' counts.
//! - [`cold_blocks`]: which counter blocks are kept out of line.

pub mod affine;
pub mod cold_blocks;
pub mod placement;
pub mod promotion;
pub mod spanning;
pub mod supergraph;
