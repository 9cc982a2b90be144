//! Binaries, addresses and the recovery of whole units.

use crate::unit;
use crate::unit::{INVOKES_AT, MAIN_AT, Raw, UNIT, WORK_AT, binary, counters, elf, executable, funcs, map};
use cotree_core::ids::{FunctionId, IdMap, Site};
use cotree_core::method::Method;
use cotree_core::profile::Flaw;
use cotree_profile::binary::{BinaryFile, Resolved, UnitId, encode};
use cotree_profile::counts::UnitCounts;
use cotree_profile::file::ProfileFile;
use cotree_profile::recover::{Note, UnitProfile, open_binary, recover};
use cotree_profile::verify::{Subject, verify};
use cotree_rt::layout::{AT_LANDING_PAD, Flags, HANDLER, INTERRUPTED, State};
use proptest::prelude::*;
use std::fs;
use std::path::Path;

fn read(raw: &Raw) -> UnitCounts {
    let file = tempfile::NamedTempFile::new().unwrap();
    raw.write(file.path());
    ProfileFile::open(file.path()).unwrap().units.remove(0)
}

/// The profile of the run, with the raw file changed beforehand.
fn recovered(method: Method, change: impl FnOnce(&mut Raw)) -> UnitProfile {
    let (map, truth) = map(method, false);
    let mut raw = Raw::new(counters(&map, &truth));
    change(&mut raw);
    recover(&binary(map), &read(&raw)).unwrap()
}

#[test]
fn all_methods_recover_the_truth() {
    for method in [Method::Edge, Method::Block, Method::Vertex, Method::VertexEdge] {
        let (_, truth) = map(method, false);
        let profile = recovered(method, |_| {});
        assert!(profile.exact() && profile.notes.is_empty(), "{method:?} {profile:?}");
        for (function, truth) in profile.functions.iter().zip(&truth) {
            let function = function.as_ref().unwrap();
            assert_eq!((function.entries, &function.blocks), (truth.entries, &truth.blocks), "{method:?}");
            assert!(function.edges.as_ref().is_none_or(|e| *e == truth.edges), "{method:?}");
            let early =
                if function.early.is_empty() { IdMap::filled(0, truth.early.len()) } else { function.early.clone() };
            assert_eq!(early, truth.early, "{method:?}");
        }
    }
}

#[test]
fn nothing_is_profiled_without_a_method() {
    let profile = recovered(Method::None, |raw| raw.early.clear());
    assert!(profile.functions.iter().all(Option::is_none) && profile.failures.is_empty());
}

#[test]
fn addresses_become_call_sites() {
    let binary = binary(map(Method::Edge, false).0);
    let unknown = |list: &[u32]| Resolved::UnknownInFunction(list.iter().copied().map(FunctionId).collect());
    let sites = |list: &[(u32, u32)]| Resolved::Sites(list.iter().map(|&(f, s)| (FunctionId(f), Site(s))).collect());
    assert_eq!(binary.resolve(MAIN_AT + 0x20), sites(&[(0, 0)]));
    // A call that is the last instruction returns to the end of its function.
    assert_eq!(binary.resolve(WORK_AT + 0x30), sites(&[(2, 0), (1, 0)]));
    // An exception reached the landing pad of `invokes`: only the function inlined within its invoke is gone.
    assert_eq!(binary.resolve(INVOKES_AT + 0x10), sites(&[(2, 0), (3, 0)]));
    assert_eq!(binary.resolve((INVOKES_AT + 0x10) | AT_LANDING_PAD), sites(&[(2, 0)]));
    // The mark before a resume is no call that anyone was in.
    assert_eq!(binary.resolve(INVOKES_AT + 0x20), sites(&[]));
    // No invoke there, so no landing pad can have been reached.
    assert_eq!(binary.resolve((MAIN_AT + 0x20) | AT_LANDING_PAD), unknown(&[0]));
    assert_eq!(binary.resolve(MAIN_AT + 0x21), unknown(&[0]));
    assert_eq!(binary.resolve((WORK_AT + 5) | INTERRUPTED), unknown(&[1, 2]));
    for outside in [0, 1, MAIN_AT, WORK_AT + 0x31, 0x7F00_0000_0000, u64::MAX, AT_LANDING_PAD, INTERRUPTED, MAIN_AT - 1]
    {
        assert_eq!(binary.resolve(outside), Resolved::Outside, "{outside:#x}");
    }
    assert_eq!(binary.code_at(MAIN_AT), Some((0, 0)));
    assert_eq!(binary.code_at(WORK_AT + 0x30), None);
}

