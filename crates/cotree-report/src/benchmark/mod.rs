//! Runs of a program as a benchmark: what they have cost, and whether that is more than it was.
//!
//! Amounts are exact, so runs of one build differ only where the program does something else. What differs is told and
//! not averaged: every amount is the least and the most of some runs.

mod amount;
mod baseline;
mod comparison;
mod export;
mod history;
mod measured;
mod report;
mod text;

pub use amount::Amount;
pub use baseline::{BASELINE, Baseline, BaselineError, Recorded};
pub use comparison::{Comparison, FunctionChange, KindChange, Limit, Verdict};
pub use export::{JSON, JSON_OF_SEVERAL, write_all_json, write_bencher, write_github, write_json};
pub use history::{Commit, Found, History, JSON_OF_BISECTION, Wanted, write_bisection, write_bisection_json};
pub use measured::{Measured, Run, UnitBuild, without_hash};
pub use report::Report;
pub use text::{changed, measured, sentence, write_all};
