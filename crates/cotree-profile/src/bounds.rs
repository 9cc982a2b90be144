//! What is certain of a profile whose counts are not all exact: the least that ran, and the most that may have run.

use crate::binary::BinaryFile;
use crate::counts::UnitCounts;
use crate::exits::UnitExits;
use crate::flaws::counts_in_variables;
use crate::method::counts_in_loops;
use crate::unit_profile::{Bound, UnitProfile};
use cotree_core::facts::Doubt;
use cotree_core::ids::{FunctionId, IdMap};
use cotree_core::method::MethodPlan;
use cotree_core::method::counters::Measured;
use cotree_core::method::counters::bounds::{FunctionBounds, Live, Part, UNBOUNDED, Uncertain, bounds};
use cotree_core::plan::FunctionPlan;
use cotree_core::profile::{EarlyExits, Flaw, FunctionProfile};
use cotree_core::unit::live_once;
use cotree_rt::layout::Flags;

/// A profile between two others.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// The counts that are certain.
    pub least: UnitProfile,
    /// The greatest counts that may be true. Those without a limit are very great.
    pub most: UnitProfile,
}

impl Bounds {
    /// The bounds of a recovered profile. `None`: all of it is exact.
    ///
    /// # Panics
    /// If the profile is not what was recovered from these counts of this binary.
    #[must_use]
    pub fn of(binary: &BinaryFile, counts: &UnitCounts, profile: &UnitProfile) -> Option<Self> {
        let is_open = |id: FunctionId| profile.flaws(id).is_some_and(|flaws| flaws.iter().any(is_of_counts));
        let open: Vec<bool> = FunctionId::all().take(profile.functions.len()).map(is_open).collect();
        if !open.contains(&true) {
            return None;
        }
        let mut least = Self::bounded(profile, Bound::Least(vec![IdMap::default(); profile.functions.len()]));
        let mut most = Self::bounded(profile, Bound::Most);
        let bounded = bounded(binary, counts, profile, &open);
        for index in (0..open.len()).filter(|&index| open[index]) {
            match (&bounded[index], &profile.functions[index]) {
                (Some(bounds), Some(recovered)) => {
                    let flaws = if bounds.is_exact() { Vec::new() } else { recovered.flaws.clone() };
                    let of = |at_least| FunctionProfile { flaws: flaws.clone(), ..bounds.profile(at_least) };
                    (least.functions[index], most.functions[index]) = (Some(of(true)), Some(of(false)));
                    if let (Bound::Least(interrupted), false) = (&mut least.bound, bounds.is_exact()) {
                        interrupted[index].clone_from(&bounds.interrupted);
                    }
                }
                // Whatever else the method counts is complete where it ended.
                (None, Some(recovered)) => {
                    let many = |_: &u64| UNBOUNDED as u64;
                    most.functions[index] = Some(FunctionProfile {
                        entries: UNBOUNDED as u64,
                        blocks: recovered.blocks.iter().map(many).collect(),
                        edges: recovered.edges.as_ref().map(|edges| edges.iter().map(many).collect()),
                        ..recovered.clone()
                    });
                }
                (_, None) => {}
            }
        }
        Some(Self { least, most })
    }

    fn bounded(profile: &UnitProfile, bound: Bound) -> UnitProfile {
        UnitProfile { bound, ..profile.clone() }
    }
}

/// Is it a flaw of what was counted? Code that was optimised before is counted rightly.
fn is_of_counts(flaw: &Flaw) -> bool {
    flaw.concerns_recovery()
}

/// The bounds of the functions whose counts are `open`, as far as counters tell.
fn bounded(
    binary: &BinaryFile,
    counts: &UnitCounts,
    profile: &UnitProfile,
    open: &[bool],
) -> Vec<Option<FunctionBounds>> {
    let map = binary.map();
    let MethodPlan::Counters(unit) = &map.plan.method else { return vec![None; open.len()] };
    let (exits, _) = UnitExits::new(binary, counts);
    let layout = map.plan.layout();
    let none = EarlyExits::default();
    let live_once = live_once(&map.program);
    let runs = i128::from(counts.runs.cut_off.max(counts.threads_alive.min(1)));
    let runs = if counts.weight == counts.runs.total() { runs } else { runs.max(counts.weight.into()) };
    let functions = map.program.functions().map(|(_, function)| function);
    let parts: Vec<Option<Part<'_>>> = functions
        .zip(&unit.functions)
        .zip(&layout.main)
        .zip(FunctionId::all())
        .map(|(((function, plan), &base), index)| {
            let recovered = profile.functions.get(index.index())?.as_ref()?;
            if !open[index.index()] {
                return Some(Part::Exact(function, recovered));
            }
            let base = usize::try_from(base).ok()?;
            let counters = counts.counters.get(base..base + plan.key.measures.len())?;
            let early = exits.by_function.get(&index).unwrap_or(&none);
            let flaws = profile.flaws(index).unwrap_or_default();
            let at_least = counts_in_variables(FunctionPlan::from(plan)) || counts_in_loops(&map.plan.method, index);
            Some(Part::Uncertain(Uncertain {
                measured: Measured { function, key: &plan.key, counts: counters, early },
                at_least: at_least && flaws.contains(&Flaw::LoopsUnderWay),
                // A second return of the builtin form of `setjmp` goes unseen.
                live: if function.doubts.contains(&Doubt::BuiltinSetjmp) {
                    Live::Unknown
                } else {
                    live(flaws, counts.flags, live_once[index.index()].then_some(runs))
                },
            }))
        })
        .collect();
    bounds(&parts, &unit.entries).into_iter().map(|bounds| bounds?.ok()).collect()
}

/// What is known of the activations of a function that were not accounted for; `once` is how many there are at most
/// where it is live at most once in each of the runs that were cut off.
fn live(flaws: &[Flaw], flags: Flags, once: Option<i128>) -> Live {
    let unseen =
        Flags::EARLY_TABLE_FULL | Flags::UNHOOKED | Flags::FOREIGN_JUMP | Flags::RESET | Flags::WALK_INCOMPLETE;
    let only = |known: &[Flaw]| flaws.iter().all(|flaw| known.contains(flaw) || !is_of_counts(flaw));
    if flags.has(unseen) {
        Live::Unknown
    } else if only(&[Flaw::LiveFrames, Flaw::LoopsUnderWay]) {
        Live::AtMost(once.unwrap_or(UNBOUNDED))
    } else if only(&[Flaw::LiveFrames, Flaw::LoopsUnderWay, Flaw::SuspendedStacks, Flaw::UnknownExit]) {
        Live::AtMost(UNBOUNDED)
    } else {
        Live::Unknown
    }
}
