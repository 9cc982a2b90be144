//! Decisions of Rust, which are found in the source and not in the compiler's map, with what occurred of them.
//!
//! The instances of a generic function, and the copies that inlining makes, are one decision: their counts add up.

use super::decision::{CountedDecision, DecisionCondition};
use super::ratio::Ratio;
use crate::exclusions::Markers;
use crate::terminal::counted;
use cotree_profile::coverage::{CounterTable, Counters, CoverageMap, NotFollowed, SourceCondition, SourceDecision};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The decisions of Rust in some executables.
#[derive(Clone, Debug, Default)]
pub struct SourceDecisions<'m> {
    /// By path, and by place and text.
    decisions: BTreeMap<&'m str, BTreeMap<Key, Counts<'m>>>,
    /// Per path: where decisions were not followed, and why. No place: nowhere in the file.
    not_followed: BTreeMap<&'m str, BTreeSet<Failure<'m>>>,
    /// What markers in the sources exclude.
    markers: Markers,
    /// Decisions are counted in some code.
    pub are_counted: bool,
}

/// A condition of a decision, with its counts.
#[derive(Clone, Copy, Debug)]
pub struct CountedCondition<'m> {
    /// The condition.
    pub condition: &'m SourceCondition,
    /// How often it was true.
    pub taken: u64,
    /// How often it was false.
    pub not_taken: u64,
}

/// A decision that was not followed, or not in all of its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfollowed<'m> {
    /// Line and column where it begins. `None`: all decisions of the file.
    pub place: Option<(u32, u32)>,
    /// What hindered it, behind `decision`.
    pub reason: &'m str,
}

/// Line and column of a decision that was not followed, none for all of a file, and the reason.
type Failure<'m> = (Option<(u32, u32)>, &'m str);

/// Line and column of a decision, and the hash of its text.
type Key = (u32, u32, u64);

#[derive(Clone, Debug)]
struct Counts<'m> {
    decision: &'m SourceDecision,
    /// How often each condition was false and true.
    outcomes: Vec<u64>,
    vectors: Vec<u64>,
    /// Some code of it was followed.
    is_counted: bool,
}

impl<'m> SourceDecisions<'m> {
    /// Adds up what executables have, each with its own counters.
    #[must_use]
    pub fn new(executables: &[(&'m CoverageMap, &CounterTable)]) -> Self {
        let mut all = Self::default();
        for (map, table) in executables {
            all.are_counted |= map.counts_decisions;
            for decision in &map.decisions {
                let counts = all.decisions.entry(map.path(decision.file)).or_default();
                let key = (decision.start.line, decision.start.column, decision.hash);
                let of_none = || Counts { decision, outcomes: Vec::new(), vectors: Vec::new(), is_counted: false };
                let counts = counts.entry(key).or_insert_with(of_none);
                let hash = cotree_profile::coverage::name_hash(&decision.name);
                if let Counters::Known(values) = table.get(hash, decision.hash) {
                    counts.is_counted = true;
                    add(&mut counts.outcomes, values);
                    add(&mut counts.vectors, table.vectors(hash, decision.hash));
                }
            }
            for NotFollowed { file, start, reason } in &map.not_followed {
                let place = start.map(|start| (start.line, start.column));
                all.not_followed.entry(map.path(*file)).or_default().insert((place, reason));
            }
        }
        all
    }

    /// Leaves out what markers in the sources exclude.
    pub fn exclude(&mut self, markers: &Markers) {
        self.markers = markers.clone();
    }

    /// The decisions of a file that were followed, or that no code was made of.
    fn followed(&self, path: &str) -> impl Iterator<Item = &Counts<'m>> {
        let failed = self.not_followed.get(path);
        let is_failed = move |place: (u32, u32)| {
            failed.is_some_and(|failed| failed.iter().any(|&(at, _)| at == Some(place) || at.is_none()))
        };
        let all = self.decisions.get(path).into_iter().flat_map(BTreeMap::values);
        all.filter(move |counts| {
            counts.is_counted || !is_failed((counts.decision.start.line, counts.decision.start.column))
        })
    }

    /// The decisions of several conditions.
    #[must_use]
    pub fn decisions(&self, path: &str) -> Vec<CountedDecision> {
        let excluded = self.markers.of(path);
        let wanted = |counts: &&Counts<'_>| {
            let line = counts.decision.start.line;
            counts.decision.conditions.len() > 1 && !excluded.is_some_and(|excluded| excluded.branch(line))
        };
        let several = self.followed(path).filter(wanted);
        several.filter_map(|counts| counts.decision(path)).collect()
    }

