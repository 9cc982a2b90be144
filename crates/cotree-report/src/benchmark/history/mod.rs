//! Benchmarks over the commits of a repository: which commit made one dearer.
//!
//! Amounts are exact, so each commit is measured once, and every change is one of the program's.

mod export;
mod search;
mod text;

pub use export::{JSON_OF_BISECTION, write_bisection_json};
pub use text::write_bisection;

use super::comparison::{Limit, Verdict};
use super::{Amount, Baseline, Comparison, Recorded};
use cotree_core::facts::events::EventKind;
use search::{Step, search};
use std::collections::{BTreeMap, BTreeSet};

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// The full name.
    pub id: String,
    /// The name as people write it.
    pub short: String,
    /// The first line of its message.
    pub subject: String,
    /// Who wrote it.
    pub author: String,
    /// The day on which it was written, as 2026-11-29.
    pub day: String,
    /// How many parents it has.
    pub parents: usize,
}

/// What is looked for.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The kind of events.
    pub kind: EventKind,
    /// How much more than in the first commit is too much; without it, half of what was added to the last one.
    pub limit: Option<Limit>,
    /// Parts of the names of benchmarks; all are meant if there are none.
    pub names: Vec<String>,
}

/// A line of commits, oldest first, and what benchmarks have cost in those that were measured.
#[derive(Clone, Debug)]
pub struct History {
    /// The commits: the first one is good, and the last one bad.
    pub commits: Vec<Commit>,
    /// By place in `commits`, what was measured; `None` for a commit of which nothing can be measured.
    measured: BTreeMap<usize, Option<Baseline>>,
}

/// A benchmark that has become dearer, and where.
#[derive(Clone, Debug)]
pub struct Found {
    /// The benchmark's name.
    pub name: String,
    /// The last commit that is known to be good before the bad one.
    pub before: usize,
    /// The first commit that is known to be bad.
    pub first: usize,
    /// What has changed between the two.
    pub comparison: Comparison,
    /// Where their builds differ, as in the compiler.
    pub differences: Vec<String>,
    /// The kind of events that functions are told by.
    pub of_functions: String,
    /// What was measured of the kind that is looked for, in the order of commits.
    pub amounts: Vec<(usize, Amount)>,
}

impl Found {
    /// The commits of which one made the benchmark dearer: more than one if some between could not be measured.
    #[must_use]
    pub fn suspects(&self) -> std::ops::RangeInclusive<usize> {
        self.before + 1..=self.first
    }
}

impl History {
    /// A line of commits of which nothing is measured yet.
    #[must_use]
    pub fn new(commits: Vec<Commit>) -> Self {
        Self { commits, measured: BTreeMap::new() }
    }

    /// Takes in what a commit was measured to cost; `None` if it can't be measured.
    pub fn add(&mut self, commit: usize, measured: Option<Baseline>) {
        self.measured.insert(commit, measured);
    }

    /// Whether a benchmark has the counts in a commit that it had before: those of all runs of both are within one
    /// range, if runs differ.
    #[must_use]
    pub fn is_confirmed(&self, commit: usize, name: &str, kind: EventKind, now: &Baseline) -> bool {
        let now = now.benchmarks.get(name).map(|recorded| amount(recorded, kind));
        let before = self.recorded(commit, name).map(|recorded| amount(recorded, kind));
        let (Some(before), Some(now)) = (before, now) else { return false };
        before.least() <= now.most() && now.least() <= before.most()
    }

    /// How many commits were measured.
    #[must_use]
    pub fn count_measured(&self) -> usize {
        self.measured.values().flatten().count()
    }

