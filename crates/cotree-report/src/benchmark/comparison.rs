//! A benchmark against its baseline.

use super::{Amount, Measured, Recorded};
use cotree_core::facts::events::EventKind;
use std::collections::BTreeSet;

/// How much more is too much, in billionths of a percent: what is exactly at the limit is within.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit(u64);

/// The units of a limit that make a percent.
const PERCENT: u32 = 1_000_000_000;

impl std::str::FromStr for Limit {
    type Err = String;

    /// Reads a percentage, with or without its sign.
    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.strip_suffix('%').unwrap_or(text).trim();
        match number.parse::<f64>() {
            Ok(percent) if (0.0..=1e9).contains(&percent) => Ok(Self((percent * f64::from(PERCENT)).round() as u64)),
            _ => Err("give a percentage, such as 1%".into()),
        }
    }
}

/// Whether an amount is above a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// In each run it is within.
    Within,
    /// In each run it is above.
    Above,
    /// Some runs are above and others are within.
    Unsure,
}

impl Limit {
    /// Holds an amount against what it was.
    #[must_use]
    pub fn verdict(self, before: Amount, now: Amount) -> Verdict {
        let is_above = |before: u64, now: u64| {
            let rise = u128::from(now.saturating_sub(before));
            rise * u128::from(100 * u64::from(PERCENT)) > u128::from(before) * u128::from(self.0)
        };
        // The worst case of both, and the best.
        match (is_above(before.least(), now.most()), is_above(before.most(), now.least())) {
            (false, _) => Verdict::Within,
            (true, true) => Verdict::Above,
            (true, false) => Verdict::Unsure,
        }
    }
}

/// By how many percent an amount has changed; infinite from none to some.
#[must_use]
pub fn percent(before: u64, now: u64) -> f64 {
    match (before, now) {
        (0, 0) => 0.0,
        (0, _) => f64::INFINITY,
        _ => (now as f64 - before as f64) / before as f64 * 100.0,
    }
}

/// The change of a kind of events.
#[derive(Clone, Debug, PartialEq)]
pub struct KindChange {
    /// The kind's name.
    pub kind: &'static str,
    /// What it was.
    pub before: Amount,
    /// What it is.
    pub now: Amount,
    /// Against the limit; `None` if the kind has none.
    pub verdict: Option<Verdict>,
}

/// The change of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionChange {
    /// The name in the source.
    pub name: String,
    /// What it had.
    pub before: Amount,
    /// What it has.
    pub now: Amount,
    /// Against the limit of functions; `None` without one.
    pub verdict: Option<Verdict>,
}

impl KindChange {
    /// Is it one, or may it be above a limit?
    #[must_use]
    pub fn is_told(&self) -> bool {
        self.before != self.now || self.verdict == Some(Verdict::Unsure)
    }
}

impl FunctionChange {
    /// By how much the amount has changed at least, up or down.
    #[must_use]
    pub fn size(&self) -> u64 {
        let up = self.now.least().saturating_sub(self.before.most());
        up.max(self.before.least().saturating_sub(self.now.most()))
    }
}

/// A benchmark against its baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// All kinds of events that are or were, of those that are asked for.
    pub kinds: Vec<KindChange>,
    /// Functions that have changed for certain, the largest changes first.
    pub functions: Vec<FunctionChange>,
}

impl Comparison {
    /// Compares. The kinds that are asked for, instructions if none is, must not rise by more than `total`, and
    /// functions not by more than `of_function`. Functions are not compared if other events of theirs were counted.
    #[must_use]
    pub fn new(
        before: &Recorded,
        now: &Measured,
        asked: &[EventKind],
        total: Option<Limit>,
        of_function: Option<Limit>,
    ) -> Self {
        const NONE: Amount = Amount::Equal(0);
        let kinds = EventKind::ALL.iter().map(|kind| kind.name());
        let kinds = kinds.filter(|&kind| asked.is_empty() || asked.iter().any(|asked| asked.name() == kind));
        let kinds = kinds.filter(|&kind| before.totals.contains_key(kind) || now.totals.contains_key(kind));
        let kinds = kinds.map(|kind| {
            let [before, now] = [&before.totals, &now.totals].map(|totals| totals.get(kind).copied().unwrap_or(NONE));
            let is_limited = !asked.is_empty() || kind == EventKind::Instructions.name();
            let limit = total.filter(|_| is_limited);
            KindChange { kind, before, now, verdict: limit.map(|limit| limit.verdict(before, now)) }
        });
        let comparable = before.of_functions == now.of_functions;
        let names = before.functions.keys().chain(now.functions.keys()).filter(|_| comparable);
        let names: BTreeSet<&String> = names.collect();
        let functions = names.into_iter().map(|name| {
            let now = now.functions.get(name).copied().unwrap_or(NONE);
            // Of one that is left out of the baseline, a rise above the most that any of these had is certain.
            let known = before.functions.get(name).copied().unwrap_or(Amount::Equal(before.left_out));
            let verdict = of_function.map(|limit| limit.verdict(known, now));
            let before = before.function(name);
            FunctionChange { name: name.clone(), before, now, verdict }
        });
        let is_told = |change: &FunctionChange| change.size() > 0 || change.verdict == Some(Verdict::Unsure);
        let mut functions: Vec<FunctionChange> = functions.filter(is_told).collect();
        // Those first that close the gate.
        let is_fine = |change: &FunctionChange| matches!(change.verdict, None | Some(Verdict::Within));
        functions.sort_by_key(|change| (is_fine(change), std::cmp::Reverse(change.size()), change.name.clone()));
        Self { kinds: kinds.collect(), functions }
    }

