//! Events of calls: `--profile events-calls`. The oracles are a stack that the program keeps itself, and the same
//! program with blocks counted.

use crate::project::{Project, succeed};
use serde_json::Value;
use std::collections::BTreeMap;

fn json(project: &Project, file: &str) -> Value {
    serde_json::from_str(&project.ok(&format!("export --format json {file}"))).expect("JSON")
}

/// Per line of a file, how often its calls were made and what happened meanwhile.
fn calls_by_line(unit: &Value, kind: &str) -> BTreeMap<u64, (u64, u64)> {
    let mut lines: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for function in unit["functions"].as_array().expect("functions") {
        for call in function["events"]["calls"].as_array().into_iter().flatten() {
            // The program's own stack is kept on the lines of calls.
            if ["enter", "leave_to", "_setjmp"].iter().any(|own| call["callee"] == *own) {
                continue;
            }
            let Some(line) = call["position"]["line"].as_u64() else { continue };
            let sum = lines.entry(line).or_default();
            sum.0 += call["calls"].as_u64().expect("a number");
            sum.1 += call["inclusive"][kind].as_u64().expect("a number");
        }
    }
    lines
}

/// Per function, the sum of what is its own.
fn exclusive(unit: &Value, kind: &str) -> BTreeMap<String, u64> {
    let functions = unit["functions"].as_array().expect("functions").iter();
    let own = functions.filter_map(|function| {
        let events = function["events"]["exclusive"][kind].as_u64()?;
        Some((function["symbol"].as_str().expect("a symbol").to_owned(), events))
    });
    own.filter(|(_, events)| *events > 0).collect()
}

/// Are all sums of a unit right?
fn inclusive_exact(unit: &Value) -> bool {
    let functions = unit["functions"].as_array().expect("functions").iter();
    let told: Vec<bool> = functions.filter_map(|function| function["events"]["inclusive_exact"].as_bool()).collect();
    !told.is_empty() && told.iter().all(|&exact| exact)
}

/// Recursion of every kind, pointers, `qsort`, `longjmp` and `exit`.
#[test]
fn sums_are_those_of_the_programs_own_stack() {
    let project = Project::new(&[("p.c", include_str!("../programs/shadow_stack.c"))]);
    for (level, more) in [("-O0", ""), ("-O2", ""), ("-O2", "--threads on"), ("-O2", "--threads word")] {
        let options = "cc -g -w -o p p.c";
        project.ok(&format!("--profile events-calls=allocations,instructions {more} {options} {level}"));
        for arguments in [&[][..], &["exit"]] {
            let mut run = project.command(project.path("p"));
            let told = succeed(run.args(arguments).env("COTREE_FILE", "p.cotree"));
            let file = json(&project, "p.cotree");
            let unit = &file["units"][0];
            assert_eq!(unit["exact"], true, "{level} {more}");
            assert!(inclusive_exact(unit), "{level} {more}");
            let found = calls_by_line(unit, "allocations");
            let mut compared = 0;
            for line in told.lines() {
                let numbers: Vec<u64> = line.split(' ').map(|n| n.parse().expect("a number")).collect();
                let [line, calls, inclusive] = numbers[..] else { panic!("{line}") };
                assert_eq!(found.get(&line), Some(&(calls, inclusive)), "{level} {more} {arguments:?}: line {line}");
                compared += 1;
            }
            assert!(compared >= 16, "{told}");
            for kind in ["allocations", "instructions"] {
                let sum: u64 = exclusive(unit, kind).values().sum();
                assert_eq!(unit["events"][kind], sum, "{level} {more} {kind}");
            }
        }
    }
    let table = project.ok("report p.cotree -n 0");
    assert!(table.contains("Functions\n") && table.contains("fib"), "{table}");
}

