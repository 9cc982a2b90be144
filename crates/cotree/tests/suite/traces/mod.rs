//! `--profile trace`: what a trace says of the order of blocks, against a log that the program itself keeps.
//!
//! clang's `-fsanitize-coverage=trace-pc-guard` has each block call a function of ours with a number of the block. The
//! trace has these calls too. So the call that the trace says came k-th must have logged the k-th number, the same
//! number each time.

mod addresses;
mod cache;
mod doubts;
mod formats;
mod handlers_throw;
mod kept;
mod killed;
mod lanes;
mod packed;
mod sums;

use crate::project::{Project, succeed};
use cotree_core::ids::{CallId, FunctionId};
use cotree_core::method::trace::Event;
use cotree_profile::binary::BinaryFile;
use cotree_profile::method::trace::UnitTables;
use cotree_profile::method::trace::streams::Streams;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

const LOGGED: &str = "__sanitizer_cov_trace_pc_guard";

/// What each thread did, in the order of their streams; every stream is whole.
fn executions(project: &Project, program: &str, profile: &str) -> Vec<Vec<Event>> {
    let binary = BinaryFile::open(&project.path(program)).expect("a profiled program");
    let tables = UnitTables::new(&binary).expect("a traced program");
    let streams = Streams::open(&project.path(profile)).expect("a profile");
    let read = |stream: &cotree_profile::method::trace::streams::Stream| {
        assert!(!stream.cut);
        let parts: Vec<_> = stream.parts().collect();
        let mut events = Vec::new();
        for part in &parts {
            assert_eq!((parts.len(), part.start()), (1, 0), "a whole stream");
            let mut reader = tables.read(&streams, *part, 0);
            while let Some(event) = reader.next().expect("a stream of this program") {
                events.push(event);
            }
            assert_eq!(reader.checkpoint().position(), part.end(), "all of it means something");
        }
        events
    };
    streams.iter().map(read).collect()
}

/// Builds a program with a log, runs it, and holds its trace against the log. Gives how many blocks were compared.
fn compare(project: &Project, compile: &str, source: &str, arguments: &[&str]) -> usize {
    let (log, traced) = log_and_trace(project, compile, source, arguments);
    let mut numbers = HashMap::new();
    let agree = agreeing(&traced, &log, &mut numbers);
    assert_eq!((agree, traced.len()), (log.len(), log.len()), "{compile} {arguments:?}");
    log.len()
}

/// A call that logs a block.
type Logged = (FunctionId, CallId);

/// How many of them have the numbers of the log, each the same one each time.
fn agreeing(traced: &[Logged], log: &[u32], numbers: &mut HashMap<Logged, u32>) -> usize {
    let agrees = |(call, number): &(&Logged, &u32)| *numbers.entry(**call).or_insert(**number) == **number;
    traced.iter().zip(log).take_while(agrees).count()
}

/// The numbers that a program logged: behind their number, at the beginning of a file with room for more.
fn read_log(path: &Path) -> Vec<u32> {
    let file = File::open(path).expect("a log");
    let room = file.metadata().expect("a size").len() / 4 - 1;
    let mut words = BufReader::new(file).bytes().map(|byte| byte.expect("a byte of the log"));
    let mut word = move || u32::from_le_bytes(std::array::from_fn(|_| words.next().expect("a whole log")));
    let logged = word();
    assert!(u64::from(logged) < room, "the log is full");
    (0..logged).map(|_| word()).collect()
}

/// Builds a program with a log, and runs it. Gives the log, and the calls that log in the trace.
fn log_and_trace(project: &Project, compile: &str, source: &str, arguments: &[&str]) -> (Vec<u32>, Vec<Logged>) {
    project.ok(&format!("{compile} -w -g -fsanitize-coverage=trace-pc-guard -c -o p.o {source}"));
    project.ok(&format!("{compile} -o p p.o block_log.o"));
    let mut run = project.command(project.path("p"));
    run.args(arguments).env("COTREE_FILE", "p.cotree").env("BLOCK_LOG", "p.log");
    let _ = run.output().expect("it runs");
    let log = read_log(&project.path("p.log"));
    let binary = BinaryFile::open(&project.path("p")).expect("a profiled program");
    let logs = |event| match event {
        Event::Call { function, call } => {
            let callee = binary.function(function).calls[call].callee_name();
            (callee == Some(LOGGED)).then_some((function, call))
        }
        _ => None,
    };
    let traced = executions(project, "p", "p.cotree").into_iter().flatten().filter_map(logs).collect();
    (log, traced)
}

