//! Counts of blocks and edges from counts of paths across functions.
//!
//! What a path executes is its active suffix; its context-prefix has been counted with other paths (§3.4). Keys and
//! counts come from files, so neither is trusted.

use super::decode::{Step, active_suffix};
use super::error::IpathError;
use super::graph::Role;
use super::numbering::{Numbering, Shape, only_paths};
use super::supergraph::joined;
use super::types::{AtCall, Entry, UnitIpathPlan};
use crate::graph::cfg::Cfg;
use crate::ids::{Block, Edge, FunctionId, IdMap, Site};
use crate::method::path::numbering::branch;
use crate::profile::{EarlyExits, Flaw, FunctionProfile};
use std::collections::BTreeMap;

/// The recovered profile of a link unit.
#[derive(Clone, Debug)]
pub struct UnitIpathProfile {
    /// What the numbers of paths mean.
    pub numbering: Numbering,
    /// Path numbers with their counts, by number, each once, none 0.
    pub paths: Vec<(u64, u64)>,
    /// What was added up along paths, by number, each once, none 0; nothing without a metric.
    pub sums: Vec<(u64, u64)>,
    /// The numbers of paths that ended in a call that did not come back, with their counts, by number, each once, none
    /// 0. A count is negative if more activations came to life there than ended: in a forked child those that the
    /// parent had begun.
    pub ended: Vec<(u64, i64)>,
    /// The counts that follow, per function; `None` where nothing is measured.
    pub functions: Vec<Option<FunctionProfile>>,
}

/// The flows of one function.
struct Flows {
    entries: i128,
    edges: IdMap<Edge, i128>,
}

/// Activations that ended while a call was under way, or came to life there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The function.
    pub function: FunctionId,
    /// The call.
    pub site: Site,
    /// What [`super::NOTED`] was; `None` where it could not be found.
    pub number: Option<i64>,
    /// How many ended, less those that came to life.
    pub count: i64,
}