#[test]
fn code_that_was_folded_is_ambiguous() {
    let mut records = funcs();
    records[16..24].copy_from_slice(&MAIN_AT.to_le_bytes());
    let binary = BinaryFile::from_parts("x".into(), UNIT, map(Method::Edge, false).0, &records).unwrap();
    assert!(matches!(binary.resolve(MAIN_AT + 0x20), Resolved::UnknownInFunction(f) if f == [0, 1, 2].map(FunctionId)));
}

fn flaws(profile: &UnitProfile) -> Vec<Vec<Flaw>> {
    profile.functions.iter().map(|f| f.as_ref().unwrap().flaws.clone()).collect()
}

#[test]
fn a_killed_run_is_not_vouched_for() {
    let profile = recovered(Method::Edge, |raw| raw.state = State::RUNNING);
    assert!(flaws(&profile).iter().all(|f| f.contains(&Flaw::LiveFrames)), "{:?}", flaws(&profile));
    assert_eq!(profile.notes, [Note::CutOff(1)]);
    assert!(!profile.exact());
}

#[test]
fn threads_alive_and_snapshots() {
    let profile = recovered(Method::Edge, |raw| (raw.flags, raw.threads_alive) = (Flags::THREADS_ALIVE, 2));
    assert!(flaws(&profile)[1].contains(&Flaw::LiveFrames));
    assert_eq!(profile.notes, [Note::ThreadsAlive(2)]);
    // A process that takes a snapshot of itself accounts for its own frames.
    let profile = recovered(Method::Edge, |raw| raw.state = State::SNAPSHOT);
    assert!(profile.exact());
    assert_eq!(profile.notes, [Note::Snapshots(1)]);
}

#[test]
fn flags_become_flaws() {
    let of = |flag| {
        let profile = recovered(Method::Edge, |raw| raw.flags = flag);
        assert_eq!(profile.notes.len(), 1);
        assert!(profile.notes[0].doubtful());
        flaws(&profile)[0].clone()
    };
    assert_eq!(of(Flags::WALK_INCOMPLETE), [Flaw::WalkIncomplete]);
    assert_eq!(of(Flags::FOREIGN_JUMP), [Flaw::WalkIncomplete]);
    assert_eq!(of(Flags::THREAD_CANCELLED), [Flaw::WalkIncomplete]);
    assert_eq!(of(Flags::EARLY_TABLE_FULL), [Flaw::UnknownExit]);
    assert_eq!(of(Flags::UNHOOKED), [Flaw::UnknownExit]);
    assert_eq!(of(Flags::THREADS_UNEXPECTED), [Flaw::Threads]);
    assert_eq!(of(Flags::THREAD_UNREGISTERED), [Flaw::Threads]);
    assert_eq!(of(Flags::SLAB_SHARED), [Flaw::Threads]);
    assert_eq!(of(Flags::FOREIGN_PROCESS), [Flaw::Damaged]);
    // With one thread, a reset accounts for all frames that are live then.
    assert!(recovered(Method::Edge, |raw| raw.flags = Flags::RESET).exact());
    let (mut threaded, truth) = map(Method::Edge, false);
    threaded.threaded = true;
    let raw = Raw { flags: Flags::RESET | Flags::RESET_AMONG_THREADS, ..Raw::new(counters(&threaded, &truth)) };
    assert_eq!(flaws(&recover(&binary(threaded), &read(&raw)).unwrap())[0], [Flaw::LiveFrames]);
}

#[test]
fn an_unforeseen_handler_matters_if_it_counts() {
    let with = |address: u64| {
        recovered(Method::Edge, |raw| {
            raw.flags = Flags::HANDLER_UNFORESEEN;
            raw.early.push((address | HANDLER, 1));
        })
    };
    assert!(with(MAIN_AT - 1).exact());
    let profile = with(WORK_AT);
    assert_eq!(profile.notes, [Note::HandlerUnforeseen]);
    assert!(flaws(&profile).iter().all(|flaws| flaws == &[Flaw::Threads]));
}

