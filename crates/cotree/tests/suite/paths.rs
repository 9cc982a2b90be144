//! Paths of real programs, from the compiler to the views.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

struct Built {
    folder: tempfile::TempDir,
    source: String,
}

impl Built {
    /// Builds a program of `tests/programs`.
    fn new(program: &str, method: &str, level: &str) -> Self {
        let built = Self::of(program);
        built.build(&[method, level]);
        built
    }

    /// Builds nothing yet.
    fn of(program: &str) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            source: format!("{}/tests/programs/{program}", env!("CARGO_MANIFEST_DIR")),
        }
    }

    fn build(&self, arguments: &[&str]) {
        let [method, flags @ ..] = arguments else { panic!("a method") };
        let mut cc = self.cotree(&["--profile", method, "--verify", "cc", "-g", "-w", "-o", "program", &self.source]);
        succeed(cc.args(flags));
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn cotree(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cotree"));
        command.args(arguments).current_dir(self.folder.path()).env_remove("COLUMNS");
        command
    }

    /// Runs the program and checks its profile against the reference counters of the same run.
    fn run(&self, arguments: &[&str], profile: &str) {
        let mut program = Command::new(self.path("program"));
        succeed(program.args(arguments).current_dir(self.folder.path()).env("COTREE_FILE", self.path(profile)));
        succeed(&mut self.cotree(&["verify", profile]));
    }

    fn text(&self, arguments: &[&str]) -> String {
        succeed(&mut self.cotree(arguments))
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let mut all = arguments.to_vec();
        all.push("--json");
        serde_json::from_str(&self.text(&all)).unwrap()
    }

    /// A sentence of refusal, without the frame.
    fn refused(&self, arguments: &[&str]) -> String {
        let output = self.cotree(arguments).output().unwrap();
        assert!(!output.status.success(), "{arguments:?} must fail");
        let words = String::from_utf8(output.stderr).unwrap().replace(['│', '×'], " ");
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The numbers in `MARK(k)`, by line.
    fn marks(&self, mark: &str) -> BTreeMap<u64, u64> {
        let source = fs::read_to_string(&self.source).unwrap();
        let number = |line: &str| line.split_once(mark)?.1.split_once(')')?.0.parse().ok();
        (1..).zip(source.lines()).filter_map(|(line, text)| Some((line, number(text)?))).collect()
    }
}

fn succeed(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let (stdout, stderr) = (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap());
    assert!(status.success(), "{command:?}: {status}\n{stdout}\n{stderr}");
    stdout
}

/// Where path registers are at calls: `stack` is what is done where the code generator runs out of registers.
fn carried(place: &str) -> String {
    format!("--cotree-carry={place}")
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn functions(profile: &Value) -> impl Iterator<Item = &Value> {
    list(profile, "units").iter().flat_map(|unit| list(unit, "functions"))
}

fn function<'a>(profile: &'a Value, symbol: &str) -> &'a Value {
    functions(profile).find(|f| f["symbol"] == symbol).unwrap_or_else(|| panic!("no {symbol}"))
}

/// The marks on the lines of a path, in order. A block is on a path once, but the jump behind `&&` may be on the line
/// of its first operand, as with clang 19.
fn marked(lines: &[Value], marks: &BTreeMap<u64, u64>) -> Vec<u64> {
    let mut seen = BTreeSet::new();
    let found = lines.iter().filter_map(|line| marks.get(&line[1].as_u64()?).copied());
    found.filter(|&mark| seen.insert(mark)).collect()
}

/// Paths by the marks along them.
fn by_marks(function: &Value, lists: &[&str], marks: &BTreeMap<u64, u64>) -> BTreeMap<Vec<u64>, u64> {
    let mut counts = BTreeMap::new();
    for path in lists.iter().flat_map(|key| list(function, key)) {
        *counts.entry(marked(list(path, "lines"), marks)).or_default() += path["count"].as_u64().unwrap();
    }
    counts
}

