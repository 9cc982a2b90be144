//! How a process ends, and what its profile says about it.

use crate::support::{Flavour, Folder, Profile, Run, check};
use cotree_rt::layout::{Access, Flags, MAGIC, State};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};

#[test]
fn exit_deep_in_a_chain_abandons_every_frame() {
    let folder = Folder::new("exit_deep");
    for access in [Access::DIRECT, Access::WORD, Access::SEGMENT] {
        let program = folder.build_as("exit_deep.c", "prog", Flavour::Dynamic, access, &[]);
        let run = program.run(3);
        let profile = folder.profile();
        assert_eq!(profile.state(), State::FINISHED);
        assert_eq!(profile.flags(), Flags::NONE);
        assert_eq!(profile.counters[..4], [1, 6, 1, 0]);
        assert_eq!(profile.at(run.site("first")), 1);
        assert_eq!(profile.at(run.site("down")), 5);
        assert_eq!(profile.at(run.site("leave")), 1);
        assert_eq!(
            &profile.header.binary[..profile.header.binary_len as usize],
            program.path.to_str().unwrap().as_bytes()
        );
        assert_eq!(&profile.header.unit[..4], &[0xAB, 1, 2, 3]);
        assert!(profile.header.ended_ns >= profile.header.started_ns);
        std::fs::remove_file(profile.path).unwrap();
    }
}

#[test]
fn a_million_frames() {
    let folder = Folder::new("deep");
    let program = folder.build("deep.c", &["-O1", "-fno-optimize-sibling-calls"]);
    let limited = format!("ulimit -s unlimited && exec {}", program.path.display());
    let run = Run::of(program.command_of("/bin/sh").args(["-c", &limited]), 0);
    let profile = folder.profile();
    assert_eq!(profile.at(run.site("bottom")), 1_000_000);
    assert_eq!(profile.flags(), Flags::NONE);
}

#[test]
fn other_ends() {
    let folder = Folder::new("other_ends");
    let program = folder.build("ends.c", &[]);
    for (how, status, site_count) in [
        ("_exit", Some(4), 1),
        ("_Exit", Some(4), 1),
        ("quick_exit", Some(4), 1),
        ("thread", Some(4), 1),
        ("abort", None, 1),
        ("abort-caught", Some(4), 1),
        ("abort-jumped", Some(0), 1),
        ("assert", None, 1),
        ("err", Some(4), 1),
    ] {
        let output = program.command().arg(how).output().unwrap();
        assert_eq!(output.status.code(), status, "{how}: {output:?}");
        let run = Run { output: String::from_utf8(output.stdout).unwrap(), errors: String::new() };
        let profile = folder.profile();
        let aborted = status.is_none();
        assert_eq!(aborted, output.status.signal() == Some(libc_sigabrt()), "{how}");
        assert_eq!(profile.state(), if aborted { State::ABORTED } else { State::FINISHED }, "{how}");
        assert_eq!(profile.at(run.site("leave")), site_count, "{how}: {:x?}", profile.early);
        assert_eq!(profile.flags(), Flags::NONE, "{how}");
        assert_eq!(profile.counters[1], 1, "{how}");
        std::fs::remove_file(profile.path).unwrap();
    }
}

fn libc_sigabrt() -> i32 {
    6
}

#[test]
fn threads_that_outlive_main_account_for_themselves() {
    let folder = Folder::new("pool");
    let program = folder.build("pool.c", &[]);
    for busy in [false, true] {
        let mut command = program.command();
        if busy {
            command.arg("busy");
        }
        let run = Run::of(&mut command, 0);
        assert_eq!(run.output.lines().last(), Some("done"), "{}", run.output);
        let profile = folder.profile();
        assert_eq!(profile.header.threads_alive, 0);
        assert_eq!(profile.flags(), if busy { Flags::INTERRUPTED_FRAME } else { Flags::NONE });
        assert_eq!(profile.interrupted(), i64::from(busy));
        assert_eq!(profile.at(run.site("wait")), 4);
        assert_eq!(profile.at(run.site("read")), 1);
        assert_eq!(profile.at(run.site("sleep")), 1);
        std::fs::remove_file(profile.path).unwrap();
    }
}

