//! Path profiling: every acyclic path through a function counted, exactly (Ball & Larus 1996).
//!
//! [`plan`] cuts the graph into paths ([`cuts`], [`graph`]), numbers these ([`numbering`]), finds the cheapest sums
//! along them ([`increments`]) and puts them where few are executed ([`placement`]). The probes keep a register and add
//! 1 to `table[number]` at the end of each path. [`recover()`] is the inverse: numbers become paths again, and paths
//! become counts of blocks and edges.
//!
//! # Activations that end early
//!
//! An activation that is abandoned during a call has executed the beginning of a path that will never be counted. The
//! flow of such prefixes is not determined by how many were abandoned where. But register and call site together are
//! the prefix's number, by the query increment of the block (Ball 1994, §3.3), and the rest of the number is zeros. So
//! *whoever walks the dying stack must note the register with the return address* ([`Abandoned`]). Then blocks and
//! edges are exact and the prefixes themselves are known. Nothing has to be noted
//!
//! - at calls that only one prefix leads to ([`AtCalls::Known`]): the entry block, blocks that always begin a path;
//! - at calls behind the place where the path is counted already ([`AtCalls::Counted`]): what was not reached of the
//!   path is the same for all. Counting is pulled up as far as a path can't branch any more, so `exit`, `abort`,
//!   `throw` before `unreachable` and calls in tail position are of this kind.
//!
//! # Metrics along paths
//!
//! Beside its count, a path may add up how far something has risen between its beginning and its end (Ball & Larus
//! 1996, §1): [`PathMetric`]. Each activation notes the total when it begins; where a path is counted, what has been
//! added since goes to `sum[number]`, and the total is noted anew. So the sums of an activation's paths are what was
//! added from its entry to its end, whatever it called included: nothing is lost between paths or counted twice. For
//! that, paths are counted where they end and not before ([`placement`]). Loops of a single block are part of the path
//! around them.
//!
//! # What is not known
//!
//! Where the register of an abandoned activation is *not* known, the missing flow is found by Kirchhoff's law if the
//! arcs that it can have taken form no cycle: how many paths began at each cut is known from how many ended there.
//! Otherwise the profile is flagged [`crate::profile::Flaw::UnknownExit`], and its counts lack those prefixes.

pub mod classes;
pub mod context;
mod cost;
pub mod cuts;
mod error;
pub mod graph;
pub mod increments;
mod layout;
pub mod loops;
mod metric;
pub mod numbering;
pub mod placement;
mod profile;
mod rare_arcs;
mod recover;
mod shift;
mod types;
pub(crate) mod unit;
pub mod windows;

pub use cost::PathCost;
pub use error::PathError;
pub(crate) use layout::lay_out;
pub use layout::{PATH_CACHE, PathTable};
pub use metric::PathMetric;
pub use profile::{Abandoned, Path, PathClass, PathProfile, PathStart, PendingPath, without_registers};
pub use recover::recover;
pub use types::{
    Arc, AtCalls, Cuts, MOST_PATH_ARRAY, MOST_PATHS, PATH_ARRAY, PATH_TABLE, PathKey, PathMethod, PathOptions,
    PathPlan, UnitPathPlan, Window,
};

use crate::facts::Function;
use crate::facts::hints::Hints;
use crate::graph::cfg::Cfg;
use crate::weight::weighting::Weighting;
use classes::EdgeClasses;
use increments::Increments;
use numbering::Numbering;
use placement::PathInput;
use windows::Windows;

/// Plans one function. Untouched functions get an empty plan.
///
/// `cfg` and `weighting` are the function's own.
///
/// # Errors
/// [`PathError::ForeignGraph`] if `cfg` is not.
pub fn plan(
    function: &Function,
    cfg: &Cfg,
    weighting: &Weighting,
    options: PathOptions,
) -> Result<PathPlan, PathError> {
    if function.untouched.is_some() {
        return Ok(PathPlan::default());
    }
    if cfg.block_count() != function.blocks.len() + 1 || cfg.edge_count() != function.edges.len() + 1 {
        return Err(PathError::ForeignGraph);
    }
    let classes = EdgeClasses::new(function, cfg);
    let necessary = cuts::necessary(function, cfg, &classes);
    plan_with(function, cfg, weighting, &classes, necessary, options)
}

fn plan_with(
    function: &Function,
    cfg: &Cfg,
    weighting: &Weighting,
    classes: &EdgeClasses,
    necessary: Cuts,
    options: PathOptions,
) -> Result<PathPlan, PathError> {
    let input = PathInput { function, cfg, classes, weighting };
    let cuts = cuts::choose(function, cfg, classes, weighting, necessary, options.limit);
    let numbering = Numbering::new(function, cfg, &cuts)?;
    let windowed = numbering.paths() > options.array && options.window > 0;
    let without_windows = Candidate { windows: Windows::none(&numbering), numbering, cuts };
    let Candidate { cuts, numbering, windows } =
        if windowed { with_windows(input, without_windows, options)? } else { without_windows };
    let increments = input.increments(&numbering, options);
    let mut placed = placement::place(input, &numbering, &increments, windows, options);
    // At each place, paths end and begin before a loop's context is saved or restored.
    placed.probes.extend(context::copies(cfg, &numbering, &increments, classes));
    let key = PathKey {
        self_loops: placed.self_loops,
        cuts,
        paths: numbering.paths(),
        calls: placed.calls,
        context: false,
        windows: placed.windows,
        behind: false,
    };
    Ok(PathPlan { probes: placed.probes, in_blocks: placed.in_blocks, highest: placed.highest, key })
}

