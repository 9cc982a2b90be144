//! Weights say how often edges run: as counted in an earlier run, or estimated.
//!
//! - [`weighting`]: a number per edge, which obeys flow conservation where possible.
//! - [`heuristic`]: the estimate of Ball & Larus 1994, §5, from the nesting of loops.
//! - [`prediction`], [`likelihood`]: the likely outcomes of branches, from what is compared, called and returned.
//! - [`stale`]: which blocks of a function are those of an earlier version, whose counts there are.
//! - [`summary`]: from which count on code is hot, and up to which it is cold.

pub mod heuristic;
pub mod likelihood;
pub mod prediction;
pub mod stale;
pub mod summary;
pub mod weighting;
