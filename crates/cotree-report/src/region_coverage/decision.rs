//! A decision of the source with what occurred of it.

use super::ratio::Ratio;
use cotree_core::decision::{Table, Vector};
use cotree_profile::coverage::Place;

/// A decision with what occurred of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedDecision {
    /// The file that the decision is written in.
    pub path: String,
    /// The linker symbol of the function that makes it; empty where the decisions of several are added up.
    pub symbol: String,
    /// Where the decision begins.
    pub start: Place,
    /// Where it ends: behind its last character.
    pub end: Place,
    /// The line of the function's own file that it stands on: the one that uses the macro, if it is written in one.
    pub line: u32,
    /// The conditions, in the order of the text.
    pub conditions: Vec<DecisionCondition>,
    /// Whether the outcomes of the decision are known. Else they are those that they would be without negations around
    /// several conditions.
    pub knows_outcomes: bool,
    /// Whether the vectors are counted. If not, none is known, though the decision was made.
    pub knows_vectors: bool,
    /// The vectors that occurred and what they show. Conditions have their order in [`DecisionCondition::number`].
    pub table: Table,
}

/// A condition of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecisionCondition {
    /// The number of the condition in the decision's table.
    pub number: u16,
    /// Where the condition begins.
    pub start: Place,
    /// Where it ends: behind its last character.
    pub end: Place,
    /// The condition is written elsewhere than the decision, in a macro.
    pub of_macro: bool,
    /// The compiler knows the outcome. The condition is not to be shown independent.
    pub constant: bool,
}

impl CountedDecision {
    /// How many conditions there are, without those that are constant, and how many were shown to be independent by
    /// unique cause.
    #[must_use]
    pub fn independent(&self) -> Ratio {
        self.ratio(|number| self.table.verdicts[usize::from(number)].unique_cause.is_some())
    }

    /// How many conditions there are, and how many were shown to be independent by masking.
    #[must_use]
    pub fn independent_by_masking(&self) -> Ratio {
        self.ratio(|number| self.table.verdicts[usize::from(number)].masking.is_some())
    }

    /// The outcomes of a vector in the order of the text: T, F, or - for conditions that were not evaluated.
    pub fn letters(&self, vector: &Vector) -> impl Iterator<Item = char> {
        let letter = |condition: &DecisionCondition| match vector.value(condition.number) {
            Some(true) => 'T',
            Some(false) => 'F',
            None => '-',
        };
        self.conditions.iter().map(letter).collect::<Vec<_>>().into_iter()
    }

    fn ratio(&self, is: impl Fn(u16) -> bool) -> Ratio {
        let mut ratio = Ratio::default();
        for condition in self.conditions.iter().filter(|condition| !condition.constant) {
            ratio.total += 1;
            ratio.covered += u64::from(is(condition.number));
        }
        ratio
    }
}
