//! A decision as a graph of conditions.

/// What follows an outcome of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Next {
    /// This condition is evaluated.
    Condition(u16),
    /// The decision is made, with this outcome.
    Made(bool),
}

/// A decision: per condition, what follows if it is false, and if it is true. Condition 0 is evaluated first.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Decision {
    conditions: Vec<[Next; 2]>,
    /// The conditions, each before those that it leads to.
    pub(super) order: Vec<u16>,
}

/// Why conditions make no decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecisionError {
    /// A condition leads to one that is not there.
    #[error("a condition leads to one that is not there")]
    NoSuchCondition,
    /// A condition comes again, or is never reached.
    #[error("its conditions are not evaluated one after the other")]
    NotInOrder,
}

impl Decision {
    /// Takes what follows each condition's outcomes: false, then true.
    ///
    /// # Errors
    /// The conditions go round in a circle, or some are never evaluated.
    pub fn new(conditions: Vec<[Next; 2]>) -> Result<Self, DecisionError> {
        let order = order(&conditions)?;
        Ok(Self { conditions, order })
    }

    /// How many conditions there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.conditions.len()
    }

    /// The conditions in the order in which they are evaluated, which is that of the text.
    #[must_use]
    pub fn order(&self) -> &[u16] {
        &self.order
    }

    /// Never: a decision has a condition.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }

    /// What follows an outcome of a condition.
    #[must_use]
    pub fn next(&self, condition: u16, outcome: bool) -> Next {
        self.conditions[usize::from(condition)][usize::from(outcome)]
    }

    /// Says with which outcome the decision is made behind an outcome of a condition.
    ///
    /// # Panics
    /// If another condition follows there.
    pub fn make(&mut self, condition: u16, outcome: bool, made: bool) {
        let next = &mut self.conditions[usize::from(condition)][usize::from(outcome)];
        assert!(matches!(next, Next::Made(_)), "an outcome that makes the decision");
        *next = Next::Made(made);
    }

    /// The vector of given outcomes of all conditions.
    #[must_use]
    pub fn evaluate(&self, outcome: impl Fn(u16) -> bool) -> Vector {
        let mut values = vec![None; self.len()];
        let mut next = Next::Condition(0);
        loop {
            match next {
                Next::Made(outcome) => return Vector { values, outcome },
                Next::Condition(condition) => {
                    let value = outcome(condition);
                    values[usize::from(condition)] = Some(value);
                    next = self.next(condition, value);
                }
            }
        }
    }
}

/// The outcomes that led to a decision.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Vector {
    /// The outcome of each condition. `None`: it was not evaluated.
    pub values: Vec<Option<bool>>,
    /// The outcome of the decision.
    pub outcome: bool,
}

/// An order in which each condition comes before those that it leads to. All are reached from the first, or it fails.
fn order(conditions: &[[Next; 2]]) -> Result<Vec<u16>, DecisionError> {
    let mut pending = vec![0u32; conditions.len()];
    for next in conditions.iter().flatten() {
        if let Next::Condition(next) = next {
            *pending.get_mut(usize::from(*next)).ok_or(DecisionError::NoSuchCondition)? += 1;
        }
    }
    if pending.first() != Some(&0) || pending.len() > usize::from(u16::MAX) {
        return Err(DecisionError::NotInOrder);
    }
    let mut order = vec![0u16];
    let mut at = 0;
    while let Some(&condition) = order.get(at) {
        at += 1;
        for next in conditions[usize::from(condition)] {
            if let Next::Condition(next) = next {
                pending[usize::from(next)] -= 1;
                if pending[usize::from(next)] == 0 {
                    order.push(next);
                }
            }
        }
    }
    if order.len() == conditions.len() { Ok(order) } else { Err(DecisionError::NotInOrder) }
}

impl Vector {
    /// The outcome of a condition. `None`: it was not evaluated.
    #[must_use]
    pub fn value(&self, condition: u16) -> Option<bool> {
        self.values.get(usize::from(condition)).copied().flatten()
    }
}
