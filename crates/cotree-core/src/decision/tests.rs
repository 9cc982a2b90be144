//! Decisions held against expressions that are evaluated as they are written.

use super::*;
use proptest::prelude::*;

/// An expression of conditions.
#[derive(Clone, Debug)]
enum Expression {
    Condition,
    Not(Box<Expression>),
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
}

impl Expression {
    /// Adds the conditions of the expression to those of a decision, from number `first` on.
    fn add(&self, after: [Next; 2], first: u16, conditions: &mut Vec<[Next; 2]>) {
        match self {
            Self::Condition => conditions.push(after),
            Self::Not(inner) => inner.add([after[1], after[0]], first, conditions),
            Self::And(left, right) | Self::Or(left, right) => {
                let second = first + left.len();
                let on = Next::Condition(second);
                let of_left = if matches!(self, Self::And(..)) { [after[0], on] } else { [on, after[1]] };
                left.add(of_left, first, conditions);
                right.add(after, second, conditions);
            }
        }
    }

    fn len(&self) -> u16 {
        match self {
            Self::Condition => 1,
            Self::Not(inner) => inner.len(),
            Self::And(left, right) | Self::Or(left, right) => left.len() + right.len(),
        }
    }

    fn decision(&self) -> Decision {
        let mut conditions = Vec::new();
        self.add([Next::Made(false), Next::Made(true)], 0, &mut conditions);
        Decision::new(conditions).expect("a decision")
    }

    /// Evaluates the expression; logs the conditions.
    fn evaluate(&self, first: u16, values: &[bool], log: &mut Vec<Option<bool>>) -> bool {
        match self {
            Self::Condition => {
                log[usize::from(first)] = Some(values[usize::from(first)]);
                values[usize::from(first)]
            }
            Self::Not(inner) => !inner.evaluate(first, values, log),
            Self::And(left, right) => {
                left.evaluate(first, values, log) && right.evaluate(first + left.len(), values, log)
            }
            Self::Or(left, right) => {
                left.evaluate(first, values, log) || right.evaluate(first + left.len(), values, log)
            }
        }
    }

    fn vector(&self, bits: u64) -> Vector {
        let values: Vec<bool> = (0..self.len()).map(|at| bits >> at & 1 == 1).collect();
        let mut log = vec![None; values.len()];
        let outcome = self.evaluate(0, &values, &mut log);
        Vector { values: log, outcome }
    }
}

fn expression() -> impl Strategy<Value = Expression> {
    Just(Expression::Condition).prop_recursive(5, 9, 2, |inner| {
        prop_oneof![
            1 => inner.clone().prop_map(|inner| Expression::Not(inner.into())),
            4 => (inner.clone(), inner.clone()).prop_map(|(left, right)| Expression::And(left.into(), right.into())),
            4 => (inner.clone(), inner).prop_map(|(left, right)| Expression::Or(left.into(), right.into())),
        ]
    })
}

/// The numbers that clang 22 adds for `(a && b) || (c && d)`.
#[test]
fn numbers_are_clangs() {
    use Next::{Condition as C, Made};
    let decision =
        Decision::new(vec![[C(2), C(1)], [C(2), Made(true)], [Made(false), C(3)], [Made(false), Made(true)]]);
    let numbering = decision.expect("a decision").numbering().expect("few vectors");
    assert_eq!((numbering.added, numbering.vectors), (vec![[0, 0], [1, 6], [0, 0], [2, 4]], 7));
}

#[test]
fn circles_are_refused() {
    use Next::{Condition as C, Made};
    let error = |conditions| Decision::new(conditions).expect_err("no decision");
    assert_eq!(error(vec![[C(1), Made(true)], [C(1), Made(true)]]), DecisionError::NotInOrder);
    assert_eq!(error(vec![[C(0), Made(true)]]), DecisionError::NotInOrder);
    assert_eq!(error(vec![[Made(false), Made(true)], [Made(false), Made(true)]]), DecisionError::NotInOrder);
    assert_eq!(error(vec![[C(7), Made(true)]]), DecisionError::NoSuchCondition);
    assert_eq!(error(vec![]), DecisionError::NotInOrder);
}

proptest! {
    /// Each path has a number of its own, which tells it.
    #[test]
    fn numbers_tell_vectors(expression in expression()) {
        let decision = expression.decision();
        let numbering = decision.numbering().expect("few vectors");
        let mut seen = vec![false; numbering.vectors as usize];
        for bits in 0..1u64 << expression.len() {
            let vector = expression.vector(bits);
            prop_assert_eq!(&decision.evaluate(|at| bits >> at & 1 == 1), &vector);
            let added = vector.values.iter().zip(&numbering.added);
            let number = added.filter_map(|(value, added)| value.map(|value| added[usize::from(value)])).sum();
            prop_assert_eq!(numbering.vector(&decision, number), vector);
            seen[number as usize] = true;
        }
        prop_assert!(seen.iter().all(|&seen| seen));
    }

    /// Verdicts are those of all pairs of vectors, and vectors that are missing are indeed what is missing.
    #[test]
    fn verdicts_are_those_of_all_pairs(expression in expression(), runs in prop::collection::vec(any::<u64>(), 0..7)) {
        let decision = expression.decision();
        let numbering = decision.numbering().expect("few vectors");
        let number = |vector: &Vector| -> usize {
            let added = vector.values.iter().zip(&numbering.added);
            added.filter_map(|(value, added)| value.map(|value| added[usize::from(value)] as usize)).sum()
        };
        let mut counts = vec![0; numbering.vectors as usize];
        let vectors: Vec<Vector> = runs.iter().map(|&bits| expression.vector(bits)).collect();
        vectors.iter().for_each(|vector| counts[number(vector)] += 1);
        let table = decision.table(&numbering, &counts);
        for (at, verdict) in table.verdicts.iter().enumerate() {
            let is = |vector: &Vector, value| vector.values[at] == Some(value);
            let others_agree = |a: &Vector, b: &Vector| {
                let pairs = a.values.iter().zip(&b.values).enumerate();
                pairs.filter(|&(other, _)| other != at).all(|(_, (a, b))| a.is_none() || b.is_none() || a == b)
            };
            let shows =
                |a: &Vector, b: &Vector| is(a, false) && is(b, true) && a.outcome != b.outcome && others_agree(a, b);
            let unique = vectors.iter().any(|a| vectors.iter().any(|b| shows(a, b)));
            prop_assert_eq!(verdict.unique_cause.is_some(), unique);
            // By all values of what was not evaluated.
            let decides = |vector: &Vector| {
                let known = |bits: u64| {
                    vector.values.iter().enumerate().all(|(at, value)| value.is_none_or(|v| (bits >> at & 1 == 1) == v))
                };
                let all = (0..1u64 << expression.len()).filter(|&bits| known(bits));
                all.into_iter().any(|bits| expression.vector(bits ^ 1 << at).outcome != vector.outcome)
            };
            let masked = [false, true].map(|value| vectors.iter().any(|vector| is(vector, value) && decides(vector)));
            prop_assert_eq!(verdict.masking.is_some(), masked == [true, true]);
            if let Some((no, yes)) = verdict.unique_cause {
                prop_assert!(shows(&table.vectors[no].0, &table.vectors[yes].0));
            } else {
                prop_assert!((1..=2).contains(&verdict.missing.len()));
                let mut more = counts.clone();
                verdict.missing.iter().for_each(|vector| more[number(vector)] += 1);
                prop_assert!(decision.table(&numbering, &more).verdicts[at].unique_cause.is_some());
            }
        }
    }
}