#[test]
fn six_paths_of_the_paper() {
    let built = Built::new("six_paths.c", "path", "-O0");
    built.run(&["122333444455555666666"], "all.cotree");
    let profile = built.json(&["paths", "all.cotree"]);
    assert_eq!(profile["schema"], "cotree-paths/1");
    let six = function(&profile, "six");
    assert_eq!((six["possible"].as_u64(), six["executions"].as_u64()), (Some(6), Some(21)));
    let expected: BTreeMap<Vec<u64>, u64> = [
        (vec![1, 3, 4, 6], 1),
        (vec![1, 2, 3, 4, 6], 2),
        (vec![1, 2, 4, 6], 3),
        (vec![1, 3, 4, 5, 6], 4),
        (vec![1, 2, 3, 4, 5, 6], 5),
        (vec![1, 2, 4, 5, 6], 6),
    ]
    .into();
    let marks = built.marks("AT(");
    assert_eq!(by_marks(six, &["paths"], &marks), expected);
    assert!(list(six, "paths").iter().all(|p| p["class"] == "entry-to-exit"));
    let numbers: Vec<u64> = list(six, "paths").iter().filter_map(|p| p["number"].as_u64()).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4, 5]);
    // Most went to B (16 of 21), straight on from there (9 of 16), and to E (15 of 21): that path is predicted.
    let prediction = &list(six, "predictions")[0];
    assert_eq!((prediction["count"].as_u64(), prediction["hottest_count"].as_u64()), (Some(6), Some(6)));

    let text = built.text(&["paths", "all.cotree", "-f", "=six", "-n", "2", "--width", "80"]);
    assert!(text.contains("six_paths.c:6-9 12-13 14-15") || text.contains("six #"), "{text}");
    assert!(text.contains("(2 of 6)") && text.contains("100.0%"), "{text}");
    assert!(built.refused(&["paths", "-f", "nothing", "all.cotree"]).contains("there is no function nothing"));

    // Another run knows two of the paths.
    built.run(&["6655"], "train.cotree");
    let cover = built.json(&["paths", "all.cotree", "--against", "train.cotree", "-f", "=six"]);
    assert_eq!(cover["schema"], "cotree-path-cover/1");
    assert_eq!(function(&cover, "six")["paths"], serde_json::json!([2, 6]));
    assert_eq!(function(&cover, "six")["executions"], serde_json::json!([11, 21]));
    let difference = built.json(&["diff", "--paths", "train.cotree", "all.cotree", "-f", "=six"]);
    assert_eq!(difference["schema"], "cotree-path-diff/1");
    assert_eq!(list(function(&difference, "six"), "new").len(), 4);
    assert_eq!(list(function(&difference, "six"), "gone").len(), 0);
    let text = built.text(&["diff", "--paths", "train.cotree", "all.cotree"]);
    assert!(text.contains("4 paths only now, 0 paths only before"), "{text}");

    // After another build the numbers mean something else.
    fs::rename(built.path("program"), built.path("old")).unwrap();
    built.build(&["path", "-O1"]);
    built.run(&["1"], "other.cotree");
    let message = built.refused(&["paths", "all.cotree", "--against", "other.cotree", "--binary", "old"]);
    assert!(message.contains("paths are numbered anew in each build"), "{message}");
    let message = built.refused(&["diff", "--paths", "all.cotree", "other.cotree", "--binary-before", "old"]);
    assert!(message.contains("paths are numbered anew in each build"), "{message}");
}

