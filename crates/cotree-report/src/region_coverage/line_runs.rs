//! How often each line of a file ran, from its segments.
//!
//! A line is *mapped* if it has code: a region with a count begins on it, or one goes on from a line before. What
//! begins with text that the preprocessor has left out is not mapped by what goes on. A mapped line ran as often as
//! the region that goes on from the line before, or as the one on it that ran most, whichever is more; gaps count only
//! as what goes on.

use super::segments::Segment;
use crate::exclusions::Exclusions;

/// Consecutive lines that ran equally often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRun {
    /// The first line.
    pub first: u32,
    /// The last line.
    pub last: u32,
    /// How often each of them ran.
    pub count: u64,
}

impl LineRun {
    /// How many lines there are.
    #[must_use]
    pub fn len(&self) -> u64 {
        u64::from(self.last - self.first) + 1
    }

    /// Never: there is a line at least.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        false
    }
}

/// The mapped lines of a file, as runs. A region may have more lines than one would like to list.
#[derive(Clone, Debug)]
pub struct LineRuns<'s> {
    rest: &'s [Segment],
    /// The last segment before the next line.
    wrapped: Option<Segment>,
    /// The next line.
    line: u32,
    /// What markers exclude in the file.
    excluded: Option<&'s Exclusions>,
    /// What is left of a run that was cut at excluded lines.
    cut: Option<LineRun>,
}

impl<'s> LineRuns<'s> {
    /// The mapped lines of a file with these segments.
    #[must_use]
    pub fn new(segments: &'s [Segment]) -> Self {
        let line = segments.first().map_or(0, |first| first.start.line);
        Self { rest: segments, wrapped: None, line, excluded: None, cut: None }
    }

    /// The lines without those that markers exclude.
    #[must_use]
    pub fn without(self, excluded: Option<&'s Exclusions>) -> Self {
        Self { excluded, ..self }
    }

    /// All lines with their counts.
    pub fn lines(self) -> impl Iterator<Item = (u32, u64)> {
        self.flat_map(|run| (run.first..=run.last).map(move |line| (line, run.count)))
    }
}

impl LineRuns<'_> {
    /// Whether a marker ends excluded lines here, and what goes on from there began on them: their closing brace.
    fn ends_excluded(&self, line: u32) -> bool {
        let began = |excluded: &Exclusions| self.wrapped.is_some_and(|w| w.is_entry && excluded.line(w.start.line));
        self.excluded.is_some_and(|excluded| excluded.ends(line) && began(excluded))
    }

    /// The next run, excluded lines included.
    fn next_run(&mut self) -> Option<LineRun> {
        loop {
            let next = self.rest.first()?.start.line;
            if self.line < next {
                // No segment begins on the lines up to there.
                let mut first = std::mem::replace(&mut self.line, next);
                first += u32::from(self.ends_excluded(first));
                if first == next {
                    continue;
                }
                if let Some(count) = self.wrapped.and_then(|wrapped| wrapped.count) {
                    return Some(LineRun { first, last: next - 1, count });
                }
            }
            let (on_line, rest) = self.rest.split_at(self.rest.partition_point(|s| s.start.line <= next));
            let goes_on = self.wrapped.filter(|_| !self.ends_excluded(next));
            self.wrapped = on_line.last().copied();
            (self.rest, self.line) = (rest, next.saturating_add(1));
            if let Some(count) = count(on_line, goes_on) {
                return Some(LineRun { first: next, last: next, count });
            }
        }
    }
}

impl Iterator for LineRuns<'_> {
    type Item = LineRun;

    fn next(&mut self) -> Option<LineRun> {
        loop {
            let run = self.cut.take().or_else(|| self.next_run())?;
            let Some(excluded) = self.excluded else { return Some(run) };
            let last = excluded.alike(run.first, run.last);
            self.cut = (last < run.last).then(|| LineRun { first: last + 1, ..run });
            if !excluded.line(run.first) {
                return Some(LineRun { last, ..run });
            }
        }
    }
}

/// Lines as people write them.
pub(super) fn span(first: u32, last: u32) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

/// The count of a line on which these segments begin. `None`: it is not mapped.
fn count(on_line: &[Segment], wrapped: Option<Segment>) -> Option<u64> {
    let entries = on_line.iter().filter(|segment| segment.is_entry && segment.count.is_some());
    let here = entries.clone().filter(|segment| !segment.is_gap);
    let most = here.filter_map(|segment| segment.count_of_line.or(segment.count)).max();
    let starts_skipped = on_line.first().is_some_and(|first| first.is_entry && first.count.is_none());
    let goes_on = wrapped.and_then(|wrapped| wrapped.count);
    let mapped = entries.count() > 0 || (!starts_skipped && goes_on.is_some());
    mapped.then(|| goes_on.unwrap_or(0).max(most.unwrap_or(0)))
}
