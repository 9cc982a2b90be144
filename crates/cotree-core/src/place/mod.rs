//! Where to count: what costs least and says all.
//!
//! - [`spanning`]: which edges need a counter. [`placement`]: where such a counter stands.
//! - [`affine`]: loop variables that count in a counter's stead. [`promotion`]: counters that are in registers while a loop runs.
//! - [`supergraph`]: functions whose entries their callers have counted. [`cold_blocks`]: which blocks of counters stand out of the way.

pub mod affine;
pub mod cold_blocks;
pub mod placement;
pub mod promotion;
pub mod spanning;
pub mod supergraph;
