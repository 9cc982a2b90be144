//! Counts of blocks and edges from counts of paths across functions.
//!
//! What a path executes is its active suffix; its context-prefix has been counted with other paths (§3.4). Keys and
//! counts come from files, so neither is trusted.

use super::decode::{Step, active_suffix};
use super::error::IpathError;
use super::graph::Role;
use super::numbering::{Numbering, Shape};
use super::types::{Entry, UnitIpathPlan};
use crate::graph::cfg::Cfg;
use crate::ids::{Block, Edge, FunctionId, IdMap};
use crate::method::path::numbering::branch;
use crate::profile::{EarlyExits, FunctionProfile};

/// The recovered profile of a link unit.
#[derive(Clone, Debug)]
pub struct UnitIpathProfile {
    /// What the numbers of paths mean.
    pub numbering: Numbering,
    /// Path numbers with their counts, by number, each once, none 0.
    pub paths: Vec<(u64, u64)>,
    /// The counts that follow, per function; `None` where nothing is measured.
    pub functions: Vec<Option<FunctionProfile>>,
}

/// The flows of one function.
struct Flows {
    entries: i128,
    edges: IdMap<Edge, i128>,
}

/// Recovers a unit from the counts of its paths; a number may come several times. `early` has the early exits of each
/// function.
///
/// # Errors
/// Where the plan can't be one of these functions, or a path does not exist.
pub fn recover(
    shapes: &[Option<Shape<'_>>],
    plan: &UnitIpathPlan,
    counts: &[(u64, u64)],
    early: &[EarlyExits],
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
    let nothing = EarlyExits::default();
    let profile = |(index, (flows, shape)): (usize, (Flows, &Option<Shape<'_>>))| {
        let shape = shape.filter(|_| plan.functions[index].key.entry != Entry::Unmeasured)?;
        Some(profile(shape, flows, early.get(index).unwrap_or(&nothing)))
    };
    let functions = flows.into_iter().zip(shapes).enumerate().map(profile).collect();
    Ok(UnitIpathProfile { numbering, paths, functions })
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
