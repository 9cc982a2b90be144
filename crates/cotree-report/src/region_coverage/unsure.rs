//! What is not known: counts that are certain beside those that may be true.
//!
//! Where executions were not accounted for, as those of a killed process, or left the text of a macro, every count is
//! the least that is certain, so that nothing is said to have run which may not have. [`RegionCoverage::possible`] has
//! the greatest counts that may be true. What differs between the two is not known.

use super::program::RegionCoverage;
use super::summary::FileSummary;
use crate::terminal::counted;

/// What is not known of a file, or of several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unsure {
    /// Lines that may have run, none of which is certain to have: first and last of each part.
    pub may_have_run: Vec<(u32, u32)>,
    /// Lines that ran, and may have run more often than is certain.
    pub ran_more: Vec<(u32, u32)>,
    /// How much more than is certain may have run.
    pub more: More,
}

/// How much more than is certain may have run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct More {
    /// Lines.
    pub lines: u64,
    /// Functions.
    pub functions: u64,
    /// Regions.
    pub regions: u64,
    /// Outcomes of conditions.
    pub branches: u64,
    /// Conditions that may be shown to be independent.
    pub mcdc: u64,
    /// Lines that ran, whose count is not known.
    pub counts: u64,
}

impl Unsure {
    /// Whether the count of a line is not known.
    #[must_use]
    pub fn has(&self, line: u32) -> bool {
        let within = |parts: &[(u32, u32)]| {
            let next = parts.partition_point(|&(_, last)| last < line);
            parts.get(next).is_some_and(|&(first, _)| first <= line)
        };
        within(&self.may_have_run) || within(&self.ran_more)
    }
}

impl More {
    /// Adds what another file has.
    pub fn add(&mut self, other: Self) {
        self.lines += other.lines;
        self.functions += other.functions;
        self.regions += other.regions;
        self.branches += other.branches;
        self.mcdc += other.mcdc;
        self.counts += other.counts;
    }

    /// A sentence for the user, if something is not known.
    #[must_use]
    pub fn remark(&self) -> Option<String> {
        let Self { lines, functions, regions, branches, mcdc, counts } = *self;
        let parts = [
            (lines, "line"),
            (functions, "function"),
            (regions, "region"),
            (branches, "outcome of conditions"),
            (mcdc, "condition of decisions"),
        ];
        let parts = parts.into_iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts.map(|(count, what)| plural(count, what)).collect();
        let ran = parts.split_last().map(|(last, before)| match before {
            [] => last.clone(),
            before => format!("{} and {last}", before.join(", ")),
        });
        let counts =
            (counts > 0).then(|| format!("the counts of {} are the least that is certain", plural(counts, "line")));
        let ran = ran.map(|ran| format!("{ran} may have run, and count as missed"));
        let all: Vec<String> = ran.into_iter().chain(counts).collect();
        (!all.is_empty()).then(|| {
            format!(
                "not known, since executions were not accounted for, or left a macro or text without code: {}",
                all.join("; ")
            )
        })
    }
}

fn plural(count: u64, what: &str) -> String {
    match what.split_once(" of ") {
        Some((what, of)) => format!("{} of {of}", counted(count.into(), what)),
        None => counted(count.into(), what),
    }
}

impl RegionCoverage<'_> {
    /// What is not known of a file, of which so much is certain.
    #[must_use]
    pub fn unsure(&self, path: &str, certain: &FileSummary) -> Unsure {
        let Some(possible) = &self.possible else { return Unsure::default() };
        let (mut may_have_run, mut ran_more) = (Vec::new(), Vec::new());
        let mut more = More::default();
        let (view, possible_view) = (self.file(path), possible.file(path));
        let mut most = possible_view.lines().lines().peekable();
        for (line, least) in view.lines().lines() {
            while most.next_if(|&(other, _)| other < line).is_some() {}
            let Some((_, most)) = most.next_if(|&(other, _)| other == line) else { continue };
            if least == 0 && most > 0 {
                push(&mut may_have_run, line);
            } else if most > least {
                push(&mut ran_more, line);
                more.counts += 1;
            }
        }
        let summary = possible.summary(path);
        let covered = |of: fn(&FileSummary) -> super::Ratio| of(&summary).covered.saturating_sub(of(certain).covered);
        more.lines = covered(|summary| summary.lines);
        more.functions = covered(|summary| summary.functions);
        more.regions = covered(|summary| summary.regions);
        more.branches = covered(|summary| summary.branches);
        more.mcdc = covered(|summary| summary.mcdc);
        Unsure { may_have_run, ran_more, more }
    }
}

/// Adds a line to parts of consecutive lines.
fn push(parts: &mut Vec<(u32, u32)>, line: u32) {
    match parts.last_mut() {
        Some((_, last)) if *last + 1 == line => *last = line,
        _ => parts.push((line, line)),
    }
}

#[cfg(test)]
mod tests {
    use super::More;

    #[test]
    fn what_is_not_known_is_one_sentence() {
        assert_eq!(More::default().remark(), None);
        let more = More { lines: 2, branches: 1, counts: 1, ..More::default() };
        assert_eq!(
            more.remark().expect("there is something"),
            "not known, since executions were not accounted for, or left a macro or text without code: 2 lines and 1 outcome of conditions may have run, \
             and count as missed; the counts of 1 line are the least that is certain"
        );
    }
}