/// Whoever may read the folder may read a profile, but nobody else writes to it.
#[test]
fn profiles_are_written_by_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("mode");
    let program = folder.build("ends.c", &[]);
    for (mask, mode) in [("0", 0o644), ("022", 0o644), ("077", 0o600)] {
        let script = format!("umask {mask}; exec {} _exit", program.path.display());
        Run::of(program.command_of("/bin/sh").args(["-c", &script]), 4);
        let profile = folder.profile();
        assert_eq!(std::fs::metadata(&profile.path).unwrap().permissions().mode() & 0o777, mode, "umask {mask}");
        std::fs::remove_file(profile.path).unwrap();
    }
}

#[test]
fn a_kill_leaves_the_counters() {
    let folder = Folder::new("kill");
    let program = folder.build("ends.c", &[]);
    let mut child = program.command().arg("sleep").stdout(Stdio::null()).spawn().unwrap();
    let begun = |path: &std::path::Path| std::fs::read(path).is_ok_and(|bytes| bytes.starts_with(&MAGIC));
    let live = loop {
        // The file is there a moment before its header is.
        let files = std::fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap().path());
        if !files.filter(|path| path.extension().is_some_and(|e| e == "live")).any(|path| begun(&path)) {
            continue;
        }
        let found = folder.profiles();
        if let Some(profile) = found.into_iter().find(|profile| profile.counters[2] == 1000) {
            break profile;
        }
    };
    assert!(live.path.to_str().unwrap().ends_with(&format!("prog.{0}.cotree.{0}.live", child.id())));
    child.kill().unwrap();
    child.wait().unwrap();
    let profile = folder.profile();
    assert_eq!(profile.state(), State::RUNNING);
    assert_eq!(profile.counters[1], 1);
    assert_eq!(profile.counters[2], 1000);
}

#[test]
fn nowhere_to_write() {
    let folder = Folder::new("nowhere");
    let program = folder.build("ends.c", &[]);
    // Not a folder: fails for root too.
    std::fs::write(folder.0.join("file"), "").unwrap();
    let run = Run::of(program.command().arg("_exit").env("COTREE_FILE", "file/%p.cotree"), 4);
    assert_eq!(run.errors.lines().count(), 1, "{}", run.errors);
    assert!(run.errors.starts_with("cotree: no profile: can't create "), "{}", run.errors);
    assert!(run.errors.contains("COTREE_FILE"), "{}", run.errors);
    for quiet in ["", "/dev/null"] {
        let run = Run::of(program.command().arg("_exit").env("COTREE_FILE", quiet), 4);
        assert_eq!(run.errors, "");
    }
    assert!(folder.profiles().is_empty());
}

#[test]
fn no_room() {
    let folder = Folder::new("no_room");
    let program = folder.build("ends.c", &[]);
    // Five pages would be needed.
    let limited = format!("ulimit -f 4; exec {} _exit", program.path.display());
    let run = Run::of(program.command_of("/bin/bash").args(["-c", &limited]), 4);
    assert_eq!(run.errors.lines().count(), 1, "{}", run.errors);
    assert!(run.errors.contains("file size limit"), "{}", run.errors);
    assert!(folder.profiles().is_empty());
    // Room again at the end.
    let grown = format!("ulimit -S -f 4; exec {} raise-limit", program.path.display());
    let run = Run::of(program.command_of("/bin/bash").args(["-c", &grown]), 4);
    assert_eq!(run.errors, "");
    let profile = folder.profile();
    assert_eq!(profile.flags(), Flags::NOT_MAPPED);
    assert_eq!(profile.state(), State::FINISHED);
    assert_eq!(profile.counters[1], 1);
    assert_eq!(profile.at(run.site("leave")), 1);
}

#[test]
fn a_full_disk() {
    let folder = Folder::new("full_disk");
    let disk = folder.0.join("disk");
    std::fs::create_dir(&disk).unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=16k", "none"]).arg(&disk).status();
    if !mounted.is_ok_and(|status| status.success()) {
        return; // needs root
    }
    let program = folder.build("ends.c", &[]);
    let run = Run::of(program.command().arg("_exit").env("COTREE_FILE", "disk/%p.cotree"), 4);
    let left = std::fs::read_dir(&disk).unwrap().count();
    check(Command::new("umount").arg(&disk));
    assert!(run.errors.contains("no space left"), "{}", run.errors);
    assert_eq!(run.errors.lines().count(), 1);
    assert_eq!(left, 0);
}

