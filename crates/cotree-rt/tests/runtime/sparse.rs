//! Slabs with a sparse part: what is counted there takes room only where it is counted, and is as safe as the rest.

use crate::support::{Flavour, Folder, Profile, Program, Run, check};
use cotree_rt::layout::{Access, Flags, State};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

/// As in `sparse.c`.
const COUNTERS: usize = 1 << 20;
const FIRST: usize = 2000;
const STEP: usize = 5003;

fn build(folder: &Folder, flavour: Flavour, access: u32) -> Program {
    folder.build_as("sparse.c", "prog", flavour, access, &[])
}

fn assert_counted(profile: &Profile, times: u64, last: u64) {
    for (word, &count) in profile.counters.iter().enumerate().skip(1) {
        let expected = match word {
            _ if word == COUNTERS - 1 => last,
            _ if word >= FIRST && (word - FIRST).is_multiple_of(STEP) => times,
            _ => 0,
        };
        assert_eq!(count, expected, "word {word}");
    }
}

const WAYS: [(Flavour, u32); 4] = [
    (Flavour::Dynamic, Access::DIRECT),
    (Flavour::Dynamic, Access::WORD),
    (Flavour::Dynamic, Access::SEGMENT),
    (Flavour::Static, Access::SEGMENT),
];

#[test]
fn counted_to_the_end_or_killed() {
    let folder = Folder::new("sparse");
    for (flavour, access) in WAYS {
        let program = build(&folder, flavour, access);
        program.run(0);
        let profile = folder.profile();
        assert_eq!((profile.state(), profile.flags()), (State::FINISHED, Flags::NONE));
        assert_counted(&profile, 1, 1);
        // 210 pages of counters, and what the file system sets aside for them, but not the 8 MiB of each slab.
        let metadata = std::fs::metadata(&profile.path).unwrap();
        assert!(metadata.len() > 8 << 20);
        assert!(metadata.blocks() * 512 < 4 << 20, "{}", metadata.blocks());
        std::fs::remove_file(&profile.path).unwrap();

        let status = program.command().arg("kill").status().unwrap();
        assert_eq!(status.signal(), Some(9));
        let profile = folder.profile();
        assert_eq!((profile.state(), profile.flags()), (State::RUNNING, Flags::NONE));
        assert_counted(&profile, 1, 1);
        std::fs::remove_file(&profile.path).unwrap();
    }
}

#[test]
fn counted_before_the_start_or_begun_anew() {
    let folder = Folder::new("sparse_anew");
    for (flavour, access) in WAYS {
        let program = build(&folder, flavour, access);
        Run::of(program.command().env("EARLY", "1"), 0);
        let profile = folder.profile();
        assert_counted(&profile, 2, 2);
        std::fs::remove_file(&profile.path).unwrap();

        Run::of(program.command().arg("reset"), 0);
        let profile = folder.profile();
        assert_counted(&profile, 5, 1);
        std::fs::remove_file(&profile.path).unwrap();
    }
}

#[test]
fn threads_and_children() {
    let folder = Folder::new("sparse_threads");
    for access in [Access::WORD, Access::SEGMENT] {
        let program = build(&folder, Flavour::Dynamic, access);
        Run::of(program.command().arg("threads"), 0);
        let profile = folder.profile();
        assert_eq!(profile.flags(), Flags::NONE);
        assert_counted(&profile, 9, 5);
        std::fs::remove_file(&profile.path).unwrap();

        Run::of(program.command().arg("fork"), 0);
        let mut profiles = folder.profiles();
        profiles.sort_by_key(|profile| std::cmp::Reverse(profile.counters[0]));
        let [parent, child] = profiles.try_into().map_err(|_| "two profiles").unwrap();
        assert_counted(&parent, 1, 1);
        assert_counted(&child, 3, 1);
        for profile in [parent, child] {
            std::fs::remove_file(&profile.path).unwrap();
        }
    }
}

