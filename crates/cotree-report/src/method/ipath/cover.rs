//! How much of one run's paths another run of the build took, too.

use super::parts::PathPart;
use super::{IpathUnit, RunPath};
use crate::method::path::cover::Common;

/// What two runs have in common, and the paths that only the first of them took, the hottest first: of those that
/// execute something of a wanted function.
#[must_use]
pub fn compare(run: &IpathUnit<'_>, other: &IpathUnit<'_>, wanted: impl Fn(&str) -> bool) -> (Common, Vec<RunPath>) {
    let wants = |of: &IpathUnit<'_>, path: &RunPath| {
        let wants = |part: &PathPart| of.facts(part.function).is_some_and(|facts| wanted(&facts.symbol));
        path.parts.iter().any(|part| !part.context && wants(part))
    };
    let ran = |of: &IpathUnit<'_>, number: u64| of.profile.paths.binary_search_by_key(&number, |path| path.0).is_ok();
    let mut common = Common::default();
    let mut missed = Vec::new();
    for path in run.paths().into_iter().filter(|path| wants(run, path)) {
        common.paths += 1;
        common.executions += u128::from(path.count);
        common.instructions += path.executed();
        if ran(other, path.number) {
            common.paths_common += 1;
            common.executions_common += u128::from(path.count);
            common.instructions_common += path.executed();
        } else {
            missed.push(path);
        }
    }
    let there = other.paths();
    let only = there.iter().filter(|path| wants(other, path) && !ran(run, path.number));
    common.only_there = only.count() as u64;
    (common, missed)
}
