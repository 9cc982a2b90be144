//! Tables of paths: nothing is lost or counted twice, whoever counts and however it ends.

use crate::support::{Flavour, Folder, Profile, Program, Run};
use cotree_rt::layout::{Access, Flags, State};

fn build(folder: &Folder, flavour: Flavour, access: u32) -> Program {
    folder.build_as("paths.c", "prog", flavour, access, &["-mno-red-zone"])
}

/// Metrics follow the counts: of every other function each execution of a path adds its number modulo 4, and 1.
fn assert_sums(profile: &Profile) {
    for (key @ (function, path), count) in &profile.paths {
        let each = if function % 2 == 0 { path % 4 + 1 } else { 0 };
        assert_eq!(profile.sums[key], count * each, "{key:?}");
    }
}

/// What `many(from)` counts, done so many times.
fn assert_many(profile: &Profile, from: u64, times: u64) {
    assert_sums(profile);
    for i in 0..10000 {
        assert_eq!(profile.paths.get(&(1, from + i * 3)), Some(&(3 * times)), "path {i}");
    }
}

fn assert_second(profile: &Profile, times: u64) {
    for i in 0..2 {
        assert_eq!(profile.paths.get(&(2, 1 << 62 | i)), Some(&(5000 * times)));
    }
    assert_eq!(profile.counters[1], 30000 * times);
}

#[test]
fn many_keys() {
    let folder = Folder::new("paths_many");
    for (flavour, access) in [
        (Flavour::Dynamic, Access::DIRECT),
        (Flavour::Dynamic, Access::WORD),
        (Flavour::Dynamic, Access::SEGMENT),
        (Flavour::Static, Access::SEGMENT),
    ] {
        let program = build(&folder, flavour, access);
        for how in ["", "full", "exec"] {
            let run = Run::of(program.command().arg(how), 0);
            let profile = folder.profile();
            let times = if how == "exec" { 2 } else { 1 };
            assert_eq!(profile.state(), State::FINISHED);
            if how == "full" {
                // The file could not grow, nor could it in the end.
                assert_eq!(profile.flags(), Flags::PATHS_MISSING);
                assert!(run.errors.contains("counts of paths are missing in"), "{}", run.errors);
                assert!(run.errors.contains("file size limit"), "{}", run.errors);
                assert_eq!(run.errors.lines().count(), 1, "{}", run.errors);
            } else {
                assert_eq!(run.errors, "", "{how}");
                assert_eq!(profile.flags(), Flags::NONE, "{how}");
                assert_many(&profile, 0, times);
                assert_second(&profile, times);
                assert_eq!(profile.paths.len(), 10003, "{how}");
            }
            assert_sums(&profile);
            assert_eq!(profile.paths.get(&(3, 77)), Some(&1), "counted before the start");
            std::fs::remove_file(profile.path).unwrap();
        }
    }
}

#[test]
fn no_room_for_more() {
    check_no_room_for_more(Access::DIRECT);
}

/// Beside the other.
#[test]
fn no_room_for_more_by_segment() {
    check_no_room_for_more(Access::SEGMENT);
}

/// Wherever the file stops growing, at whatever step: it is whole, and says if anything is missing.
fn check_no_room_for_more(access: u32) {
    let folder = Folder::new(&format!("paths_no_room_{access}"));
    let program = build(&folder, Flavour::Dynamic, access);
    let limits =
        (40..2000).step_by(200).map(|kib| ("full", kib)).chain((0..1600).step_by(320).map(|kib| ("confined", kib)));
    let mut missing = 0;
    for (how, kib) in limits {
        let run = Run::of(program.command().args([how, &(kib * 1024).to_string()]), 0);
        // This finds it as long as its header says.
        let profile = folder.profile();
        assert_eq!(profile.state(), State::FINISHED, "{how} {kib}");
        if profile.flags() == Flags::NONE {
            assert_many(&profile, 0, 1);
            assert_eq!(run.errors, "", "{how} {kib}");
        } else {
            assert_eq!(profile.flags(), Flags::PATHS_MISSING, "{how} {kib}");
            assert!(run.errors.contains("counts of paths are missing in"), "{how} {kib}: {}", run.errors);
            missing += 1;
        }
        std::fs::remove_file(profile.path).unwrap();
    }
    assert!((2..15).contains(&missing), "{missing}");
}