/// What functions cost themselves is what counts of their blocks say.
#[test]
fn what_is_a_functions_own_is_what_its_blocks_have() {
    let project = Project::new(&[
        ("shadow_stack.c", include_str!("../programs/shadow_stack.c")),
        ("tally.h", include_str!("../programs/tally.h")),
        ("recursion.c", include_str!("../programs/recursion.c")),
        ("longjmp.c", include_str!("../programs/longjmp.c")),
        ("threads.c", include_str!("../programs/threads.c")),
        ("signals.c", include_str!("../programs/signals.c")),
        ("fork.c", include_str!("../programs/fork.c")),
        ("throw.cpp", include_str!("../programs/throw.cpp")),
        ("throw_inlined.cpp", include_str!("../programs/throw_inlined.cpp")),
    ]);
    for (compiler, program, options) in [
        ("cc", "shadow_stack.c", "-O2"),
        ("cc", "recursion.c", "-O1"),
        ("cc", "recursion.c", "-O0"),
        ("cc", "longjmp.c", "-O2"),
        ("cc", "threads.c", "-O2 -pthread"),
        ("cc", "signals.c", "-O2"),
        ("cc", "fork.c", "-O1"),
        ("c++", "throw.cpp", "-O0"),
        ("c++", "throw.cpp", "-O2"),
        ("c++", "throw_inlined.cpp", "-O2"),
    ] {
        let of_method = |method: &str| {
            project.ok(&format!("--profile {method} {compiler} {options} -g -w -o p {program}"));
            succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
            project.ok("merge --several-units p.cotree -o sum.cotree");
        };
        of_method("edge");
        let costs: Value = serde_json::from_str(&project.ok("costs sum.cotree --json")).expect("JSON");
        let blocks: BTreeMap<String, u64> = costs["functions"]
            .as_array()
            .expect("functions")
            .iter()
            .filter_map(|function| {
                let own = function["exclusive"]["instructions"].as_u64()?;
                Some((function["symbol"].as_str().expect("a symbol").to_owned(), own))
            })
            .collect();
        of_method("events-calls");
        let file = json(&project, "sum.cotree");
        let unit = &file["units"][0];
        assert!(inclusive_exact(unit), "{program} {options}");
        assert_eq!(exclusive(unit, "instructions"), blocks, "{program} {options}");
    }
}

/// The profiles in the project's folder.
fn profiles(project: &Project) -> Vec<String> {
    let entries = std::fs::read_dir(project.path(".")).expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"));
    names.filter(|name| name.ends_with(".cotree")).collect()
}

/// Per function, what happened while it was under way. One that calls what returns twice may count several times, and
/// says so.
fn inclusive(unit: &Value, kind: &str) -> BTreeMap<String, u64> {
    let functions = unit["functions"].as_array().expect("functions").iter();
    let own = functions.filter_map(|function| {
        let events = function["events"]["inclusive"][kind].as_u64()?;
        let symbol = function["symbol"].as_str().expect("a symbol").to_owned();
        let repeats = function["events"]["repeats"] == true;
        assert_eq!(repeats, symbol == "jump", "{function}");
        (!repeats).then_some((symbol, events))
    });
    own.collect()
}

/// The truth that the program tells on its output: a function and a number a line.
fn told(output: &str) -> BTreeMap<String, u64> {
    let line = |line: &str| {
        let (name, number) = line.split_once(' ').expect("a name and a number");
        (name.to_owned(), number.parse().expect("a number"))
    };
    output.lines().map(line).collect()
}

