//! Signals that find a process in code which is in the image and not in the profile.

use crate::project::{Project, succeed};
use std::fs;
use std::process::Command;

/// A trace is as exact as if that code was in a shared library: who called it is in a call.
#[test]
fn signals_in_code_of_others() {
    let source = include_str!("../programs/findings/signal-in-code-of-others.c");
    let project = Project::new(&[("p.c", source), ("spin.c", "void spin(void) { for (;;) __asm__(\"\"); }\n")]);
    let mut plain = Command::new("cc");
    succeed(plain.current_dir(project.path("")).args(["-O0", "-c", "spin.c"]));
    for (options, ways) in [("-O0 -static", [0, 1]), ("-O1 -static-pie", [1, 0]), ("-O0", [0, 2])] {
        project.ok(&format!("--profile trace cc {options} -g -pthread p.c spin.o -o program"));
        for way in ways {
            let mut run = project.command(project.path("program"));
            run.arg(way.to_string()).env("COTREE_FILE", "p.cotree").output().expect("it starts");
            let report = project.ok("report p.cotree");
            assert!(report.contains("exact: every count"), "{options}, {way}: {report}");
            assert_eq!(project.ok("trace p.cotree").matches("calling deep").count(), 3, "{options}, {way}");
            fs::remove_file(project.path("p.cotree")).expect("a profile");
        }
    }
}
