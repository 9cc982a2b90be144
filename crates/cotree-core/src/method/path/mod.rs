//! Path profiling: every acyclic path through a function counted, exactly (Ball & Larus 1996).
//!
//! [`plan`] cuts the graph into paths ([`cuts`], [`graph`]), numbers these ([`numbering`]), finds the cheapest sums along
//! them ([`increments`]) and puts them where few are executed ([`placement`]). The probes keep a register and add 1 to
//! `table[number]` at the end of each path. [`recover`] is the inverse: numbers become paths again, and paths become
//! counts of blocks and edges.
//!
//! # Activations that end early
//!
//! An activation that is abandoned during a call has executed the beginning of a path that will never be counted. The
//! flow of such prefixes is not determined by how many were abandoned where. But register and call site together are the
//! prefix's number, by the query increment of the block (Ball 1994, §3.3), and the rest of the number is zeros. So
//! *whoever walks the dying stack must note the register with the return address* ([`Abandoned`]). Then blocks and edges
//! are exact and the prefixes themselves are known. Nothing has to be noted
//!
//! - at calls that only one prefix leads to ([`AtCalls::Known`]): the entry block, blocks that always begin a path;
//! - at calls behind the place where the path is counted already ([`AtCalls::Counted`]): what was not reached of the path
//!   is the same for all. Counting is pulled up as far as a path can't branch any more, so `exit`, `abort`, `throw` before
//!   `unreachable` and calls in tail position are of this kind.
//!
//! # Metrics along paths
//!
//! Beside its count, a path may add up how far something has risen between its beginning and its end (Ball & Larus 1996,
//! §1): [`PathMetric`]. Each activation notes the total when it begins; where a path is counted, what has been
//! added since goes to `sum[number]`, and the total is noted anew. So the sums of an activation's paths are what was
//! added from its entry to its end, whatever it called included: nothing is lost between paths or counted twice. For
//! that, paths are counted where they end and not before ([`placement`]). Loops of a single block are part of the path around them.
//!
//! # What is not known
//!
//! Where the register of an abandoned activation is *not* known, the missing flow is found by Kirchhoff's law if the arcs
//! that it can have taken form no cycle: how many paths began at each cut is known from how many ended there. Otherwise
//! the profile is flagged [`crate::profile::Flaw::UnknownExit`], and its counts lack those prefixes.

mod apart;
pub mod classes;
pub mod context;
mod cost;
pub mod cuts;
pub mod graph;
pub mod increments;
pub mod loops;
pub mod numbering;
pub mod placement;
mod profile;
mod recover;
mod shift;
pub mod windows;

pub use cost::PathCost;
pub use profile::{Abandoned, Path, PathClass, PathProfile, PathStart, PendingPath};
pub use recover::recover;

use crate::cfg::Cfg;
use crate::facts::Function;
use crate::hints::Hints;
use crate::ids::{Block, Edge, Site, Table};
use crate::plan::{FunctionPlan, Method, PATH_ARRAY, PathMetric};
use crate::profile::EarlyExits;
use crate::weighting::Weighting;
use classes::EdgeClasses;
use increments::Increments;
use numbering::{MOST_PATHS, Numbering};
use placement::Given;
use serde::{Deserialize, Serialize};
use windows::{Window, Windows};

/// The function's path table.
pub const PATH_TABLE: Table = Table(0);

/// Where paths end and begin anew, and what else their numbers depend on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cuts {
    /// On these edges, in order.
    pub edges: Vec<Edge>,
    /// Where these blocks are entered, in order.
    pub blocks: Vec<Block>,
    /// On these backedges, in order; what begins there keeps the way to the loop in mind ([`context`]).
    pub loops: Vec<Edge>,
    /// Ways into what seldom runs, as arcs of the path graph, in order: the paths along them are numbered behind all others ([`numbering`]).
    pub apart: Vec<graph::Arc>,
    /// Numbers rise with the ways from ENTRY to a node, not with those from there to EXIT.
    pub backward: bool,
}

/// What the register says while a call of the block is running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AtCalls {
    /// Register plus this is the prefix's number.
    Query(i64),
    /// Nothing: the only prefix that leads here has this number.
    Known(u64),
    /// Nothing: the path has been counted.
    Counted,
}

