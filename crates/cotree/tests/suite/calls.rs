//! `--profile calls`: counts that are known beforehand, counts against those of blocks, and what other views say of
//! such a profile.

use crate::project::{Project, succeed};
use serde_json::Value;

const PROGRAM: &str = r#"
#include <stdlib.h>
#define APART __attribute__((noinline)) static
static int (*volatile step)(int);
static volatile long sink;
APART int leaf(int n) { return n + 1; }
APART int other(int n) { return n - 1; }
APART void stop(int code) { if (STOPS) exit(code); sink = code; }
APART int fib(int n) { return n < 2 ? leaf(n) : fib(n - 1) + fib(n - 2); }
APART int down(int n) {
  if (n == 0) stop(0);
  int deeper = n > 0 ? down(n - 1) : 0;
  return leaf(deeper);
}
int main(int argc, char **argv) {
  for (int i = 0; i < 10; i++) { step = i % 3 ? leaf : other; sink += step(i); }
  sink += fib(10);
  sink += down(6);
  return leaf(0) - 1;
}
"#;

/// The program, built and run; gives the export of its profile.
fn profiled(project: &Project, options: &str) -> Value {
    profiled_from(project, options, "p.c")
}

fn profiled_from(project: &Project, options: &str, source: &str) -> Value {
    project.ok(&format!("--profile {options} -g -w -o p {source}"));
    succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
    serde_json::from_str(&project.ok("export p.cotree")).expect("JSON")
}

/// The calls of a program as "caller callee line count", in order.
fn calls(json: &Value) -> Vec<String> {
    let functions = json["units"][0]["functions"].as_array().expect("functions");
    let of = |function: &Value| {
        let caller = function["symbol"].as_str().expect("a symbol").to_owned();
        let calls = function["calls"].as_array().cloned().unwrap_or_default();
        calls.into_iter().map(move |call| {
            let other = if call["assembly"] == true { "assembly" } else { "pointer" };
            let callee = call["callee"].as_str().unwrap_or(other);
            format!("{caller} {callee} {} {}", call["position"]["line"], call["count"])
        })
    };
    functions.iter().flat_map(of).collect()
}

#[test]
fn every_call_is_counted_however_it_ends() {
    let project = Project::new(&[("p.c", PROGRAM)]);
    let json = profiled(&project, "calls cc -O0 -DSTOPS=1");
    assert_eq!(json["units"][0]["method"], "calls");
    assert_eq!(json["units"][0]["exact"], true);
    let mut found = calls(&json);
    found.sort();
    let expected = [
        "down down 12 6",
        "down leaf 13 0",
        "down stop 11 1",
        "fib fib 9 88",
        "fib fib 9 88",
        "fib leaf 9 89",
        "main down 18 1",
        "main fib 17 1",
        "main leaf 19 0",
        "main pointer 16 10",
        "stop exit 8 1",
    ];
    assert_eq!(found, expected);
    assert!(json["units"][0]["functions"].as_array().expect("functions").iter().all(|function| {
        let counts = |list: &str| function[list].as_array().expect("a list").iter().any(|item| item["count"].is_u64());
        function["entries"].is_null() && !counts("blocks") && !counts("edges")
    }));

    let report = project.ok("report p.cotree");
    for said in ["call profile", "Hottest calls", "(through a pointer)", "p.c:16", "calls run   9 of 11"] {
        assert!(report.contains(said), "{said}: {report}");
    }
    assert!(!report.contains("blocks") && !report.contains("Never reached"), "{report}");
    assert!(project.ok("report p.cotree --function =main").contains("calls made  12"));

    // Sums of runs are sums of calls.
    project.ok("merge -o twice.cotree p.cotree p.cotree");
    let twice = serde_json::from_str(&project.ok("export twice.cotree")).expect("JSON");
    assert!(calls(&twice).contains(&"fib leaf 9 178".to_owned()), "{twice}");
}

