//! How often edges run: counted in an earlier run, or guessed.
//!
//! - [`weighting`]: a number per edge that obeys the law of flow.
//! - [`heuristic`]: the guess of Ball & Larus 1994, §5, by the nesting of loops.
//! - [`prediction`], [`likelihood`]: which way a branch goes, by what is compared, called and returned on the way.

pub mod heuristic;
pub mod likelihood;
pub mod prediction;
pub mod weighting;
