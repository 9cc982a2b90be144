//! Decisions as JSON: parts of `cotree-coverage/1` (docs/json.md).

use super::decision::CountedDecision;
use cotree_core::decision::Vector;
use cotree_profile::coverage::Place;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct DecisionDocument<'a> {
    path: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    function: &'a str,
    start: [u32; 2],
    end: [u32; 2],
    conditions: Vec<ConditionDocument>,
    vectors: Vec<VectorDocument>,
}

#[derive(Serialize)]
struct ConditionDocument {
    start: [u32; 2],
    end: [u32; 2],
    constant: bool,
    #[serde(rename = "true")]
    taken: u64,
    #[serde(rename = "false")]
    not_taken: u64,
    unique_cause: Option<[usize; 2]>,
    masking: Option<[usize; 2]>,
    missing: Vec<VectorDocument>,
}

#[derive(Serialize)]
struct VectorDocument {
    conditions: String,
    outcome: bool,
    count: u64,
}

impl<'a> From<&'a CountedDecision> for DecisionDocument<'a> {
    fn from(decision: &'a CountedDecision) -> Self {
        let place = |Place { line, column }| [line, column];
        let vector = |vector: &Vector, count| VectorDocument {
            conditions: decision.letters(vector).collect(),
            outcome: vector.outcome,
            count,
        };
        let conditions = decision.conditions.iter().map(|condition| {
            let verdict = &decision.table.verdicts[usize::from(condition.number)];
            let [not_taken, taken] = verdict.outcomes;
            let pair = |(no, yes): (usize, usize)| [no, yes];
            ConditionDocument {
                start: place(condition.start),
                end: place(condition.end),
                constant: condition.constant,
                taken,
                not_taken,
                unique_cause: verdict.unique_cause.map(pair),
                masking: verdict.masking.map(pair),
                missing: verdict.missing.iter().map(|missing| vector(missing, 0)).collect(),
            }
        });
        Self {
            path: &decision.path,
            function: &decision.symbol,
            start: place(decision.start),
            end: place(decision.end),
            conditions: conditions.collect(),
            vectors: decision.table.vectors.iter().map(|(occurred, count)| vector(occurred, *count)).collect(),
        }
    }
}
