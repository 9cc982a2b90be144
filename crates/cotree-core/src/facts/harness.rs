//! The functions between which harnesses of benchmarks take the time of what they run. Links keep them from being
//! inlined, so that a run can be told to count what is between them.

/// The functions of criterion's that are called where an iteration begins, and where it ends.
pub const CRITERION: [&str; 2] = [
    "<criterion::measurement::WallTime as criterion::measurement::Measurement>::start",
    "<criterion::measurement::WallTime as criterion::measurement::Measurement>::end",
];

/// The function of divan's in which threads wait for each other before an iteration and behind it. It is never
/// inlined.
pub const DIVAN: &str = "divan::benchmark::BenchContext::sample_recorder::{{closure}}::{{closure}}::sync_impl";

/// What asks the clock, as names of newer and of older compilers have it: an iteration of divan's begins where that is
/// called after [`DIVAN`].
pub const CLOCK: [&str; 2] = ["<std::time::Instant>::now", "std::time::Instant::now"];

/// The functions of `cotree_api::bench` that are called before a benchmark and behind it. They are never inlined.
pub const API: [&str; 2] = ["cotree_api::benchmark::begins", "cotree_api::benchmark::ends"];