fn project(source: (&str, &str)) -> Project {
    let project = Project::new(&[source, ("block_log.c", include_str!("block_log.c"))]);
    succeed(project.command("cc").args(["-O2", "-c", "block_log.c"]));
    project
}

const LEAVES: &str = include_str!("leaves.c");
const THROWS: &str = include_str!("throws.cc");

#[test]
fn c_programs_run_as_their_traces_say() {
    let project = project(("leaves.c", LEAVES));
    for level in ["-O0", "-O1", "-O2"] {
        for how in ["return", "exit", "_exit", "abort", "jump", "callback", "recurse"] {
            let compared = compare(&project, &format!("--profile trace cc {level}"), "leaves.c", &[how]);
            assert!(compared > 20, "{level} {how}: {compared}");
        }
    }
}

#[test]
fn each_encoding_of_paths_works() {
    let project = project(("leaves.c", LEAVES));
    for by in ["auto", "paths", "bits", "witness"] {
        for how in ["return", "exit", "_exit", "abort", "jump", "callback", "recurse"] {
            let options = format!("--profile trace --trace-by {by} cc -O2");
            assert!(compare(&project, &options, "leaves.c", &[how]) > 20, "{by} {how}");
        }
    }
}

/// Times stand before entry records, and nothing else is different.
#[test]
fn traces_with_times_say_the_same() {
    let project = project(("leaves.c", LEAVES));
    for level in ["-O0", "-O2"] {
        for how in ["return", "abort", "jump", "callback", "recurse"] {
            let options = format!("--profile trace --trace-time cc {level}");
            assert!(compare(&project, &options, "leaves.c", &[how]) > 20, "{level} {how}");
            let events = executions(&project, "p", "p.cotree").concat();
            let times: Vec<u64> = events
                .iter()
                .filter_map(|event| if let Event::Time(time) = event { Some(*time) } else { None })
                .collect();
            assert!(times.is_sorted() && times[0] > 0, "{level} {how}: {times:?}");
            // Each is followed by a function that begins; every function that calls others tells it.
            let begins = events.windows(2).filter(|pair| matches!(pair, [Event::Time(_), Event::Begin(_)]));
            assert_eq!(begins.count(), times.len(), "{level} {how}");
            let binary = BinaryFile::open(&project.path("p")).expect("a profiled program");
            let begins = |name: &str| {
                let is_it = |event: &&Event| matches!(event, Event::Begin(f) if binary.function(*f).symbol == name);
                events.iter().filter(is_it).count()
            };
            let told = times.len();
            assert!(told >= begins("main") + begins("leave") && begins("leave") > 0, "{level} {how}: {told}");
        }
    }
}

#[test]
fn exceptions_land_where_traces_say() {
    let project = project(("throws.cc", THROWS));
    for level in ["-O0", "-O2"] {
        for by in ["auto", "bits", "witness"] {
            let options = format!("--profile trace --trace-by {by} c++ {level}");
            assert!(compare(&project, &options, "throws.cc", &[]) > 100, "{level} {by}");
        }
    }
}

const SIGNALS: &str = include_str!("signals.c");

/// Handlers are not in the log: they have streams of their own, and leave those of the code that they interrupt as they
/// are.
#[test]
fn handlers_leave_the_traces_of_others_alone() {
    let project = project(("signals.c", SIGNALS));
    for (level, by) in [("-O0", "auto"), ("-O2", "auto"), ("-O2", "bits"), ("-O2", "witness")] {
        for how in ["plain", "nested"] {
            let options = format!("--profile trace --trace-by {by} cc {level}");
            let compared = compare(&project, &options, "signals.c", &[how]);
            assert!(compared > 100, "{level} {by} {how}: {compared}");
            let binary = BinaryFile::open(&project.path("p")).expect("a profiled program");
            let begins = executions(&project, "p", "p.cotree").into_iter().skip(1).map(|events| events[0]);
            let handlers = begins.filter(|begin| {
                let Event::Begin(function) = begin else { panic!("{begin:?}") };
                binary.function(*function).symbol == "on_timer"
            });
            assert!(handlers.count() > 5, "{level} {by} {how}");
        }
    }
}

const SWITCHED: &str = r#"
#include "cotree.h"
#include <stdlib.h>
static volatile int sink;
__attribute__((noinline)) static int inner(int n) { return n % 3 ? n : inner(n + 1); }
__attribute__((noinline)) static int wanted(int n) { for (int i = 0; i < n; i++) sink += inner(i); return sink; }
__attribute__((noinline)) static void request(int n) {
  if (n == 3) cotree_trace_start();
  sink += wanted(n);
  if (n == 3) cotree_trace_stop();
}
int main(void) { for (int i = 0; i < 6; i++) request(i); return 0; }
"#;

