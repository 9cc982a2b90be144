//! Which tests run a line, and which a function.

use super::functions::CountedFunction;
use super::line_runs::span;
use super::program::{Group, RegionCoverage};
use crate::names::Names;
use crate::terminal::{Style, counted, grouped, number, text};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::ops::RangeInclusive;

/// More tests than this are only counted where people read.
const NAMED: usize = 3;

/// What each of several tests ran.
#[derive(Clone, Debug, Default)]
pub struct CoverageByTest {
    /// The names of the tests, in the order in which they were added.
    tests: Vec<String>,
    files: BTreeMap<String, TestedFile>,
}

/// What tests ran of one file.
#[derive(Clone, Debug, Default)]
struct TestedFile {
    /// First and last of consecutive lines, and the test that ran them.
    lines: Vec<(u32, u32, usize)>,
    /// The tests that entered a function, by its line and symbol.
    functions: BTreeMap<(u32, String), BTreeSet<usize>>,
}

/// Consecutive lines that were run by the very same tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestedLines {
    /// The first line.
    pub first: u32,
    /// The last line.
    pub last: u32,
    /// Indices of the tests, rising; one at least.
    pub tests: Vec<usize>,
}

/// How much a test ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TestTotals {
    /// Lines.
    pub lines: u64,
    /// Lines that no other test ran.
    pub alone: u64,
    /// Functions.
    pub functions: u64,
    /// Files.
    pub files: u64,
}

impl CoverageByTest {
    /// Knows the files and functions of `all`, whose paths are wanted, and no test yet.
    #[must_use]
    pub fn new(all: &RegionCoverage<'_>, wanted: impl Fn(&str) -> bool) -> Self {
        let mut files: BTreeMap<String, TestedFile> = BTreeMap::new();
        for path in all.paths().filter(|path| wanted(path)) {
            let groups = all.groups(path);
            let functions = groups.iter().filter_map(function_of);
            if !groups.is_empty() {
                let functions = functions.map(|function| (function, BTreeSet::new())).collect();
                files.insert(path.to_owned(), TestedFile { functions, ..TestedFile::default() });
            }
        }
        Self { tests: Vec::new(), files }
    }

    /// Adds what a test ran.
    pub fn add(&mut self, test: &str, coverage: &RegionCoverage<'_>) {
        let number = self.tests.len();
        self.tests.push(test.to_owned());
        for (path, file) in &mut self.files {
            let ran = |function: &CountedFunction<'_>| function.counts.iter().any(|region| region.count > 0);
            if !coverage.functions_in(path).any(ran) {
                continue;
            }
            for run in coverage.file(path).lines().filter(|run| run.count > 0) {
                match file.lines.last_mut() {
                    Some((_, last, of)) if *of == number && last.checked_add(1) == Some(run.first) => *last = run.last,
                    _ => file.lines.push((run.first, run.last, number)),
                }
            }
            for group in coverage.groups(path) {
                if let Some(function) = function_of(&group)
                    && group.functions.iter().any(|function| function.entries() > 0)
                {
                    file.functions.entry(function).or_default().insert(number);
                }
            }
        }
    }

    /// The names of the tests.
    #[must_use]
    pub fn tests(&self) -> &[String] {
        &self.tests
    }

    /// The paths of all files that have functions.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// The lines of a file that any test ran, in order.
    #[must_use]
    pub fn lines(&self, path: &str) -> Vec<TestedLines> {
        self.files.get(path).map_or_else(Vec::new, TestedFile::tested_lines)
    }

    /// The functions of a file by line and symbol, with the tests that entered them.
    #[must_use]
    pub fn functions(&self, path: &str) -> Vec<((u32, String), Vec<usize>)> {
        let functions = self.files.get(path).into_iter().flat_map(|file| &file.functions);
        functions.map(|(function, tests)| (function.clone(), tests.iter().copied().collect())).collect()
    }

    /// How much each test ran, in the order of the tests.
    #[must_use]
    pub fn totals(&self) -> Vec<TestTotals> {
        let mut totals = vec![TestTotals::default(); self.tests.len()];
        for file in self.files.values() {
            let mut ran = BTreeSet::new();
            for part in file.tested_lines() {
                let length = u64::from(part.last - part.first) + 1;
                part.tests.iter().for_each(|&test| totals[test].lines += length);
                if let [only] = part.tests[..] {
                    totals[only].alone += length;
                }
                ran.extend(part.tests);
            }
            file.functions.values().flatten().for_each(|&test| totals[test].functions += 1);
            ran.into_iter().for_each(|test| totals[test].files += 1);
        }
        totals
    }

