//! The comparison as remarks beside the lines of a change: coverage that was lost, and new code that did not run.

use super::category::Category;
use super::comparison::Comparison;
use crate::region_coverage::github;
use crate::region_coverage::line_runs::span;
use std::io::{self, Write};

/// Writes commands for GitHub's workflows. `prefix` is left out of paths.
///
/// # Errors
/// If the output can't be written.
pub fn write_github(comparison: &Comparison, prefix: &str, out: &mut dyn Write) -> io::Result<()> {
    for named in &comparison.files {
        let path = named.path.strip_prefix(prefix).unwrap_or(&named.path);
        let mut write = |parts: Vec<(u32, u32)>, title: &str, says: &dyn Fn(&str) -> String| {
            parts.into_iter().try_for_each(|(first, last)| {
                let what = if first == last { "Line" } else { "Lines" };
                let lines = format!("{what} {}", span(first, last));
                github::warning(path, (first, last), title, &says(&lines), out)
            })
        };
        let lost = named.lines(Category::Lbc);
        let is_lost = |line: u32| lost.iter().any(|&(first, last)| first <= line && line <= last);
        // Where the whole line is lost, its outcomes need no word.
        let mut outcomes = named.lines_of_branches(Category::Lbc);
        outcomes.retain(|&(first, last)| !(is_lost(first) && is_lost(last)));
        write(lost, "Lost coverage", &|lines| format!("{lines}: ran before, not now (LBC)"))?;
        write(outcomes, "Lost coverage", &|lines| {
            format!("{lines}: an outcome of a condition was seen before, not now (LBC)")
        })?;
        write(named.lines(Category::Unc), "Not covered", &|lines| format!("{lines}: new, no test runs them (UNC)"))?;
    }
    Ok(())
}