/// A numbering of a function's paths that may be chosen.
struct Candidate {
    cuts: Cuts,
    numbering: Numbering,
    windows: Windows,
}

/// The cheapest numbering of a function that has too many paths for an array. It is either `without_windows`, or one in
/// which paths that are expected to run come first, if there are enough numbers for that.
fn with_windows(
    input: PathInput<'_>,
    without_windows: Candidate,
    options: PathOptions,
) -> Result<Candidate, PathError> {
    let PathInput { function, cfg, weighting, .. } = input;
    let forecast = weighting.is_guess().then(|| Weighting::predicted(function, cfg, &Hints::default()));
    let forecast = forecast.as_ref().unwrap_or(weighting);
    let frequency = rare_arcs::frequencies(cfg, without_windows.numbering.graph(), forecast);
    let candidate = |cuts: Cuts, numbering: Numbering| {
        let windows = Windows::choose(&cuts, &numbering, &frequency, options.window);
        Candidate { cuts, numbering, windows }
    };
    let first = candidate(without_windows.cuts, without_windows.numbering);
    let graph = first.numbering.graph();
    if graph.arc_count() > rare_arcs::MOST_ARCS {
        return Ok(first);
    }
    // Paths have the same numbers under every metric.
    let counting = PathOptions { metric: PathMetric::Count, ..options };
    let price = |Candidate { numbering, windows, .. }: &Candidate| {
        let placed =
            placement::place(input, numbering, &input.increments(numbering, options), windows.clone(), counting);
        cost::price(&placed.probes, cfg, forecast, windows.share())
    };
    let (mut best, mut lowest) = (None, price(&first));
    for backward in [false, true] {
        let rare = rare_arcs::choose(graph, backward, &frequency, options.window);
        let cuts = Cuts { rare, backward, ..first.cuts.clone() };
        let found = match Numbering::new(function, cfg, &cuts) {
            Err(PathError::TooManyPaths) => continue,
            numbering => candidate(cuts, numbering?),
        };
        let price = price(&found);
        if price < lowest {
            (best, lowest) = (Some(found), price);
        }
    }
    Ok(best.unwrap_or(first))
}

/// Plans one function with the context of each loop ([`context`]). Untouched functions get an empty plan.
///
/// # Errors
/// [`PathError::Irreducible`] for functions that have no such context; otherwise as [`plan`].
pub fn plan_context(
    function: &Function,
    cfg: &Cfg,
    weighting: &Weighting,
    options: PathOptions,
) -> Result<PathPlan, PathError> {
    if function.untouched.is_some() {
        return Ok(PathPlan::default());
    }
    if cfg.block_count() != function.blocks.len() + 1 || cfg.edge_count() != function.edges.len() + 1 {
        return Err(PathError::ForeignGraph);
    }
    let classes = EdgeClasses::new(function, cfg);
    let necessary = context::necessary(function, cfg, &classes)?;
    let mut plan = plan_with(function, cfg, weighting, &classes, necessary, options)?;
    plan.key.context = true;
    Ok(plan)
}

/// Plans one function by the method. [`PathMethod::Context`] falls back to plain paths in functions with irreducible
/// loops: their plan says so ([`PathKey::context`]).
///
/// # Errors
/// As [`plan`].
pub fn plan_as(
    method: PathMethod,
    function: &Function,
    cfg: &Cfg,
    weighting: &Weighting,
    options: PathOptions,
) -> Result<PathPlan, PathError> {
    match method {
        PathMethod::Context => match plan_context(function, cfg, weighting, options) {
            Err(PathError::Irreducible(_)) => plan(function, cfg, weighting, options),
            planned => planned,
        },
        PathMethod::Plain => plan(function, cfg, weighting, options),
    }
}

/// Plans the table of `clever` by the naive placement: each increment on its own edge, `r = 0` where paths begin,
/// `table[r] += 1` where they end (the first solution of Ball & Larus 1996, §3.4). For comparison.
///
/// # Errors
/// As [`plan`].
pub fn naively(
    function: &Function,
    cfg: &Cfg,
    weighting: &Weighting,
    clever: &PathPlan,
) -> Result<PathPlan, PathError> {
    let mut made = clever.clone();
    if function.untouched.is_none() {
        let classes = EdgeClasses::new(function, cfg);
        let numbering = Numbering::new(function, cfg, &made.key.cuts)?;
        let increments = Increments::new(function, cfg, &numbering, &classes, weighting, u64::MAX);
        let mut placed = placement::place_naively(function, cfg, &numbering, &increments, &classes);
        placed.probes.extend(context::copies(cfg, &numbering, &increments, &classes));
        (made.probes, made.key.self_loops) = (placed.probes, placed.self_loops);
        (made.key.calls, made.key.windows) = (placed.calls, placed.windows);
        made.in_blocks = placed.in_blocks;
    }
    Ok(made)
}