/// Calls that end their block (a `try`, `asm goto`), that leave no frame, and that return twice.
#[test]
fn calls_of_every_form_are_counted() {
    let program = r#"#include <csetjmp>
#define APART extern "C" __attribute__((noinline))
static volatile long sink;
static std::jmp_buf back;
APART int leaf(int n) { sink = n; return n + 1; }
APART int thrower(int n) { if (n % 3 == 0) throw n; return leaf(n); }
APART int catcher(int n) { try { return thrower(n) + leaf(n); } catch (int) { return leaf(0); } }
APART int tail(int n) { sink = n; [[clang::musttail]] return leaf(n); }
APART int jumpy(int n) {
  asm goto("test %0, %0; jz %l1" : : "r"(n) : "cc" : zero);
  return leaf(n);
zero:
  return 0;
}
APART void jumper(int n) { if (n < 4) std::longjmp(back, n + 1); }
APART void twice(void) { volatile int n = setjmp(back); jumper(n); }
int main() {
  for (volatile int i = 0; i < 9; i = i + 1) { catcher(i); tail(i); jumpy(i % 2); }
  twice();
}
"#;
    let project = Project::new(&[("p.cpp", program)]);
    for options in ["calls c++ -O0", "calls c++ -O2", "calls --threads on c++ -O2"] {
        let json = profiled_from(&project, options, "p.cpp");
        assert_eq!(json["units"][0]["exact"], true);
        let without_line = |call: String| {
            let [caller, callee, _, count] = call.split(' ').collect::<Vec<_>>()[..] else { panic!("{call}") };
            format!("{caller} {callee} {count}")
        };
        let found: Vec<String> = calls(&json).into_iter().map(without_line).collect();
        for call in [
            "thrower leaf 6",
            "thrower __cxa_throw 3",
            "catcher thrower 9",
            "catcher leaf 6",
            "catcher leaf 3",
            "tail leaf 9",
            "jumpy assembly 9",
            "jumpy leaf 4",
            "jumper longjmp 4",
            "twice _setjmp 1",
            "twice jumper 5",
            "main catcher 9",
            "main twice 1",
        ] {
            assert!(found.iter().any(|found| found == call), "{options}: {call} of {found:?}");
        }
    }
}

/// Where no activation ends early, a call is made as often as its block is entered.
#[test]
fn calls_are_made_as_often_as_their_blocks_run() {
    let project = Project::new(&[("p.c", PROGRAM)]);
    for (level, threads) in [("-O0", ""), ("-O2", ""), ("-O2", "--threads on ")] {
        let of_calls = profiled(&project, &format!("calls {threads}cc {level} -DSTOPS=0"));
        let of_edges = profiled(&project, &format!("edge cc {level} -DSTOPS=0"));
        let functions = |json: &Value| json["units"][0]["functions"].as_array().expect("functions").clone();
        let mut compared = 0;
        for (calls, edges) in functions(&of_calls).iter().zip(&functions(&of_edges)) {
            assert_eq!(calls["symbol"], edges["symbol"]);
            for call in calls["calls"].as_array().expect("calls") {
                let block = usize::try_from(call["block"].as_u64().expect("a block")).expect("a small number");
                assert_eq!(call["count"], edges["blocks"][block]["count"], "{level}: {call} of {}", calls["symbol"]);
                compared += 1;
            }
        }
        assert!(compared >= 6, "{level}: {compared}");
    }
}

#[test]
fn views_of_blocks_refuse_in_one_sentence() {
    let project = Project::new(&[("p.c", PROGRAM)]);
    project.ok("--profile calls --verify cc -O1 -DSTOPS=1 -g -w -o p p.c");
    succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
    let views = ["annotate", "export --format lcov", "export --format weights", "cfg main"];
    let views = views.map(|view| format!("{view} p.cotree"));
    for view in &views {
        let said = project.fails(view);
        assert!(said.contains("has no counts of blocks, lines and edges"), "{view}: {said}");
    }
    assert!(project.fails("paths p.cotree").contains("has no paths (call profile)"));
    // Counters of blocks say how often each call was come to: also where an earlier one did not return.
    let verified = project.ok("verify --strict p.cotree");
    assert!(verified.starts_with("OK: ") && verified.contains(" calls compared; "), "{verified}");
    let explained = project.ok("plan p --explain =stop");
    assert!(explained.contains("counter 0: before call"), "{explained}");
    assert!(explained.contains("a call of exit"), "{explained}");
}

const COSTLY: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static int leaf(int n) { return n * 3 + 1; }
static int sum(int n) { int s = 0; for (int i = 0; i < n; i++) s += leaf(i); return s; }
static int deep(int n) { return n ? deep(n - 1) + sum(n) : 0; }
int open_to_all(int n) { return sum(n); }
static int (*volatile pointer)(int) = open_to_all;
int main(int c, char **v) {
  int n = atoi(v[1]);
  if (n > 5) puts("big");
  return sum(n) + deep(n) + pointer(2) == 0;
}
"#;

