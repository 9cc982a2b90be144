//! Exports of costs: kinds of events against counts that are known beforehand, against call profiles, and in every
//! format alike.

use crate::project::{Project, succeed};
use serde_json::Value;
use std::collections::BTreeMap;

/// Seven allocations, three system calls, ten floating-point operations; ends in the middle of a block, five calls
/// deep, none of which the optimiser makes a jump: behind such a call its caller has returned.
const PROGRAM: &str = r#"
#include <stdlib.h>
#include <unistd.h>
#define APART __attribute__((noinline)) static
static volatile double x = 1.5;
static void *volatile kept;
APART void allocate(int n) { for (int i = 0; i < n; i++) kept = malloc(16); }
APART double multiply(int n) { double sum = x; for (int i = 0; i < n; i++) sum *= x; return sum; }
APART int down(int n) {
  if (n == 0) exit((int) multiply(6) - (int) multiply(4) - 10);
  int deeper = down(n - 1);
  x = deeper;
  return deeper + 1;
}
int main(void) {
  allocate(7);
  for (int i = 0; i < 3; i++) if (write(1, "", 0)) return 1;
  x = down(4);
  return 1;
}
"#;

/// The totals of a callgrind file by kind, after adding up its lines.
fn totals(file: &str) -> BTreeMap<String, u64> {
    let field = |name: &str| file.lines().find_map(|line| line.strip_prefix(name)).expect("a header");
    let numbers = |text: &str| text.split(' ').map(|n| n.parse::<u64>().expect("a number")).collect::<Vec<_>>();
    let kinds: Vec<&str> = field("events: ").split(' ').collect();
    let mut sums = vec![0; kinds.len()];
    // The line behind `calls=` is an inclusive cost, and that behind a jump has none.
    let before = std::iter::once("").chain(file.lines());
    let no_cost = |before: &str| ["calls=", "jcnd=", "jump="].iter().any(|start| before.starts_with(start));
    let own = file.lines().zip(before).filter(|(_, before)| !no_cost(before)).map(|(line, _)| line);
    for line in own.filter(|line| line.starts_with(|c: char| c.is_ascii_digit())) {
        let costs = numbers(line).split_off(1);
        assert_eq!(costs.len(), kinds.len(), "{line}");
        sums.iter_mut().zip(costs).for_each(|(sum, cost)| *sum += cost);
    }
    assert_eq!(numbers(field("totals: ")), sums);
    assert_eq!(numbers(field("summary: ")), sums);
    kinds.into_iter().map(str::to_owned).zip(sums).collect()
}

/// The threads of a processed profile: name, and weights by stacks of `function:line`. Checks what its readers rely on.
fn threads_of_firefox(profile: &Value) -> Vec<(String, BTreeMap<String, u64>)> {
    let shared = &profile["shared"];
    for table in ["stackTable", "frameTable", "funcTable", "sources", "resourceTable", "nativeSymbols"] {
        let table = shared[table].as_object().expect("a table");
        let columns = table.iter().filter(|(name, _)| *name != "length");
        columns.for_each(|(name, column)| assert_eq!(column.as_array().expect(name).len(), table["length"], "{name}"));
    }
    let at = |table: &str, column: &str, index: u64| &shared[table][column][index as usize];
    let string = |index: &Value| shared["stringArray"][index.as_u64().expect("a number") as usize].as_str();
    let stack = |number: u64| {
        let mut frames = Vec::new();
        let mut next = Some(number);
        while let Some(number) = next {
            let frame = at("stackTable", "frame", number).as_u64().expect("a frame");
            let func = at("frameTable", "func", frame).as_u64().expect("a function");
            let category = at("frameTable", "category", frame).as_u64().expect("a category");
            assert!(profile["meta"]["categories"][category as usize]["subcategories"][0].is_string());
            if let Some(source) = at("funcTable", "source", func).as_u64() {
                string(at("sources", "filename", source)).expect("a file name");
            }
            let line = at("frameTable", "line", frame).as_u64().unwrap_or(0);
            frames.push(format!("{}:{line}", string(at("funcTable", "name", func)).expect("a name")));
            next = at("stackTable", "prefix", number).as_u64();
            assert!(next.is_none_or(|prefix| prefix < number), "stacks stand behind those around them");
        }
        frames.reverse();
        frames.join(";")
    };
    assert_eq!(profile["meta"]["preprocessedProfileVersion"], 60);
    let threads = profile["threads"].as_array().expect("threads").iter();
    let thread = |thread: &Value| {
        let samples = &thread["samples"];
        let column = |name: &str| samples[name].as_array().expect(name).clone();
        let (stacks, weights, times) = (column("stack"), column("weight"), column("time"));
        assert!(stacks.len() == weights.len() && stacks.len() == times.len() && samples["length"] == stacks.len());
        let mut sums = BTreeMap::new();
        let mut before = 0;
        for ((number, weight), time) in stacks.iter().zip(&weights).zip(&times) {
            assert_eq!((time.as_f64().expect("a time") * 1e6).round() as u64, before, "an event is a nanosecond");
            let weight = weight.as_u64().expect("a weight");
            before += weight;
            match number.as_u64() {
                Some(number) => *sums.entry(stack(number)).or_default() += weight,
                None => assert_eq!(weight, 0, "the end"),
            }
        }
        (thread["name"].as_str().expect("a name").to_owned(), sums)
    };
    threads.map(thread).collect()
}

