//! Counts of regions where executions left early: what the map's counters say too much.
//!
//! The map counts a region by one counter, or by sums and differences of several. Both assume that every call
//! returns: what stands behind an `exit` two calls deep, a throw or a `longjmp` counts as run. We know more: how
//! often each block ran, and each part of a block between calls ([`crate::flow`]). So a region is counted by the
//! instructions that stand in it, and is cut where fewer executions came on than had come so far.
//!
//! Which instructions speak for a region? Some in its text run less often without anything having gone wrong (the
//! initialisation of a static variable, `delete` of a null pointer). Those count that run exactly as often as the
//! region whenever every call returns. That is an equation between a block's count and the expression of the region,
//! and [`normal_flow`] tells whether it always holds. So a difference in counts is due to early exits and nothing
//! else.
//!
//! A region has run up to the last place in its text that was reached: within a statement what stands first need not
//! run first. Text without instructions, as comments, has the count of what stands before it.
//!
//! | question | module |
//! | --- | --- |
//! | which functions of the machine hold a function of the source, and in which copies | [`instances`] |
//! | what runs equally often if every call returns | [`normal_flow`] |
//! | what runs equally often by what a variable tells of the path that was taken | [`correlated`] |
//! | which counters the compiler left out, and what stands for them | [`left_out`] |
//! | what the map does not say of text behind an `if constexpr` | [`kept_branches`] |
//! | what stands where in the text of a function | [`layout`] |
//! | which instructions stand in which region | [`points`] |
//! | how often each region ran, and where it is cut | [`regions`] |
//! | how often each outcome of a condition was seen | [`conditions`] |
//! | the same of coroutines, which are several functions of the machine | [`coroutines`] |

mod conditions;
mod coroutines;
mod correlated;
mod instances;
mod kept_branches;
mod layout;
mod left_out;
mod normal_flow;
mod points;
mod regions;

use crate::unit::Unit;
use cotree_core::facts::CoveredFunction;
use cotree_profile::coverage::{Corrections, CoverageMap, MappedFunction, name_hash};
use instances::Functions;
use kept_branches::KeptBranches;
use layout::Layout;
use regions::Unknown;
use std::collections::HashMap;

/// What the counters of a unit's coverage map say too much.
#[derive(Clone, Debug, Default)]
pub struct Cuts<'a> {
    /// By function of the source. What needs no correction is left out.
    pub functions: Vec<(&'a CoveredFunction, Corrections)>,
    /// Functions that were left early, whose instructions have no known place: what stands behind a call that did not
    /// return counts as covered.
    pub without_places: u64,
    /// Regions of which only the least and the most is known: text of macros that was left in the midst, and text
    /// without instructions.
    pub least_known: u64,
    /// Conditions whose branch in the code is not known, of functions that were left early or keep one branch of an
    /// `if constexpr`: their outcomes count as llvm-cov counts them.
    pub conditions: u64,
    /// Lines that count more executions than any of their instructions ran, of functions that were left early.
    pub doubtful: u64,
    /// Functions that keep a branch of an `if constexpr` which may not come out at its end.
    pub kept: u64,
    /// Functions that lack counters, since the compiler left out code, and were left early, or go on behind a `try`
    /// that nothing leaves: a line may count too much.
    pub lacking: u64,
}

