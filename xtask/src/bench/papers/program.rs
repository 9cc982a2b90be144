//! One program as the papers' tables see it: what the store has of its builds, and the facts beside it.

use super::facts::{Facts, Placement, Size};
use crate::bench::results::{Measured, geometric_mean, median};
use crate::bench::traces::Traced;
use crate::bench::variants;

/// What is known of one program.
pub struct Program<'a> {
    /// Instructions, times and traces.
    pub measured: &'a Measured,
    /// What was measured for this page.
    pub facts: Option<&'a Facts>,
    /// Rust programs are built by few methods.
    pub in_rust: bool,
}

impl Program<'_> {
    /// The name of the program in tables.
    pub fn name(&self) -> &'static str {
        self.measured.name
    }

    /// Instructions of a build over those of the build without counters.
    pub fn over(&self, build: &str) -> Option<f64> {
        Some(self.instructions(build)? / self.instructions(variants::NONE)?)
    }

    /// Instructions of a build.
    pub fn instructions(&self, build: &str) -> Option<f64> {
        self.measured.counted.get(build).map(|counted| counted.instructions as f64)
    }

    /// Processor time of a build over that of the build without counters.
    pub fn time(&self, build: &str) -> Option<f64> {
        self.measured.timed.get(build)?.over_base
    }

    /// The trace of a build.
    pub fn traced(&self, build: &str) -> Option<&Traced> {
        self.measured.counted.get(build)?.traced.as_ref()
    }

    /// A placement of counters by the static heuristic.
    pub fn placed(&self, method: &str) -> Option<&Placement> {
        self.facts?.heuristic.get(method)
    }

    /// A placement of counters by the counts of the very run.
    pub fn placed_exactly(&self, method: &str) -> Option<&Placement> {
        self.facts?.exact.get(method)
    }

    /// The sizes of a build.
    pub fn size(&self, build: &str) -> Option<&Size> {
        self.facts?.builds.get(build)
    }

    /// The days on which the instructions of a build were counted and, if `timed`, its times were taken.
    pub fn days(&self, build: &str, timed: bool) -> impl Iterator<Item = &str> {
        let counted = self.measured.counted.get(build).map(|counted| counted.from.as_str());
        let timed = self.measured.timed.get(build).filter(|_| timed).map(|timed| timed.from.as_str());
        counted.into_iter().chain(timed)
    }
}

/// All that is known of this quantity.
pub fn known(programs: &[Program<'_>], number: impl Fn(&Program<'_>) -> Option<f64>) -> Vec<f64> {
    programs.iter().filter_map(number).collect()
}

/// The smallest, the largest and the median, with the number of programs.
pub fn range(numbers: Vec<f64>, show: impl Fn(f64) -> String) -> Option<String> {
    let least = numbers.iter().copied().min_by(f64::total_cmp)?;
    let most = numbers.iter().copied().max_by(f64::total_cmp)?;
    let (count, middle) = (numbers.len(), median(numbers)?);
    Some(format!("{} to {}, median {} ({count} programs)", show(least), show(most), show(middle)))
}

/// The geometric mean of ratios with the number of programs.
pub fn mean(ratios: Vec<f64>, show: impl Fn(f64) -> String) -> Option<String> {
    let count = ratios.len();
    Some(format!("{} ({count} programs)", show(geometric_mean(ratios)?)))
}

/// A ratio as what it is more than one.
pub fn percent(ratio: f64) -> String {
    crate::bench::results::percent(Some(ratio))
}

/// A part of a whole.
pub fn share(part: f64) -> String {
    format!("{:.1} %", 100.0 * part)
}

/// A factor.
pub fn times(factor: f64) -> String {
    format!("{factor:.2}")
}

/// One number over another, unless there is nothing to divide by.
pub fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}