fn run(project: &Project, options: &str) {
    project.ok(&format!("--profile {options} -g -w -o p p.c"));
    succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
}

#[test]
fn events_are_those_that_happened() {
    let project = Project::new(&[("p.c", PROGRAM)]);
    for level in ["-O0", "-O2"] {
        run(&project, &format!("calls cc {level}"));
        let json: Value = serde_json::from_str(&project.ok("export p.cotree")).expect("JSON");
        let functions = json["units"][0]["functions"].as_array().expect("functions");
        let calls = functions.iter().filter_map(|function| function["calls"].as_array()).flatten();
        let calls: u64 = calls.map(|call| call["count"].as_u64().expect("a count")).sum();
        let mut all = Vec::new();
        for method in ["edge", "block", "path"] {
            run(&project, &format!("{method} cc {level}"));
            let totals = totals(&project.ok("export p.cotree --format callgrind"));
            assert_eq!(totals["calls"], calls, "{method} {level}");
            assert_eq!((totals["allocations"], totals["syscalls"], totals["float"]), (7, 3, 10), "{method} {level}");
            all.push(totals);
        }
        assert!(all.iter().all(|totals| *totals == all[0]), "{all:?}");
    }
}

#[test]
fn every_format_has_the_same_amount() {
    let project = Project::new(&[("p.c", PROGRAM)]);
    run(&project, "edge cc -O0");
    let total = totals(&project.ok("export p.cotree --format callgrind"))["loads"];
    let folded = project.ok("export p.cotree --format folded --event loads");
    let amounts =
        folded.lines().map(|line| line.rsplit_once(' ').expect("an amount").1.parse::<u64>().expect("a number"));
    assert_eq!(amounts.sum::<u64>(), total);
    // `main` calls `down`, which calls itself: one frame, in which `multiply` runs.
    assert!(folded.lines().any(|line| line.starts_with("main;down;multiply ")), "{folded}");
    let speedscope: Value =
        serde_json::from_str(&project.ok("export p.cotree --format speedscope --event loads")).expect("JSON");
    assert_eq!(speedscope["profiles"][0]["endValue"], total);
    let profile = project.ok("export p.cotree --format firefox-profiler --event loads");
    let threads = threads_of_firefox(&serde_json::from_str(&profile).expect("JSON"));
    assert_eq!(threads.len(), 1);
    assert_eq!(threads[0].1.values().sum::<u64>(), total);
    assert!(threads[0].1.keys().any(|stack| stack.starts_with("main:") && stack.contains(";down:")), "{threads:?}");
    assert!(
        project.ok("export p.cotree --format flamegraph --event loads").contains(&format!("total_samples=\"{total}\""))
    );
    // Which events a flame graph shows must be clear.
    let refused = project.fails("export p.cotree --format flamegraph --event loads,stores");
    assert!(refused.contains("--event"), "{refused}");
    let refused = project.fails("export p.cotree --format folded --event seconds");
    assert!(refused.contains("instructions, loads, stores, calls"), "{refused}");
}