/// Only the request that was asked for is there, with the stack that it came on.
#[test]
fn recording_is_switched_on_and_off() {
    let header = include_str!("../../../../../include/cotree.h");
    let project = Project::new(&[("s.c", SWITCHED), ("cotree.h", header)]);
    for level in ["-O0", "-O2"] {
        project.ok(&format!("--profile trace --trace-off cc {level} -I. -w -g -o p s.c"));
        succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
        let binary = BinaryFile::open(&project.path("p")).expect("a profiled program");
        let name = |function: FunctionId| binary.function(function).symbol.clone();
        let mut told = Vec::new();
        for event in executions(&project, "p", "p.cotree").concat() {
            match event {
                Event::Revived(calling) => told.push(format!("in {}", name(calling.function))),
                Event::Begin(function) => told.push(name(function)),
                Event::SwitchedOn => told.push("on".to_owned()),
                Event::SwitchedOff => told.push("off".to_owned()),
                _ => {}
            }
        }
        // The compiler may make a loop of the calls of `inner`.
        told.dedup();
        let expected = ["off", "on", "in main", "in request", "wanted", "inner", "off"];
        assert_eq!(told, expected, "{level}");
    }
}

const PAUSES: &str = r#"
#include "cotree.h"
#include <string.h>
__attribute__((noinline)) static void f(void) { __asm__ volatile(""); }
int main(int argc, char **argv) {
  for (const char *at = argv[1]; *at; at++) {
    if (*at == '+') cotree_trace_start();
    if (*at == '-') cotree_trace_stop();
    if (*at == 'f') f();
  }
  return 0;
}
"#;

/// Counts of a trace that was switched off for a while are not called exact, those of a part in which it was not are.
#[test]
fn counts_of_a_trace_with_pauses_are_in_doubt() {
    let project = Project::new(&[("s.c", PAUSES), ("cotree.h", include_str!("../../../../../include/cotree.h"))]);
    // What is counted of `f`, and whether that is exact.
    let counted = |reader: &str| {
        let export: serde_json::Value = serde_json::from_str(&project.ok(reader)).expect("JSON");
        let functions = export["units"][0]["functions"].as_array().expect("functions").clone();
        let f = functions.iter().find(|function| function["symbol"] == "f").expect("f").clone();
        (f["entries"].as_u64().expect("a count"), f["flaws"].as_array().is_some_and(Vec::is_empty))
    };
    let whole = "export --format json p.cotree";
    for (options, steps, expected) in [
        ("", "ffff", (4, true)),
        ("", "ff-ff", (2, false)),
        ("", "ff-f+f", (3, false)),
        ("--trace-off", "fff", (0, false)),
        ("--trace-off", "ff+f", (1, false)),
        ("--trace-off", "f+f-f+f", (2, false)),
    ] {
        project.ok(&format!("--profile trace --verify {options} cc -O1 -I. -w -g -o p s.c"));
        succeed(project.command(project.path("p")).arg(steps).env("COTREE_FILE", "p.cotree"));
        assert_eq!(counted(whole), expected, "{options} {steps}");
        assert_eq!(project.ok("report p.cotree").contains("recording was off for a part of the run"), !expected.1);
        project.ok("verify p.cotree");
        assert_eq!(counted("trace --profile --json p.cotree"), expected, "{options} {steps}");
    }
    // Of "f+f-f+f", of which two are recorded: up to the second one, behind the pause, and all.
    for (part, expected) in [("--to f#2", (1, false)), ("--from f#2 --to 1000", (1, true)), ("--to 1000", (2, false))] {
        assert_eq!(counted(&format!("trace --profile --json {part} p.cotree")), expected, "{part}");
    }
}

const FORKS: &str = r#"
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void *thread(void *argument) { return argument; }
int main(void) {
  pthread_t id;
  pthread_create(&id, 0, thread, 0);
  pthread_join(id, 0);
  if (!fork()) exit(0);
  int status;
  wait(&status);
  return status;
}
"#;

