//! Which tests ran the code: profiles by the name of the test that they are of.

use super::super::output::Output;
use super::super::sources::SourceArgs;
use super::changed::{self, ChangedFile};
use super::programs::Programs;
use crate::folder::Folder;
use crate::lines;
use cotree_profile::file::ProfileFile;
use cotree_report::region_coverage::{CoverageByTest, RegionCoverage};
use cotree_report::terminal::counted;
use miette::{IntoDiagnostic, Result, miette};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Reads what each test ran, of the files whose paths are wanted.
///
/// # Errors
/// If a profile or a program can't be read.
pub fn read(
    tests: BTreeMap<String, Vec<PathBuf>>,
    binaries: &[PathBuf],
    sources: &SourceArgs,
    wanted: impl Fn(&str) -> bool,
) -> Result<CoverageByTest> {
    let mut by_test = CoverageByTest::default();
    for (test, files) in tests {
        let programs = Programs::load(&files, binaries, &|_| true, sources)?;
        by_test.add(&test, &RegionCoverage::new(&programs.counted()), &wanted);
    }
    Ok(by_test)
}

/// The profiles of each test.
///
/// # Errors
/// If no profile has the name of a test, or one can't be read.
pub fn of_tests(profiles: &[PathBuf]) -> Result<BTreeMap<String, Vec<PathBuf>>> {
    if profiles.is_empty() {
        return Err(miette!("name the profiles of the tests, or their folder: one profile tells no tests apart"));
    }
    let mut tests: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    let (mut unnamed, mut sums) = (0u64, 0u64);
    for path in profiles {
        let files = if path.is_dir() { Folder::read(path)?.files().to_vec() } else { vec![path.clone()] };
        for file in files {
            let units = ProfileFile::open(&file).into_diagnostic()?.units;
            let mut names: BTreeSet<String> = units.into_iter().flat_map(|counts| counts.tests).collect();
            match (names.pop_first(), names.is_empty()) {
                (Some(test), true) => tests.entry(test).or_default().push(file),
                (Some(_), false) => sums += 1,
                (None, _) => unnamed += 1,
            }
        }
    }
    if sums > 0 {
        let sums = counted(sums.into(), "sum");
        lines::note(format_args!("note: left out: {sums} of several tests: take the profiles that they were made of"));
    }
    if tests.is_empty() {
        return Err(miette!(
            "no profile has the name of a test: run each test with COTREE_TEST set to its name (docs/coverage.md)"
        ));
    }
    if unnamed > 0 {
        let profiles = counted(unnamed.into(), "profile");
        lines::note(format_args!("note: left out: {profiles} without the name of a test (COTREE_TEST was not set)"));
    }
    Ok(tests)
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
