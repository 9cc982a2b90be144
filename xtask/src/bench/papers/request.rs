//! What a run of `cargo xtask bench --papers` is asked for.

use crate::bench::subject::Workloads;
use crate::bench::variants::Variant;
use crate::real::Context;

/// What a run is about.
pub struct Request<'a> {
    /// Tools and sources.
    pub context: &'a Context,
    /// All builds.
    pub variants: &'a [Variant],
    /// The programs, sets of small functions among them.
    pub programs: &'a [&'a Workloads],
    /// Measure facts that are known already, too.
    pub again: bool,
    /// The day of the measurements.
    pub today: String,
}
