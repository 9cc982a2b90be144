//! `--targets`: whom calls through pointers lead to, against what the program tells of itself.

use crate::project::{Project, succeed};
use serde_json::Value;
use std::collections::BTreeMap;

/// Calls through a table in an order that changes, recursion through pointers, functions of the C library, and callees
/// that jump out. It prints how often it has called whom, by line.
const PROGRAM: &str = r#"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define OPS 7
#define APART __attribute__((noinline)) static
static _Thread_local jmp_buf out;
static _Thread_local long made[OPS + 1];
static long total[OPS + 1];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define TELL(k) (made[k]++)
typedef long op(long);
APART long add(long n) { return n + 1; }
APART long sub(long n) { return n - 1; }
APART long twice(long n) { return n * 2; }
APART long half(long n) { return n / 2; }
APART long jump(long n) { if (n & 1) longjmp(out, 1); return n; }
APART long nothing(long n) { return n; }
static op *volatile table[OPS];
APART long again(long n) { return n > 3 ? TELL(1), table[1](n - 7) : n; } // again
static op *volatile table[OPS] = { add, sub, twice, half, jump, nothing, again };
static size_t (*volatile length)(const char *) = strlen;
APART long work(unsigned seed, int rounds) {
  volatile long n = 100;
  volatile unsigned state = seed;
  for (volatile int i = 0; i < rounds; i++) {
    if (setjmp(out)) continue;
    state = state * 1103515245u + 12345u;
    unsigned which = state >> 16 & 63;
    which = which < 40 ? 0 : which % OPS;
    TELL(which);
    n += table[which](i) & 15; // dispatch
    if (i % 16 == 0) { TELL(OPS); n += length("four"); } // library
  }
  return n;
}
static void *thread(void *argument) {
  long n = work((unsigned)(size_t)argument, ROUNDS);
  pthread_mutex_lock(&lock);
  for (int k = 0; k <= OPS; k++) total[k] += made[k];
  pthread_mutex_unlock(&lock);
  return (void *)n;
}
static void stop(int code) { exit(code); }
static void die(int code) { raise(SIGKILL); (void)code; }
static void (*volatile end)(int) = stop;
int main(int argc, char **argv) {
#if THREADS
  pthread_t threads[3];
  for (size_t i = 0; i < 3; i++) pthread_create(&threads[i], 0, thread, (void *)i);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
#endif
  thread((void *)9);
  for (int k = 0; k <= OPS; k++) printf("%ld\n", total[k]);
  fflush(stdout);
  if (argc > 1) end = die;
  end(0); // end
  return 1;
}
"#;

const NAMES: [&str; 7] = ["add", "sub", "twice", "half", "jump", "nothing", "again"];

/// By line of the source: how often its call was made, whom it called, and how often others.
type Sites = BTreeMap<String, (u64, BTreeMap<String, u64>, u64)>;

fn sites(source: &str, json: &Value) -> Sites {
    let mut sites = Sites::new();
    let marks: Vec<&str> = source.lines().map(|line| line.split_once("// ").map_or("", |(_, mark)| mark)).collect();
    let number = |value: &Value| value.as_u64().expect("a count");
    for unit in json["units"].as_array().expect("units") {
        for function in unit["functions"].as_array().expect("functions") {
            for site in function["targets"].as_array().into_iter().flatten() {
                let line = site["position"]["line"].as_u64().expect("a line") as usize;
                let sum = sites.entry(marks[line - 1].to_owned()).or_default();
                sum.0 += number(&site["count"]);
                for target in site["functions"].as_array().expect("functions") {
                    *sum.1.entry(target["symbol"].as_str().expect("a symbol").to_owned()).or_default() +=
                        number(&target["count"]);
                }
                sum.2 += number(&site["others"]);
            }
        }
    }
    sites
}

/// At each site, whom it called adds up to how often it was made.
fn add_up(sites: &Sites) {
    for (line, (made, targets, others)) in sites {
        assert_eq!(*made, targets.values().sum::<u64>() + others, "{line}");
    }
}

/// What the program has printed, against its profile.
fn check(printed: &str, json: &Value, runs: u64) {
    let told: Vec<u64> = printed.lines().map(|line| line.parse().expect("a number")).collect();
    let sites = sites(PROGRAM, json);
    add_up(&sites);
    let (_, dispatched, others) = &sites["dispatch"];
    assert_eq!(*others, 0);
    let (again, again_targets, _) = &sites["again"];
    assert_eq!(again_targets.get("sub"), Some(again));
    for (k, name) in NAMES.iter().enumerate() {
        let mut count = dispatched.get(*name).copied().unwrap_or(0);
        if k == 1 {
            count += again;
        }
        assert_eq!(count, told[k] * runs, "{name}");
        assert!(count > 0, "{name}");
    }
    assert_eq!((sites["library"].0, sites["library"].2), (told[7] * runs, told[7] * runs));
}

