//! Which conditions of a decision the vectors that occurred show to be independent, and what is missing for the others.

use super::numbering::Numbering;
use super::structure::{Decision, Next, Vector};
use std::collections::HashMap;

/// Decisions of more conditions are not searched for vectors where none that occurred helps.
const MOST_SEARCHED: usize = 500;

/// What occurred of a decision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The vectors that occurred, by their numbers, with how often each did.
    pub vectors: Vec<(Vector, u64)>,
    /// What they show, per condition.
    pub verdicts: Vec<Verdict>,
}

/// What the vectors that occurred show of a condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// How often the condition was false and the decision was made, and how often it was true.
    pub outcomes: [u64; 2],
    /// Two vectors that show that the condition is independent by unique cause: it is false in the first. Indices into
    /// [`Table::vectors`].
    pub unique_cause: Option<(usize, usize)>,
    /// Two vectors that show it by masking.
    pub masking: Option<(usize, usize)>,
    /// Vectors with which the condition would be independent by unique cause: one besides those that occurred where
    /// that is enough, else two. None if it is so already or can't be; decisions of hundreds of conditions are not
    /// searched for two.
    pub missing: Vec<Vector>,
}

impl Decision {
    /// What occurred of the decision. `counts` tells how often each vector did, by number.
    ///
    /// # Panics
    /// If the numbers are of another decision.
    #[must_use]
    pub fn table(&self, numbering: &Numbering, counts: &[u64]) -> Table {
        let occurred = (0..numbering.vectors).zip(counts).filter(|&(_, &count)| count > 0);
        let vectors: Vec<(Vector, u64)> =
            occurred.map(|(number, &count)| (numbering.vector(self, number), count)).collect();
        let verdict = |condition| {
            let unique_cause = self.unique_cause(condition, &vectors);
            let of = |wanted: bool| {
                let with = vectors.iter().filter(|(vector, _)| vector.value(condition) == Some(wanted));
                with.fold(0u64, |sum, (_, count)| sum.saturating_add(*count))
            };
            Verdict {
                outcomes: [of(false), of(true)],
                unique_cause,
                masking: unique_cause.or_else(|| self.masking(condition, &vectors)),
                missing: if unique_cause.is_some() { Vec::new() } else { self.missing(condition, &vectors) },
            }
        };
        let verdicts = self.order_of_conditions().map(verdict).collect();
        Table { vectors, verdicts }
    }

    fn order_of_conditions(&self) -> impl Iterator<Item = u16> {
        (0..=u16::MAX).take(self.len())
    }

    /// Two vectors that show that a condition is independent by unique cause.
    fn unique_cause(&self, condition: u16, vectors: &[(Vector, u64)]) -> Option<(usize, usize)> {
        // Two such vectors agree in all conditions before this one, so that only those are compared.
        let mut groups: HashMap<Vec<bool>, [Vec<usize>; 2]> = HashMap::new();
        for (index, (vector, _)) in vectors.iter().enumerate() {
            if let Some(value) = vector.value(condition) {
                groups.entry(self.before(condition, vector)).or_default()[usize::from(value)].push(index);
            }
        }
        let pairs = groups.values().flat_map(|[no, yes]| no.iter().flat_map(|&n| yes.iter().map(move |&y| (n, y))));
        let shows = |&(no, yes): &(usize, usize)| vectors[no].0.shows(&vectors[yes].0, condition);
        pairs.filter(shows).min()
    }

    /// The outcomes before a condition, in the order in which they came.
    fn before(&self, condition: u16, vector: &Vector) -> Vec<bool> {
        let mut outcomes = Vec::new();
        let mut at = 0;
        while at != condition {
            let Some(value) = vector.value(at) else { break };
            outcomes.push(value);
            let Next::Condition(next) = self.next(at, value) else { break };
            at = next;
        }
        outcomes
    }

    /// Two vectors that show that a condition is independent by masking.
    fn masking(&self, condition: u16, vectors: &[(Vector, u64)]) -> Option<(usize, usize)> {
        let find = |wanted: bool| {
            let decides = |vector: &Vector| self.flipped(condition, vector).is_some();
            vectors.iter().position(|(vector, _)| vector.value(condition) == Some(wanted) && decides(vector))
        };
        find(false).zip(find(true))
    }

    /// A vector with the other outcome of a condition and of the decision, that agrees with this one in all others.
    fn flipped(&self, condition: u16, vector: &Vector) -> Option<Vector> {
        let value = vector.value(condition)?;
        let next = self.next(condition, !value);
        let mut outcomes = self.path(next, !vector.outcome, |other| vector.value(other))?;
        outcomes.push((condition, !value));
        // What comes before the condition stays.
        let mut at = 0;
        while at != condition {
            let value = vector.value(at)?;
            outcomes.push((at, value));
            let Next::Condition(next) = self.next(at, value) else { break };
            at = next;
        }
        let mut flipped = Vector { values: vec![None; self.len()], outcome: !vector.outcome };
        for (condition, value) in outcomes {
            flipped.values[usize::from(condition)] = Some(value);
        }
        Some(flipped)
    }