/// Events count once for a function, however often it is under way: also where activations end early, in threads, in
/// handlers, and in forked children, of which the parent's activations are under way as well.
#[test]
fn recursion_counts_once() {
    let project = Project::new(&[("p.c", include_str!("../programs/outermost.c"))]);
    for (level, more) in [("-O0", ""), ("-O2", ""), ("-O2", "--threads word"), ("-O1", "--at early")] {
        project
            .ok(&format!("--profile events-calls=allocations,instructions {more} cc {level} -g -w -pthread -o p p.c"));
        for argument in ["", "exit", "exec", "fork"] {
            let mut run = project.command(project.path("p"));
            let output = succeed(run.arg(argument).env("COTREE_FILE", "p-%p.cotree"));
            // A child prints first.
            let (child, parent) = output.split_at(output.rfind("factorial").expect("a line"));
            for truth in [child, parent].into_iter().filter(|truth| !truth.is_empty()).map(told) {
                let matches = |file: &String| {
                    let json = json(&project, file);
                    let unit = &json["units"][0];
                    assert_eq!(unit["exact"], true, "{level} {more} {argument}");
                    assert!(inclusive_exact(unit), "{level} {more} {argument}");
                    let total = unit["events"]["instructions"].as_u64().expect("a number");
                    let instructions = inclusive(unit, "instructions");
                    assert!(instructions.values().all(|&own| own <= total), "{instructions:?} of {total}");
                    let found = inclusive(unit, "allocations");
                    truth
                        .iter()
                        .all(|(name, events)| name == "jump" || found.get(name).copied().unwrap_or(0) == *events)
                };
                assert!(profiles(&project).iter().any(matches), "{level} {more} {argument}: {truth:?}");
            }
            profiles(&project).iter().for_each(|file| std::fs::remove_file(project.path(file)).expect("removed"));
        }
    }
}

/// What `cotree costs` has of functions: entries, own and inclusive instructions; and of calls by caller, callee and
/// line.
type Costs = (BTreeMap<String, [u64; 3]>, BTreeMap<(String, String, u64), [u64; 2]>);

fn costs(project: &Project, file: &str) -> Costs {
    let costs: Value = serde_json::from_str(&project.ok(&format!("costs {file} --json"))).expect("JSON");
    let functions = costs["functions"].as_array().expect("functions");
    let symbol = |function: &Value| function["symbol"].as_str().expect("a symbol").to_owned();
    let own = |function: &Value| {
        let amount = |which: &str| function[which]["instructions"].as_u64().unwrap_or(0);
        let amounts = [function["entries"].as_u64().expect("a number"), amount("exclusive"), amount("inclusive")];
        (symbol(function), amounts)
    };
    let call = |call: &Value| {
        let end = |which: &str| symbol(&functions[call[which].as_u64().expect("an index") as usize]);
        let line = call["line"].as_u64().expect("a line");
        let amounts = [&call["calls"], &call["inclusive"]["instructions"]].map(|amount| amount.as_u64().unwrap_or(0));
        ((end("caller"), end("callee"), line), amounts)
    };
    let ran = functions.iter().map(own).filter(|(_, amounts)| amounts[0] > 0).collect();
    (ran, costs["calls"].as_array().expect("calls").iter().map(call).collect())
}

/// A trace tells the same of functions, and of calls by name.
#[test]
fn costs_are_those_of_a_trace() {
    let project = Project::new(&[("p.c", include_str!("../programs/shadow_stack.c"))]);
    for level in ["-O0", "-O2"] {
        let of_method = |method: &str| {
            project.ok(&format!("--profile {method} cc {level} -g -w -o {method} p.c"));
            succeed(project.command(project.path(method)).env("COTREE_FILE", format!("{method}.cotree")));
            costs(&project, &format!("{method}.cotree"))
        };
        let (traced, traced_calls) = of_method("trace");
        let (functions, calls) = of_method("events-calls");
        assert_eq!(functions, traced, "{level}");
        assert!(calls.len() >= 16, "{calls:?}");
        for (call, amounts) in calls {
            assert_eq!(traced_calls.get(&call), Some(&amounts), "{level} {call:?}");
        }
    }
    let refused = project.fails("costs events-calls.cotree --event loads");
    assert!(refused.contains("no counts of loads"), "{refused}");
    let refused = project.fails("diff trace.cotree events-calls.cotree");
    assert!(refused.contains("of one method"), "{refused}");
}

