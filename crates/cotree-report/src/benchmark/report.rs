//! What is told of a benchmark, in whatever form.

use super::{Comparison, Measured, Verdict};

/// What is told of a benchmark.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The amounts of the benchmark.
    pub measured: &'a Measured,
    /// Against the baseline, if there is one that it can be held against.
    pub comparison: Option<&'a Comparison>,
    /// Why it can't be held against its baseline.
    pub refused: &'a [String],
}

impl Report<'_> {
    /// `pass`, `fail`, `unsure` where runs differ too much, or `refused` where nothing is compared; `None` without a
    /// baseline.
    pub(super) fn verdict(&self) -> Option<&'static str> {
        if !self.refused.is_empty() {
            return Some("refused");
        }
        self.comparison.map(|comparison| match comparison.verdict() {
            Verdict::Within => "pass",
            Verdict::Above => "fail",
            Verdict::Unsure => "unsure",
        })
    }
}