    /// Outcomes of conditions by which a decision is made with this outcome; those that are fixed stay.
    fn path(&self, from: Next, outcome: bool, fixed: impl Fn(u16) -> Option<bool>) -> Option<Vec<(u16, bool)>> {
        // By condition: the outcome that leads there, found from the end on.
        let mut leads: Vec<Option<bool>> = vec![None; self.len()];
        let reaches = |leads: &[Option<bool>], next| match next {
            Next::Made(made) => made == outcome,
            Next::Condition(next) => leads[usize::from(next)].is_some(),
        };
        for &condition in self.order.iter().rev() {
            let possible = |value: &bool| fixed(condition).is_none_or(|fixed| fixed == *value);
            let mut values = [true, false].into_iter().filter(possible);
            leads[usize::from(condition)] = values.find(|&value| reaches(&leads, self.next(condition, value)));
        }
        let mut outcomes = Vec::new();
        let mut next = from;
        loop {
            match next {
                Next::Made(made) => return (made == outcome).then_some(outcomes),
                Next::Condition(condition) => {
                    let value = leads[usize::from(condition)]?;
                    outcomes.push((condition, value));
                    next = self.next(condition, value);
                }
            }
        }
    }

    /// Vectors with which a condition would be independent by unique cause.
    fn missing(&self, condition: u16, vectors: &[(Vector, u64)]) -> Vec<Vector> {
        if let Some(one) = vectors.iter().find_map(|(vector, _)| self.flipped(condition, vector)) {
            return vec![one];
        }
        // None that occurred tells: any two will do that reach the condition.
        let Some(after) = self.parting(condition) else { return Vec::new() };
        let outcomes: Vec<_> = self.path_to(condition).into_iter().chain(after).collect();
        let value = |other| outcomes.iter().find(|(known, _)| *known == other).is_some_and(|&(_, value)| value);
        [false, true].map(|own| self.evaluate(|other| if other == condition { own } else { value(other) })).into()
    }

    /// Outcomes of the conditions behind this one by which its two outcomes lead to different ones of the decision.
    fn parting(&self, condition: u16) -> Option<Vec<(u16, bool)>> {
        if self.len() > MOST_SEARCHED {
            return None;
        }
        let mut places = vec![0; self.len()];
        self.order.iter().enumerate().for_each(|(place, &condition)| places[usize::from(condition)] = place);
        let place = |next| match next {
            Next::Condition(condition) => places[usize::from(condition)],
            Next::Made(_) => usize::MAX,
        };
        // Both go on, and the one that is behind first: so they meet at each condition that both evaluate.
        let start = [false, true].map(|own| self.next(condition, own));
        let mut from: HashMap<[Next; 2], ([Next; 2], u16, bool)> = HashMap::new();
        let mut work = vec![start];
        while let Some(both) = work.pop() {
            let Some(Next::Condition(at)) = both.into_iter().min_by_key(|&next| place(next)) else { continue };
            for value in [false, true] {
                let on = both.map(|next| if next == Next::Condition(at) { self.next(at, value) } else { next });
                if on == start || from.contains_key(&on) {
                    continue;
                }
                from.insert(on, (both, at, value));
                work.push(on);
            }
        }
        let ends = [[Next::Made(false), Next::Made(true)], [Next::Made(true), Next::Made(false)]];
        let mut end = ends.into_iter().find(|end| *end == start || from.contains_key(end))?;
        let mut outcomes = Vec::new();
        while end != start {
            let (before, at, value) = from[&end];
            outcomes.push((at, value));
            end = before;
        }
        Some(outcomes)
    }

    /// Outcomes that lead from the first condition to another one.
    fn path_to(&self, condition: u16) -> Vec<(u16, bool)> {
        let mut outcomes = Vec::new();
        let mut to = condition;
        for &from in self.order.iter().rev() {
            let leads = |value: &bool| self.next(from, *value) == Next::Condition(to);
            if let Some(value) = [true, false].into_iter().find(leads) {
                outcomes.push((from, value));
                to = from;
            }
        }
        outcomes
    }
}

impl Vector {
    /// Whether this vector and another one differ in their outcomes and in a condition, and in no other condition that
    /// both have evaluated.
    fn shows(&self, other: &Self, condition: u16) -> bool {
        let differs = |(a, b): (&Option<bool>, &Option<bool>)| a.is_some() && b.is_some() && a != b;
        self.outcome != other.outcome
            && (0..).zip(self.values.iter().zip(&other.values)).all(|(at, pair)| differs(pair) == (at == condition))
    }
}