const POINTERS: &str = r#"
#include <stdio.h>
__attribute__((noinline)) static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((noinline)) static int twice(int n) { return 2 * n; }
static int (*volatile chosen)(int);
int main(int argc, char **argv) {
  int sum = 0;
  for (int i = 0; i < 6 + argc; i++) {
    chosen = i % 3 ? twice : fib;
    sum += chosen(i);
  }
  printf("%d\n", sum + fib(9));
  return 0;
}
"#;

/// Whom calls through pointers reached has a name, `main` is not recursive since it prints, and what recursion led to
/// is no more than the program did.
#[test]
fn callees_have_names() {
    let project = Project::new(&[("p.c", POINTERS)]);
    project.ok("--profile events-calls cc -O0 -g -o p p.c");
    for (file, arguments) in [("one.cotree", &[][..]), ("two.cotree", &["more"])] {
        succeed(project.command(project.path("p")).args(arguments).env("COTREE_FILE", file));
    }
    let table = project.ok("report one.cotree");
    assert!(table.contains("twice, fib"), "{table}");
    assert!(!table.contains('+'), "{table}");
    let file = json(&project, "one.cotree");
    let unit = &file["units"][0];
    let total = unit["events"]["instructions"].as_u64().expect("a number");
    assert!(inclusive(unit, "instructions").values().all(|&events| events <= total));
    let functions = unit["functions"].as_array().expect("functions");
    let recursive = |symbol: &str| {
        let function = functions.iter().find(|function| function["symbol"] == symbol).expect(symbol);
        function["events"]["recursive"].as_bool().expect("told")
    };
    assert!(recursive("fib") && !recursive("main") && !recursive("twice"));
    let calls = functions.iter().flat_map(|function| function["events"]["calls"].as_array().into_iter().flatten());
    let through: Vec<&Value> = calls.filter(|call| call["callees"].is_array()).collect();
    let [call] = through[..] else { panic!("{through:?}") };
    let expected = serde_json::json!([{"symbol": "twice", "calls": 4}, {"symbol": "fib", "calls": 3}]);
    assert_eq!((&call["callees"], &call["others"]), (&expected, &Value::from(0)));
    let difference: Value = serde_json::from_str(&project.ok("diff one.cotree two.cotree --json")).expect("JSON");
    let changed = difference["functions"].as_array().expect("functions").iter();
    let names: Vec<&str> = changed.filter_map(|function| function["symbol"].as_str()).collect();
    assert!(names.contains(&"twice") && difference["blocks"].is_null(), "{difference}");
    let callgrind = project.ok("export --format callgrind one.cotree");
    assert!(callgrind.contains(&format!("summary: {total}")), "{callgrind}");
    let folded = project.ok("export --format folded one.cotree");
    let sum: u64 = folded.lines().filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok()).sum();
    assert_eq!(sum, total, "{folded}");
}

/// Exceptions end activations at calls that share a landing pad, and on the way through destructors.
#[test]
fn recursion_that_exceptions_leave_counts_once() {
    let project = Project::new(&[("p.cpp", include_str!("../programs/outermost.cpp"))]);
    for (level, more) in [("-O0", ""), ("-O2", ""), ("-O2", "--threads word"), ("-O2", "--at early")] {
        project.ok(&format!("--profile events-calls=allocations {more} c++ {level} -g -w -o p p.cpp"));
        let output = succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
        let file = json(&project, "p.cotree");
        let unit = &file["units"][0];
        assert!(unit["exact"] == true && inclusive_exact(unit), "{level} {more}");
        let found = inclusive(unit, "allocations");
        for (name, events) in told(&output) {
            assert_eq!(found.get(&name), Some(&events), "{level} {more}: {name}");
        }
    }
}

