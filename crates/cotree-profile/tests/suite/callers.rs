//! Units in which the entries of some functions follow from their callers: `main` counts `work`, which counts `leaf`.

use crate::unit::{MAIN_AT, Raw, Truth, UNIT, binary, counters, map};
use cotree_core::ids::{Block, FunctionId};
use cotree_core::method::counters::chords::ChordMethod;
use cotree_core::method::counters::edge;
use cotree_core::method::{Method, MethodPlan};
use cotree_core::place::affine::Replacements;
use cotree_core::plan::{CallPoint, DerivedEntry};
use cotree_core::profile::Flaw;
use cotree_core::weight::weighting::Weighting;
use cotree_profile::binary::{BinaryFile, BinaryMap, encode};
use cotree_profile::counts::UnitCounts;
use cotree_profile::file::ProfileFile;
use cotree_profile::map::{MapError, decode};
use cotree_profile::merged::Merge;
use cotree_profile::recover::{UnitProfile, recover};
use cotree_profile::verify::verify;
use cotree_rt::layout::{INTERRUPTED, State};

fn called() -> (BinaryMap, Vec<Truth>) {
    let (mut map, truth) = map(Method::Edge, true);
    let point = |caller, block| CallPoint { function: FunctionId(caller), block: Block(block), after_sites: 0 };
    let MethodPlan::Counters(plan) = &mut map.plan.method else { unreachable!("edges are counted") };
    plan.entries = vec![
        DerivedEntry { function: FunctionId(1), calls: vec![point(0, 2)] },
        DerivedEntry { function: FunctionId(2), calls: vec![point(1, 1)] },
    ];
    // main's counter stands in the loop, before the call.
    let main = &map.program.modules[0].functions[0];
    let cfg = main.cfg().unwrap();
    plan.functions[0] = edge::plan(main, &cfg, &Weighting::new(&cfg, vec![9.0, 0.0, 9.0, 9.0, 9.0].into()));
    for entry in &plan.entries {
        let function = &map.program.modules[0].functions[entry.function.index()];
        let cfg = function.cfg().unwrap();
        let planned =
            ChordMethod::Edge.plan_entered(function, &cfg, &Weighting::uniform(&cfg), &Replacements::default());
        plan.functions[entry.function.index()] = planned.unwrap().0;
    }
    (map, truth)
}

fn read(raw: &Raw) -> UnitCounts {
    let file = tempfile::NamedTempFile::new().unwrap();
    raw.write(file.path());
    ProfileFile::open(file.path()).unwrap().units.remove(0)
}

fn run(change: impl FnOnce(&mut Raw)) -> (BinaryFile, UnitCounts, UnitProfile) {
    let (map, truth) = called();
    let mut raw = Raw::new(counters(&map, &truth));
    change(&mut raw);
    let (binary, counts) = (binary(map), read(&raw));
    let profile = recover(&binary, &counts).unwrap();
    (binary, counts, profile)
}

fn flaws(profile: &UnitProfile) -> Vec<&[Flaw]> {
    profile.functions.iter().map(|f| f.as_ref().unwrap().flaws.as_slice()).collect()
}

#[test]
fn callees_are_recovered_from_their_callers() {
    let (map, truth) = called();
    assert_eq!(map.plan.method.counters().unwrap().functions[2].key.measures, []);
    let (binary, counts, profile) = run(|_| {});
    assert!(profile.exact());
    for (function, truth) in profile.functions.iter().flatten().zip(&truth) {
        assert_eq!((function.entries, &function.blocks), (truth.entries, &truth.blocks));
        assert_eq!(function.edges.as_ref(), Some(&truth.edges));
    }
    let verified = verify(&binary, &counts).unwrap();
    assert!(verified.mismatches.is_empty() && verified.functions == 4);
}

#[test]
fn merged_runs_are_recovered_alike() {
    let (map, truth) = called();
    let raw = Raw::new(counters(&map, &truth));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one.cotree");
    raw.write(&path);
    let mut merger = Merge::default();
    for weight in [1, 3] {
        merger.add(ProfileFile::open(&path).unwrap(), weight).unwrap();
    }
    let profile = recover(&binary(map), &merger.finish()[0]).unwrap();
    assert!(profile.exact());
    for (function, truth) in profile.functions.iter().flatten().zip(&truth) {
        assert_eq!(function.entries, 4 * truth.entries);
    }
}

#[test]
fn doubts_go_from_callers_to_callees() {
    let (_, _, profile) = run(|raw| raw.early.push(((MAIN_AT + 3) | INTERRUPTED, 1)));
    let unknown: &[Flaw] = &[Flaw::UnknownExit];
    assert_eq!(flaws(&profile), [unknown, unknown, unknown, &[]]);
    // More of its activations died than there were in `main`: what is derived from it is no better.
    let (_, _, profile) = run(|raw| {
        raw.early.retain_mut(|exit| {
            if exit.0 < MAIN_AT + 0x40 {
                exit.1 = 99;
            }
            true
        })
    });
    for flaws in &flaws(&profile)[..3] {
        assert!(flaws.contains(&Flaw::Inconsistent), "{profile:?}");
    }
}

#[test]
fn who_was_never_called_is_not_doubted() {
    let killed = |zero: bool| {
        run(|raw| {
            (raw.state, raw.early) = (State::RUNNING, vec![]);
            if zero {
                raw.slabs[0].fill(0);
            }
        })
        .2
    };
    let live: &[Flaw] = &[Flaw::LiveFrames];
    assert_eq!(flaws(&killed(false))[1..3], [live, live]);
    // The counter of main's loop says that its body never ran.
    assert_eq!(flaws(&killed(true))[..3], [live, &[], &[]]);
}

#[test]
fn maps_with_impossible_callers_are_refused() {
    let refused = |change: &dyn Fn(&mut Vec<DerivedEntry>)| {
        let (mut map, _) = called();
        let MethodPlan::Counters(plan) = &mut map.plan.method else { unreachable!("edges are counted") };
        change(&mut plan.entries);
        decode(&encode(&map, UNIT)).map(|_| ())
    };
    assert_eq!(refused(&|_| {}), Ok(()));
    let invalid = |result| matches!(result, Err(MapError::Invalid(_) | MapError::InvalidFunction { .. }));
    assert!(invalid(refused(&|entries| entries[0].calls[0].function = FunctionId(9))));
    assert!(invalid(refused(&|entries| entries[0].calls[0].block = Block(4))));
    assert!(invalid(refused(&|entries| entries[0].calls[0].after_sites = 2)));
    assert!(invalid(refused(&|entries| entries[1].function = FunctionId(4))));
    assert!(invalid(refused(&|entries| entries.swap(0, 1))));
    assert!(invalid(refused(&|entries| entries[1].function = FunctionId(1))));
}