    /// The tests that ran any of these lines of a file.
    #[must_use]
    pub fn tests_of(&self, path: &str, lines: &RangeInclusive<u32>) -> BTreeSet<usize> {
        let parts = self.files.get(path).into_iter().flat_map(|file| &file.lines);
        parts.filter(|(first, last, _)| first <= lines.end() && lines.start() <= last).map(|&(.., test)| test).collect()
    }

    /// Writes for people: the tests, and by which of them the lines of each file were run. `prefix` is left out of
    /// paths.
    ///
    /// # Errors
    /// If the output can't be written.
    pub fn write_text(&self, prefix: &str, style: Style, out: &mut dyn Write) -> io::Result<()> {
        let totals = self.totals();
        let row = |test: usize| {
            let TestTotals { lines, alone, .. } = totals[test];
            vec![grouped(lines.into()), grouped(alone.into()), self.tests[test].clone()]
        };
        let columns = [number("lines"), number("by no other"), text("test")];
        write!(out, "{}", style.table(&columns, (0..self.tests.len()).map(row).collect()))?;
        let files = self.files.iter().map(|(path, file)| (path, file.tested_lines()));
        for (path, lines) in files.filter(|(_, lines)| !lines.is_empty()) {
            let short = path.strip_prefix(prefix).map_or(path.as_str(), |rest| rest.trim_start_matches('/'));
            writeln!(out, "\n{}", style.heading(short))?;
            for part in &lines {
                let line = format!("{}: {}", span(part.first, part.last), self.name_some(&part.tests));
                writeln!(out, "  {}", style.wrap(&line, 4))?;
            }
        }
        Ok(())
    }

    /// Some of these tests by name; how many more there are.
    fn name_some(&self, tests: &[usize]) -> String {
        let named = if tests.len() == NAMED + 1 { tests.len() } else { tests.len().min(NAMED) };
        let names: Vec<&str> = tests[..named].iter().map(|&test| self.tests[test].as_str()).collect();
        let more = tests.len() - named;
        if more == 0 {
            names.join(", ")
        } else {
            format!("{}, and {}", names.join(", "), counted(more as u128, "more test"))
        }
    }

    /// Writes JSON (`cotree-coverage-by-test/1`, docs/json.md).
    ///
    /// # Errors
    /// If the output can't be written.
    pub fn write_json(&self, names: Names, out: &mut dyn Write) -> io::Result<()> {
        let files = self.files.iter().map(|(path, file)| FileDocument {
            path,
            lines: file
                .tested_lines()
                .into_iter()
                .map(|TestedLines { first, last, tests }| Lines { first, last, tests })
                .collect(),
            functions: file
                .functions
                .iter()
                .map(|((line, symbol), tests)| Function { line: *line, name: names.show(symbol), tests })
                .collect(),
        });
        let document = Document { schema: "cotree-coverage-by-test/1", tests: &self.tests, files: files.collect() };
        serde_json::to_writer_pretty(&mut *out, &document)?;
        writeln!(out)
    }
}

/// What a function is known by: its line and its symbol, of the first instance.
fn function_of(group: &Group<'_, '_>) -> Option<(u32, String)> {
    group.functions.first().map(|first| (group.start.line, first.function.symbol().to_owned()))
}

impl TestedFile {
    /// Cuts the lines where the set of tests changes.
    fn tested_lines(&self) -> Vec<TestedLines> {
        // Where tests begin and where they have ended.
        let mut changes: BTreeMap<u64, Vec<(usize, bool)>> = BTreeMap::new();
        for &(first, last, test) in &self.lines {
            changes.entry(first.into()).or_default().push((test, true));
            changes.entry(u64::from(last) + 1).or_default().push((test, false));
        }
        let mut running = BTreeSet::new();
        let mut parts: Vec<TestedLines> = Vec::new();
        let mut changes = changes.into_iter().peekable();
        while let Some((line, changed)) = changes.next() {
            for (test, begins) in changed {
                if begins {
                    running.insert(test)
                } else {
                    running.remove(&test)
                };
            }
            let (Some(&(next, _)), false) = (changes.peek(), running.is_empty()) else { continue };
            // Both are lines that a test ran, so they fit.
            let (first, last) = (line as u32, (next - 1) as u32);
            parts.push(TestedLines { first, last, tests: running.iter().copied().collect() });
        }
        parts
    }
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    tests: &'a [String],
    files: Vec<FileDocument<'a>>,
}

#[derive(Serialize)]
struct FileDocument<'a> {
    path: &'a str,
    lines: Vec<Lines>,
    functions: Vec<Function<'a>>,
}

#[derive(Serialize)]
struct Lines {
    first: u32,
    last: u32,
    tests: Vec<usize>,
}

#[derive(Serialize)]
struct Function<'a> {
    line: u32,
    name: String,
    tests: &'a BTreeSet<usize>,
}