    /// The conditions of decisions, also of those of a single condition.
    pub fn conditions(&self, path: &str) -> impl Iterator<Item = CountedCondition<'m>> {
        let all = self.followed(path).flat_map(|counts| {
            let outcomes = |index: usize| counts.outcomes.get(index).copied().unwrap_or(0);
            counts.decision.conditions.iter().enumerate().map(move |(index, condition)| CountedCondition {
                condition,
                taken: outcomes(2 * index + 1),
                not_taken: outcomes(2 * index),
            })
        });
        let excluded = self.markers.of(path);
        all.filter(move |counted| !excluded.is_some_and(|excluded| excluded.branch(counted.condition.start.line)))
    }

    /// How many outcomes conditions have, and how many occurred.
    #[must_use]
    pub fn branches(&self, path: &str) -> Ratio {
        let mut ratio = Ratio::default();
        self.conditions(path).flat_map(CountedCondition::outcomes).for_each(|count| ratio.count(count > 0));
        ratio
    }

    /// A sentence for the user: the decisions of some files that could not be followed.
    #[must_use]
    pub fn remark(&self, wanted: impl Fn(&str) -> bool) -> Option<String> {
        let mut reasons: BTreeMap<&str, u128> = BTreeMap::new();
        let all = self.not_followed.iter().filter(|(path, _)| wanted(path)).flat_map(|(_, failed)| failed);
        all.for_each(|&(_, reason)| *reasons.entry(reason).or_default() += 1);
        let total: u128 = reasons.values().sum();
        let list: Vec<String> = reasons.iter().map(|(reason, count)| format!("{count} {}", told(reason))).collect();
        (total > 0).then(|| {
            format!(
                "{} of Rust could not be followed, here or in some of its code: {}",
                counted(total, "decision"),
                list.join(", ")
            )
        })
    }

    /// The decisions that could not be followed.
    pub fn not_followed(&self, path: &str) -> impl Iterator<Item = Unfollowed<'m>> {
        let all = self.not_followed.get(path).into_iter().flatten();
        all.map(|&(place, reason)| Unfollowed { place, reason: told(reason) })
    }
}

impl CountedCondition<'_> {
    /// How often each outcome was seen: true before false.
    #[must_use]
    pub fn outcomes(self) -> [u64; 2] {
        [self.taken, self.not_taken]
    }
}

impl fmt::Display for Unfollowed<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.place {
            write!(out, "{line}:{column}: ")?;
        }
        write!(out, "not followed: {}", self.reason)
    }
}

/// What a reason means, behind a number.
fn told(reason: &str) -> &str {
    match reason {
        "pattern" => "with a pattern (let)",
        "constant" => "with a constant condition",
        "too-many" => "with more test vectors than are counted",
        "untied" => "whose conditions have no branches of their own",
        "shortcut" => "that rustc has optimised, so that vectors may be missing (build without --release)",
        "unreadable" => "in a source file that is gone or was edited",
        "macro" => "in what a macro is given",
        other => other,
    }
}

impl Counts<'_> {
    fn decision(&self, path: &str) -> Option<CountedDecision> {
        let SourceDecision { start, end, conditions, graph, .. } = self.decision;
        let numbering = graph.numbering()?;
        let condition = |(number, condition): (u16, &SourceCondition)| DecisionCondition {
            number,
            start: condition.start,
            end: condition.end,
            of_macro: false,
            constant: false,
        };
        Some(CountedDecision {
            path: path.to_owned(),
            symbol: String::new(),
            start: *start,
            end: *end,
            line: start.line,
            conditions: (0..).zip(conditions).map(condition).collect(),
            knows_outcomes: true,
            knows_vectors: true,
            table: graph.table(&numbering, &self.vectors),
        })
    }
}

fn add(sums: &mut Vec<u64>, values: &[u64]) {
    sums.resize(sums.len().max(values.len()), 0);
    sums.iter_mut().zip(values).for_each(|(sum, &value)| *sum = sum.saturating_add(value));
}