/// What the program does with 8: the calls that each function makes, and how often those are entered that nobody else
/// can enter.
#[test]
fn calls_are_costs() {
    let project = Project::new(&[("p.c", COSTLY)]);
    project.ok("--profile calls cc -O0 -g -o p p.c");
    for n in ["3", "8"] {
        succeed(project.command(project.path("p")).arg(n).env("COTREE_FILE", format!("{n}.cotree")));
    }
    let costs: Value = serde_json::from_str(&project.ok("costs --json 8.cotree")).expect("JSON");
    let of = |name: &str| {
        let function = costs["functions"].as_array().expect("functions").iter().find(|f| f["symbol"] == name);
        let function = function.unwrap_or_else(|| panic!("{name}"));
        (function["exclusive"]["calls"].as_u64(), function["entries"].as_u64())
    };
    // 8 by main, 8 + 7 + … + 1 by deep, and 2.
    assert_eq!(of("sum"), (Some(8 + 36 + 2), Some(1 + 8 + 1)));
    assert_eq!(of("deep"), (Some(16), Some(9)));
    assert_eq!(of("leaf"), (None, Some(46)));
    assert_eq!(of("open_to_all"), (Some(1), None));
    assert_eq!(of("main"), (Some(5), None));
    assert_eq!(costs["total"]["calls"], 68);

    let callgrind = project.ok("export --format callgrind 8.cotree");
    assert!(callgrind.contains("events: calls\nsummary: 68\n"), "{callgrind}");
    let mut folded: Vec<String> = project.ok("export --format folded 8.cotree").lines().map(str::to_owned).collect();
    folded.sort();
    assert_eq!(folded, ["[several callers];sum 46", "main 5", "main;deep 16", "open_to_all 1"]);
    for format in ["flamegraph", "speedscope", "firefox-profiler", "pprof"] {
        project.ok(&format!("export --format {format} -o out.{format} 8.cotree"));
    }
    let said = project.fails("costs --event loads 8.cotree");
    assert!(said.contains("no counts of loads, but of calls"), "{said}");

    let difference: Value = serde_json::from_str(&project.ok("diff --json 3.cotree 8.cotree")).expect("JSON");
    let calls: Vec<_> = (difference["calls"].as_array().expect("calls").iter())
        .map(|call| format!("{} {} {} {}", call["caller"], call["callee"], call["change"], call["counts"]))
        .collect();
    assert_eq!(
        calls,
        [
            r#""sum" "leaf" "changed" [11,46]"#,
            r#""deep" "deep" "changed" [3,8]"#,
            r#""deep" "sum" "changed" [3,8]"#,
            r#""main" "puts" "newly-run" [0,1]"#,
        ]
    );
    let text = project.ok("diff 3.cotree 8.cotree");
    assert!(text.contains("Calls that are made now and were not (1)") && !text.contains("lines"), "{text}");
    assert!(project.ok("diff 8.cotree 8.cotree").contains("No count differs."));
    project.ok("--profile edge cc -O0 -g -o q p.c");
    succeed(project.command(project.path("q")).arg("3").env("COTREE_FILE", "edges.cotree"));
    assert!(project.fails("diff 3.cotree edges.cotree").contains("compare two of one method"));
}

const ENTERED_OTHERWISE: &str = r#"
#include <stdio.h>
static int twice(int n) { return puts("twice") + n; }
static int other(int) __attribute__((alias("twice")));
__attribute__((constructor)) static void begin(void) { puts("begin"); }
static int down(int n) { return n > 2 ? down(n - 1) : puts("down"); }
int main(void) { return (twice(1) + other(2) + other(3) + down(5)) == 0; }
"#;

/// Entries by an alias, or before `main`, are no calls of the function by its name: then nothing is told.
#[test]
fn entries_are_told_only_where_all_are_counted() {
    let project = Project::new(&[("p.c", ENTERED_OTHERWISE)]);
    project.ok("--profile calls cc -O0 -g -o p p.c");
    succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
    let costs: Value = serde_json::from_str(&project.ok("costs --json p.cotree")).expect("JSON");
    let entries = |name: &str| {
        let function = costs["functions"].as_array().expect("functions").iter().find(|f| f["symbol"] == name);
        function.unwrap_or_else(|| panic!("{name}"))["entries"].as_u64()
    };
    assert_eq!(["twice", "begin", "down"].map(entries), [None, None, Some(4)]);
}
