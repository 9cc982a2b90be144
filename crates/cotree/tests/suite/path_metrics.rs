//! What is added up along paths, against what the program itself knows.

use crate::project::{Project, succeed};
use serde_json::Value;
use std::fs;

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/events.c");

fn build(project: &Project, options: &str, flags: &str) {
    project.ok(&format!("--verify {options} cc -g -w -pthread {flags} -o program {SOURCE}"));
}

/// Runs the program; gives what it prints, and the profile's paths.
fn run(project: &Project, arguments: &[&str], profile: &str) -> (Vec<u64>, Value) {
    let mut program = project.command(project.path("program"));
    let printed = succeed(program.args(arguments).env("COTREE_FILE", project.path(profile)));
    project.ok(&format!("verify {profile}"));
    let numbers = printed.split_whitespace().map(|number| number.parse().unwrap()).collect();
    (numbers, paths(project, profile))
}

fn paths(project: &Project, profile: &str) -> Value {
    serde_json::from_str(&project.ok(&format!("paths --json {profile}"))).unwrap()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn function<'a>(profile: &'a Value, symbol: &str) -> &'a Value {
    list(&profile["units"][0], "functions")
        .iter()
        .find(|f| f["symbol"] == symbol)
        .unwrap_or_else(|| panic!("no {symbol}"))
}

fn sum(profile: &Value, symbol: &str) -> u64 {
    function(profile, symbol)["sum"].as_u64().unwrap()
}

/// The sums of the paths through `way`, by the marks on their lines.
fn sums_of_paths(profile: &Value) -> [u64; 4] {
    let source = fs::read_to_string(SOURCE).unwrap();
    let mark = |line: u64| {
        let text = source.lines().nth(line as usize - 1)?;
        text.split_once("MARK(")?.1.split_once(')')?.0.parse::<usize>().ok()
    };
    let mut sums = [0; 4];
    for path in list(function(profile, "way"), "paths") {
        let marks: Vec<usize> = list(path, "lines").iter().filter_map(|l| mark(l[1].as_u64()?)).collect();
        sums[marks[0] - 1] += path["sum"].as_u64().unwrap();
    }
    sums
}

/// The number of calls: 300 calls each of `way` and `caller`, the latter with what `tail` reports.
const CALLS: u64 = 300;
const TAIL: u64 = CALLS * (CALLS + 1) / 2;

fn events(options: &str, flags: &str) {
    let project = Project::new(&[]);
    build(&project, &format!("--path-metric events {options}"), flags);
    for how in ["", "threads", "jump", "signal", "fork", "reset", "exit"] {
        let profile = &format!("{how}.cotree");
        let (printed, found) = run(&project, &[how], profile);
        let at = format!("{options} {flags} {how}");
        assert_eq!((&found["units"][0]["metric"], &found["units"][0]["measured"]), (&"events".into(), &false.into()));
        assert_eq!(sums_of_paths(&found), printed[..4], "{at}");
        let threads = if how == "threads" { 5 } else { 1 };
        assert_eq!((sum(&found, "caller"), sum(&found, "tail")), (TAIL * threads, TAIL * threads), "{at}");
        let totals = &found["units"][0]["totals"];
        let [unfinished, revived] = ["unfinished", "revived"].map(|key| totals[key].as_i64().unwrap());
        match how {
            "jump" => {
                assert_eq!(sum(&found, "jumps"), printed[4], "{at}");
                // Four times four activations of `deep` were jumped over.
                assert_eq!((unfinished, revived), (16, 0), "{at}");
                assert_eq!(sum(&found, "deep"), 0, "{at}");
            }
            "signal" => assert_eq!((sum(&found, "interrupted"), sum(&found, "handler")), (3000, 3000), "{at}"),
            // `main` and five of `deep`; nobody knows what they would have come to.
            "exit" => {
                assert_eq!((unfinished, revived), (6, 0), "{at}");
                let text = project.ok(&format!("paths {profile}"));
                assert!(text.contains("left out") && text.contains("whose events are in no sum"), "{text}");
            }
            "fork" => {
                let files = fs::read_dir(project.path("")).unwrap().map(|entry| entry.unwrap().file_name());
                let names: Vec<String> = files.map(|name| name.to_string_lossy().into_owned()).collect();
                let child = names.iter().find(|name| name.starts_with("fork.") && *name != profile).unwrap();
                let child = paths(&project, child);
                // Both halves of three activations, with those inside: 2 + 4 + 6.
                assert_eq!(sum(&child, "deep"), 12, "{at}");
                // `main` came to life in the child and ended there, too.
                assert_eq!(child["units"][0]["totals"]["revived"], 1, "{at}");
                assert_eq!((unfinished, revived), (0, 0), "{at}");
            }
            "reset" => assert_eq!((unfinished, revived), (0, 1), "{at}"),
            _ => assert_eq!((unfinished, revived), (0, 0), "{at}"),
        }
    }
    // Merged, sums are added like counts, with their weights.
    project.ok("merge -o both.cotree .cotree threads.cotree:3");
    let [one, more, both] = [".cotree", "threads.cotree", "both.cotree"].map(|p| sums_of_paths(&paths(&project, p)));
    for k in 0..4 {
        assert_eq!(both[k], one[k] + 3 * more[k]);
    }
    let text = project.ok("paths --by metric both.cotree");
    assert!(text.contains("by events") && text.contains("of function"), "{text}");
    assert!(project.ok("paths both.cotree --against .cotree").contains("events are not"));
    assert!(project.ok("diff --paths .cotree exit.cotree").contains("events are not"));
    project.ok("report both.cotree");
}

