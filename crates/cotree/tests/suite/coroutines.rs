//! Coroutines. With `--at early` they have no counters themselves, since LLVM splits them later; whatever ends in them
//! must not put others in doubt.

use crate::project::Project;
use std::fs;

const SOURCE: &str = include_str!("../programs/coroutines.cc");

/// Where the last coroutine is when the process ends, and the status.
const ENDS: [(&str, i32); 4] = [("Nowhere", 0), ("Body", 3), ("Awaiting", 3), ("Destroying", 3)];

/// Runs the program with these options of cotree, in all its ends: nothing may be flagged or different.
fn all_is_exact(options: &str, flags: &str) {
    let project = Project::new(&[("main.cc", SOURCE)]);
    for (end, status) in ENDS {
        project.ok(&format!("--verify {options} c++ {flags} -g -std=c++20 -DEND={end} main.cc -o program"));
        let mut command = project.command(project.path("program"));
        let output = command.env("COTREE_FILE", "p.cotree").output().expect("it starts");
        assert_eq!(output.status.code(), Some(status), "{options} {flags} {end}");
        let printed = if end == "Nowhere" { "535\n1153\n" } else { "" };
        assert_eq!(String::from_utf8_lossy(&output.stdout), printed, "{options} {flags} {end}");
        let verified = project.ok("verify --strict p.cotree");
        assert!(
            verified.contains("; 0 functions not vouched for, 0 counts differ"),
            "{options} {flags} {end}: {verified}"
        );
        fs::remove_file(project.path("p.cotree")).expect("a profile");
    }
}

/// Whether LLVM reads what clang makes of coroutines before they are split: since clang 22 `llvm.coro.end` has no
/// value, and what older ones do with it is not understood any more.
fn are_current() -> bool {
    let project = Project::new(&[("empty.cc", "")]);
    let macros = project.ok("c++ -std=c++20 -dM -E empty.cc");
    let major = macros.lines().find_map(|line| line.strip_prefix("#define __clang_major__ ")).expect("clang's version");
    major.trim().parse::<u32>().expect("a number") >= 22
}

#[test]
fn what_ends_in_coroutines_without_counters_is_known() {
    if !are_current() {
        let project = Project::new(&[("main.cc", SOURCE)]);
        project.fails("--at early c++ -std=c++20 -DEND=Nowhere main.cc -o program");
        assert!(!project.path("program").exists(), "it is refused, and nothing is made");
        return;
    }
    for profile in ["edge", "path"] {
        for level in ["-O0", "-O2"] {
            all_is_exact(&format!("--profile {profile} --at early"), level);
        }
    }
}

#[test]
fn coroutines_that_are_split_have_counters() {
    all_is_exact("--profile edge", "-O0");
    all_is_exact("--profile path", "-O2");
}