/// Fuel: what a file says of functions, lines, callees and opcodes; the last line that matches counts.
#[test]
fn instructions_cost_what_a_file_says() {
    let rules =
        "default 0 # free\ncall malloc 100\nopcode fm* 10\nline p.c:10 1000\nfunction multiply 7\nopcode fmul 3\n";
    let project = Project::new(&[("p.c", PROGRAM), ("fuel", rules), ("wrong", "default 1\nopcode flod 3\n")]);
    run(&project, "edge --event-costs fuel cc -O0");
    let file = project.ok("export p.cotree --format callgrind --event instructions,cost");
    let function = |name: &str| {
        let own =
            file.split("fn=").find(|part| part.lines().next().is_some_and(|line| line.ends_with(&format!(") {name}"))));
        let lines = own.expect("the function").lines();
        let lines = lines.filter(|line| line.starts_with(|c: char| c.is_ascii_digit()) && line.contains(' '));
        lines
            .map(|line| line.split(' ').map(|n| n.parse::<u64>().expect("a number")).collect::<Vec<_>>())
            .collect::<Vec<_>>()
    };
    let sum = |name: &str, column: usize| function(name).iter().map(|line| line[column]).sum::<u64>();
    assert_eq!(sum("allocate", 2), 700);
    // Ten multiplications at 3, all else at 7.
    assert_eq!(sum("multiply", 2), 30 + 7 * (sum("multiply", 1) - 10));
    let on_line =
        |column: usize| function("down").iter().filter(|line| line[0] == 10).map(|line| line[column]).sum::<u64>();
    assert_eq!((on_line(2), sum("down", 2)), (1000 * on_line(1), 1000 * on_line(1)));
    let refused = project.fails("--event-costs wrong cc -O0 -o p p.c");
    assert!(refused.contains("wrong is no file of costs: line 2: LLVM has no instruction flod"), "{refused}");
    let refused = project.fails("--event-costs nowhere cc -O0 -o p p.c");
    assert_eq!(refused.matches("No such file").count(), 1, "{refused}");
    assert!(refused.contains("cannot read") && refused.contains("nowhere: "), "{refused}");
}

/// Ten rounds, three of which the condition holds in, and a `switch` that sees 0, 1, 2 and twice 3.
const JUMPS: &str = "static volatile int sink;
int main(void) {
  int i = 0;
  while (i < 10) {
    if (i % 4 == 1)
      sink += i;
    i++;
  }
  for (int value = 0; value < 5; value++)
    switch (value < 3 ? value : 3) {
    case 0: sink += 7; break;
    case 1: sink += 8; break;
    case 2: sink += 9; break;
    case 3: sink += 10; break;
    default: sink = 0;
    }
  return 0;
}
";

/// The jumps of a callgrind file: line, target, how often it was taken, and of those with conditions how often they
/// were executed.
fn jumps(file: &str) -> Vec<(u64, u64, u64, Option<u64>)> {
    let mut lines = file.lines();
    let mut jumps = Vec::new();
    while let Some(line) = lines.next() {
        let Some((kind, jump)) = line.split_once('=').filter(|(kind, _)| ["jcnd", "jump"].contains(kind)) else {
            continue;
        };
        let number = |text: &str| text.parse::<u64>().expect("a number");
        let (counts, target) = jump.split_once(' ').expect("a target");
        let (taken, executed) = counts.split_once('/').map_or((counts, None), |(a, b)| (a, Some(number(b))));
        assert_eq!(kind == "jcnd", executed.is_some(), "{line}");
        let from = number(lines.next().expect("the line of the jump"));
        jumps.push((from, number(target), number(taken), executed));
    }
    jumps
}