fn built(options: &str) -> Project {
    let project = Project::new(&[("p.c", PROGRAM)]);
    project.ok(&format!("{options} -g -w -pthread -o p p.c"));
    project
}

fn profile(project: &Project) -> (String, Value) {
    let printed = succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
    (printed, serde_json::from_str(&project.ok("export p.cotree")).expect("JSON"))
}

#[test]
fn the_table_tells_whom_it_has_called() {
    for options in ["--targets cc -O2", "--profile block --targets cc -O0", "--targets --verify --at early cc -O2"] {
        let project = built(&format!("{options} -DROUNDS=20000 -DTHREADS=0"));
        let (printed, json) = profile(&project);
        check(&printed, &json, 1);
        let all = sites(PROGRAM, &json);
        assert_eq!(all["end"].1.get("stop"), Some(&1), "{options}: it did not return");
        assert_eq!(json["units"][0]["exact"], true, "{options}");
    }
}

#[test]
fn threads_have_tables_of_their_own() {
    for options in ["--targets", "--targets --threads word"] {
        let project = built(&format!("{options} cc -O2 -DROUNDS=20000 -DTHREADS=1"));
        let (printed, json) = profile(&project);
        check(&printed, &json, 1);
    }
}

#[test]
fn merged_runs_add_up() {
    let project = built("--targets cc -O2 -DROUNDS=5000 -DTHREADS=1");
    let mut printed = String::new();
    for run in 0..3 {
        printed = succeed(project.command(project.path("p")).env("COTREE_FILE", format!("{run}.cotree")));
    }
    project.ok("merge -o sum.cotree 0.cotree 1.cotree 2.cotree");
    check(&printed, &serde_json::from_str(&project.ok("export sum.cotree")).expect("JSON"), 3);
    // What is in hash tables is not added to pools: each profile stays by itself in the folder.
    for _ in 0..3 {
        succeed(project.command(project.path("p")).env("COTREE_FILE", "pool/%1m.cotree"));
    }
    check(&printed, &serde_json::from_str(&project.ok("export pool")).expect("JSON"), 3);
    let report = project.ok("report --targets sum.cotree");
    assert!(report.contains("calls through pointers") && report.contains("twice"), "{report}");
}

#[test]
fn a_killed_process_has_counted_what_it_called() {
    let project = built("--targets cc -O2 -DROUNDS=5000 -DTHREADS=0");
    let output =
        project.command(project.path("p")).arg("die").env("COTREE_FILE", "p.cotree").output().expect("it runs");
    assert!(!output.status.success());
    let names = std::fs::read_dir(project.path("")).expect("a folder");
    let names = names.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    let live = names.filter(|name| name.ends_with(".live")).collect::<Vec<_>>();
    let json: Value = serde_json::from_str(&project.ok(&format!("export {}", live[0]))).expect("JSON");
    let printed = String::from_utf8(output.stdout).expect("text");
    let told: Vec<u64> = printed.lines().map(|line| line.parse().expect("a number")).collect();
    let all = sites(PROGRAM, &json);
    assert_eq!(all["dispatch"].1["add"], told[0]);
    assert_eq!(all["end"].1.get("die"), Some(&1));
}

#[test]
fn callees_that_throw_children_and_counts_begun_anew() {
    let source = include_str!("../programs/targets_thrown.cpp");
    let project = Project::new(&[("p.cpp", source)]);
    for options in ["-O0", "-O2", "-O2 -flto", "-O2 -static"] {
        project.ok(&format!("--targets c++ -std=c++17 {options} -g -o p p.cpp"));
        for anew in [None, Some("anew")] {
            let mut command = project.command(project.path("p"));
            let printed = succeed(command.args(anew).env("COTREE_FILE", "%p.cotree"));
            assert_eq!(printed.lines().count(), 2, "{options} {anew:?}: {printed}");
            for line in printed.lines() {
                let told: Vec<u64> = line.split(' ').map(|number| number.parse().expect("a number")).collect();
                let json: Value =
                    serde_json::from_str(&project.ok(&format!("export {}.cotree", told[0]))).expect("JSON");
                let all = sites(source, &json);
                add_up(&all);
                let (made, targets, others) = &all["dispatch"];
                let names = ["stays", "throws_seven", "throws_five"];
                let counts = names.map(|name| targets.get(name).copied().unwrap_or(0));
                assert_eq!(counts, told[1..], "{options} {anew:?}");
                assert_eq!((*made, *others), (told[1..].iter().sum(), 0), "{options} {anew:?}");
            }
        }
    }
}

