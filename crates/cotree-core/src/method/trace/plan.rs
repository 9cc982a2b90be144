//! Plans one function: cuts, then the cheapest encoding of its segments.

use super::accesses::edges_to_accesses;
use super::cost::TraceCost;
use super::cuts::{self, Cycle};
use super::segments::Segments;
use super::types::{CallKind, Encoding, Packing, TraceBy, TraceError, TraceKey, TraceOptions, TracePlan};
use super::{each_witness, place, witnesses};
use crate::facts::{EdgeKind, Function};
use crate::graph::cfg::Cfg;
use crate::ids::{Block, CallId, Edge};
use crate::weight::weighting::Weighting;

/// The limits of paths per segment that are tried: what fits a few bits, one byte, two, three, four, and as many as a
/// token can number.
const MOST_PATHS: [u64; 6] = [1 << 4, 1 << 8, 1 << 16, 1 << 24, 1 << 32, 1 << 62];
/// The bytes of packed tokens that are tried first, and then.
const PACKED_BYTES: ([u8; 2], [u8; 2]) = ([8, 2], [4, 1]);
/// At most this many loops are judged for turns that share tokens, the hottest first.
const MOST_CYCLES: usize = 16;

/// What is known of a function's calls before it is planned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceCalls {
    /// The function records its entry.
    pub records_entry: bool,
    /// What calls mean, those that are not [`CallKind::Opaque`], in order.
    pub kinds: Vec<(CallId, CallKind)>,
}

/// Plans one function. An untouched one gets an empty plan. Where the encoding that the user wants needs more bits
/// than a token has, another one is taken: the key says which.
///
/// # Errors
/// If it can't be planned.
pub fn plan(
    function: &Function,
    cfg: &Cfg,
    weighting: &Weighting,
    calls: &TraceCalls,
    options: TraceOptions,
) -> Result<TracePlan, TraceError> {
    if function.untouched.is_some() {
        return Ok(TracePlan::default());
    }
    if cfg.preds(cfg.entry()).iter().any(|&edge| edge != cfg.exit_edge()) {
        return Err(TraceError::EnteredAgain);
    }
    let mut base = TraceKey {
        records_entry: calls.records_entry,
        calls: calls.kinds.clone(),
        targets: targets(function),
        first: likely(cfg, weighting),
        ..TraceKey::default()
    };
    let planning = Planning { function, cfg, weighting };
    if let TraceBy::Only(encoding) = options.by
        && !encoding.has_register()
        && !options.per_branch
    {
        let key = TraceKey { encoding, first: Vec::new(), ..base.clone() };
        if let Some(found) = planning.numbered(key)? {
            return Ok(found.plan);
        }
    }
    let cycles = cuts::cycles(function, cfg, &base)?;
    base.cuts = cycles.iter().flat_map(|cycle| cycle.cuts.iter().copied()).collect();
    base.cuts.extend(edges_to_accesses(function, &base));
    if options.per_branch {
        base.cuts.extend(branching(function, cfg));
    }
    base.cuts.sort_unstable();
    base.cuts.dedup();

    let uncut = Segments::uncut(function, cfg, &base)?;
    let mut best: Option<Priced> = None;
    for most in MOST_PATHS {
        let more = cuts::within(&uncut, weighting, most);
        let key = with_cuts(&base, &more);
        for encoding in options.by.encodings() {
            improve(&mut best, planning.numbered(TraceKey { encoding: *encoding, ..key.clone() })?);
        }
        if more.is_empty() {
            break;
        }
    }
    if let (None, TraceBy::Only(_)) = (&best, options.by) {
        return plan(function, cfg, weighting, calls, TraceOptions::default());
    }
    if options.packs
        && !options.per_branch
        && function.accesses.is_empty()
        && options.by.encodings().contains(&Encoding::Paths)
    {
        planning.pack(&mut best, &base, cycles)?;
    }
    best.map(|best| best.plan).ok_or(TraceError::TooManyPaths)
}

/// A plan with what it costs.
struct Priced {
    price: f64,
    plan: TracePlan,
}

/// Takes the cheaper one; true if that is the new one.
fn improve(best: &mut Option<Priced>, new: Option<Priced>) -> bool {
    match new {
        Some(new) if best.as_ref().is_none_or(|best| new.price < best.price) => {
            *best = Some(new);
            true
        }
        _ => false,
    }
}

fn with_cuts(key: &TraceKey, more: &[Edge]) -> TraceKey {
    let mut key = key.clone();
    key.cuts.extend(more);
    key.cuts.sort_unstable();
    key.cuts.dedup();
    key
}