/// What is no longer in memory was counted all the same.
#[test]
fn pages_that_the_kernel_took_away() {
    let folder = Folder::new("sparse_evicted");
    for access in [Access::DIRECT, Access::WORD, Access::SEGMENT] {
        Run::of(build(&folder, Flavour::Dynamic, access).command().arg("evict"), 0);
        let profile = folder.profile();
        assert_eq!(profile.flags(), Flags::NONE);
        assert_counted(&profile, 1, 1);
        std::fs::remove_file(&profile.path).unwrap();
    }
}

#[test]
fn a_snapshot_of_itself() {
    let folder = Folder::new("sparse_dump");
    for access in [Access::DIRECT, Access::SEGMENT] {
        Run::of(build(&folder, Flavour::Dynamic, access).command().arg("dump"), 0);
        let profiles = folder.profiles();
        assert_eq!(profiles.len(), 2);
        for profile in profiles {
            assert_counted(&profile, 1, 1);
            std::fs::remove_file(&profile.path).unwrap();
        }
    }
}

/// Without a file until the end, and without a sparse part that could be asked for.
#[test]
fn no_room_at_first() {
    let folder = Folder::new("sparse_memory");
    let program = build(&folder, Flavour::Dynamic, Access::SEGMENT);
    let limited = format!("ulimit -S -f 4; exec {}", program.path.display());
    let run = Run::of(program.command_of("/bin/bash").args(["-c", &limited]), 0);
    assert!(run.errors.contains("file size limit"), "{}", run.errors);
    assert!(folder.profiles().is_empty());
}

/// However the program ends then, and whatever it can't do any more.
#[test]
fn a_disk_that_fills_up() {
    let folder = Folder::new("sparse_full");
    let disk = folder.0.join("disk");
    std::fs::create_dir(&disk).unwrap();
    let accesses = [
        (Access::DIRECT, "", 200, 1),
        (Access::SEGMENT, "", 200, 1),
        (Access::SEGMENT, "threads", 300, 9),
        (Access::SEGMENT, "closed", 200, 1),
        (Access::SEGMENT, "exec", 200, 2),
    ];
    for (access, how, kilobytes, times) in accesses {
        let size = format!("size={kilobytes}k");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "none"]).arg(&disk).status();
        if !mounted.is_ok_and(|status| status.success()) {
            return; // needs root
        }
        let program = build(&folder, Flavour::Dynamic, access);
        let mut command = program.command();
        let output = command.arg(how).env("COTREE_FILE", "disk/%p.cotree").output().unwrap();
        let file = std::fs::read_dir(&disk).unwrap().next().unwrap().unwrap().path();
        let profile = Profile::read(&file);
        check(Command::new("umount").arg(&disk));
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{how}: {} {errors}", output.status);
        assert_eq!(output.stdout, b"goes on\n");
        let missing = errors.lines().filter(|line| line.contains("counts of paths are missing in"));
        assert!(missing.clone().all(|line| line.contains("no space left")), "{errors}");
        assert_eq!(missing.count(), 1, "{how}: {errors}");
        assert_eq!((profile.state(), profile.flags()), (State::FINISHED, Flags::PATHS_MISSING), "{how}");
        assert_eq!(profile.counters[0], 1);
        assert!(profile.counters[FIRST] <= times);
        if how != "threads" {
            assert_eq!(profile.counters[FIRST], times, "{how}");
        }
    }
}

/// The signal still means what it meant.
#[test]
fn other_bus_errors() {
    let folder = Folder::new("sparse_bus");
    let program = build(&folder, Flavour::Dynamic, Access::SEGMENT);
    let status = program.command().arg("bus").status().unwrap();
    assert_eq!(status.signal(), Some(7));
    assert_counted(&folder.profile(), 1, 1);
    std::fs::remove_file(folder.profile().path).unwrap();
    Run::of(program.command().arg("own"), 0);
    assert_eq!(folder.profile().flags(), Flags::NONE);
}
