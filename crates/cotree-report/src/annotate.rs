//! Annotated sources: every line with its count and the outcomes of its branches.
//!
//! Files of the project come first, then those of the system and of libraries that were compiled with it.

use crate::branches::Branch;
use crate::coverage::{FileCoverage, FileIndex, LineCoverage};
use crate::files::{FilePattern, is_foreign};
use crate::names::matches;
use crate::selection::Selection;
use crate::source::{SourceText, Sources};
use crate::terminal::{Style, grouped, mark};
use crate::unit::{LOOP_MISSING, Unit};
use std::io::{self, Write};
use std::ops::RangeInclusive;

/// What to show.
#[derive(Clone, Debug)]
pub struct AnnotateOptions {
    /// Only these files.
    pub file: Option<FilePattern>,
    /// Only the lines of functions that match (see [`crate::names::matches`]).
    pub function: Option<String>,
    /// Show the outcomes of branches.
    pub branches: bool,
    /// Also show outcomes that only say whether a call threw.
    pub exceptions: bool,
    /// Also show checks of the compiler's own ([`crate::checks`]).
    pub checks: bool,
    /// The terminal.
    pub style: Style,
}

impl Default for AnnotateOptions {
    fn default() -> Self {
        Self { file: None, function: None, branches: true, exceptions: false, checks: true, style: Style::default() }
    }
}

/// Writes annotated sources; returns the number of files.
///
/// # Errors
/// If the output can't be written.
pub fn write(
    units: &[Unit<'_>],
    sources: &dyn Sources,
    options: &AnnotateOptions,
    out: &mut dyn Write,
) -> io::Result<usize> {
    let wanted = |symbol: &str| options.function.as_ref().is_none_or(|p| matches(p, symbol));
    let index = FileIndex::new(units, wanted);
    let selection = options.function.as_ref().map(|_| Selection::new(units, wanted));
    let mut paths: Vec<&str> =
        index.paths().filter(|path| options.file.as_ref().is_none_or(|pattern| pattern.matches(path))).collect();
    paths.sort_by_key(|path| is_foreign(path));
    let mut files = 0;
    for path in paths {
        let lines = match &selection {
            None => None,
            Some(selection) => match selection.of_file(path) {
                Some(lines) => Some(lines),
                None => continue,
            },
        };
        let text = sources.text(path);
        let mut coverage = index.count(units, path, text.as_deref());
        coverage.lines.retain(|&line, _| lines.is_none_or(|lines| lines.contains(line)));
        let Some(last) = coverage.lines.keys().next_back().copied() else { continue };
        files += 1;
        let style = options.style;
        writeln!(out, "{}", style.heading(path))?;
        let doubt = mark(coverage.lines.values().any(|line| line.doubtful));
        let of_whom =
            options.function.as_ref().map_or_else(String::new, |pattern| format!(" of functions that match {pattern}"));
        let ran = format!(
            "{doubt}{} of {} lines{of_whom} ran",
            grouped(coverage.run() as u128),
            grouped(coverage.lines.len() as u128)
        );
        writeln!(out, "{}", style.faint(&ran))?;
        if text.is_none() {
            writeln!(out, "{}", style.warning("its source is not there: only lines that have code are shown"))?;
        }
        let width = coverage.lines.values().map(|l| count_text(l).chars().count()).max().unwrap_or(0).max(5);
        let page = Page { coverage: &coverage, text: text.as_deref(), width, options };
        match lines {
            Some(lines) => {
                for (number, range) in lines.ranges().enumerate() {
                    if number > 0 {
                        writeln!(out, "{:>width$} {}", "", style.faint("  …"))?;
                    }
                    page.write(range, out)?;
                }
            }
            None => page.write(1..=page.text.map_or(0, SourceText::len).max(last), out)?,
        }
        writeln!(out)?;
    }
    Ok(files)
}

/// What is to be written of one file.
struct Page<'a> {
    coverage: &'a FileCoverage,
    text: Option<&'a SourceText>,
    width: usize,
    options: &'a AnnotateOptions,
}

impl Page<'_> {
    fn write(&self, range: RangeInclusive<u32>, out: &mut dyn Write) -> io::Result<()> {
        if self.text.is_none() {
            // Without a source there is nothing to say about lines that have no code.
            let mut lines = self.coverage.lines.range(range);
            return lines.try_for_each(|(&number, line)| self.write_line(number, Some(line), out));
        }
        range.into_iter().try_for_each(|number| self.write_line(number, self.coverage.lines.get(&number), out))
    }

    fn shows(&self, branch: &Branch) -> bool {
        (self.options.exceptions || !branch.exceptional()) && (self.options.checks || !branch.check)
    }

    fn write_line(&self, number: u32, line: Option<&LineCoverage>, out: &mut dyn Write) -> io::Result<()> {
        let (style, width) = (self.options.style, self.width);
        let count = line.map_or_else(String::new, count_text);
        let padded = format!("{count:>width$}");
        let shown = match line {
            Some(line) if line.count == 0 => style.bad(&padded),
            Some(line) if line.doubtful => style.warning(&padded),
            _ => padded,
        };
        let source = self.text.and_then(|t| t.line(number)).unwrap_or("");
        writeln!(out, "{}", format!("{shown} {} {source}", style.faint(&format!("{number:>5}:"))).trim_end())?;
        if line.is_some_and(|line| line.loop_missing) {
            writeln!(out, "{:indent$}{}", "", style.warning(LOOP_MISSING), indent = width + 8)?;
        }
        let Some(line) = line.filter(|_| self.options.branches) else { return Ok(()) };
        let branches = line.branches.clone().sorted();
        let mut rest = branches.iter().filter(|branch| self.shows(branch)).peekable();
        while let Some(branch) = rest.next() {
            // Equal rows at one place are shown once.
            let text = branch.text(line.doubtful);
            let mut times = 1;
            while !branch.reached && rest.next_if(|next| next.text(line.doubtful) == text).is_some() {
                times += 1;
            }
            let times = if times > 1 { format!(" ({times} of them)") } else { String::new() };
            let indent = width + 8;
            for row in style.wrap(&format!("{text}{times}"), indent).lines() {
                writeln!(out, "{:indent$}{}", "", style.faint(row.trim_start()))?;
            }
        }
        Ok(())
    }
}

fn count_text(line: &LineCoverage) -> String {
    format!("{}{}", mark(line.doubtful), grouped(u128::from(line.count)))
}