/// A child of a process that has had threads has lost nothing.
#[test]
fn a_child_of_a_process_with_threads_is_exact() {
    let project = Project::new(&[("s.c", FORKS)]);
    project.ok("--profile trace cc -O1 -w -g -o p s.c -lpthread");
    succeed(project.command(project.path("p")).env("COTREE_FILE", "p.%p.cotree"));
    let files = std::fs::read_dir(project.path(".")).expect("a folder").map(|file| file.expect("a file").file_name());
    let profiles: Vec<String> = files
        .map(|name| name.to_string_lossy().into_owned())
        .filter(|name| name.starts_with("p.") && name.ends_with(".cotree"))
        .collect();
    assert_eq!(profiles.len(), 2, "{profiles:?}");
    for profile in profiles {
        let report = project.ok(&format!("report {profile}"));
        assert!(report.contains("exact: every count"), "{report}");
    }
}

#[test]
fn counts_of_traces_are_those_of_counters() {
    let project = project(("leaves.c", LEAVES));
    for level in ["-O0", "-O2"] {
        for method in ["edge", "trace"] {
            project.ok(&format!("--profile {method} cc {level} -w -g -o {method} leaves.c block_log.o"));
        }
        for how in ["return", "exit", "_exit", "abort", "jump", "callback", "recurse"] {
            for method in ["edge", "trace"] {
                let mut run = project.command(project.path(method));
                run.arg(how).env("COTREE_FILE", format!("{method}.cotree")).env("BLOCK_LOG", "p.log");
                let _ = run.output().expect("it runs");
            }
            let [counted, traced] =
                ["edge.cotree", "trace.cotree"].map(|profile| project.ok(&format!("export --format lcov {profile}")));
            assert!(counted.lines().any(|line| line.starts_with("DA:") && !line.ends_with(",0")), "{counted}");
            assert_eq!(counted, traced, "{level} {how}");
        }
    }
}

const STEPS: &str = "int step(int n) {
    if (n % 2)
        return 1;
    return 2;
}
int main(int argc, char **argv) {
    int sum = 0;
    for (int i = 0; i < 4 + argc; i++)
        sum += step(i);
    return sum == 0;
}
";

#[test]
fn views_show_what_ran() {
    let project = Project::new(&[("steps.c", STEPS)]);
    project.ok("--profile trace cc -O0 -g -o steps steps.c");
    for (profile, arguments) in [("a.cotree", &[][..]), ("b.cotree", &["more"])] {
        succeed(project.command(project.path("steps")).args(arguments).env("COTREE_FILE", profile));
    }
    let shown = |command: &str| project.ok(command);
    let rows = |command: &str| -> Vec<serde_json::Value> {
        shown(command).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };

    // Every line that ran, in order.
    let lines = |command: &str| -> Vec<(u64, u64)> {
        let lines = rows(command).into_iter().filter(|row| row["event"] == "line");
        lines.map(|row| (row["number"].as_u64().expect("a number"), row["line"].as_u64().expect("a line"))).collect()
    };
    let forwards = lines("trace a.cotree --by line --json");
    let of_step: Vec<u64> = forwards.iter().map(|&(_, line)| line).filter(|line| [3, 4].contains(line)).collect();
    assert_eq!(of_step, [4, 3, 4, 3, 4]);
    let mut backwards = lines("trace a.cotree --by line --backwards --json");
    backwards.reverse();
    assert_eq!(backwards, forwards);

    // The moment of a line, and no more of them than there are.
    let second = shown("trace a.cotree --nth 2 steps.c:3");
    assert!(second.contains("step ") && second.contains("steps.c:9, calling step"), "{second}");
    let third = project.fails("trace a.cotree --nth 3 steps.c:3");
    assert!(third.contains("ran 2 times"), "{third}");

    // Windows, by blocks: all of them together count what the whole does.
    let entries = |command: &str| -> u64 {
        let export: serde_json::Value = serde_json::from_str(&shown(command)).expect("JSON");
        let functions = export["units"][0]["functions"].as_array().expect("functions").clone();
        let step = functions.iter().find(|function| function["symbol"] == "step").expect("step");
        step["entries"].as_u64().expect("a count")
    };
    assert_eq!(entries("trace a.cotree --profile --json"), 5);
    let halves = ["--to 9", "--from 10"].map(|half| entries(&format!("trace a.cotree --profile --json {half}")));
    assert_eq!(halves.iter().sum::<u64>(), 5, "{halves:?}");
    assert!(halves[0] > 0 && halves[1] > 0, "{halves:?}");
    assert_eq!(entries("trace a.cotree --profile --json --from step#2 --to step#4"), 2);

    // Where the second run goes round once more.
    let parted = shown("diff --trace a.cotree b.cotree --context 2");
    let (before, after) = parted.split_once("the second trace goes on:").expect("both traces");
    assert!(before.contains("under way there") && before.contains("main ") && after.contains("step"), "{parted}");
    assert!(shown("diff --trace a.cotree a.cotree").contains("the same"));
}
