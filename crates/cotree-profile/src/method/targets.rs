//! Targets of indirect calls: the buckets of path tables, under the numbers of sites and the addresses of functions,
//! become functions.
//!
//! A merged profile keeps the addresses as they were linked, which are the same in all runs of a build.

use super::path::{PathCounts, PathId};
use crate::binary::BinaryFile;
use crate::counts::UnitCounts;
use cotree_core::ids::FunctionId;
use cotree_core::method::targets::{SiteTargets, UnitTargetPlan};
use std::collections::HashMap;
use std::path::PathBuf;

/// Why no run of a binary can have left counts of targets.
#[derive(Debug, thiserror::Error)]
#[error("the profile has targets of indirect call {site}, but {binary} has {sites} such calls: the profile is damaged; run the program again", binary = .binary.display())]
pub struct ForeignTargets {
    /// The binary.
    binary: PathBuf,
    /// The number of the call.
    site: u32,
    /// How many there are.
    sites: u32,
}

/// Are all counts of calls that the binary has?
pub(super) fn check(binary: &BinaryFile, plan: &UnitTargetPlan, counts: &PathCounts) -> Result<(), ForeignTargets> {
    let sites = plan.len();
    let mut counted = counts.counts.entries().iter().map(|(target, _)| target.function.0);
    match counted.find(|&site| site >= sites) {
        Some(site) => Err(ForeignTargets { binary: binary.path().to_owned(), site, sites }),
        None => Ok(()),
    }
}

/// Recovers the targets of all calls, per function.
pub(crate) fn recover(binary: &BinaryFile, counts: &UnitCounts) -> Option<Vec<Vec<SiteTargets>>> {
    let map = binary.map();
    let plan = map.plan.targets.as_ref()?;
    let none = PathCounts::default();
    let counted = &counts.method.paths().unwrap_or(&none).counts;
    let mut known: HashMap<u64, Option<FunctionId>> = HashMap::new();
    let mut site = |(number, call): (u32, _)| {
        let key = |path| PathId { function: FunctionId(number), path };
        let mut site = SiteTargets { call, ..SiteTargets::default() };
        for &(PathId { path: address, .. }, count) in counted.between(key(0), key(u64::MAX)) {
            match known.entry(address).or_insert_with(|| binary.function_beginning_at(address)) {
                Some(function) => site.add(*function, count),
                None => site.others = site.others.saturating_add(count),
            }
        }
        site.sort();
        site
    };
    let sites: Vec<Vec<(u32, _)>> =
        FunctionId::all().zip(map.program.functions()).map(|(function, _)| plan.sites(function).collect()).collect();
    Some(sites.into_iter().map(|sites| sites.into_iter().map(&mut site).collect()).collect())
}