#[test]
fn jumps_are_counts_of_edges() {
    let project = Project::new(&[("p.c", JUMPS)]);
    for method in ["edge", "path", "trace", "block"] {
        run(&project, &format!("{method} cc -O0"));
        let jumps = jumps(&project.ok("export p.cotree --format callgrind"));
        let of = |from, to| jumps.iter().find(|jump| (jump.0, jump.1) == (from, to)).map(|jump| (jump.2, jump.3));
        assert_eq!(of(4, 5), Some((10, Some(11))), "{method}: the loop: {jumps:?}");
        assert_eq!(of(5, 6), Some((3, Some(10))), "{method}: the condition: {jumps:?}");
        assert_eq!(of(7, 4).or(of(4, 4)), Some((10, None)), "{method}: the jump back: {jumps:?}");
        let cases = [11, 12, 13, 14, 15].map(|line| of(10, line));
        assert_eq!(cases, [Some((1, Some(5))), Some((1, Some(5))), Some((1, Some(5))), Some((2, Some(5))), None]);
    }
    // What a branch does not tell is left out, and that is said.
    let unknown = "static volatile int sink;
int main(void) {
  for (int i = 0; i < 9; i++) {
    if (i % 3) { if (sink & 1) goto up; else goto down; }
    else { if (sink & 2) goto up; else goto down; }
  up: sink += 5;
  down: sink += 3;
  }
  return 0;
}
";
    std::fs::write(project.path("p.c"), unknown).expect("a file");
    run(&project, "vertex cc -O1");
    let output = project.cotree("export p.cotree --format callgrind").output().expect("cotree starts");
    let (file, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let left_out = "the profile does not tell how often they were taken";
    assert!(said.contains(left_out) && file.contains(left_out), "{said}");
    run(&project, "edge cc -O1");
    assert!(!project.ok("export p.cotree --format callgrind").contains(left_out));
}

#[test]
fn profiles_without_blocks_are_refused() {
    let project = Project::new(&[("p.c", PROGRAM)]);
    run(&project, "events cc -O0");
    for format in ["callgrind", "pprof", "speedscope", "firefox-profiler", "folded", "flamegraph"] {
        let refused = project.fails(&format!("export p.cotree --format {format}"));
        assert!(refused.contains("has no counts of blocks"), "{refused}");
    }
}

/// Inclusive costs of a trace are those of a stack of calls that the program keeps itself: under direct and mutual
/// recursion, calls through pointers and from code that is not profiled, `longjmp` and `exit`.
#[test]
fn inclusive_costs_are_those_of_the_programs_own_stack() {
    let project = Project::new(&[("p.c", include_str!("../programs/shadow_stack.c"))]);
    for level in ["-O0", "-O2"] {
        project.ok(&format!("--profile trace cc {level} -g -w -o p p.c"));
        for arguments in [&[][..], &["exit"]] {
            let mut run = project.command(project.path("p"));
            let told = succeed(run.args(arguments).env("COTREE_FILE", "p.cotree"));
            let file = project.ok("export p.cotree --format callgrind --event allocations");
            assert!(!file.contains("NOT ALL EXACT"), "{file}");
            let found = calls_by_line(&file);
            let mut compared = 0;
            for line in told.lines() {
                let numbers: Vec<u64> = line.split(' ').map(|n| n.parse().expect("a number")).collect();
                let [line, calls, inclusive] = numbers[..] else { panic!("{line}") };
                assert_eq!(
                    found.get(&line),
                    Some(&(calls, inclusive)),
                    "{level} {arguments:?}: the call in line {line}"
                );
                compared += 1;
            }
            assert!(compared >= 16, "{told}");
            // The same as JSON, where all calls of a line add up alike.
            let json: Value = serde_json::from_str(&project.ok("costs p.cotree --json")).expect("JSON");
            let functions = json["functions"].as_array().expect("functions");
            let of_main = functions.iter().find(|function| function["symbol"] == "main").expect("main");
            assert_eq!(of_main["inclusive"]["allocations"], totals(&file)["allocations"]);
            let table = project.ok("costs p.cotree --event allocations -f =fib");
            assert!(table.contains("Functions\n") && table.contains("Calls\n"), "{table}");
            // Stacks hold the same events, each once.
            let folded = project.ok("export p.cotree --format folded --event allocations");
            let sum: u64 = folded
                .lines()
                .map(|line| line.rsplit_once(' ').expect("an amount").1.parse::<u64>().expect("a number"))
                .sum();
            assert_eq!(sum, totals(&file)["allocations"]);
        }
    }
}

/// Calls and inclusive cost per line of a callgrind file with one kind, of what the program's own stack knows.
fn calls_by_line(file: &str) -> BTreeMap<u64, (u64, u64)> {
    let mut names = BTreeMap::new();
    let mut found: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    let mut lines = file.lines();
    let mut callee = String::new();
    while let Some(line) = lines.next() {
        if let Some((key, name)) = line.split_once('=').filter(|(key, _)| ["fn", "cfn"].contains(key)) {
            let (number, text) = name.split_once(' ').unwrap_or((name, ""));
            if !text.is_empty() {
                names.insert(number.to_owned(), text.to_owned());
            }
            if key == "cfn" {
                callee.clone_from(&names[number]);
            }
        }
        let Some(calls) = line.strip_prefix("calls=") else { continue };
        let calls: u64 = calls.split(' ').next().and_then(|n| n.parse().ok()).expect("a number");
        let (line, cost) = lines.next().and_then(|line| line.split_once(' ')).expect("a line and its cost");
        if !["enter", "leave_to", "print", "event", "compare"].contains(&callee.as_str()) {
            let sum = found.entry(line.parse().expect("a line")).or_default();
            *sum = (sum.0 + calls, sum.1 + cost.parse::<u64>().expect("a cost"));
        }
    }
    found
}