/// What the runtime has to say goes to standard error, or nowhere: not into a file that the program has in its folder,
/// and the program does not end by it.
#[test]
fn nobody_to_tell() {
    let folder = Folder::new("paths_nobody");
    let program = build(&folder, Flavour::Dynamic, Access::SEGMENT);
    Run::of(program.command().arg("full-data"), 0);
    assert_eq!(std::fs::read(folder.0.join("data")).unwrap(), b"data");
    let profile = folder.profile();
    assert_eq!(profile.flags(), Flags::PATHS_MISSING);
    std::fs::remove_file(profile.path).unwrap();

    let (reader, writer) = std::io::pipe().unwrap();
    let mut command = program.command();
    command.arg("full").stderr(writer);
    drop(reader);
    assert_eq!(command.status().unwrap().code(), Some(0));
    assert_eq!(folder.profile().flags(), Flags::PATHS_MISSING);
}

#[test]
fn no_profile() {
    let folder = Folder::new("paths_none");
    Run::of(build(&folder, Flavour::Dynamic, Access::SEGMENT).command().env("COTREE_FILE", ""), 0);
    assert!(folder.profiles().is_empty());
}

#[test]
fn each_thread_has_its_own() {
    let folder = Folder::new("paths_threads");
    Run::of(build(&folder, Flavour::Dynamic, Access::SEGMENT).command().arg("threads"), 0);
    let profile = folder.profile();
    assert_eq!(profile.flags(), Flags::NONE);
    assert_many(&profile, 0, 5);
    assert_many(&profile, 1 << 40, 4);
    assert_second(&profile, 9);
}

#[test]
fn a_forked_child_begins_anew() {
    let folder = Folder::new("paths_fork");
    for access in [Access::DIRECT, Access::WORD, Access::SEGMENT] {
        Run::of(build(&folder, Flavour::Dynamic, access).command().arg("fork"), 0);
        let all = folder.profiles();
        assert_eq!(all.len(), 2);
        for profile in &all {
            let child = profile.paths.contains_key(&(4, 1));
            assert_many(profile, if child { 7 } else { 0 }, 1);
            assert_second(profile, 1);
            assert_eq!(profile.flags(), Flags::NONE);
            std::fs::remove_file(&profile.path).unwrap();
        }
    }
}

#[test]
fn signal_handlers_lose_nothing() {
    let folder = Folder::new("paths_signals");
    let run = Run::of(build(&folder, Flavour::Dynamic, Access::DIRECT).command().arg("signals"), 0);
    let numbers: Vec<u64> = run.output.split_whitespace().map(|n| n.parse().unwrap()).collect();
    let profile = folder.profile();
    assert_many(&profile, 0, numbers[0]);
    assert_second(&profile, numbers[0]);
    let by_handler = |function| profile.paths.iter().filter(move |(key, _)| key.0 == function);
    assert_eq!(by_handler(4).map(|(_, count)| count).sum::<u64>(), numbers[1]);
    assert_eq!(by_handler(1).filter(|(key, _)| key.1 >= 1 << 30).count() as u64, numbers[1]);
}

#[test]
fn killed() {
    let folder = Folder::new("paths_killed");
    let _ = build(&folder, Flavour::Dynamic, Access::SEGMENT).command().arg("killed").status().unwrap();
    let profile = folder.profile();
    assert_eq!(profile.state(), State::RUNNING);
    assert_many(&profile, 0, 1);
    assert_second(&profile, 1);
}

#[test]
fn reset_and_snapshot() {
    let folder = Folder::new("paths_reset");
    Run::of(build(&folder, Flavour::Dynamic, Access::SEGMENT).command().arg("reset"), 0);
    let mut all = folder.profiles();
    let last = all.iter().position(|profile| profile.state() == State::FINISHED).unwrap();
    let last = all.remove(last);
    assert_eq!(last.paths.iter().map(|(key, count)| (*key, *count)).collect::<Vec<_>>(), [((1, 5), 2)]);
    assert_eq!(all[0].paths.iter().map(|(key, count)| (*key, *count)).collect::<Vec<_>>(), [((1, 5), 1)]);
}
