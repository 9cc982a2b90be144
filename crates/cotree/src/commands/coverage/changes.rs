//! How much of what a change adds ran.

use super::changed::{self, ChangedFile};
use crate::lines;
use clap::ValueEnum;
use cotree_report::region_coverage::{ChangedLines, RegionCoverage};
use cotree_report::terminal::counted;
use miette::Result;

/// The services that show remarks beside the lines of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Annotations {
    /// GitHub's workflow commands, on standard output
    Github,
}

/// The lines that a change adds. `change` is a file with a diff, `-`, or a revision of git's.
///
/// # Errors
/// If the change can't be read.
pub fn read(change: &str) -> Result<Vec<ChangedFile>> {
    if changed::is_named(change) { changed::added(change) } else { changed::added_since(change) }
}

/// Which of these lines ran, of the files whose paths are wanted.
pub fn changed_lines(
    changes: Vec<ChangedFile>,
    coverage: &RegionCoverage<'_>,
    wanted: impl Fn(&str) -> bool,
) -> ChangedLines {
    let roots = changed::roots();
    let mut changed = ChangedLines::default();
    let mut unknown = Vec::new();
    for ChangedFile { path, lines } in changes.into_iter().filter(|file| !file.lines.is_empty()) {
        match changed::covered_path(&roots, coverage.paths(), &path) {
            Some(covered) if wanted(covered) => changed.add(&path, coverage, covered, &lines),
            Some(_) => {}
            None => unknown.push(path),
        }
    }
    if !unknown.is_empty() {
        let files = counted(unknown.len() as u128, "changed file");
        lines::note(format_args!("note: {files} with no code that was counted: {}", unknown.join(", ")));
    }
    changed
}