#[test]
fn context_tells_how_a_loop_was_reached() {
    let built = Built::new("six_paths.c", "path", "-O0");
    built.run(&[], "plain.cotree");
    let marks = built.marks("AT(");
    let plain = built.json(&["paths", "plain.cotree"]);
    let expected: BTreeMap<Vec<u64>, u64> =
        [(vec![7, 10], 1), (vec![8, 10], 1), (vec![9], 3), (vec![10], 2), (vec![], 2)].into();
    assert_eq!(by_marks(function(&plain, "turns"), &["paths"], &marks), expected);

    built.build(&["path-context", "-O0"]);
    built.run(&[], "context.cotree");
    let context = built.json(&["paths", "context.cotree"]);
    let mut found = BTreeMap::new();
    for path in list(function(&context, "turns"), "paths") {
        let reached = marked(list(path, "context_lines"), &marks);
        let marks_along = marked(list(path, "lines"), &marks);
        *found.entry((reached, marks_along)).or_default() += path["count"].as_u64().unwrap();
    }
    let expected: BTreeMap<(Vec<u64>, Vec<u64>), u64> = [
        ((vec![], vec![7, 10]), 1),
        ((vec![7], vec![9]), 2),
        ((vec![7], vec![10]), 1),
        ((vec![7], vec![]), 1),
        ((vec![], vec![8, 10]), 1),
        ((vec![8], vec![9]), 1),
        ((vec![8], vec![10]), 1),
        ((vec![8], vec![]), 1),
    ]
    .into();
    assert_eq!(found, expected);
}

/// Paths by function and blocks, as the program logged them: cut where a number is not higher than the one before.
fn logged(log: &[u8]) -> BTreeMap<u64, BTreeMap<Vec<u64>, u64>> {
    let mut open: BTreeMap<u32, (u64, Vec<u64>)> = BTreeMap::new();
    let mut paths: BTreeMap<u64, BTreeMap<Vec<u64>, u64>> = BTreeMap::new();
    let mut end = |function: u64, path: Vec<u64>| *paths.entry(function).or_default().entry(path).or_default() += 1;
    for entry in log.chunks_exact(12) {
        let word = |at: usize| u32::from_ne_bytes(entry[at..at + 4].try_into().unwrap());
        let (function, block) = (u64::from(word(4)), u64::from(word(8)));
        let path = &mut open.entry(word(0)).or_insert((function, Vec::new())).1;
        if path.last().is_some_and(|&last| block <= last) {
            end(function, std::mem::take(path));
        }
        path.push(block);
    }
    for (function, path) in open.into_values() {
        end(function, path);
    }
    paths
}

#[test]
fn paths_are_those_that_the_program_logged() {
    let cases =
        ["path", "path-context"].into_iter().flat_map(|method| ["registers", "stack"].map(|carry| (method, carry)));
    for (method, carry) in cases {
        let built = Built::of("blocks_logged.c");
        built.build(&[method, "-O0", &carried(carry)]);
        let marks = built.marks("B(");
        // The second run ends by `exit` in the middle of everything.
        for (profile, arguments) in [("whole.cotree", &[][..]), ("ended.cotree", &["x"])] {
            built.run(arguments, profile);
            let logged = logged(&fs::read(Path::new(&built.path("log.bin"))).unwrap());
            let json = built.json(&["paths", profile]);
            assert!(functions(&json).all(|f| list(f, "flaws").is_empty()));
            for (number, symbol) in [(1, "nested"), (2, "chosen"), (3, "down"), (4, "main")] {
                let function = function(&json, symbol);
                let mut found = by_marks(function, &["paths", "pending"], &marks);
                // What is not of this function's own log: the beginning of `main`.
                found.remove(&vec![]);
                assert_eq!(found, logged[&number], "{symbol} of {profile} by {method}, carried in {carry}");
            }
            let ended = functions(&json).map(|f| list(f, "pending").len() + list(f, "cut_short").len()).sum::<usize>();
            assert_eq!(ended > 0, !arguments.is_empty());
        }
    }
}