/// The plan of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathPlan {
    /// The probes; the counters are those of self-loops.
    pub plan: FunctionPlan,
    /// Where paths are cut: this determines the numbering.
    pub cuts: Cuts,
    /// How many paths there are; numbers are below it if no arc is numbered apart.
    pub paths: u64,
    /// Per block with call sites, in order.
    pub calls: Vec<(Block, AtCalls)>,
    /// Paths remember how their loop was reached ([`context`]).
    pub context: bool,
    /// Of a function with too many paths for an array, those that have words of their own.
    pub windows: Vec<Window>,
    /// Its words lie behind those of all functions that are not: one instruction less reaches what is near the beginning of a slab.
    pub behind: bool,
}

impl PathPlan {
    /// The call sites at which the path register has to be noted when an activation is abandoned there, or comes to life.
    pub fn sites_with_register<'a>(&'a self, function: &'a Function) -> impl Iterator<Item = Site> + 'a {
        let needed = |block| matches!(self.at_calls(block), Some(AtCalls::Query(_)));
        (0..).zip(function.sites()).filter(move |(_, site)| needed(site.block)).map(|(i, _)| Site(i))
    }

    /// How many words its windows take.
    #[must_use]
    pub fn words_of_windows(&self) -> u64 {
        self.windows.iter().fold(0, |sum, window| window.len.saturating_add(sum))
    }

    /// Are all paths counted in an array, where functions with up to so many have one anyway?
    #[must_use]
    pub fn in_array(&self, most: u64) -> bool {
        self.paths <= most || self.windows == [Window { first: 0, len: self.paths }]
    }

    /// What the register says at calls of the block; `None` if it has none.
    #[must_use]
    pub fn at_calls(&self, block: Block) -> Option<AtCalls> {
        self.calls.binary_search_by_key(&block, |c| c.0).ok().map(|i| self.calls[i].1)
    }
}

/// Early exits of which no registers are known. Only for runs in which no activation came to life: see
/// [`Abandoned::count`].
#[must_use]
pub fn without_registers(early: &EarlyExits) -> Vec<Abandoned> {
    let some = early.at_site.iter().enumerate().filter(|(_, count)| **count != 0);
    some.map(|(site, &count)| Abandoned { site: Site::new(site), register: None, count }).collect()
}

/// Why paths can't be numbered or profiles not be recovered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// The function carries no probes.
    #[error("the function was not instrumented")]
    NothingMeasured,
    /// The graph is not the function's.
    #[error("the control-flow graph does not belong to the function")]
    ForeignGraph,
    /// The cuts leave a cycle.
    #[error("the plan leaves a cycle in the control-flow graph that paths could follow for ever")]
    Cyclic,
    /// There is a loop that is also entered beside its header: it has no context.
    #[error("the loop of {0} can be entered beside its header")]
    Irreducible(Block),
    /// The cuts leave too many paths.
    #[error("the plan leaves more paths than there are numbers")]
    TooManyPaths,
    /// Another number of paths than the plan says.
    #[error("the plan says {expected} paths, but there are {found}")]
    PathsMismatch {
        /// Paths of the plan.
        expected: u64,
        /// Paths of the graph.
        found: u64,
    },
    /// No path has this number.
    #[error("path {0} was counted, but none of the function's {1} has that number")]
    NoSuchPath(u64, u64),
    /// No such call site, or its block is not in the plan.
    #[error("an activation was abandoned at call site {0}, which the plan does not have")]
    NoSuchSite(Site),
    /// The plan's counters are not those of the self-loops.
    #[error("the plan has {expected} counters of self-loops, but there are {found} counts")]
    CounterMismatch {
        /// Counters of the plan.
        expected: usize,
        /// Counts at hand.
        found: usize,
    },
    /// A counter measures something else than a self-loop.
    #[error("counter {0} does not measure a self-loop")]
    UnknownMeasure(usize),
}

/// What the user may choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathOptions {
    /// The most paths of one function; more are cut. A function with many edges may keep about as many paths as edges.
    pub limit: u64,
    /// The most paths of a function that are counted in an array.
    pub array: u64,
    /// Of a function with more, so many may be ([`windows`]).
    pub window: u64,
    /// What is added up along paths: anything but nothing has them counted where they end, not before.
    pub metric: PathMetric,
}