impl Cuts<'_> {
    /// How many regions have another count than their counters say, or several.
    #[must_use]
    pub fn regions(&self) -> u64 {
        self.functions.iter().map(|(_, corrections)| corrections.regions().count() as u64).sum()
    }

    /// Sentences for the user where something could not be told.
    pub fn remarks(&self) -> impl Iterator<Item = String> {
        let conditions = (self.conditions > 0).then(|| {
            let conditions = crate::terminal::counted(self.conditions.into(), "condition");
            format!(
                "{conditions} of functions that were left early, or that keep one branch of an `if constexpr`, have \
                 branches that are not known in the code: their outcomes count as llvm-cov counts them, and may be too many"
            )
        });
        let places = (self.without_places > 0).then(|| {
            let functions = crate::terminal::counted(self.without_places.into(), "function");
            format!(
                "{functions} left by a call that did not return have no known lines (debug information is missing, or its \
                 paths are others than those of the coverage map): what stands behind such a call counts as covered"
            )
        });
        let lacking = (self.lacking > 0).then(|| {
            let functions = crate::terminal::counted(self.lacking.into(), "function");
            format!(
                "{functions} in which the compiler left out code that it knew never to run, and which were left early, or \
                 go on behind a `try` that nothing can leave: a line of theirs may count too many executions"
            )
        });
        let kept = (self.kept > 0).then(|| {
            let functions = crate::terminal::counted(self.kept.into(), "function");
            format!(
                "{functions} in which the branch of an `if constexpr` may not come out at its end: lines behind it count as \
                 their instructions do, and those that have none may be wrong"
            )
        });
        let doubtful = (self.doubtful > 0).then(|| {
            let lines = crate::terminal::counted(self.doubtful.into(), "line");
            format!(
                "{lines} of functions that were left early may count too much: more executions than any instruction of \
                 theirs, behind a scope that cleans up for instance"
            )
        });
        places.into_iter().chain(conditions).chain(lacking).chain(kept).chain(doubtful)
    }
}

/// Finds what the counters of a unit's coverage map say too much. What is not certain is too much.
#[must_use]
pub fn cuts<'a>(unit: &Unit<'a>, map: &CoverageMap) -> Cuts<'a> {
    find(unit, map, Unknown::Least)
}

/// Finds what the counters certainly say too much.
#[must_use]
pub fn certain_cuts<'a>(unit: &Unit<'a>, map: &CoverageMap) -> Cuts<'a> {
    find(unit, map, Unknown::Most)
}

fn find<'a>(unit: &Unit<'a>, map: &CoverageMap, unknown: Unknown) -> Cuts<'a> {
    let mut mapped: HashMap<(u64, u64), &MappedFunction> = HashMap::new();
    for function in &map.functions {
        mapped.insert((function.name_hash, function.structural_hash), function);
    }
    let of_name = |covered: &CoveredFunction| mapped.get(&(name_hash(&covered.name), covered.hash)).copied();
    let functions = Functions::of(unit, |covered| of_name(covered).is_some_and(kept_branches::may_be_wrong));
    let mut cuts = Cuts::default();
    for (covered, instances) in functions.left_early() {
        let Some(function) = of_name(covered) else { continue };
        let layout = Layout::new(map, function);
        let mut corrections = Corrections::default();
        let (mut was_left, mut has_places, mut lacks_code) = (instances.coroutine.is_some(), false, false);
        let mut keeps = false;
        for instance in &instances.apart {
            let points = points::of_instance(unit, &layout, instance);
            let instance = instance.with_found(left_out::places(&layout, instance, &points));
            let kept = KeptBranches::of(&layout, &instance, &points);
            keeps |= !kept.is_empty();
            if !instance.was_left() && instance.found.is_empty() && kept.is_empty() {
                continue;
            }
            was_left |= instance.was_left();
            lacks_code |= instance.was_left() && instance.lacks_counters();
            lacks_code |= left_out::is_doubtful(&layout, &instance, &points);
            has_places |= points.are_known();
            let flow = || correlated::flow(&layout, &instance, &points);
            let correlated = if kept.is_empty() { flow() } else { None };
            let instance = &correlated.as_ref().map_or(instance.with(instance.normal), |normal| instance.with(normal));
            let not_told = regions::correct(&layout, instance, &points, &kept, unknown, &mut corrections);
            cuts.least_known += not_told.least_known;
            cuts.conditions += not_told.conditions;
            cuts.doubtful += not_told.doubtful;
            left_out::correct(&layout, instance, &mut corrections);
        }
        if let Some(parts) = &instances.coroutine {
            has_places |= coroutines::correct(unit, &layout, parts, &mut corrections);
        }
        cuts.lacking += u64::from(lacks_code);
        cuts.kept += u64::from(keeps);
        cuts.without_places += u64::from(was_left && !has_places);
        if !corrections.is_empty() {
            cuts.functions.push((covered, corrections));
        }
    }
    cuts
}