#[test]
fn an_unknown_exit_concerns_only_the_functions_that_it_may_be_in() {
    let profile = recovered(Method::Edge, |raw| raw.early.push(((INVOKES_AT + 3) | INTERRUPTED, 1)));
    let flaws = flaws(&profile);
    assert_eq!((&flaws[0], &flaws[1]), (&vec![], &vec![]));
    assert_eq!((&flaws[2], &flaws[3]), (&vec![Flaw::UnknownExit], &vec![Flaw::UnknownExit]));
    assert_eq!(profile.notes, [Note::UnknownExits(1)]);
}

#[test]
fn impossible_counts_are_inconsistent_and_stay_with_their_function() {
    let profile = recovered(Method::Edge, |raw| raw.early = vec![(WORK_AT + 0x30, 1), (MAIN_AT + 0x20, -99)]);
    assert!(flaws(&profile)[0].contains(&Flaw::Inconsistent));
    assert!(flaws(&profile)[1].is_empty());
}

#[test]
fn sums_that_were_cut_are_damaged() {
    let (map, truth) = map(Method::Edge, false);
    let counts = UnitCounts { saturated: true, ..read(&Raw::new(counters(&map, &truth))) };
    let profile = recover(&binary(map), &counts).unwrap();
    assert!(flaws(&profile)[0].contains(&Flaw::Damaged));
    assert!(!flaws(&profile)[3].contains(&Flaw::Damaged), "what never ran was not cut");
}

#[test]
fn verification_finds_what_differs() {
    let (map, truth) = map(Method::Edge, true);
    let good = Raw::new(counters(&map, &truth));
    let binary = binary(map);
    let result = verify(&binary, &read(&good)).unwrap();
    assert!(result.holds() && result.mismatches.is_empty());
    assert_eq!((result.functions, result.blocks, result.edges), (4, 12, 15));

    let mut bad = good.clone();
    let check = binary.map().plan.layout().check;
    bad.slabs[0][check[0] as usize] += 1;
    let result = verify(&binary, &read(&bad)).unwrap();
    assert!(!result.holds());
    assert!(
        result
            .mismatches
            .iter()
            .all(|m| m.function == Some(FunctionId(0)) && m.subject != Subject::Whole && !m.declared)
    );
    bad.state = State::RUNNING;
    let result = verify(&binary, &read(&bad)).unwrap();
    assert!(result.holds() && !result.mismatches.is_empty(), "a killed run says that it does not vouch");

    let without = unit::map(Method::Edge, false);
    let error = verify(&unit::binary(without.0), &read(&Raw::new(vec![])));
    assert!(error.is_err());
}

#[test]
fn binaries_are_read_and_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("prog");
    let (map, _) = map(Method::Edge, false);
    let open = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        BinaryFile::open(&path)
    };
    let refusal = |bytes: &[u8]| {
        let error = open(bytes).expect_err("it must be refused").to_string();
        assert!(error.contains(path.to_str().unwrap()) && !error.contains('\n'), "{error}");
        error
    };
    let good = open(&executable(&map, UNIT)).unwrap();
    assert_eq!((good.unit(), good.map()), (UNIT, &map));
    assert_eq!(BinaryFile::unit_of(&path).unwrap(), UNIT);
    assert_eq!(good.resolve(MAIN_AT + 0x20), binary(map.clone()).resolve(MAIN_AT + 0x20));

    assert!(refusal(b"").contains("not an ELF file"));
    assert!(refusal(b"#!/bin/sh\n").contains("not an ELF file"));
    assert!(refusal(b"\x7FELF\x02\x01\x01").contains("ELF"));
    assert!(refusal(&elf(2, &[(".text", b"x")])).contains("carries no cotree map"));
    assert!(refusal(&elf(1, &[(".cotree.map", &encode(&map, UNIT))])).contains("not linked"));
    let section = encode(&map, UNIT);
    assert!(refusal(&elf(2, &[(".cotree.map", &section[..40])])).contains("cut off"));
    let mut later = section.clone();
    later[8] = 2;
    assert!(
        refusal(&elf(2, &[(".cotree.map", &later)])).contains("has format version 2, this cotree reads version 1:")
    );
    let mut damaged = section.clone();
    damaged[60] ^= 1;
    assert!(refusal(&elf(2, &[(".cotree.map", &damaged)])).contains("checksum"));
    let twice = [section.clone(), section.clone()].concat();
    assert!(refusal(&elf(2, &[(".cotree.map", &twice)])).contains("more than one map"));
    let odd = &funcs()[..20];
    assert!(refusal(&elf(2, &[(".cotree.map", &section), (".cotree.funcs", odd)])).contains("multiple of 16"));
    let mut foreign = funcs();
    foreign[8] = 200;
    assert!(refusal(&elf(2, &[(".cotree.map", &section), (".cotree.funcs", &foreign)])).contains("does not have"));
    assert!(BinaryFile::open(folder.path()).unwrap_err().to_string().contains("directory"));
}

