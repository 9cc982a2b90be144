//! Plans one function: cuts, then the cheapest of the ways to number its segments.

use super::cost::TraceCost;
use super::segments::Segments;
use super::types::{CallKind, TraceError, TraceKey, TracePlan};
use super::{cuts, place};
use crate::facts::{EdgeKind, Function};
use crate::graph::cfg::Cfg;
use crate::ids::{Block, CallId, Edge};
use crate::weight::weighting::Weighting;

/// The most ways of a segment that are tried: what fits one byte, two, three, four, and as many as there are.
const MOST_WAYS: [u64; 5] = [1 << 8, 1 << 16, 1 << 24, 1 << 32, 1 << 62];

/// What is known of a function's calls before it is planned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceCalls {
    /// The function announces itself.
    pub announces: bool,
    /// What calls mean, those that are not [`CallKind::Opaque`], in order.
    pub kinds: Vec<(CallId, CallKind)>,
}

/// Plans one function. An untouched one gets an empty plan.
///
/// # Errors
/// If it can't be planned.
pub fn plan(
    function: &Function,
    cfg: &Cfg,
    weighting: &Weighting,
    calls: &TraceCalls,
) -> Result<TracePlan, TraceError> {
    if function.untouched.is_some() {
        return Ok(TracePlan::default());
    }
    if cfg.preds(cfg.entry()).iter().any(|&edge| edge != cfg.exit_edge()) {
        return Err(TraceError::EnteredAgain);
    }
    let mut base = TraceKey {
        announces: calls.announces,
        calls: calls.kinds.clone(),
        targets: targets(function),
        first: likely(cfg, weighting),
        ..TraceKey::default()
    };
    base.cuts = cuts::necessary(function, cfg, &base)?;
    let uncut = Segments::uncut(function, cfg, &base)?;
    let mut best: Option<(f64, TracePlan)> = None;
    for most in MOST_WAYS {
        let more = cuts::within(&uncut, weighting, most);
        let last = more.is_empty();
        let mut key = base.clone();
        key.cuts.extend(more);
        key.cuts.sort_unstable();
        let segments = match Segments::new(function, cfg, &key) {
            Err(TraceError::TooManyWays) => continue,
            segments => segments?,
        };
        let probes = place::place(function, cfg, &key, &segments)?.probes;
        let price = TraceCost::of(&probes, function, weighting).price();
        if best.as_ref().is_none_or(|best| price < best.0) {
            best = Some((price, TracePlan { probes, key }));
        }
        if last {
            break;
        }
    }
    best.map(|best| best.1).ok_or(TraceError::TooManyWays)
}

/// The blocks that indirect branches may lead to, in order.
fn targets(function: &Function) -> Vec<Block> {
    let indirect = function.edges.iter().filter(|edge| edge.kind == EdgeKind::IndirectBranch);
    let mut targets: Vec<Block> = indirect.map(|edge| edge.dst).collect();
    targets.sort_unstable();
    targets.dedup();
    targets
}

/// The likeliest edge out of each block, where it is not the first one anyway, in order.
fn likely(cfg: &Cfg, weighting: &Weighting) -> Vec<Edge> {
    let hottest = |block: Block| {
        let (&first, others) = cfg.succs(block).split_first()?;
        let heavier = |a: Edge, b: Edge| if weighting.edge(b) > weighting.edge(a) { b } else { a };
        let hottest = others.iter().copied().fold(first, heavier);
        (hottest != first && hottest != cfg.exit_edge()).then_some(hottest)
    };
    let mut likely: Vec<Edge> = cfg.blocks().filter(|&block| block != cfg.exit()).filter_map(hottest).collect();
    likely.sort_unstable();
    likely
}
