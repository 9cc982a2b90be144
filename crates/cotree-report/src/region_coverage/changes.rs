//! The lines that a change adds: which of them ran.

use super::github;
use super::line_runs::span;
use super::program::RegionCoverage;
use super::summary::Ratio;
use crate::terminal::{Style, grouped, number, percent, text};
use serde::Serialize;
use std::io::{self, Write};
use std::ops::RangeInclusive;

/// The coverage of the lines that a change adds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedLines {
    /// Each file that has such lines, in the order in which they were added.
    pub files: Vec<ChangedLinesOfFile>,
    /// The lines of all files that have code, and how many of them ran.
    pub total: Ratio,
}

/// The coverage of the lines that a change adds to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedLinesOfFile {
    /// The path, as the change has it.
    pub path: String,
    /// The lines that have code, and how many of them ran.
    pub lines: Ratio,
    /// The lines that did not run: first and last of each part.
    pub missing: Vec<(u32, u32)>,
}

impl ChangedLines {
    /// Adds the lines of one file: `path` is the one of the change, `covered` that of the coverage. Lines without code
    /// count for nothing.
    pub fn add(&mut self, path: &str, coverage: &RegionCoverage<'_>, covered: &str, lines: &[RangeInclusive<u32>]) {
        let mut file = ChangedLinesOfFile { path: path.to_owned(), lines: Ratio::default(), missing: Vec::new() };
        for run in coverage.file(covered).lines() {
            for added in lines {
                let (first, last) = (run.first.max(*added.start()), run.last.min(*added.end()));
                if first > last {
                    continue;
                }
                let length = u64::from(last - first) + 1;
                file.lines.total += length;
                if run.count > 0 {
                    file.lines.covered += length;
                    continue;
                }
                match file.missing.last_mut() {
                    Some((_, end)) if end.checked_add(1) == Some(first) => *end = last,
                    _ => file.missing.push((first, last)),
                }
            }
        }
        self.total.covered += file.lines.covered;
        self.total.total += file.lines.total;
        if file.lines.total > 0 {
            self.files.push(file);
        }
    }

    /// Writes a table for people.
    ///
    /// # Errors
    /// If the output can't be written.
    pub fn write_text(&self, style: Style, out: &mut dyn Write) -> io::Result<()> {
        if self.files.is_empty() {
            return writeln!(out, "The change adds no line with code.");
        }
        let row = |lines: Ratio, missing: &[(u32, u32)], name: &str| {
            let share = percent(lines.covered.into(), lines.total.into());
            let missing: Vec<String> = missing.iter().map(|&(first, last)| span(first, last)).collect();
            vec![
                share,
                grouped(lines.total.into()),
                grouped(lines.missed().into()),
                name.to_owned(),
                missing.join(", "),
            ]
        };
        let mut rows: Vec<_> = self.files.iter().map(|file| row(file.lines, &file.missing, &file.path)).collect();
        rows.push(row(self.total, &[], "total"));
        let columns =
            [number("changed lines"), number("of"), number("missed"), text("file"), text("lines that did not run")];
        write!(out, "{}", style.table(&columns, rows))
    }

    /// Writes JSON (`cotree-coverage-changes/1`, docs/json.md).
    ///
    /// # Errors
    /// If the output can't be written.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let share = |lines: Ratio| Share { covered: lines.covered, total: lines.total };
        let files = self.files.iter().map(|file| FileDocument {
            path: &file.path,
            lines: share(file.lines),
            missing_lines: file.missing.iter().map(|&(first, last)| [first, last]).collect(),
        });
        let document = Document {
            schema: "cotree-coverage-changes/1",
            total: Total { lines: share(self.total) },
            files: files.collect(),
        };
        serde_json::to_writer_pretty(&mut *out, &document)?;
        writeln!(out)
    }

    /// Writes commands for GitHub's workflows, which show a warning at each part that did not run.
    ///
    /// # Errors
    /// If the output can't be written.
    pub fn write_github(&self, out: &mut dyn Write) -> io::Result<()> {
        for file in &self.files {
            for &(first, last) in &file.missing {
                let what = if first == last { "line" } else { "lines" };
                let says = format!("No test runs {what} {}", span(first, last));
                github::warning(&file.path, (first, last), "Not covered", &says, out)?;
            }
        }
        Ok(())
    }
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    total: Total,
    files: Vec<FileDocument<'a>>,
}

#[derive(Serialize)]
struct Total {
    lines: Share,
}

#[derive(Serialize)]
struct FileDocument<'a> {
    path: &'a str,
    lines: Share,
    missing_lines: Vec<[u32; 2]>,
}

#[derive(Serialize)]
struct Share {
    covered: u64,
    total: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_hold_what_a_path_may_have() {
        let file = |path: &str, missing: &[(u32, u32)]| ChangedLinesOfFile {
            path: path.into(),
            lines: Ratio { covered: 0, total: 3 },
            missing: missing.to_vec(),
        };
        let changed = ChangedLines { files: vec![file("a,b:c%.rs", &[(3, 4), (9, 9)])], ..ChangedLines::default() };
        let mut out = Vec::new();
        changed.write_github(&mut out).expect("memory");
        let wanted = "::warning file=a%2Cb%3Ac%25.rs,line=3,endLine=4,title=Not covered::No test runs lines 3-4\n\
                      ::warning file=a%2Cb%3Ac%25.rs,line=9,endLine=9,title=Not covered::No test runs line 9\n";
        assert_eq!(String::from_utf8(out).expect("text"), wanted);
    }
}
