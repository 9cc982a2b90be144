//! Which tests ran the code: profiles by the name of the test that they are of.

use super::super::output::Output;
use super::changed::{self, ChangedFile};
use super::programs::Programs;
use crate::lines;
use cotree_report::region_coverage::{CoverageByTest, RegionCoverage};
use cotree_report::terminal::counted;
use miette::Result;
use std::collections::BTreeSet;

/// What each test ran, of the files of `all` whose paths are wanted.
pub fn of_tests(programs: &Programs, all: &RegionCoverage<'_>, wanted: impl Fn(&str) -> bool) -> CoverageByTest {
    let mut by_test = CoverageByTest::new(all, wanted);
    for (test, counted) in programs.tests() {
        by_test.add(test, &RegionCoverage::new(&counted));
    }
    by_test
}

/// Writes the names of the tests that ran what a change touches, one a line.
///
/// # Errors
/// If a change can't be read, or the output can't be written.
pub fn write_tests_for(by_test: &CoverageByTest, changes: &[String], output: &Output) -> Result<()> {
    let mut tests = BTreeSet::new();
    let mut unknown = Vec::new();
    let roots = changed::roots();
    for change in changes {
        for ChangedFile { path, lines } in changed::touched(change)? {
            match changed::covered_path(&roots, by_test.paths(), &path) {
                Some(covered) => tests.extend(lines.iter().flat_map(|lines| by_test.tests_of(covered, lines))),
                None => unknown.push(path),
            }
        }
    }
    if !unknown.is_empty() {
        let files = counted(unknown.len() as u128, "changed file");
        let names = unknown.join(", ");
        lines::note(format_args!("note: {files} with no code that was counted: {names}"));
    }
    let names: BTreeSet<&str> = tests.into_iter().map(|test| by_test.tests()[test].as_str()).collect();
    if names.is_empty() {
        lines::note(format_args!("note: no test has run these lines"));
    }
    output.write_text(|out| names.iter().try_for_each(|name| writeln!(out, "{name}")))
}
