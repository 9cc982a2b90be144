//! Profiles of calls: recovered, doubted and refused.

use crate::unit::{Raw, binary, map};
use cotree_core::method::calls::{UnitCallPlan, plan};
use cotree_core::method::{Method, MethodPlan};
use cotree_core::profile::Flaw;
use cotree_core::unit::UnitPlan;
use cotree_profile::binary::BinaryMap;
use cotree_profile::file::ProfileFile;
use cotree_profile::recover::{UnitProfile, recover};
use cotree_profile::verify::{Subject, verify};
use cotree_rt::layout::{Flags, State};

/// The sample with counters of calls, and what they hold: their own numbers.
fn sample() -> (BinaryMap, Vec<u64>) {
    let (mut map, _) = map(Method::Edge, true);
    let functions = map.program.functions().map(|(_, function)| plan(function)).collect();
    let check = map.plan.check.take();
    map.plan = UnitPlan { method: MethodPlan::Calls(UnitCallPlan { functions }), check, targets: None };
    let count = map.plan.layout().counter_count;
    (map, (0..count).collect())
}

fn recovered(change: impl FnOnce(&mut Raw)) -> UnitProfile {
    let (map, counters) = sample();
    let mut raw = Raw::new(counters);
    change(&mut raw);
    let file = tempfile::NamedTempFile::new().unwrap();
    raw.write(file.path());
    recover(&binary(map), &ProfileFile::open(file.path()).unwrap().units[0]).unwrap()
}

#[test]
fn each_call_has_the_count_of_its_counter() {
    let profile = recovered(|_| {});
    assert!(profile.exact() && profile.functions.iter().all(Option::is_none));
    let (map, _) = sample();
    let mut next = 0;
    for ((_, function), calls) in map.program.functions().zip(profile.method.calls()) {
        assert_eq!(calls.is_some(), function.untouched.is_none() && !function.blocks.is_empty());
        for (call, count) in function.calls.iter().zip(calls.iter().flat_map(|profile| &profile.calls)) {
            assert_eq!(*count, (!call.resume_marker).then_some(next));
            next += u64::from(!call.resume_marker);
        }
    }
    assert!(next > 3, "{next}");
}

/// How activations end is no matter; lost counts are.
#[test]
fn only_lost_counts_are_doubted() {
    assert!(recovered(|raw| raw.state = State::RUNNING).exact());
    assert!(recovered(|raw| raw.flags = Flags::WALK_INCOMPLETE | Flags::EARLY_TABLE_FULL).exact());
    let threads = recovered(|raw| raw.flags = Flags::THREADS_UNEXPECTED);
    assert!(!threads.exact() && threads.all_flaws().all(|flaws| flaws == [Flaw::Threads]));
}

/// Each call is compared with how often its block got to it; these counters are made up, and none agrees.
#[test]
fn calls_are_compared_with_blocks() {
    let (map, counters) = sample();
    let file = tempfile::NamedTempFile::new().unwrap();
    Raw::new(counters).write(file.path());
    let counts = ProfileFile::open(file.path()).unwrap().units.remove(0);
    let found = verify(&binary(map), &counts).unwrap();
    assert_eq!((found.functions, found.calls, found.mismatches.len()), (4, 4, 4));
    assert!(found.mismatches.iter().all(|mismatch| matches!(mismatch.subject, Subject::Call(_)) && !mismatch.declared));
}