impl TraceBy {
    fn encodings(&self) -> &[Encoding] {
        match self {
            Self::Auto => &[Encoding::Paths, Encoding::Bits, Encoding::Witnesses],
            // Functions that cannot have it, and records of each branch: whatever is cheapest.
            Self::Only(encoding) if !encoding.has_register() => Self::Auto.encodings(),
            Self::Only(encoding) => std::slice::from_ref(encoding),
        }
    }
}

/// How the witnesses of a function with this key are chosen.
type Choose = fn(&Function, &Cfg, &TraceKey, &Weighting) -> Result<Vec<(Edge, u32)>, TraceError>;

#[derive(Clone, Copy)]
struct Planning<'a> {
    function: &'a Function,
    cfg: &'a Cfg,
    weighting: &'a Weighting,
}

impl Planning<'_> {
    /// The plan with this key; `None` if there are too many paths for it, or its loops can't share tokens.
    fn numbered(self, mut key: TraceKey) -> Result<Option<Priced>, TraceError> {
        let choose = match key.encoding {
            Encoding::Witnesses => Some(witnesses::choose as Choose),
            Encoding::EachWitness => Some(each_witness::choose as Choose),
            Encoding::Paths | Encoding::Bits | Encoding::EachBranch => None,
        };
        if let Some(choose) = choose {
            match choose(self.function, self.cfg, &key, self.weighting) {
                Err(TraceError::TooManyPaths) => return Ok(None),
                chosen => key.witnesses = chosen?,
            }
        }
        let segments = match Segments::new(self.function, self.cfg, &key) {
            Err(TraceError::TooManyPaths | TraceError::NeverWritten) => return Ok(None),
            segments => segments?,
        };
        let probes = place::place(self.function, self.cfg, &key, &segments)?.probes;
        let price = TraceCost::of(&probes, self.function, self.weighting).price();
        Ok(Some(Priced { price, plan: TracePlan { probes, key } }))
    }

    /// Lets the turns of loops share tokens where that is cheaper: each loop with what is around it, or cut off from
    /// that.
    fn pack(self, best: &mut Option<Priced>, base: &TraceKey, mut cycles: Vec<Cycle>) -> Result<(), TraceError> {
        let heat = |cycle: &Cycle| -> f64 { cycle.cuts.iter().map(|&edge| self.weighting.edge(edge)).sum() };
        cycles.sort_by(|a, b| heat(b).total_cmp(&heat(a)));
        cycles.truncate(MOST_CYCLES);
        let mut packed: Option<TraceKey> = None;
        let before =
            best.as_ref().filter(|best| best.plan.key.encoding == Encoding::Paths).map(|best| best.plan.key.clone());
        let mut key = before.unwrap_or_else(|| base.clone());
        for cycle in &cycles {
            let mut found = None;
            for isolated in [false, true] {
                let boundary: &[Edge] = if isolated { &cycle.boundary } else { &[] };
                for bytes in PACKED_BYTES.0 {
                    let mut tried = with_cuts(&key, boundary);
                    tried.packing.bytes = bytes;
                    tried.packing.edges.extend(&cycle.cuts);
                    tried.packing.edges.sort_unstable();
                    if improve(best, self.numbered(tried.clone())?) {
                        found = Some(tried);
                    }
                }
            }
            if let Some(found) = found {
                key = found.clone();
                packed = Some(found);
            }
        }
        if let Some(packed) = packed {
            for bytes in PACKED_BYTES.1 {
                let packing = Packing { bytes, ..packed.packing.clone() };
                improve(best, self.numbered(TraceKey { packing, ..packed.clone() })?);
            }
        }
        Ok(())
    }
}

/// The blocks that indirect branches may lead to, in order.
fn targets(function: &Function) -> Vec<Block> {
    let indirect = function.edges.iter().filter(|edge| edge.kind == EdgeKind::IndirectBranch);
    let mut targets: Vec<Block> = indirect.map(|edge| edge.dst).collect();
    targets.sort_unstable();
    targets.dedup();
    targets
}

/// The edges out of blocks that have several, but for those on which a segment ends anyway.
fn branching(function: &Function, cfg: &Cfg) -> Vec<Edge> {
    let several = |edges: &&[Edge]| edges.len() > 1;
    let edges = cfg.blocks().map(|block| cfg.succs(block)).filter(several).flatten().copied();
    let goes_on = |&edge: &Edge| {
        function.edges.get(edge).is_some_and(|facts| {
            cfg.dst(edge) != cfg.exit() && !matches!(facts.kind, EdgeKind::IndirectBranch | EdgeKind::InvokeUnwind)
        })
    };
    edges.filter(goes_on).collect()
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