    /// The commits that could not be measured.
    pub fn skipped(&self) -> impl Iterator<Item = usize> + '_ {
        self.measured.iter().filter(|(_, measured)| measured.is_none()).map(|(&commit, _)| commit)
    }

    /// The next commit to measure, until the commit is known for each benchmark that has become dearer: the two ends
    /// first.
    #[must_use]
    pub fn next(&self, wanted: &Wanted) -> Option<usize> {
        let last = self.commits.len() - 1;
        let unknown = [0, last].into_iter().find(|end| !self.measured.contains_key(end));
        unknown.or_else(|| {
            self.dearer(wanted).into_iter().find_map(|name| match self.search(name, wanted) {
                Step::Measure(commit) => Some(commit),
                Step::Between { .. } => None,
            })
        })
    }

    /// The benchmarks that have become dearer from the first commit to the last, with the commits that made them so.
    /// Each must be searched for to its end: [`Self::next`] has nothing more to ask for.
    #[must_use]
    pub fn found(&self, wanted: &Wanted) -> Vec<Found> {
        let mut all: Vec<Found> = self.dearer(wanted).into_iter().filter_map(|name| self.one(name, wanted)).collect();
        all.sort_by_key(|found| (found.first, found.before));
        all
    }

    fn one(&self, name: &str, wanted: &Wanted) -> Option<Found> {
        let Step::Between { good, bad } = self.search(name, wanted) else { return None };
        let [before, now] = [good, bad].map(|commit| self.recorded(commit, name));
        let (before, now) = (before?, now?.measured_beside(name, before?));
        let amounts = (0..self.commits.len())
            .filter_map(|commit| Some((commit, amount(self.recorded(commit, name)?, wanted.kind))));
        Some(Found {
            name: name.to_owned(),
            before: good,
            first: bad,
            comparison: Comparison::new(before, &now, &[], None, None),
            differences: before.differences(&now),
            of_functions: now.of_functions,
            amounts: amounts.collect(),
        })
    }

    /// What a benchmark cost in a commit, if that was measured and has it.
    fn recorded(&self, commit: usize, name: &str) -> Option<&Recorded> {
        self.measured.get(&commit)?.as_ref()?.benchmarks.get(name)
    }

    /// The names of benchmarks that have become dearer from the first commit to the last.
    fn dearer(&self, wanted: &Wanted) -> Vec<&str> {
        let last = self.commits.len() - 1;
        let Some(Some(bad)) = self.measured.get(&last) else { return Vec::new() };
        let is_wanted =
            |name: &&str| wanted.names.is_empty() || wanted.names.iter().any(|part| name.contains(part.as_str()));
        let names: BTreeSet<&str> = bad.benchmarks.keys().map(String::as_str).filter(is_wanted).collect();
        names.into_iter().filter(|name| self.is_bad(last, name, wanted) == Some(true)).collect()
    }

    fn search(&self, name: &str, wanted: &Wanted) -> Step {
        search(self.commits.len(), |commit| {
            let measured = self.measured.get(&commit)?;
            Some(measured.as_ref().and_then(|_| self.is_bad(commit, name, wanted)))
        })
    }

    /// Whether a commit is too dear; `None` if that is not known.
    fn is_bad(&self, commit: usize, name: &str, wanted: &Wanted) -> Option<bool> {
        let last = self.commits.len() - 1;
        let of = |commit| Some(amount(self.recorded(commit, name)?, wanted.kind));
        let (good, now) = (of(0)?, of(commit)?);
        if let Some(limit) = wanted.limit {
            return match limit.verdict(good, now) {
                Verdict::Above => Some(true),
                Verdict::Within => Some(false),
                Verdict::Unsure => None,
            };
        }
        // For certain: the worst run of the first against the best of the last.
        let rise = of(last)?.least().checked_sub(good.most()).filter(|&rise| rise > 0)?;
        let is_half = |amount: u64| amount.saturating_sub(good.most()) >= rise.div_ceil(2);
        (is_half(now.least()) == is_half(now.most())).then(|| is_half(now.least()))
    }
}