impl Default for PathOptions {
    fn default() -> Self {
        Self { limit: MOST_PATHS, array: PATH_ARRAY, window: PATH_ARRAY, metric: PathMetric::Count }
    }
}

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
    let given = Given { function, cfg, classes, weighting };
    let cuts = cuts::choose(function, cfg, classes, weighting, necessary, options.limit);
    let numbering = Numbering::new(function, cfg, &cuts)?;
    let windowed = numbering.paths() > options.array && options.window > 0;
    let as_they_come = Candidate { windows: Windows::none(&numbering), numbering, cuts };
    let Candidate { cuts, numbering, windows } =
        if windowed { with_windows(given, as_they_come, options)? } else { as_they_come };
    let increments = given.increments(&numbering, options);
    let mut placed = placement::place(given, &numbering, &increments, windows, options);
    // At each place, paths end and begin before a loop's context is kept or taken up.
    placed.plan.probes.extend(context::copies(cfg, &numbering, &increments, classes));
    Ok(PathPlan {
        plan: placed.plan,
        cuts,
        paths: numbering.paths(),
        calls: placed.calls,
        context: false,
        windows: placed.windows,
        behind: false,
    })
}

/// One way to number a function's paths.
struct Candidate {
    cuts: Cuts,
    numbering: Numbering,
    windows: Windows,
}

/// The cheapest way to number the paths of a function that has too many for an array: as they come, or with those first that are thought
/// to run, if there are numbers enough for that.
fn with_windows(given: Given<'_>, as_they_come: Candidate, options: PathOptions) -> Result<Candidate, PathError> {
    let Given { function, cfg, weighting, .. } = given;
    let forecast = weighting.is_guess().then(|| Weighting::predicted(function, cfg, &Hints::default()));
    let forecast = forecast.as_ref().unwrap_or(weighting);
    let frequency = apart::frequencies(cfg, as_they_come.numbering.graph(), forecast);
    let candidate = |cuts: Cuts, numbering: Numbering| {
        let windows = Windows::choose(&cuts, &numbering, &frequency, options.window);
        Candidate { cuts, numbering, windows }
    };
    let first = candidate(as_they_come.cuts, as_they_come.numbering);
    let graph = first.numbering.graph();
    if graph.arc_count() > apart::MOST_ARCS {
        return Ok(first);
    }
    // Whatever is added up along them, paths have the same numbers.
    let counting = PathOptions { metric: PathMetric::Count, ..options };
    let price = |Candidate { numbering, windows, .. }: &Candidate| {
        let placed =
            placement::place(given, numbering, &given.increments(numbering, options), windows.clone(), counting);
        cost::price(&placed.plan, cfg, forecast, windows.share())
    };
    let (mut best, mut lowest) = (None, price(&first));
    for backward in [false, true] {
        let apart = apart::choose(graph, backward, &frequency, options.window);
        let cuts = Cuts { apart, backward, ..first.cuts.clone() };
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
    let plan = plan_with(function, cfg, weighting, &classes, necessary, options)?;
    Ok(PathPlan { context: true, ..plan })
}

/// Plans one function by the method. [`Method::PathContext`] falls back to plain paths in functions with irreducible
/// loops: their plan says so ([`PathPlan::context`]).
///
/// # Errors
/// As [`plan`].
pub fn plan_as(
    method: Method,
    function: &Function,
    cfg: &Cfg,
    weighting: &Weighting,
    options: PathOptions,
) -> Result<PathPlan, PathError> {
    match method {
        Method::PathContext => match plan_context(function, cfg, weighting, options) {
            Err(PathError::Irreducible(_)) => plan(function, cfg, weighting, options),
            planned => planned,
        },
        _ => plan(function, cfg, weighting, options),
    }
}

/// The same table as `clever`'s by the naive placement: each increment on its own edge, `r = 0` where paths begin, `table[r] += 1` where
/// they end (the first solution of Ball & Larus 1996, §3.4). For comparison.
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
        let numbering = Numbering::new(function, cfg, &made.cuts)?;
        let increments = Increments::new(function, cfg, &numbering, &classes, weighting, u64::MAX);
        let mut placed = placement::place_naively(function, cfg, &numbering, &increments, &classes);
        placed.plan.probes.extend(context::copies(cfg, &numbering, &increments, &classes));
        (made.plan, made.calls, made.windows) = (placed.plan, placed.calls, placed.windows);
    }
    Ok(made)
}