/// Only in release builds, as `cargo xtask test` makes: it takes minutes in others.
#[cfg(not(debug_assertions))]
/// Without reference counters, which would stand beside the calls.
#[test]
fn calls_alone_in_their_blocks_are_known() {
    let built = Built::of("alone_in_blocks.cpp");
    let cases =
        ["-O0", "-O1", "-O2", "-Os"].into_iter().flat_map(|level| ["registers", "stack"].map(|carry| (level, carry)));
    for (level, carry) in cases {
        let mut build = built.cotree(&["--profile", "path", "c++", level, "-w", "-o", "alone", &built.source]);
        succeed(build.args(["-g", &carried(carry)]));
        let mut program = Command::new(built.path("alone"));
        succeed(program.current_dir(built.folder.path()).env("COTREE_FILE", "alone.cotree"));
        let report = built.text(&["report", "alone.cotree"]);
        assert!(report.contains("exact: every count below"), "{level}, {carry}: {report}");
        let paths = built.json(&["paths", "-n", "0", "alone.cotree"]);
        let left = functions(&paths).find(|f| f["symbol"].as_str().unwrap().contains("4left")).unwrap();
        assert_eq!(left["entries"], 1000, "{level}");
        let pending: u64 = list(left, "pending").iter().map(|p| p["count"].as_u64().unwrap()).sum();
        assert_eq!(pending, 200, "{level}");
    }
}

#[test]
fn a_million_paths_of_one_function() {
    let built = Built::new("million_paths.c", "path", "-O2");
    built.run(&[], "million.cotree");
    let text = built.text(&["paths", "million.cotree", "-n", "1", "-f", "=walk"]);
    assert!(text.contains("of 1,048,576 possible") && text.contains("1,114,112  of paths"), "{text}");
    // A bucket takes 32 bytes, and tables that became too small stay: four times that for each path.
    let size = fs::metadata(built.path("million.cotree")).unwrap().len();
    assert!(size < (1 << 20) * 32 * 4 + (1 << 20), "{size} bytes");
}

/// A parser and its trees of templates, all of it inlined: calls of different copies follow each other at once, and
/// throw.
#[test]
fn calls_that_follow_each_other_are_told_apart() {
    let mut built = Built::of("million_paths.c");
    built.source = format!("{}/../../xtask/programs/templates.cpp", env!("CARGO_MANIFEST_DIR"));
    for (method, level) in [("path", "-O1"), ("path", "-O2"), ("path-context", "-O2")] {
        succeed(&mut built.cotree(&[
            "--profile",
            method,
            "--verify",
            "c++",
            level,
            "-std=c++20",
            "-w",
            "-o",
            "program",
            &built.source,
        ]));
        built.run(&["50"], "templates.cotree");
        let report = built.text(&["report", "templates.cotree"]);
        assert!(report.contains("exact: every count below"), "{method} {level}: {report}");
    }
}

/// 64 functions of 2^22 paths, each counted in an array of its own.
#[test]
fn arrays_that_no_code_can_reach_are_refused() {
    let built = Built::of("million_paths.c");
    let tests: String = (0..22).map(|bit| format!("if (x >> {bit} & 1) y = y * 3 + {bit};")).collect();
    let functions: String = (0..64)
        .map(|n| {
            format!("__attribute__((noinline)) unsigned f{n}(unsigned x) {{ unsigned y = {n}; {tests} return y; }}\n")
        })
        .collect();
    let calls: String = (0..64).map(|n| format!("y += f{n}(y);")).collect();
    fs::write(
        built.path("many.c"),
        format!("{functions}int main(void) {{ unsigned y = 1; {calls} return y == 0; }}\n"),
    )
    .unwrap();
    let build = |array: &'static str| ["--profile", "path", "--path-array", array, "cc", "-O0", "many.c", "-o", "many"];
    let words = built.refused(&build("4194304"));
    assert!(words.contains("the counters of many would take 2048 MiB, more than the 1536 MiB"), "{words}");
    assert!(words.contains("choose a smaller --path-array"), "{words}");
    assert!(!Path::new(&built.path("many")).exists());
    // Those that are left to choose their arrays themselves get along.
    succeed(&mut built.cotree(&build("1024")));
    succeed(Command::new(built.path("many")).current_dir(built.folder.path()).env("COTREE_FILE", "many.cotree"));
    assert!(built.text(&["report", "many.cotree"]).contains("exact: every count below"));
}
