//! `cotree run`: totals of all processes of a run, and the program's own end.

use crate::project::Project;
use std::process::Output;

/// Allocates as often as it is told, forks if there is a second argument, and ends by the third.
const PROGRAM: &str = r#"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>
static void *volatile kept;
int main(int argc, char **argv) {
  for (int i = 0; i < atoi(argv[1]); i++) kept = malloc(8);
  if (argc > 2 && !strcmp(argv[2], "fork")) { if (!fork()) { kept = malloc(8); return 0; } wait(0); }
  if (argc > 3 && !strcmp(argv[3], "abort")) abort();
  if (argc > 3 && !strcmp(argv[3], "kill")) { kept = malloc(8); raise(9); }
  return argc > 3 ? atoi(argv[3]) : 0;
}
"#;

fn run(project: &Project, line: &str) -> (Output, String) {
    let output = project.cotree(line).output().expect("cotree starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, said)
}

fn amount(said: &str, title: &str) -> Option<u64> {
    let row = said.lines().find_map(|line| line.strip_suffix(title))?;
    row.trim().replace(',', "").parse().ok()
}

#[test]
fn processes_of_a_run_are_added_up() {
    let project = Project::new(&[("p.c", PROGRAM)]);
    project.ok("cc -O0 -w -include signal.h -o p p.c");
    let (output, said) = run(&project, "run --count ./p 5");
    assert!(output.status.success(), "{said}");
    assert_eq!((amount(&said, "  allocations"), amount(&said, "  system calls")), (Some(5), None), "{said}");
    assert!(said.contains("Counts of './p 5'") && said.contains("seconds elapsed\n"), "{said}");
    assert!(!project.path("p.cotree").exists(), "--count keeps no profile");

    let (output, said) = run(&project, "run -o both.cotree ./p 5 fork 3");
    assert_eq!(output.status.code(), Some(3), "{said}");
    // The child's own, after the parent's. It did not fork, but only came back from it.
    assert_eq!((amount(&said, "  allocations"), amount(&said, "  system calls")), (Some(6), Some(2)), "{said}");
    assert!(said.contains("2 profiled processes"), "{said}");
    assert!(project.ok("report both.cotree").contains("2 runs"));
}

#[test]
fn a_program_that_is_killed_is_counted_and_flagged() {
    let project = Project::new(&[("p.c", PROGRAM)]);
    project.ok("cc -O0 -w -include signal.h -o p p.c");
    let (output, said) = run(&project, "run --count ./p 2 stay abort");
    assert_eq!(output.status.code(), Some(128 + 6), "{said}");
    assert_eq!(amount(&said, "  allocations"), Some(2), "{said}");
    let (output, said) = run(&project, "run --count --event allocations,float ./p 2 stay kill");
    assert_eq!(output.status.code(), Some(128 + 9), "{said}");
    assert_eq!(amount(&said, "  floating-point operations"), Some(0), "{said}");
    assert!(said.contains("not all exact") && said.contains("was ended by signal 9"), "{said}");
}

#[test]
fn a_program_without_a_profile_is_refused() {
    let project = Project::new(&[]);
    let refused = project.fails("run --count /bin/true");
    assert!(refused.contains("left no profile: build it with cotree"), "{refused}");
    let refused = project.fails("run ./nothing");
    assert!(refused.contains("cannot start ./nothing"), "{refused}");
}

/// One counter of events finds what counts of blocks say, in all processes; what it can't know is flagged.
#[test]
fn events_are_those_that_blocks_tell() {
    let project = Project::new(&[("p.c", PROGRAM)]);
    for level in ["-O0", "-O2"] {
        let totals = |method: &str, arguments: &str| {
            project.ok(&format!("--profile {method} cc {level} -w -include signal.h -o p p.c"));
            let (_, said) = run(&project, &format!("run --count ./p {arguments}"));
            let of = |title: &str| amount(&said, title);
            (["  IR instructions", "  allocations", "  system calls"].map(of), said)
        };
        for arguments in ["5", "5 fork", "7 fork 3", "2 stay abort"] {
            let (blocks, _) = totals("edge", arguments);
            let (events, said) = totals("events=instructions,allocations,syscalls", arguments);
            let zeros = |amounts: [Option<u64>; 3]| amounts.map(Option::unwrap_or_default);
            assert_eq!(zeros(events), zeros(blocks), "{level} {arguments}: {said}");
            assert!(!said.contains("not all exact"), "{said}");
        }
        let (_, said) = totals("events", "2 stay kill");
        assert!(said.contains("not all exact"), "{said}");
    }
    let refused = project.fails("--profile events=cost cc -o p p.c");
    assert!(refused.contains("--event-costs FILE"), "{refused}");
}

/// Calls that become jumps, of functions that may leave by `longjmp`, at the ends of others.
const JUMPS: &str = r#"
#include <setjmp.h>
#include <stdio.h>
static jmp_buf out;
static volatile int sink;
__attribute__((noinline)) static void leave(int n) { if (n % 3 == 0) longjmp(out, 1); sink += n; }
__attribute__((noinline)) static void straight(int n) { sink += n; sink += n; sink += n; sink += n; leave(n); }
__attribute__((noinline)) static void loops(int n) { for (int i = 0; i < n; i++) sink ^= i; straight(n); sink++; }
__attribute__((noinline)) static void either(int n) { if (n & 4) { sink += 1; straight(n); } else { sink += 2; sink += 3; loops(n); } }
int main(void) {
  volatile int left = 0;
  for (volatile int i = 0; i < 1000; i++) {
    if (setjmp(out)) { left++; continue; }
    either(i);
  }
  printf("%d\n", left);
}
"#;

/// Nobody hears any more of an activation that ended with a jump to its last callee: nothing may be lacking of it.
#[test]
fn events_are_complete_where_calls_become_jumps() {
    let project = Project::new(&[("p.c", JUMPS)]);
    for options in ["-O2", "-O2 -fno-optimize-sibling-calls"] {
        let instructions = |method: &str| {
            project.ok(&format!("--profile {method} cc {options} -o p p.c"));
            let (output, said) = run(&project, "run --count ./p");
            assert_eq!(output.stdout, b"334\n");
            amount(&said, "  IR instructions").expect("some ran")
        };
        assert_eq!(instructions("events"), instructions("edge"), "{options}");
    }
}

/// Recursion with work behind its calls, of which the optimiser makes loops; it never comes back.
const SUMS: &str = r#"
#include <stdlib.h>
static int odd(int n);
static int even(int n) { if (n == 0) exit(0); return 1 + odd(n - 1); }
static int odd(int n) { return 2 + even(n - 1); }
__attribute__((noinline)) static int sum(int n) { if (n == 0) exit(0); int s = 0; for (int i = 0; i < n; i++) s = s * 3 ^ i; return s + sum(n - 1); }
int main(int argc, char **argv) { return 1 + (argc > 1 ? sum(2 * argc + 5) : odd(2 * argc + 5)); }
"#;

/// Nothing that stands behind a call has run before the call came back.
#[test]
fn work_behind_calls_that_never_come_back_has_not_run() {
    let project = Project::new(&[("p.c", SUMS)]);
    for (early, level) in [("--at early", "-O2"), ("--at early", "-O1"), ("", "-O1"), ("", "-O0")] {
        for argument in ["", "sum"] {
            let instructions = |method: &str| {
                project.ok(&format!("--profile {method} {early} cc {level} -o p p.c"));
                let (_, said) = run(&project, &format!("run --count ./p {argument}"));
                amount(&said, "  IR instructions").or_else(|| amount(&said, "  instructions")).expect("some ran")
            };
            let blocks = instructions("block");
            for method in ["edge", "vertex", "path", "ipath", "events"] {
                assert_eq!(instructions(method), blocks, "{early} {level} {argument} {method}");
            }
        }
    }
}

/// The reference of `--verify` counts the same events in the same run, whatever ends early.
#[test]
fn events_are_verified_against_blocks_of_the_same_run() {
    let project = Project::new(&[("p.c", PROGRAM), ("j.c", JUMPS)]);
    let kinds = "events=instructions,loads,stores,calls,branches,float,allocations,syscalls";
    for level in ["-O0", "-O2"] {
        for (source, arguments) in [("p.c", "5 fork 3"), ("p.c", "2 stay abort"), ("j.c", "")] {
            project.ok(&format!("--verify --profile {kinds} cc {level} -w -include signal.h -o p {source}"));
            let mut command = project.command(project.path("p"));
            command.args(arguments.split_whitespace()).env("COTREE_FILE", "p.cotree");
            command.output().expect("it starts");
            let verdict = project.ok("verify --strict p.cotree");
            assert!(
                verdict.starts_with("OK: ") && verdict.contains(" blocks, 8 kinds of events compared"),
                "{verdict}"
            );
            assert!(verdict.contains("; 0 functions not vouched for, 0 counts differ"), "{verdict}");
        }
    }
}

/// A trace counts nothing while the program runs; what it tells is counted afterwards.
#[test]
fn traces_of_a_run_are_counted() {
    let project = Project::new(&[("p.c", PROGRAM)]);
    let counts = |method: &str| {
        project.ok(&format!("--profile {method} cc -O1 -w -include signal.h -o p p.c"));
        let (output, said) = run(&project, "run --count ./p 5 fork 3");
        assert_eq!(output.status.code(), Some(3), "{said}");
        ["  instructions", "  allocations", "  system calls"].map(|title| amount(&said, title).unwrap_or_default())
    };
    let traced = counts("trace");
    assert_eq!(traced, counts("edge"));
    assert_eq!(traced[1], 6);
}

/// Commands are shown as one would type them, and of several different ones none.
#[test]
fn commands_are_quoted_for_a_shell() {
    let project = Project::new(&[("p.c", PROGRAM), ("runs/.keep", "")]);
    project.ok("cc -O0 -w -include signal.h -o p p.c");
    let run = |arguments: &[&str], profile: &str| {
        let mut command = project.command(project.path("p"));
        assert!(command.args(arguments).env("COTREE_FILE", profile).status().expect("it starts").success());
    };
    run(&["1", "it's one"], "runs/1.cotree");
    run(&["1", "it's one"], "runs/2.cotree");
    let report = project.ok("report runs");
    assert!(report.contains("2 runs") && report.contains(r"/p 1 'it'\''s one'"), "{report}");
    run(&["2"], "runs/3.cotree");
    let report = project.ok("report runs");
    assert!(report.contains("3 runs") && !report.contains("command:"), "{report}");
    project.ok("merge -o sum runs");
    assert!(!project.ok("report sum").contains("command:"));
}
