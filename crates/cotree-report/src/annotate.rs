//! Source texts with the count of every line and the outcomes of its branches.

use crate::branches::{Branch, way_name};
use crate::coverage::{FileCoverage, FileIndex, LineCoverage};
use crate::names::matches;
use crate::source::Sources;
use crate::terminal::{Style, grouped};
use crate::unit::Unit;
use std::io::{self, Write};

/// What to show.
#[derive(Clone, Debug)]
pub struct Options {
    /// Only files whose path contains this.
    pub file: Option<String>,
    /// Only the lines of functions that match (see [`crate::names::matches`]).
    pub function: Option<String>,
    /// Show the outcomes of branches.
    pub branches: bool,
    /// Among them those that only tell whether a call threw.
    pub exceptions: bool,
    /// The terminal.
    pub style: Style,
}

impl Default for Options {
    fn default() -> Self {
        Self { file: None, function: None, branches: true, exceptions: false, style: Style::default() }
    }
}

/// Writes annotated sources; says how many files there were.
///
/// # Errors
/// Those of the output.
pub fn write(units: &[Unit<'_>], sources: &dyn Sources, options: &Options, out: &mut dyn Write) -> io::Result<usize> {
    let index = FileIndex::new(units, |symbol| options.function.as_ref().is_none_or(|p| matches(p, symbol)));
    let mut files = 0;
    for path in index.paths().filter(|p| options.file.as_ref().is_none_or(|f| p.contains(f.as_str()))) {
        let text = sources.text(path);
        let coverage = index.count(units, path, text.as_deref());
        if coverage.lines.is_empty() {
            continue;
        }
        files += 1;
        let style = options.style;
        writeln!(out, "{}", style.heading(path))?;
        let ran = format!("{} of {} lines ran", grouped(coverage.run() as u128), grouped(coverage.lines.len() as u128));
        writeln!(out, "{}", style.faint(&ran))?;
        if text.is_none() {
            writeln!(out, "{}", style.warning("its source is not there: only lines that have code are shown"))?;
        }
        let width = coverage.lines.values().map(|l| count_text(l).chars().count()).max().unwrap_or(0).max(5);
        let last = *coverage.lines.keys().next_back().expect("not empty");
        let (from, to) = match (&text, &options.function) {
            (Some(text), None) => (1, text.len().max(last)),
            _ => (*coverage.lines.keys().next().expect("not empty"), last),
        };
        write_lines(&coverage, text.as_deref(), from..=to, width, options, out)?;
        writeln!(out)?;
    }
    Ok(files)
}

fn write_lines(
    coverage: &FileCoverage,
    text: Option<&crate::source::SourceText>,
    range: std::ops::RangeInclusive<u32>,
    width: usize,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    let style = options.style;
    let mut write_line = |number: u32, line: Option<&LineCoverage>| {
        let count = line.map_or_else(String::new, count_text);
        let padded = format!("{count:>width$}");
        let shown = match line {
            Some(line) if line.count == 0 => style.bad(&padded),
            Some(line) if line.doubtful => style.warning(&padded),
            _ => padded,
        };
        let source = text.and_then(|t| t.line(number)).unwrap_or("");
        writeln!(out, "{}", format!("{shown} {} {source}", style.faint(&format!("{number:>5}:"))).trim_end())?;
        let Some(line) = line.filter(|_| options.branches) else { return Ok(()) };
        for branch in line.branches.clone().sorted().iter().filter(|b| options.exceptions || !b.exceptional()) {
            writeln!(out, "{:width$}        {}", "", style.faint(&branch_text(branch)))?;
        }
        Ok(())
    };
    if text.is_none() {
        // Without a source there is nothing to say about lines that have no code.
        return coverage.lines.range(range).try_for_each(|(&number, line)| write_line(number, Some(line)));
    }
    range.into_iter().try_for_each(|number| write_line(number, coverage.lines.get(&number)))
}

fn count_text(line: &LineCoverage) -> String {
    format!("{}{}", if line.doubtful { "~" } else { "" }, grouped(u128::from(line.count)))
}

fn branch_text(branch: &Branch) -> String {
    let column = if branch.column > 0 { format!(" at column {}", branch.column) } else { String::new() };
    if !branch.reached {
        return format!("branch{column}: never reached");
    }
    let ways = branch.ways.iter().map(|(kind, count)| {
        let count = count.map_or_else(|| "?".into(), |c| grouped(u128::from(c)));
        format!("{} {count}", way_name(*kind))
    });
    format!("branch{column}: {}", ways.collect::<Vec<_>>().join(", "))
}