/// How many events of a kind a benchmark had.
fn amount(recorded: &Recorded, kind: EventKind) -> Amount {
    recorded.totals.get(kind.name()).copied().unwrap_or(Amount::Equal(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::Measured;

    /// Commits in which `b` costs what the list says; `None`: they can't be measured.
    pub(super) fn measured(amounts: &[Option<u64>]) -> Vec<Option<Baseline>> {
        let one = |amount: u64| {
            let mut baseline = Baseline::default();
            baseline.record(&Measured {
                name: "b".into(),
                of_functions: "instructions".into(),
                totals: [("instructions".to_owned(), Amount::Equal(amount))].into(),
                functions: [("f", amount - 50), ("main", 50)].map(|(f, n)| (f.to_owned(), Amount::Equal(n))).into(),
                ..Measured::default()
            });
            baseline
        };
        amounts.iter().map(|amount| amount.map(one)).collect()
    }

    pub(super) fn history(count: usize) -> History {
        let commit = |number: usize| Commit {
            id: format!("{number:040x}"),
            short: format!("{number:07x}"),
            subject: format!("Change {number}"),
            author: "A. U. Thor".into(),
            day: "2026-11-29".into(),
            parents: 1,
        };
        History::new((0..count).map(commit).collect())
    }

    pub(super) fn wanted(limit: Option<&str>) -> Wanted {
        let limit = limit.map(|limit| limit.parse().expect("a limit"));
        Wanted { kind: EventKind::Instructions, limit, names: Vec::new() }
    }

    /// Measures until nothing is left to ask for; gives how many commits that took.
    pub(super) fn follow(history: &mut History, wanted: &Wanted, all: &[Option<Baseline>]) -> usize {
        let mut count = 0;
        while let Some(commit) = history.next(wanted) {
            assert!(!history.measured.contains_key(&commit), "commit {commit} was measured");
            history.add(commit, all[commit].clone());
            count += 1;
        }
        count
    }

    #[test]
    fn the_commit_is_found_in_few_steps() {
        for first in 1..40 {
            let amounts: Vec<_> = (0..40).map(|commit| Some(if commit < first { 1000 } else { 1010 })).collect();
            for limit in [None, Some("0.5%")] {
                let mut history = history(40);
                let count = follow(&mut history, &wanted(limit), &measured(&amounts));
                let [found] = &history.found(&wanted(limit))[..] else { panic!("one benchmark is dearer") };
                assert_eq!((found.before, found.first), (first - 1, first));
                assert_eq!(found.comparison.functions[0].name, "f");
                assert!(count <= 2 + 6, "{count}");
            }
        }
    }

    #[test]
    fn a_limit_chooses_the_commit_that_crosses_it() {
        let amounts: Vec<_> = [1000, 1001, 1002, 1003, 1020, 1021].map(Some).into();
        for (limit, first) in [(None, 4), (Some("0"), 1), (Some("0.2%"), 3), (Some("2%"), 5)] {
            let mut history = history(6);
            follow(&mut history, &wanted(limit), &measured(&amounts));
            assert_eq!(history.found(&wanted(limit))[0].first, first, "{limit:?}");
        }
        let mut history = history(6);
        assert_eq!(follow(&mut history, &wanted(Some("3%")), &measured(&amounts)), 2);
        assert!(history.found(&wanted(Some("3%"))).is_empty());
    }

    #[test]
    fn commits_that_cannot_be_measured_are_suspects() {
        let amounts = [Some(100), Some(100), None, None, Some(200), Some(200)];
        let mut history = history(6);
        follow(&mut history, &wanted(None), &measured(&amounts));
        assert_eq!(history.found(&wanted(None))[0].suspects(), 2..=4);
        assert_eq!(history.skipped().collect::<Vec<_>>(), [2, 3]);
        let mut history = super::tests::history(3);
        follow(&mut history, &wanted(None), &measured(&[None, Some(100), Some(200)]));
        assert!(history.found(&wanted(None)).is_empty());
    }
}
