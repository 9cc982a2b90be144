//! Static executables, and shared libraries with and without a profiled executable.

use crate::support::{self, Flavour, Folder, Profile, Run};
use cotree_rt::layout::{AT_LANDING_PAD, Access, Flags, State};
use std::process::Command;

/// In a static executable libc's own frames lie in our image and are recorded too.
const HARMLESS: Flags = Flags::INTERRUPTED_FRAME;

fn build_static(folder: &Folder, source: &str) -> support::Program {
    folder.build_as(source, "prog", Flavour::Static, Access::SEGMENT, &["-DNON_PIE"])
}

#[test]
fn static_ends() {
    let folder = Folder::new("static_ends");
    let program = build_static(&folder, "ends.c");
    for (how, status) in [
        ("_exit", Some(4)),
        ("quick_exit", Some(4)),
        ("abort", None),
        ("abort-jumped", Some(0)),
        ("assert", None),
        ("err", Some(4)),
    ] {
        let output = program.command().arg(how).output().unwrap();
        assert_eq!(output.status.code(), status, "{how}: {output:?}");
        let run = Run { output: String::from_utf8(output.stdout).unwrap(), errors: String::new() };
        let profile = folder.profile();
        assert_eq!(profile.state(), if status.is_none() { State::ABORTED } else { State::FINISHED }, "{how}");
        assert_eq!(profile.at(run.site("leave")), 1, "{how}");
        assert_eq!(profile.flags().without(HARMLESS), Flags::NONE, "{how}");
        std::fs::remove_file(profile.path).unwrap();
    }
}

#[test]
fn static_jumps_exceptions_threads_and_forks() {
    let folder = Folder::new("static_leaves");
    let leaves: [(&str, &[(&str, i64)]); 4] = [
        ("jump.c", &[("outer", 3), ("middle", 3), ("thrower", 3), ("setjmp", -3), ("sigsetjmp", -1)]),
        ("throw.cc", &[("thrower", 3), ("cleaned", 3)]),
        ("threads.c", &[("leave", 1)]),
        ("cleanups.cc", &[("deep", 2)]),
    ];
    for (source, sites) in leaves {
        let run = build_static(&folder, source).run(0);
        let profile = folder.profile();
        assert_eq!(profile.flags().without(HARMLESS), Flags::NONE, "{source}");
        for &(site, count) in sites {
            assert_eq!(profile.at(run.site(site)), count, "{source} {site}");
        }
        match source {
            "throw.cc" => assert_eq!(profile.at_landing_pad(run.site("plain")), 3),
            "cleanups.cc" => assert_eq!(profile.at_landing_pad(run.site("leave")), 2),
            "threads.c" => assert_eq!(profile.counters[1], 3_200_000),
            _ => {}
        }
        std::fs::remove_file(profile.path).unwrap();
    }
    let run = build_static(&folder, "forks.c").run(0);
    let all = folder.profiles();
    assert_eq!(all.len(), 3);
    let child = all.iter().find(|profile| profile.counters[10] == 1).unwrap();
    assert_eq!(child.at(run.site("fork_and_return")), -1);
    assert_eq!(child.counters[1], 0);
}

fn named(profiles: &[Profile], name: &str) -> usize {
    profiles.iter().filter(|p| p.path.file_name().unwrap().to_str().unwrap().starts_with(name)).count()
}

#[test]
fn libraries_of_a_profiled_program() {
    let folder = Folder::new("libraries");
    for threaded in [true, false] {
        folder.build_as("library.cc", "liblinked.so", Flavour::Shared, Access::WORD, &[]);
        folder.build_as(
            "library.cc",
            "libloaded.so",
            Flavour::Shared,
            if threaded { Access::WORD } else { Access::DIRECT },
            &[],
        );
        let linked = folder.0.join("liblinked.so");
        let options = [linked.to_str().unwrap(), "-Wl,-rpath,$ORIGIN", "-ldl"];
        let run = folder.build_as("host.cc", "prog", Flavour::Dynamic, Access::SEGMENT, &options).run(5);
        let all = folder.profiles();
        assert_eq!([named(&all, "prog"), named(&all, "liblinked"), named(&all, "libloaded")], [1, 1, 2]);
        for profile in &all {
            let name = profile.path.file_name().unwrap().to_str().unwrap();
            let expected =
                if !threaded && name.starts_with("libloaded") { Flags::THREADS_UNEXPECTED } else { Flags::NONE };
            assert_eq!(profile.state(), State::FINISHED, "{name}");
            assert_eq!(profile.flags().without(expected), Flags::NONE, "{name}");
            if name.starts_with("prog") {
                let at_landing_pad = profile.early.iter().filter(|&(address, _)| address & AT_LANDING_PAD != 0);
                assert_eq!(at_landing_pad.map(|(_, count)| count).sum::<i64>(), 2, "the exceptions of two libraries");
                continue;
            }
            if name.starts_with("liblinked") {
                assert_eq!(profile.counters[1], 80_000);
                assert_eq!(profile.counters[2], 1);
                assert_eq!(profile.at(run.site("leave")), 1, "the exit in the library");
            } else if threaded {
                assert_eq!(profile.counters[1], 40_000, "threads from before and after the load");
            }
            let binary = &profile.header.binary[..profile.header.binary_len as usize];
            assert!(binary.starts_with(folder.0.to_str().unwrap().as_bytes()) && binary.ends_with(b".so"));
        }
        for profile in &all {
            std::fs::remove_file(&profile.path).unwrap();
        }
    }
}

#[test]
fn a_library_alone_says_so() {
    let folder = Folder::new("library_alone");
    folder.build_as("library.cc", "libloaded.so", Flavour::Shared, Access::WORD, &[]);
    let host = folder.0.join("host");
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/alone.c");
    support::check(Command::new("gcc").args(["-O2", "-o"]).args([&host, &source]).arg("-ldl"));
    let mut command = Command::new(&host);
    let run = Run::of(command.current_dir(&folder.0).env("COTREE_FILE", "%p.cotree"), 0);
    assert_eq!(run.errors, "");
    let all = folder.profiles();
    assert_eq!(all.len(), 2, "the process and its child");
    for profile in all {
        assert!(profile.path.to_str().unwrap().ends_with(".libloaded.so.cotree"), "{}", profile.path.display());
        assert_eq!(profile.flags(), Flags::UNHOOKED);
        assert_eq!(profile.state(), State::FINISHED);
    }
}
