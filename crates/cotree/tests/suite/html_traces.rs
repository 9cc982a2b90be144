//! Traces in pages: their steps and timelines are what `cotree trace` tells.

use crate::html::data;
use crate::project::{Project, succeed};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Calls, exceptions, jumps and threads; some 200,000 blocks in the main thread.
const PROGRAM: &str = r#"
#include <csetjmp>
#include <cstdio>
#include <thread>
static jmp_buf back;
__attribute__((noinline)) static int leaf(int n) {
  if (n % 1000 == 999) throw n;
  return n % 3 ? n + 1 : n * 2;
}
__attribute__((noinline)) static long deep(int n) { return n == 0 ? 0 : 1 + deep(n - 1); }
__attribute__((noinline)) static void jump(int n) {
  if (n == 7) longjmp(back, 1);
  std::printf("%d ", n);
  std::puts("behind a call");
}
__attribute__((noinline)) static long work(int from, int to) {
  long sum = 0;
  for (int i = from; i < to; i++) {
    try {
      sum += leaf(i);
    } catch (int n) {
      sum -= n;
    }
    if (i % 5000 == 0) sum += deep(i / 1000);
  }
  return sum;
}
int main() {
  std::thread other([] { std::printf("%ld\n", work(0, 500)); });
  other.join();
  if (setjmp(back) == 0)
    for (int i = 0; i < 10; i++) jump(i);
  std::printf("%ld\n", work(0, 30000));
  std::printf("%ld\n", deep(1500));
}
"#;

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().unwrap_or_else(|| panic!("no list {name}"))
}

