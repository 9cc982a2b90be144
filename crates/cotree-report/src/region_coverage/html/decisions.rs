//! The decisions of a file for its page: the vectors that occurred, and what they show of each condition (MC/DC).

use super::below::{Below, ByLine};
use crate::html::figures::level;
use crate::names::Names;
use crate::region_coverage::decision::CountedDecision;
use crate::region_coverage::decision_text::{text, verdict};
use crate::region_coverage::program::Group;
use crate::region_coverage::source_decisions::SourceDecisions;
use crate::region_coverage::summary::Ratio;
use crate::source::Sources;
use crate::terminal::{counted, grouped};
use crate::visible;
use maud::{Markup, html};

/// Adds the decisions of the functions that are written in a file. Those in macros stand where the file uses them.
pub(super) fn add_decisions(groups: &[Group<'_, '_>], sources: &dyn Sources, names: Names, below: &mut ByLine) {
    for group in groups {
        let decisions = group.functions.iter().flat_map(|function| function.decisions().decisions);
        for decision in decisions {
            let instance = (group.functions.len() > 1).then(|| names.show(&decision.symbol));
            add(&decision, instance.as_deref(), sources, below);
        }
    }
}

/// Adds the decisions of a file of Rust, and which could not be followed.
pub(super) fn add_source_decisions(
    decisions: &SourceDecisions<'_>,
    path: &str,
    sources: &dyn Sources,
    below: &mut ByLine,
) {
    decisions.decisions(path).iter().for_each(|decision| add(decision, None, sources, below));
    for found in decisions.not_followed(path) {
        let Some((line, column)) = found.place else { continue };
        below.entry(line).or_default().push(Below {
            label: "MC/DC –".into(),
            title: "a decision that is not counted".into(),
            level: "void",
            of_line: false,
            body: html! { p { "The decision at column " (column) " is not counted, here or in some of its code: one " (found.reason) "." } },
        });
    }
}

fn add(decision: &CountedDecision, instance: Option<&str>, sources: &dyn Sources, below: &mut ByLine) {
    let Ratio { covered, total } = decision.independent();
    below.entry(decision.line).or_default().push(Below {
        label: format!("MC/DC {covered}/{total}"),
        title: format!("{covered} of {} shown to be independent", counted(total.into(), "condition")),
        level: level(covered, total),
        of_line: false,
        body: body(decision, instance, sources),
    });
}

fn body(decision: &CountedDecision, instance: Option<&str>, sources: &dyn Sources) -> Markup {
    html! {
        @if let Some(instance) = instance { p { code { (visible::name(instance)) } } }
        table.vectors {
            thead {
                tr {
                    th { "Vector" }
                    @for number in 1..=decision.conditions.len() { th { "C" (number) } }
                    th { "decision" } th { "times" }
                }
            }
            tbody {
                @for (number, (vector, count)) in (1..).zip(&decision.table.vectors) {
                    tr {
                        th { (number) }
                        @for letter in decision.letters(vector) { td { (letter) } }
                        td { (if vector.outcome { "T" } else { "F" }) }
                        td { (grouped((*count).into())) }
                    }
                }
            }
        }
        ol.verdicts {
            @for (number, condition) in (1..).zip(&decision.conditions) {
                @let shown = decision.table.verdicts[usize::from(condition.number)].unique_cause.is_some();
                li class=(if condition.constant { "void" } else if shown { "full" } else { "none" }) {
                    "C" (number) " " code { (visible::line(&text(decision, condition, sources))) } ": "
                    (verdict(decision, condition).replace(" -> ", " → "))
                }
            }
        }
    }
}
