//! Programs behind filters of system calls (seccomp), by exactly the list in the docs.

use crate::project::Project;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;

const DOCS: &str = include_str!("../../../../docs/troubleshooting.md");

/// The system calls in the row of the docs' table that begins so.
fn documented(row: &str) -> Vec<&'static str> {
    let line =
        DOCS.lines().find(|line| line.starts_with(&format!("| {row} |"))).unwrap_or_else(|| panic!("no row {row}"));
    line.rsplit('|').nth(1).expect("a column").split('`').skip(1).step_by(2).collect()
}

#[test]
fn the_documented_system_calls_are_enough() {
    let project = Project::new(&[("main.c", include_str!("../programs/findings/seccomp.c"))]);
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    let always = documented("it ends");
    let growth = "its traces or tables of paths grow, or it has one of these and ends by a signal";
    let threads = "it starts threads, or ends while some run";
    // What the program itself needs: without cotree it does with this.
    let of_threads = [
        "clone3",
        "clone",
        "rseq",
        "set_robust_list",
        "mprotect",
        "exit",
        "clock_nanosleep",
        "pause",
        "brk",
        "getrandom",
    ];
    let cases: [(&str, &str, &[&str], &str); 7] = [
        ("end", "", &[], "p.cotree"),
        ("signal", "it ends by a signal that it left at its default", &[], "p.cotree"),
        ("threads", threads, &of_threads, "p.cotree"),
        ("fork", "it forks", &["clone", "wait4", "set_robust_list"], "p.cotree"),
        ("dump", "it calls `cotree_dump`", &[], "p.cotree"),
        ("end", "it adds its profile to a pool (`%4m`)", &[], "p.%1m.cotree"),
        ("grow", growth, &[], "p.cotree"),
    ];
    for options in ["", "--profile path --path-array 0", "--profile trace"] {
        project.ok(&format!("{options} cc -O1 -pthread -I {} main.c -o program", include.display()));
        for (what, row, own, profile) in cases {
            let mut calls: Vec<_> = if row.is_empty() { Vec::new() } else { documented(row) };
            if what == "signal" && !options.is_empty() {
                // The stack is written down.
                calls.extend(documented(growth));
            }
            let all: Vec<_> = always.iter().copied().chain(calls).chain(own.iter().copied()).collect();
            let mut command = project.command(project.path("program"));
            command.arg(what).args(&all).env("COTREE_FILE", format!("runs/{profile}"));
            let output = command.output().expect("it starts");
            let ended = (output.status.code(), output.status.signal());
            let expected = if what == "signal" { (None, Some(libc::SIGTERM)) } else { (Some(0), None) };
            let message = String::from_utf8_lossy(&output.stderr);
            assert_eq!(ended, expected, "{options}, {what}, {row}: {message}");
            let report = project.ok("report runs");
            assert!(report.contains("exact: every count"), "{options}, {what}: {report}");
            fs::remove_dir_all(project.path("runs")).expect("a folder");
        }
    }
    // None of the first row can be left out.
    project.ok(&format!("cc -O1 -pthread -I {} main.c -o program", include.display()));
    for left_out in &always {
        let others = always.iter().filter(|name| name != &left_out);
        let mut command = project.command(project.path("program"));
        let status = command.arg("end").args(others).env("COTREE_FILE", "p.cotree").status().expect("it starts");
        assert_eq!(status.signal(), Some(libc::SIGSYS), "{left_out} is not needed");
    }
}
