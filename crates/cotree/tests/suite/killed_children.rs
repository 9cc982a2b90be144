//! Processes that are killed in activations which began before their profile did: in the parent, or before a reset.

use crate::project::Project;
use std::fs;

/// What a forked child, or a process after a reset, goes on with has passed no counter. Such functions are not taken
/// for ones that never ran, nor are those that they call next.
#[test]
fn activations_that_came_to_life_are_in_doubt_after_a_kill() {
    let program = include_str!("../programs/killed_after_revival.c");
    let project = Project::new(&[("p.c", program)]);
    for options in ["", "--interprocedural-flow off", "--profile path", "--profile vertex"] {
        project.ok(&format!("{options} --verify cc -O0 -I. -g -w -o p p.c"));
        for what in ["fork", "reset"] {
            let mut run = project.command(project.path("p"));
            run.arg(what).env("COTREE_FILE", "%p.cotree").output().expect("it starts");
            let entries = fs::read_dir(project.path(".")).expect("a folder");
            let paths = entries.map(|entry| entry.expect("an entry").path());
            let all: Vec<_> = paths.filter(|path| path.to_string_lossy().contains(".cotree")).collect();
            let live: Vec<_> = all.iter().filter(|path| path.extension().is_some_and(|e| e == "live")).collect();
            let [killed] = &*live else { panic!("{options} {what}: one was killed, and not {live:?}") };
            project.ok(&format!("verify {}", killed.display()));
            let report = project.ok(&format!("report {}", killed.display()));
            assert!(!report.contains("exact: every count"), "{options} {what}: {report}");
            for path in all {
                fs::remove_file(path).expect("a profile");
            }
        }
    }
}
