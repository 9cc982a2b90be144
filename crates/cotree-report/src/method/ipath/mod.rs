//! What views show of paths across functions.

pub mod calls;
pub mod cover;
pub mod json;
pub(in crate::method) mod lines;
pub mod parts;
pub mod predict;
mod predict_text;
pub mod text;

use super::total::Total;
use crate::unit::Unit;
use cotree_core::facts::Function;
use cotree_core::ids::FunctionId;
use cotree_core::method::MethodPlan;
use cotree_core::method::ipath::decode::Step;
use cotree_core::method::ipath::{UnitIpathPlan, UnitIpathProfile};
use cotree_core::method::path::PathMetric;
use cotree_profile::method::MethodProfile;
use parts::{PathPart, path_parts};

/// How many paths of the unit ran: they belong to no function alone.
pub(super) fn total(unit: &Unit<'_>) -> Total {
    let run = match &unit.profile.method {
        MethodProfile::Ipath { profile: Some(profile), .. } => profile.paths.len(),
        _ => 0,
    };
    ("paths run", run as u128, "across functions: cotree paths shows them".into())
}

/// A unit whose paths across functions were counted.
#[derive(Clone, Copy, Debug)]
pub struct IpathUnit<'a> {
    /// The unit.
    pub unit: &'a Unit<'a>,
    /// The plan of the unit.
    pub plan: &'a UnitIpathPlan,
    /// The paths of the unit.
    pub profile: &'a UnitIpathProfile,
}

/// A path that ran.
#[derive(Clone, Debug)]
pub struct RunPath {
    /// The number of the path.
    pub number: u64,
    /// How often it ran.
    pub count: u64,
    /// What all executions have added up, those of callees that it does not cross included; 0 without a metric.
    pub sum: u64,
    /// The parts of the path, those of the context-prefix first.
    pub parts: Vec<PathPart>,
    /// The instructions of one execution, of the active suffix.
    pub instructions: u64,
}

impl<'a> IpathUnit<'a> {
    /// The paths of a unit; `None` if none were counted.
    #[must_use]
    pub fn new(unit: &'a Unit<'a>) -> Option<Self> {
        match (&unit.map.plan.method, &unit.profile.method) {
            (MethodPlan::Ipath(plan), MethodProfile::Ipath { profile: Some(profile), .. }) => {
                Some(Self { unit, plan, profile })
            }
            _ => None,
        }
    }

    /// What is added up along paths.
    #[must_use]
    pub fn metric(&self) -> PathMetric {
        self.plan.metric
    }

    /// The facts of a function.
    #[must_use]
    pub fn facts(&self, function: FunctionId) -> Option<&'a Function> {
        self.unit.function(function).map(|of| of.facts)
    }

    /// A path, with a count; `None` if there is no path of that number.
    #[must_use]
    pub fn path(&self, number: u64, count: u64) -> Option<RunPath> {
        let steps = self.profile.numbering.path(number)?;
        let parts = self.parts(&steps);
        let instructions = self.instructions(&parts);
        let sums = &self.profile.sums;
        let sum = sums.binary_search_by_key(&number, |sum| sum.0).map_or(0, |at| sums[at].1);
        Some(RunPath { number, count, sum, parts, instructions })
    }

    /// The parts of a path, or of the beginning of one.
    #[must_use]
    pub fn parts(&self, steps: &[Step]) -> Vec<PathPart> {
        path_parts(self.unit, &self.profile.numbering, steps)
    }

    /// The instructions that these parts execute, without those of the context-prefix.
    fn instructions(&self, parts: &[PathPart]) -> u64 {
        let active = parts.iter().filter(|part| !part.context);
        active.filter_map(|part| Some(part.instructions(self.facts(part.function)?))).sum()
    }

    /// The paths that ran, those first that executed the most instructions.
    #[must_use]
    pub fn paths(&self) -> Vec<RunPath> {
        let path = |&(number, count): &(u64, u64)| self.path(number, count);
        let mut paths: Vec<RunPath> = self.profile.paths.iter().filter_map(path).collect();
        paths.sort_by_key(|path| (std::cmp::Reverse(path.executed()), path.number));
        paths
    }

    /// The paths that ended in a call that did not come back, with how often, less those that came to life there in a
    /// forked child.
    #[must_use]
    pub fn ended(&self) -> Vec<(RunPath, i64)> {
        let path = |&(number, count): &(u64, i64)| Some((self.path(number, count.unsigned_abs())?, count));
        self.profile.ended.iter().filter_map(path).collect()
    }

    /// How many functions go on with the paths of their callers.
    #[must_use]
    pub fn called(&self) -> u64 {
        let called = self.plan.functions.iter().filter(|plan| plan.key.entry.is_called());
        called.count() as u64
    }
}

/// The paths that only the run after took, and those that only the run before took: of those that execute something of
/// a wanted function.
#[must_use]
pub fn only_in_one(before: &IpathUnit<'_>, after: &IpathUnit<'_>, wanted: impl Fn(&str) -> bool) -> [Vec<RunPath>; 2] {
    [(after, before), (before, after)].map(|(of, other)| {
        let ran = |number: u64| other.profile.paths.binary_search_by_key(&number, |path| path.0).is_ok();
        let wants = |part: &PathPart| of.facts(part.function).is_some_and(|facts| wanted(&facts.symbol));
        let paths = of.paths().into_iter().filter(|path| !ran(path.number));
        paths.filter(|path| path.parts.iter().any(|part| !part.context && wants(part))).collect()
    })
}

impl RunPath {
    /// The instructions of all its executions.
    #[must_use]
    pub fn executed(&self) -> u128 {
        u128::from(self.instructions) * u128::from(self.count)
    }
}
