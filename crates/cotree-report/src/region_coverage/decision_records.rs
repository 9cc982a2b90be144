//! The decisions of a file as tracefiles have them: per condition, how often each of its outcomes was seen in vectors
//! that show the condition to be independent.
//!
//! The instances of a template are one function, with the decisions of the instance in which most conditions were
//! shown, as in [`super::summary`].

use super::decision::CountedDecision;
use super::decision_text::text;
use super::program::RegionCoverage;
use crate::source::Sources;
use crate::tracefile::{ConditionRecord, DecisionRecord};

/// The decisions of the functions that are written in a file, by lines.
#[must_use]
pub fn decision_records(coverage: &RegionCoverage<'_>, path: &str, sources: &dyn Sources) -> Vec<DecisionRecord> {
    let mut records = Vec::new();
    for group in coverage.groups(path) {
        let instances = group.functions.iter().map(|function| function.decisions().decisions);
        let Some(most) = instances.max_by_key(|decisions| shown(decisions)) else { continue };
        records.extend(most.iter().map(|decision| record(decision, sources)));
    }
    records.extend(coverage.source_decisions.decisions(path).iter().map(|decision| record(decision, sources)));
    records.retain(|record| !record.conditions.is_empty());
    records.sort_by_key(|record| record.line);
    records
}

fn shown(decisions: &[CountedDecision]) -> u64 {
    decisions.iter().map(|decision| decision.independent().covered).sum()
}

fn record(decision: &CountedDecision, sources: &dyn Sources) -> DecisionRecord {
    let conditions = decision.conditions.iter().filter(|condition| !condition.constant);
    let conditions = conditions.map(|condition| {
        let verdict = &decision.table.verdicts[usize::from(condition.number)];
        let count = |vector: usize| decision.table.vectors[vector].1;
        let shown = verdict.unique_cause.map_or([0, 0], |(no, yes)| [count(no), count(yes)]);
        ConditionRecord { text: text(decision, condition, sources), shown }
    });
    DecisionRecord { line: decision.line, conditions: conditions.collect() }
}