/// Recovers a unit from the counts of its paths; a number may come several times. `early` has the early exits of each
/// function, `ended` those of them that need a number, which may come several times.
///
/// # Errors
/// Where the plan can't be one of these functions, or a path does not exist.
pub fn recover(
    shapes: &[Option<Shape<'_>>],
    plan: &UnitIpathPlan,
    counts: &[(u64, u64)],
    early: &[EarlyExits],
    ended: &[Ended],
) -> Result<UnitIpathProfile, IpathError> {
    let numbering = Numbering::new(shapes, &plan.keys(), plan.method.is_piecewise())?;
    if numbering.paths != plan.paths {
        return Err(IpathError::PathsMismatch { expected: plan.paths, found: numbering.paths });
    }
    let mut paths: Vec<(u64, u64)> = counts.iter().copied().filter(|path| path.1 > 0).collect();
    paths.sort_unstable();
    paths.dedup_by(|later, earlier| {
        let same = later.0 == earlier.0;
        if same {
            earlier.1 = earlier.1.saturating_add(later.1);
        }
        same
    });
    let none = |shape: &Option<Shape<'_>>| Flows {
        entries: 0,
        edges: IdMap::filled(0, shape.map_or(0, |shape| shape.function.edges.len())),
    };
    let mut flows: Vec<Flows> = shapes.iter().map(none).collect();
    for &(number, count) in &paths {
        let steps = numbering.path(number).ok_or(IpathError::NoSuchPath(number, numbering.paths))?;
        add_path(&numbering, shapes, &steps, i128::from(count), &mut flows);
    }
    let Ends { paths: ended, unknown, damaged } = ends(&numbering, shapes, plan, ended);
    for &(number, count) in &ended {
        let steps = numbering.path(number).ok_or(IpathError::NoSuchPath(number, numbering.paths))?;
        add_path(&numbering, shapes, &steps, i128::from(count), &mut flows);
    }
    // What a path that is not known has executed may be anywhere that it could cross into.
    let unknown = joined(&plan.keys(), unknown);
    let damaged = joined(&plan.keys(), damaged);
    let nothing = EarlyExits::default();
    let profile = |(index, (flows, shape)): (usize, (Flows, &Option<Shape<'_>>))| {
        let shape = shape.filter(|_| plan.functions[index].key.entry != Entry::Unmeasured)?;
        let mut profile = profile(shape, flows, early.get(index).unwrap_or(&nothing));
        profile.flaws.extend(unknown[index].then_some(Flaw::UnknownExit));
        profile.flaws.extend(damaged[index].then_some(Flaw::Damaged));
        Some(profile)
    };
    let functions = flows.into_iter().zip(shapes).enumerate().map(profile).collect();
    Ok(UnitIpathProfile { numbering, paths, sums: Vec::new(), ended, functions })
}

/// The paths of activations that ended early.
struct Ends {
    paths: Vec<(u64, i64)>,
    /// The functions in which some ended whose path is not known.
    unknown: Vec<FunctionId>,
    /// The functions in which some number was of no path that ends there.
    damaged: Vec<FunctionId>,
}

/// Finds them. What was under way in a crossed call is part of the callee's path; before a call that cuts, the path has
/// been counted.
fn ends(numbering: &Numbering, shapes: &[Option<Shape<'_>>], plan: &UnitIpathPlan, ended: &[Ended]) -> Ends {
    let mut paths: BTreeMap<u64, i64> = BTreeMap::new();
    let (mut unknown, mut damaged) = (Vec::new(), Vec::new());
    let mut only: BTreeMap<FunctionId, Vec<Option<u64>>> = BTreeMap::new();
    for &Ended { function, site, number, count } in ended {
        let key = plan.functions.get(function.index()).map(|plan| &plan.key);
        let call = shapes.get(function.index()).and_then(Option::as_ref).and_then(|at| at.function.calls.call_of(site));
        let (Some(key), Some(call), Some(numbers)) = (key, call, numbering.of(function)) else { continue };
        if !key.at(call).is_some_and(AtCall::runs_on) {
            continue;
        }
        let graph = &numbers.graph;
        let end = (0..graph.arc_count()).find(|&arc| graph.role(arc) == Role::EndAtCall(call));
        let only = only.entry(function).or_insert_with(|| only_paths(numbers));
        let known = end.and_then(|arc| {
            let value = u64::try_from(numbers.linear.rho[arc].at(1)).ok()?;
            only[graph.src(arc)]?.checked_add(value)
        });
        let Some(number) = known.or(number.map(i64::cast_unsigned)) else {
            unknown.extend((count != 0).then_some(function));
            continue;
        };
        let last = numbering.path(number).and_then(|steps| steps.last().copied());
        if end.is_none() || last != end.map(|arc| Step::Along(function, arc)) {
            damaged.extend((count != 0).then_some(function));
            continue;
        }
        let slot = paths.entry(number).or_default();
        *slot = slot.saturating_add(count);
    }
    Ends { paths: paths.into_iter().filter(|path| path.1 != 0).collect(), unknown, damaged }
}

/// The edges and entries that a path executes, in order: of an entry there is no edge.
pub fn executed<'a>(
    numbering: &'a Numbering,
    shapes: &'a [Option<Shape<'_>>],
    steps: &'a [Step],
) -> impl Iterator<Item = (FunctionId, Option<Edge>)> + 'a {
    let mut goto: Option<Block> = None;
    steps[active_suffix(numbering, steps)..].iter().filter_map(move |step| {
        let Step::Along(function, arc) = *step else { return None };
        let edge = match numbering.of(function)?.graph.role(arc) {
            Role::Enter => return Some((function, None)),
            Role::Real(edge) | Role::Return(edge) | Role::EndOnEdge(edge) | Role::BeginOnEdge(edge) => edge,
            Role::ToDispatch(block) => {
                goto = Some(block);
                return None;
            }
            Role::FromDispatch(target) => {
                let cfg: &Cfg = shapes.get(function.index())?.as_ref()?.cfg;
                goto.take().and_then(|src| branch(cfg, src, target))?
            }
            _ => return None,
        };
        Some((function, Some(edge)))
    })
}

fn add_path(numbering: &Numbering, shapes: &[Option<Shape<'_>>], steps: &[Step], count: i128, flows: &mut [Flows]) {
    for (function, edge) in executed(numbering, shapes, steps) {
        let flows = &mut flows[function.index()];
        match edge {
            None => flows.entries += count,
            Some(edge) => {
                if let Some(flow) = flows.edges.get_mut(edge) {
                    *flow += count;
                }
            }
        }
    }
}

/// The profile with these flows. What comes into a block must leave it, but for early exits.
fn profile(Shape { function, cfg }: Shape<'_>, Flows { entries, edges }: Flows, early: &EarlyExits) -> FunctionProfile {
    let flow = |&edge: &Edge| edges.get(edge).copied().unwrap_or(entries);
    let sum = |edges: &[Edge]| edges.iter().map(flow).sum::<i128>();
    let at_sites = |block: Block| -> i128 {
        let sites = function.sites_of(block).map(|(site, _)| early.at_site.get(site).copied().unwrap_or(0));
        sites.map(i128::from).sum()
    };
    let real = || cfg.blocks().filter(|&block| block != cfg.exit());
    let blocks: IdMap<Block, i128> = real().map(|block| sum(cfg.preds(block))).collect();
    let consistent = real().zip(&blocks).all(|(block, &inflow)| inflow - at_sites(block) == sum(cfg.succs(block)));
    FunctionProfile::from_flows(entries, blocks, Some(edges), early, consistent)
}