/// A library with a call of its own, a program that calls into it, and a handler that calls through a pointer, too.
const WITH_LIBRARY: &str = r#"
#include <signal.h>
#include <stdio.h>
typedef long op(long);
#ifdef LIBRARY
__attribute__((noinline)) static long inside(long n) { return n + 1; }
static op *volatile hidden = inside;
long outer(long n) { return hidden(n); } // library
#else
long outer(long n);
static volatile long seen;
__attribute__((noinline)) static long count(long n) { return seen += n; }
static op *volatile counts = count;
static op *volatile outside = outer;
static void handle(int code) { counts(code > 0); } // handler
static void (*volatile installed)(int) = handle;
int main(void) {
  long sum = 0;
  signal(SIGUSR1, installed);
  for (int i = 0; i < 1000; i++) {
    if (i % 10 == 0) raise(SIGUSR1);
    sum += outside(i); // main
  }
  printf("%ld %ld\n", seen, sum);
  return 0;
}
#endif
"#;

#[test]
fn libraries_and_signal_handlers() {
    let project = Project::new(&[("p.c", WITH_LIBRARY)]);
    for level in ["-O0", "-O2", "-O2 -flto"] {
        project.ok(&format!("--targets cc {level} -g -fPIC -shared -DLIBRARY -o libouter.so p.c"));
        project.ok(&format!("--targets cc {level} -g -o p p.c -L. -louter -Wl,-rpath,$ORIGIN"));
        let (printed, json) = profile(&project);
        assert_eq!(printed, "100 500500\n", "{level}");
        let mut all = sites(WITH_LIBRARY, &json);
        let library = serde_json::from_str(&project.ok("export p.libouter.so.cotree")).expect("JSON");
        all.extend(sites(WITH_LIBRARY, &library));
        add_up(&all);
        assert_eq!((all["library"].0, all["library"].1.get("inside")), (1000, Some(&1000)), "{level}");
        assert_eq!((all["handler"].0, all["handler"].1.get("count")), (100, Some(&100)), "{level}");
        assert_eq!((all["main"].0, all["main"].2), (1000, 1000), "{level}: it is another unit's");
    }
}

/// The weights have what the export has, call by call.
#[test]
fn weights_carry_targets() {
    let project = built("--targets cc -O2 -DROUNDS=5000 -DTHREADS=0");
    let (_, json) = profile(&project);
    let weights = project.ok("export --format weights p.cotree");
    let lines = weights.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let mut calls = 0;
    for line in lines {
        let functions = json["units"][0]["functions"].as_array().expect("functions");
        let own = functions.iter().find(|function| function["symbol"] == line["symbol"]).expect("it is exported");
        let exported = own["targets"].as_array().expect("calls");
        let mut of_weights = Vec::new();
        for block in line["targets"].as_array().into_iter().flatten() {
            for call in block["calls"].as_array().expect("calls") {
                assert!(call["functions"].as_array().into_iter().flatten().all(|target| target["module"].is_null()));
                let counts = call["functions"].as_array().into_iter().flatten();
                let counts =
                    counts.map(|target| (target["symbol"].clone(), target["count"].clone())).collect::<Vec<_>>();
                of_weights.push((block["block"].clone(), counts, call["others"].as_u64().unwrap_or(0)));
            }
        }
        let made = exported.iter().filter(|site| site["count"] != 0);
        let expected = made.map(|site| {
            let counts = site["functions"].as_array().expect("functions").iter();
            let counts = counts.map(|target| (target["symbol"].clone(), target["count"].clone())).collect::<Vec<_>>();
            (site["block"].clone(), counts, site["others"].as_u64().expect("a count"))
        });
        of_weights.retain(|(_, counts, others)| !counts.is_empty() || *others > 0);
        calls += of_weights.len();
        assert_eq!(of_weights, expected.collect::<Vec<_>>(), "{}", line["symbol"]);
    }
    assert_eq!(calls, 4, "dispatch, library, again, end");
    assert!(weights.starts_with("{\"schema\":\"cotree-weights/1\""), "{weights}");
}

#[test]
fn other_methods_refuse() {
    let project = Project::new(&[("p.c", PROGRAM)]);
    let message = project.fails("--profile path --targets cc -o p p.c");
    assert!(message.contains("--targets") && message.contains("edge"), "{message}");
    // A profile without targets says so.
    project.ok("cc -O2 -w -pthread -DROUNDS=10 -DTHREADS=0 -o p p.c");
    succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
    assert!(project.ok("report --targets p.cotree").contains("were not counted"));
}