    /// Is there anything to tell?
    #[must_use]
    pub fn has_changes(&self) -> bool {
        !self.functions.is_empty() || self.kinds.iter().any(KindChange::is_told)
    }

    /// The worst of all verdicts.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let kinds = self.kinds.iter().filter_map(|change| change.verdict);
        let functions = self.functions.iter().filter_map(|change| change.verdict);
        let all: Vec<Verdict> = kinds.chain(functions).collect();
        [Verdict::Above, Verdict::Unsure].into_iter().find(|worst| all.contains(worst)).unwrap_or(Verdict::Within)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(least: u64, most: u64) -> Amount {
        Amount::of([least, most]).expect("two runs")
    }

    #[test]
    fn a_verdict_holds_for_every_run_or_is_unsure() {
        let one: Limit = "1%".parse().expect("a limit");
        let equal = Amount::Equal;
        assert_eq!(one.verdict(equal(1000), equal(1010)), Verdict::Within);
        assert_eq!(one.verdict(equal(1000), equal(1011)), Verdict::Above);
        assert_eq!(one.verdict(equal(1000), range(1005, 1011)), Verdict::Unsure);
        assert_eq!(one.verdict(range(1000, 1001), equal(1011)), Verdict::Unsure);
        assert_eq!(one.verdict(range(900, 1000), range(1011, 1500)), Verdict::Above);
        assert_eq!(one.verdict(range(900, 1000), equal(905)), Verdict::Within);
        assert_eq!(one.verdict(equal(0), equal(1)), Verdict::Above);
        assert_eq!(Limit(0).verdict(equal(5), equal(5)), Verdict::Within);
        assert_eq!(Limit(0).verdict(equal(5), equal(4)), Verdict::Within);
        for percent in 1..100 {
            let limit: Limit = percent.to_string().parse().expect("a limit");
            assert_eq!(limit.verdict(equal(100), equal(100 + percent)), Verdict::Within, "{percent}");
            assert_eq!(limit.verdict(equal(100), equal(101 + percent)), Verdict::Above, "{percent}");
        }
        assert_eq!(one.verdict(equal(u64::MAX / 2), equal(u64::MAX)), Verdict::Above);
    }

    #[test]
    fn functions_left_out_are_above_where_that_is_certain() {
        let measured = |tiny: u64| Measured {
            name: "b".into(),
            of_functions: "instructions".into(),
            functions: [("large", 1_000_000), ("tiny", tiny), ("other", 50)]
                .map(|(name, amount)| (name.to_owned(), Amount::Equal(amount)))
                .into(),
            ..Measured::default()
        };
        let mut baseline = crate::benchmark::Baseline::default();
        baseline.record(&measured(3));
        let recorded = &baseline.benchmarks["b"];
        assert_eq!((recorded.functions.len(), recorded.left_out), (1, 100));
        let limit = "10%".parse().expect("a limit");
        let verdict = |tiny| Comparison::new(recorded, &measured(tiny), &[], None, Some(limit)).verdict();
        // A function may have had 0.01 % of all.
        assert_eq!([3, 4, 110, 111].map(verdict), [Verdict::Within, Verdict::Within, Verdict::Within, Verdict::Above]);
    }

    #[test]
    fn limits_are_percentages() {
        assert_eq!("1%".parse(), Ok(Limit(1_000_000_000)));
        assert_eq!("0.5".parse(), Ok(Limit(500_000_000)));
        for bad in ["", "%", "-1", "one", "inf", "NaN"] {
            assert!(bad.parse::<Limit>().is_err(), "{bad}");
        }
    }
}