#[test]
fn a_set_user_id_program_writes_where_nobody_tells_it_to() {
    let folder = Folder::new("secure");
    let program = folder.build("ends.c", &[]);
    if check(Command::new("id").arg("-u")).stdout != b"0\n" {
        return; // needs root
    }
    check(Command::new("chown").arg("nobody").arg(&program.path));
    check(Command::new("chmod").arg("4755").arg(&program.path));
    check(Command::new("chmod").arg("777").arg(&folder.0));
    let mut command = program.command();
    // Where nosuid or a sandbox keeps the bit from working, there is nothing to see.
    let run = Run::of(command.arg("secure").env("COTREE_FILE", "elsewhere.cotree"), 4);
    if run.output.contains("secure 1") {
        assert!(folder.profiles().is_empty());
        assert!(run.errors.contains("build it with --profile-file"), "{}", run.errors);
    }
}

#[test]
fn names() {
    let folder = Folder::new("names");
    let program = folder.build("ends.c", &[]);
    Run::of(program.command().arg("_exit").env("COTREE_FILE", "a/b/%n-%m-%%-%z.cotree"), 4);
    assert!(folder.0.join("a/b/prog-ab010203000000000000000000000000-%-%z.cotree").exists());
    Run::of(program.command().arg("_exit").env_remove("COTREE_FILE").arg0("x"), 4);
    let profile = folder.profile();
    assert_eq!(profile.path.file_name().unwrap(), format!("prog.{}.cotree", profile.header.pid).as_str());
    assert_eq!(&profile.header.command[..profile.header.command_len as usize], b"x\0_exit");
    // A program that starts itself again keeps the process number, and both profiles.
    std::fs::remove_file(&profile.path).unwrap();
    Run::of(program.command().arg("again"), 4);
    let both = folder.profiles();
    assert_eq!(both.len(), 2);
    assert_eq!(both[0].header.pid, both[1].header.pid);
    assert!(both.iter().all(|profile| profile.state() == State::FINISHED));
}

#[test]
fn snapshots_and_resets() {
    let folder = Folder::new("snapshots");
    let program = folder.build("snapshots.c", &[]);
    let run = program.run(0);
    let find = |name: &str| folder.profiles().into_iter().find(|p| p.path.to_str().unwrap().contains(name)).unwrap();
    let named = find("named");
    assert_eq!(named.state(), State::SNAPSHOT);
    assert_eq!(named.counters[..3], [1, 1, 0]);
    assert_eq!(named.at(run.site("first")), 1);
    let second = find("snapshot-1");
    assert_eq!(second.counters[..3], [0, 0, 1]);
    assert_eq!(second.flags(), Flags::RESET);
    assert_eq!(second.at(run.site("first")), 0);
    let last = folder.profiles().into_iter().find(|p| p.state() == State::FINISHED).unwrap();
    assert_eq!(last.at(run.site("first")), -1, "revived by the reset");
    assert_eq!(last.counters[..4], [0, 0, 1, 1]);
}

#[test]
fn a_profile_whose_folder_moves_away() {
    let folder = Folder::new("moved");
    let program = folder.build("moved.c", &[]);
    let run = Run::of(program.command().env("COTREE_FILE", "before/%p.cotree"), 0);
    assert!(run.errors.starts_with("cotree: can't give its name to the finished profile "), "{}", run.errors);
    assert_eq!(run.errors.lines().count(), 1);
    let file = std::fs::read_dir(folder.0.join("after")).unwrap().next().unwrap().unwrap().path();
    let profile = Profile::read(&file);
    assert_eq!(profile.state(), State::FINISHED);
    assert_eq!(profile.counters[1], 8000, "the threads' slabs were in memory, and were added");
    assert_eq!(profile.flags(), Flags::NONE);
}

#[test]
fn small_stacks_and_errno() {
    let folder = Folder::new("small");
    for how in ["jump", "fork", "dump", "exit"] {
        let program = folder.build("small.c", &[]);
        Run::of(program.command().arg(how), 0);
        for profile in folder.profiles() {
            let alive = if profile.state() == State::SNAPSHOT { Flags::THREADS_ALIVE } else { Flags::NONE };
            assert_eq!(profile.flags(), alive, "{how}");
            std::fs::remove_file(profile.path).unwrap();
        }
    }
}