#[test]
fn events_in_arrays() {
    events("--profile path", "-O0");
    events("--profile path", "-O2");
}

#[test]
fn events_in_hash_tables() {
    events("--profile path --path-array 0", "-O2");
    // Some paths have words of their own, others have not.
    events("--profile path --path-array 3 --threads on", "-O2");
}

#[test]
fn events_with_context() {
    events("--profile path-context", "-O1");
}

#[test]
fn events_before_anything_is_inlined() {
    events("--profile path --at early --threads word", "-O2");
}

/// The sum of the function whose symbol has this in it.
fn sum_of(profile: &Value, part: &str) -> u64 {
    let found = list(&profile["units"][0], "functions").iter().find(|f| f["symbol"].as_str().unwrap().contains(part));
    found.unwrap_or_else(|| panic!("no {part}"))["sum"].as_u64().unwrap()
}

#[test]
fn events_on_the_way_of_exceptions() {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/events.cpp");
    for (options, flags) in [("", "-O0"), ("", "-O2"), ("--path-array 0", "-O2"), ("--at early", "-O2")] {
        let project = Project::new(&[]);
        project
            .ok(&format!("--verify --profile path --path-metric events {options} c++ {flags} -g -o program {source}"));
        let (printed, found) = run(&project, &[], "thrown.cotree");
        assert!(project.ok("report thrown.cotree").contains("path profile with the events reported along paths"));
        assert_eq!(sum_of(&found, "catches"), printed[0], "{options} {flags}");
        assert_eq!(sum_of(&found, "around"), printed[1], "{options} {flags}");
        assert_eq!(sum_of(&found, "main"), printed[2], "{options} {flags}");
    }
}

#[test]
fn all_link_units_see_a_threads_events() {
    let library = r#"
        #include "cotree.h"
        unsigned long long in_library(unsigned long long n, void (*back)(unsigned long long)) {
            cotree_events(n);
            back(10 * n);
            return n;
        }"#;
    let program = r#"
        #include "cotree.h"
        #include <stdio.h>
        unsigned long long in_library(unsigned long long n, void (*back)(unsigned long long));
        static void back(unsigned long long n) { cotree_events(n); }
        int main(void) { in_library(1, back); in_library(2, back); puts("0"); return 0; }"#;
    let header = include_str!("../../../../include/cotree.h");
    let project = Project::new(&[("cotree.h", header), ("library.c", library), ("program.c", program)]);
    let options = "--profile path --path-metric events --verify cc -g";
    project.ok(&format!("{options} -shared -fPIC -o libevents.so library.c"));
    project.ok(&format!("{options} -o program program.c -L. -levents -Wl,-rpath,$ORIGIN"));
    let (_, found) = run(&project, &[], "units.cotree");
    assert_eq!(sum(&found, "main"), 33);
    let found = paths(&project, "units.libevents.so.cotree");
    assert_eq!(sum(&found, "in_library"), 33);
}

#[test]
fn cycles_are_measured() {
    let project = Project::new(&[]);
    for (options, flags) in [("", "-O2"), ("--path-array 0", "-O0")] {
        build(&project, &format!("--profile path --path-metric cycles {options}"), flags);
        let (printed, found) = run(&project, &[], "cycles.cotree");
        assert_eq!(printed[0], CALLS / 4);
        assert_eq!((&found["units"][0]["metric"], &found["units"][0]["measured"]), (&"cycles".into(), &true.into()));
        // Callees are included, each call takes some time, and all of it is part of what the program measures itself.
        let (main, work, way) = (sum(&found, "main"), sum(&found, "work"), sum(&found, "way"));
        let elapsed = printed[5];
        assert!(0 < way && way < work && work < main && work <= elapsed, "{way} {work} {main} {elapsed}");
        assert!(project.ok("paths cycles.cotree").contains("measured, not exact"));
    }
}

#[test]
fn what_does_not_go_together_is_said() {
    let project = Project::new(&[]);
    let refused = project.fails(&format!("--path-metric events cc -o program {SOURCE}"));
    assert!(
        refused.contains("it needs --profile path, path-context, ipath, ipath-piecewise or ipath-hybrid"),
        "{refused}"
    );
    let profile = |metric: &str| {
        build(&project, &format!("--profile path --path-metric {metric}"), "-O1");
        run(&project, &[], &format!("{metric}.cotree")).1
    };
    let plain = profile("count");
    assert!(plain["units"][0].get("metric").is_none() && function(&plain, "way").get("sum").is_none());
    let refused = project.fails("paths --by metric count.cotree");
    assert!(refused.contains("--path-metric events or cycles"), "{refused}");
    profile("events");
    profile("cycles");
    let refused = project.fails("merge -o merged.cotree events.cotree cycles.cotree");
    assert!(refused.contains("adds up cycles along paths, but") && refused.contains("adds up events"), "{refused}");
    let refused = project.fails("merge -o merged.cotree count.cotree events.cotree");
    assert!(refused.contains("adds up nothing"), "{refused}");
    assert!(!project.path("merged.cotree").exists());
}