const UNDER_WAY: &str = r#"
#include "cotree.h"
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void *volatile kept;
__attribute__((noinline)) static void leaf(int n) { for (int i = 0; i < n; i++) free(kept = malloc(1)); }
__attribute__((noinline)) static void begins(int how) {
  leaf(10);
  if (how == 1) { if (fork()) { wait(0); _exit(0); } }
  else cotree_reset();
  leaf(100);
}
__attribute__((noinline)) static void around(int how) { begins(how); leaf(1000); }
static void handler(int signal) { if (fork() == 0) { leaf(5); exit(0); } wait(0); (void)signal; }
int main(int argc, char **argv) {
  (void)argv;
  if (argc == 3) { signal(SIGUSR1, handler); leaf(1); raise(SIGUSR1); leaf(7); return 0; }
  around(argc);
  return 0;
}
"#;

/// Calls that were under way when counting began, in a forked child or after a reset, have what they led to from then
/// on: in every table, and in what is exported.
#[test]
fn calls_under_way_when_counting_began_are_told() {
    let project = Project::new(&[("p.c", UNDER_WAY)]);
    project.ok("--profile events-calls=allocations cc -O1 -g -w -I. -o p p.c");
    for arguments in [&[][..], &["reset"]] {
        let mut run = project.command(project.path("p"));
        succeed(run.args(arguments).env("COTREE_FILE", "p-%p.cotree"));
        let files = profiles(&project);
        // The parent of the forked child leaves by `_exit`, and has a profile as well.
        let found = files.iter().any(|file| {
            let report = project.ok(&format!("report {file}"));
            let callgrind = project.ok(&format!("export --format callgrind {file}"));
            let json: Value = serde_json::from_str(&project.ok(&format!("costs {file} --json"))).expect("JSON");
            let symbol =
                |index: &Value| json["functions"][index.as_u64().expect("an index") as usize]["symbol"].clone();
            let calls = json["calls"].as_array().expect("calls").iter();
            let calls = calls.map(|call| (symbol(&call["callee"]), &call["calls"], &call["inclusive"]["allocations"]));
            let calls: Vec<String> =
                calls.map(|(callee, calls, events)| format!("{callee} {calls} {events}")).collect();
            let told = |row: &str| {
                report.lines().any(|line| line.split_whitespace().collect::<Vec<_>>().join(" ").starts_with(row))
            };
            json["whole"] == true
                && calls.contains(&r#""around" 0 1100"#.to_owned())
                && calls.contains(&r#""begins" 0 100"#.to_owned())
                && told("1,100 0 main around")
                && told("100 0 around begins")
                && report.contains("exact: every count")
                && callgrind.contains("calls=0 ")
        });
        assert!(found, "{arguments:?} {files:?}");
        files.iter().for_each(|file| std::fs::remove_file(project.path(file)).expect("removed"));
    }
}

/// A child that a handler forks ends without what it interrupted: nothing that is written says that all is exact.
#[test]
fn sums_in_doubt_are_told_everywhere() {
    let project = Project::new(&[("p.c", UNDER_WAY)]);
    project.ok("--profile events-calls=allocations cc -O1 -g -w -I. -o p p.c");
    succeed(project.command(project.path("p")).args(["in", "handler"]).env("COTREE_FILE", "p-%p.cotree"));
    let doubted = profiles(&project).into_iter().filter(|file| {
        let report = project.ok(&format!("report {file}"));
        let costs = project.ok(&format!("costs {file}"));
        let exact = report.contains("exact: every count");
        assert_eq!(exact, !report.contains("NOT ALL EXACT: what each function"), "{report}");
        assert_eq!(exact, !report.contains('~'), "{report}");
        assert_eq!(exact, !costs.contains("NOT ALL EXACT"), "{costs}");
        assert_eq!(exact, !costs.contains('~'), "{costs}");
        let callgrind = project.ok(&format!("export --format callgrind {file}"));
        assert_eq!(exact, !callgrind.contains("NOT ALL EXACT"), "{callgrind}");
        if !exact {
            let refused = project.fails(&format!("export --format callgrind --strict {file}"));
            assert!(refused.contains("what each function and call had of events"), "{refused}");
        }
        !exact
    });
    assert_eq!(doubted.count(), 1);
}