fn numbers(value: &Value, name: &str) -> Vec<i64> {
    list(value, name).iter().map(|number| number.as_i64().expect("a number")).collect()
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

/// Function, line and depth of what ran, in order, and whether it is certain.
type Line = (String, u64, u64, bool);

/// A program and its pages.
struct Shown {
    project: Project,
    index: Value,
    trace: Value,
}

impl Shown {
    fn new(options: &str) -> Self {
        Self::of(PROGRAM, options)
    }

    fn of(program: &str, options: &str) -> Self {
        let project = Project::new(&[("p.cc", program)]);
        project.ok("--profile trace c++ -O1 -g -pthread -o p p.cc");
        succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
        project.ok(&format!("html -o pages --no-demangle {options} p.cotree"));
        let (index, trace) = (data(&project, "index"), data(&project, "trace/index"));
        Self { project, index, trace }
    }

    fn parts(&self) -> Vec<&Value> {
        list(&self.trace, "threads").iter().flat_map(|thread| list(thread, "parts")).collect()
    }

    /// The function of a body, and where the details of the body stand.
    fn body(&self, body: i64) -> (String, usize, usize) {
        let place = &self.trace["bodies"][body as usize];
        let function = number(&place[0]) as usize;
        let name = self.index["functions"]["name"][function].as_str().expect("a name");
        (name.to_owned(), function, number(&place[1]) as usize)
    }

    /// The lines of a part's steps, from a chunk on.
    fn lines(&self, part: &Value) -> Vec<Line> {
        let mut found = Vec::new();
        let mut details: BTreeMap<usize, Value> = BTreeMap::new();
        let per_script = number(&self.index["per_script"]) as usize;
        let (first, clocks) = (number(&part["chunks"][0]), part["chunks"][1].as_array().expect("clocks"));
        for chunk in (first..).take(clocks.len()) {
            let chunk = data(&self.project, &format!("trace/steps/{}/{chunk}", part["number"]));
            let blocks = numbers(&chunk, "block");
            let mut stack: Vec<(i64, i64)> = numbers(&chunk, "function").into_iter().zip(blocks).collect();
            let mut certain = chunk["certain"].as_bool().expect("whether it is certain");
            let (outer, mut skipped) = (number(&chunk["outer"]), number(&chunk["skipped"]));
            for step in numbers(&chunk, "steps").chunks(2) {
                let (kind, value) = (step[0] % 16, step[0] / 16);
                let segment = match kind {
                    0 | 6 => {
                        stack.last_mut().expect("an activation").1 = value;
                        (kind == 0).then_some(0)
                    }
                    1 => Some(value),
                    2 | 5 => {
                        stack.push((value, -1));
                        None
                    }
                    3 | 4 => {
                        stack.pop();
                        None
                    }
                    7 => {
                        certain = value == 1;
                        None
                    }
                    8 => {
                        if value == 0 {
                            stack.clear();
                            skipped = 0;
                        }
                        None
                    }
                    other => panic!("a step of the kind {other}"),
                };
                let (Some(segment), Some(&(body, block))) = (segment, stack.last()) else { continue };
                let (name, function, place) = self.body(body);
                let script = function / per_script;
                let details =
                    details.entry(script).or_insert_with(|| data(&self.project, &format!("functions/{script}")));
                let block = &details[function % per_script]["bodies"][place]["blocks"][block as usize];
                let listed = stack.len() as u64;
                let depth = listed + if listed > outer { skipped } else { 0 } - 1;
                let mut last = None;
                for line in list(block, "lines").iter().filter(|line| line[4].as_i64() == Some(segment)) {
                    let at = (number(&line[0]), number(&line[1]));
                    if last.replace(at) != Some(at) {
                        found.push((name.clone(), at.1, depth, certain));
                    }
                }
            }
        }
        found
    }
}

/// The lines that `cotree trace` tells of a thread.
fn told(project: &Project, thread: usize) -> Vec<Line> {
    let text = project.ok(&format!("trace --by line --json --thread {thread} p.cotree"));
    let rows = text.lines().map(|row| serde_json::from_str::<Value>(row).expect("JSON"));
    rows.filter(|row| row["event"] == "line")
        .map(|row| {
            let name = row["function"].as_str().expect("a name").to_owned();
            (name, number(&row["line"]), number(&row["depth"]), row["certain"].as_bool().expect("certain"))
        })
        .collect()
}

#[test]
fn steps_are_what_the_trace_tells() {
    let shown = Shown::new("");
    let parts = shown.parts();
    assert_eq!(parts.len(), 2, "one per thread");
    for (at, part) in parts.iter().enumerate() {
        let (found, expected) = (shown.lines(part), told(&shown.project, at + 1));
        assert!(expected.len() > 2000, "{} lines", expected.len());
        let differs = found.iter().zip(&expected).position(|(found, expected)| found != expected);
        assert_eq!(differs.map(|at| (&found[at], &expected[at])), None);
        assert_eq!(found.len(), expected.len());
    }
    assert!(parts[0]["chunks"][1].as_array().expect("clocks").len() > 2, "one chunk tells nothing of the next");

    // The last blocks alone are the last lines.
    let all = shown.lines(parts[0]);
    let few = Shown::new("--trace-blocks 1000");
    let last = few.lines(few.parts()[0]);
    assert!(last.len() >= 1000 && last.len() < all.len() / 2, "{} of {}", last.len(), all.len());
    assert_eq!(last.last(), all.last());
}

/// Chunks list as much of a deep stack as they need: with all of it in each, pages of endless recursion have gigabytes.
#[test]
fn chunks_of_deep_stacks_are_small() {
    let program = "#include <cstdio>\n\
        __attribute__((noinline)) static int leaf(int n) { return n % 7; }\n\
        __attribute__((noinline)) static long deep(int n) {\n  \
          long sum = leaf(n);\n  \
          if (n > 0) sum += deep(n - 1);\n  \
          return n % 50000 == 7 ? sum + leaf(n) + leaf(n + 1) : sum;\n}\n\
        __attribute__((noinline)) static long twice(int n) { return deep(n) + leaf(n); }\n\
        int main() {\n  std::printf(\"%ld\\n\", twice(60000) + twice(50010));\n}\n";
    let shown = Shown::of(program, "");
    let parts = shown.parts();
    let (found, expected) = (shown.lines(parts[0]), told(&shown.project, 1));
    let differs = found.iter().zip(&expected).position(|(found, expected)| found != expected);
    assert_eq!(differs.map(|at| (&found[at], &expected[at])), None);
    assert_eq!(found.len(), expected.len());
    let chunks = parts[0]["chunks"][1].as_array().expect("clocks").len();
    let chunk = |at: usize| data(&shown.project, &format!("trace/steps/{}/{at}", parts[0]["number"]));
    let skipped: Vec<u64> = (0..chunks).map(|at| number(&chunk(at)["skipped"])).collect();
    assert!(skipped.iter().any(|&skipped| skipped > 10_000), "{skipped:?}");
}

/// An activation, or several: depth, beginning, end, and how many.
type Slice = (i64, i64, i64, i64);

/// Activations of each thread, from the timeline that `cotree trace` writes.
fn activations(project: &Project) -> BTreeMap<u64, Vec<Slice>> {
    let timeline: Value = serde_json::from_str(&project.ok("trace --format chrome p.cotree")).expect("JSON");
    let mut threads: BTreeMap<u64, (Vec<i64>, Vec<Slice>)> = BTreeMap::new();
    for event in list(&timeline, "traceEvents") {
        let (open, done) = threads.entry(number(&event["tid"])).or_default();
        let at = (event["ts"].as_f64().unwrap_or(0.0) * 1000.0).round() as i64;
        match event["ph"].as_str() {
            Some("B") => open.push(at),
            Some("E") => {
                let start = open.pop().expect("it began");
                done.push((open.len() as i64, start, at, 1));
            }
            _ => {}
        }
    }
    threads.into_iter().map(|(thread, (_, done))| (thread, done)).collect()
}

#[test]
fn timelines_are_what_the_trace_tells() {
    let shown = Shown::new("");
    let expected = activations(&shown.project);
    let (finest, tile) = (number(&shown.trace["resolution"]), number(&shown.trace["tile"]));
    for (part, expected) in shown.parts().into_iter().zip(expected.values()) {
        let shallow: Vec<&Slice> = expected.iter().filter(|slice| slice.0 < 1000).collect();
        assert_eq!(part["deeper"].as_bool(), Some(shallow.len() < expected.len()));
        for (level, known) in list(part, "levels").iter().enumerate() {
            let resolution = number(&known["resolution"]) as i64;
            assert_eq!(resolution as u64, finest << (2 * level));
            let span = resolution * tile as i64;
            let mut found: Vec<Slice> = Vec::new();
            for number in 0..number(&known["tiles"]) {
                let name = format!("trace/tiles/{}/{level}/{number}", part["number"]);
                let tile = data(&shown.project, &name);
                let (depths, starts, counts) =
                    (numbers(&tile, "depth"), numbers(&tile, "start"), numbers(&tile, "count"));
                for (at, length) in list(&tile, "length").iter().enumerate() {
                    let start = number as i64 * span + starts[at];
                    match length.as_i64() {
                        Some(length) => found.push((depths[at], start, start + length, counts[at])),
                        // It is there when the tile ends.
                        None => {
                            let end = (number as i64 + 1) * span;
                            let open = |slice: &&&Slice| slice.0 == depths[at] && slice.1 == start && slice.2 >= end;
                            assert!(shallow.iter().any(|slice| open(&slice)), "{start} at {}", depths[at]);
                        }
                    }
                }
            }
            let count: i64 = found.iter().map(|slice| slice.3).sum();
            assert_eq!(count, shallow.len() as i64, "level {level}");
            let long = |slice: &Slice| slice.2 - slice.1 >= resolution;
            let alone: BTreeSet<Slice> = found.iter().filter(|slice| slice.3 == 1).copied().collect();
            let missed = shallow.iter().find(|slice| long(slice) && !alone.contains(slice));
            assert_eq!(missed, None, "level {level}");
            for slice in found.iter().take(3000) {
                let inside = shallow.iter().filter(|one| one.0 == slice.0 && one.1 >= slice.1 && one.2 <= slice.2);
                let inside: Vec<_> = inside.collect();
                assert_eq!(inside.len() as i64, slice.3, "level {level}: {slice:?}");
                assert!(slice.3 == 1 || inside.iter().all(|one| !long(one)), "level {level}: {slice:?}");
            }
        }
    }
}

/// The index of lines tells in which chunks a line ran.
#[test]
fn chunks_tell_which_lines_ran() {
    let shown = Shown::new("");
    let path = |path: &Value| path.as_str().is_some_and(|path| path.ends_with("p.cc"));
    let file = list(&shown.index["files"], "paths").iter().position(path).expect("the source");
    let lines = data(&shown.project, &format!("trace/lines/{file}"));
    let segments = |text: &str| {
        let line = PROGRAM.lines().position(|line| line.contains(text)).expect("such a line") as u64 + 1;
        let of_line = lines.as_array().expect("lines").iter().find(|known| known["line"] == line);
        numbers(of_line.expect("code"), "segments").into_iter().collect::<BTreeSet<_>>()
    };
    let part = shown.parts()[0];
    let ran = data(&shown.project, &format!("trace/ran/{}/0", part["number"]));
    let chunks: Vec<BTreeSet<i64>> = (ran.as_array().expect("chunks").iter())
        .map(|chunk| {
            let mut segment = 0;
            let differences = chunk.as_array().expect("segments").iter();
            let numbers = differences.map(|more| {
                segment += more.as_i64().expect("a number");
                segment
            });
            numbers.collect()
        })
        .collect();
    let in_chunks = |text: &str| -> Vec<bool> {
        let wanted = segments(text);
        chunks.iter().map(|ran| !ran.is_disjoint(&wanted)).collect()
    };
    let all = chunks.len();
    assert!(all > 2, "{all} chunks");
    assert_eq!(in_chunks("sum += leaf"), vec![true; all]);
    let jump = in_chunks("longjmp(back, 1)");
    assert_eq!((jump[0], jump[1..].contains(&true)), (true, false));
    // The text behind a call ran only where the call had come back.
    assert_eq!(in_chunks("behind a call"), jump);
    let last = in_chunks("deep(1500)");
    assert_eq!((last[..all - 1].contains(&true), last[all - 1]), (false, true));
}

/// The overview tells where a signal ended a thread, and only if it did.
#[test]
fn ends_are_what_happened_last() {
    let program = r#"
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
static sigjmp_buf back;
static void handler(int signal) { siglongjmp(back, signal); }
__attribute__((noinline)) static int read(int *p) {
  return *p;
}
int main(int argc, char **argv) {
  int values[3] = {1, 2, 3}, sum = 0;
  signal(SIGSEGV, argc > 1 ? handler : SIG_DFL);
  if (sigsetjmp(back, 1) == 0)
    for (int i = 0; i < 4; i++) sum += read(i < 3 ? values + i : (int *)8);
  for (int i = 0; i < argc; i++) sum += read(values);
  printf("%d\n", sum);
}
"#;
    let project = Project::new(&[("p.c", program)]);
    project.ok("--profile trace cc -O0 -g -o p p.c");
    let ended = |arguments: &[&str]| {
        let mut run = project.command(project.path("p"));
        let ended = run.args(arguments).env("COTREE_FILE", "p.cotree").output().expect("it runs");
        project.ok("html -o pages p.cotree");
        (ended.status.success(), data(&project, "index")["trace"]["threads"][0].clone())
    };
    let (well, end) = ended(&["recover"]);
    assert!(well && end["signal"] == false && end["place"].is_null(), "{end}");
    assert_eq!(end["end"], "the process ended");
    let (well, end) = ended(&[]);
    assert!(!well && end["signal"] == true, "{end}");
    assert_eq!(end["place"][1], 8, "{end}");
    assert!(end["end"].as_str().expect("words").starts_with("the process ended, in read"), "{end}");
}