#[test]
fn the_binary_of_a_profile_is_found_and_another_build_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (map, truth) = map(Method::Edge, false);
    let raw = Raw { binary: at("prog"), ..Raw::new(counters(&map, &truth)) };
    let counts = read(&raw);
    let profile = Path::new("p.cotree");

    let gone = open_binary(profile, &counts, &[]).unwrap_err().to_string();
    assert!(gone.contains("--binary") && gone.contains("p.cotree"), "{gone}");

    fs::write(at("prog"), executable(&map, UnitId([7; 16]))).unwrap();
    let other = open_binary(profile, &counts, &[]).unwrap_err().to_string();
    for part in ["p.cotree", "prog", &UNIT.to_string(), &UnitId([7; 16]).to_string(), "--binary"] {
        assert!(other.contains(part), "{part}: {other}");
    }

    fs::write(at("moved"), executable(&map, UNIT)).unwrap();
    assert_eq!(open_binary(profile, &counts, &[at("moved")]).unwrap().path(), at("moved"));
    assert_eq!(open_binary(profile, &counts, &[at("prog"), at("moved")]).unwrap().path(), at("moved"));
}

#[test]
fn a_profile_with_other_counters_is_refused() {
    let (map, _) = map(Method::Edge, false);
    let error = recover(&binary(map), &read(&Raw::new(vec![1]))).unwrap_err().to_string();
    assert!(error.contains("1 counters"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_damaged_binary_does_no_harm(edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), cut in any::<prop::sample::Index>(), truncate in any::<bool>()) {
        let (map, _) = map(Method::Edge, false);
        let mut bytes = executable(&map, UNIT);
        for (at, value) in edits {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if truncate {
            bytes.truncate(cut.index(bytes.len()));
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), bytes).unwrap();
        if let Ok(binary) = BinaryFile::open(file.path()) {
            let _ = binary.resolve(MAIN_AT + 0x20);
        }
    }

    #[test]
    fn any_counters_and_exits_recover_without_harm(values in prop::collection::vec(any::<u64>(), 40), early in prop::collection::vec((any::<u64>(), any::<i64>()), 0..4)) {
        for method in [Method::Edge, Method::Block, Method::Vertex, Method::VertexEdge] {
            let (map, _) = map(method, true);
            let count = map.plan.layout().counter_count;
            let mut counts = read(&Raw::new(values.iter().copied().cycle().take(count as usize).collect()));
            counts.early.extend(early.iter().copied());
            counts.early.insert(MAIN_AT + 0x20, early.first().map_or(1, |e| e.1));
            let binary = binary(map);
            recover(&binary, &counts).unwrap();
            verify(&binary, &counts).unwrap();
        }
    }
}

mod live {
    //! Snapshots of this very process, which maps a profile as a profiled program does.
    use cotree_profile::snapshot::{self, Pause, SnapshotError};

    #[test]
    fn a_process_without_a_profile_is_told_apart() {
        assert!(matches!(snapshot::take(u32::MAX, Pause::Never), Err(SnapshotError::Process { .. })));
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let error = snapshot::take(child.id(), Pause::Never).unwrap_err().to_string();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(error.contains("no cotree profile open"), "{error}");
    }
}
