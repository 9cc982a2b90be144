//! Decisions for people: the vectors that occurred, and what each condition still lacks.

use super::decision::{CountedDecision, DecisionCondition};
use super::table::CoverageTable;
use crate::names::Names;
use crate::source::Sources;
use crate::terminal::{Style, counted, grouped};
use crate::visible;
use cotree_core::decision::Vector;
use cotree_profile::coverage::Place;
use std::io::{self, Write};

/// Texts of conditions are cut behind so many characters.
const LONGEST_TEXT: usize = 40;

/// Writes all decisions of a table, paths without what `prefix` says.
///
/// # Errors
/// If the output can't be written.
pub fn write(
    table: &CoverageTable,
    prefix: &str,
    sources: &dyn Sources,
    names: Names,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let decisions = || table.files.iter().flat_map(|file| &file.decisions);
    if decisions().next().is_none() && table.files.iter().all(|file| file.not_followed.is_empty()) {
        return Ok(());
    }
    writeln!(out, "\n{}", style.heading("Decisions"))?;
    for (file, line) in table.files.iter().flat_map(|file| file.not_followed.iter().map(move |line| (file, line))) {
        let path = file.path.strip_prefix(prefix).unwrap_or(&file.path);
        writeln!(out, "  {}", style.wrap(&format!("{}:{line}", visible::name(path)), 4))?;
    }
    for decision in decisions() {
        let path = decision.path.strip_prefix(prefix).unwrap_or(&decision.path);
        let (place, by) = (decision.start, decision.independent());
        let function = match decision.symbol.as_str() {
            "" => String::new(),
            symbol => format!(" in {}", visible::name(&names.show(symbol))),
        };
        let place = format!("{}:{}:{}{function}", visible::name(path), place.line, place.column);
        let masking = decision.independent_by_masking().covered;
        let also = if masking > by.covered { format!(", {masking} by masking") } else { String::new() };
        let line = format!("{place}: {} of {} conditions are shown to be independent{also}", by.covered, by.total);
        writeln!(out, "  {}", style.wrap(&line, 4))?;
        if !decision.knows_vectors {
            let line = "it was made, but its vectors are not counted: clang does not ask for them";
            writeln!(out, "    {}", style.wrap(line, 6))?;
        }
        if has_negated_part(decision, sources) {
            let line = "with a negated part, whose ! is not known: outcomes and verdicts are those without it";
            writeln!(out, "    {}", style.wrap(line, 6))?;
        }
        write_vectors(decision, out)?;
        for (number, condition) in (1..).zip(&decision.conditions) {
            let line = format!("C{number} {}: {}", text(decision, condition, sources), verdict(decision, condition));
            writeln!(out, "    {}", style.wrap(&line, 6))?;
        }
    }
    Ok(())
}

/// A sentence for the user on decisions whose vectors are not counted.
#[must_use]
pub fn remark_on_uncounted(table: &CoverageTable) -> Option<String> {
    let decisions = table.files.iter().flat_map(|file| &file.decisions);
    let uncounted = decisions.filter(|decision| !decision.knows_vectors).count() as u128;
    (uncounted > 0).then(|| {
        format!(
            "{} made whose vectors are not counted, since clang does not ask for them (--show-mcdc names them): their \
             conditions are told as not shown",
            counted(uncounted, "decision")
        )
    })
}

/// A sentence for the user on decisions with a negated part whose outcomes are not known.
#[must_use]
pub fn remark_on_negated(table: &CoverageTable, sources: &dyn Sources) -> Option<String> {
    let decisions = table.files.iter().flat_map(|file| &file.decisions);
    let negated = decisions.filter(|decision| has_negated_part(decision, sources)).count() as u128;
    (negated > 0).then(|| {
        format!(
            "{} with a negated part, as in `!(a && b) || c`, whose code is of a form that is not known: clang's map does \
             not have the `!`, so that outcomes and which conditions are independent are those without it",
            counted(negated, "decision")
        )
    })
}

/// Whether a decision whose outcomes are not known has a negation around several conditions in its text: what stands
/// between conditions has a `!` or `not`.
fn has_negated_part(decision: &CountedDecision, sources: &dyn Sources) -> bool {
    let Some(source) = sources.text(&decision.path).filter(|_| !decision.knows_outcomes) else { return false };
    let conditions = decision.conditions.iter().filter(|condition| !condition.of_macro);
    let spans: Vec<_> = conditions.map(|condition| (condition.start, condition.end)).collect();
    (decision.start.line..=decision.end.line).any(|line| {
        let Some(text) = source.line(line) else { return false };
        let is_between = |column: usize| {
            let at = Place { line, column: u32::try_from(column + 1).unwrap_or(u32::MAX) };
            let inside = decision.start <= at && at < decision.end;
            inside && !spans.iter().any(|&(start, end)| start <= at && at < end)
        };
        let negations = ["!", "not "].into_iter().flat_map(|sign| text.match_indices(sign));
        negations.into_iter().any(|(column, _)| is_between(column))
    })
}

/// Writes the vectors that occurred: a line each, numbered from 1.
fn write_vectors(decision: &CountedDecision, out: &mut dyn Write) -> io::Result<()> {
    let counts: Vec<String> =
        decision.table.vectors.iter().map(|&(_, count)| grouped(count.into()).to_string()).collect();
    let widest = counts.iter().map(String::len).max().unwrap_or(0);
    let digits = counts.len().to_string().len();
    for (number, ((vector, _), count)) in (1..).zip(decision.table.vectors.iter().zip(&counts)) {
        writeln!(out, "    {number:>digits$}  {}  {count:>widest$} times", shown(decision, vector))?;
    }
    Ok(())
}

/// A vector and its outcome.
fn shown(decision: &CountedDecision, vector: &Vector) -> String {
    let letters: Vec<String> = decision.letters(vector).map(String::from).collect();
    format!("{} -> {}", letters.join(" "), if vector.outcome { "T" } else { "F" })
}

/// The text of a condition if it is known, else where it begins.
pub(super) fn text(decision: &CountedDecision, condition: &DecisionCondition, sources: &dyn Sources) -> String {
    let (start, end) = (condition.start, condition.end);
    let place = || format!("at {}:{}", start.line, start.column);
    if condition.of_macro || start.line != end.line {
        return place();
    }
    let Some(source) = sources.text(&decision.path) else { return place() };
    let columns = (start.column as usize).saturating_sub(1)..(end.column as usize).saturating_sub(1);
    match source.line(start.line).and_then(|line| line.get(columns)) {
        Some(text) if text.chars().count() > LONGEST_TEXT => {
            format!("{}…", text.chars().take(LONGEST_TEXT - 1).collect::<String>())
        }
        Some(text) if !text.is_empty() => text.to_owned(),
        _ => place(),
    }
}

/// What the vectors show of a condition.
pub(super) fn verdict(decision: &CountedDecision, condition: &DecisionCondition) -> String {
    let verdict = &decision.table.verdicts[usize::from(condition.number)];
    let pair = |(no, yes): (usize, usize)| format!("{} and {}", no.min(yes) + 1, no.max(yes) + 1);
    if condition.constant {
        return "constant".into();
    }
    if let Some(vectors) = verdict.unique_cause {
        return format!("independent by {}", pair(vectors));
    }
    let missing: Vec<String> = verdict.missing.iter().map(|vector| shown(decision, vector)).collect();
    let missing = match missing.as_slice() {
        [] => String::new(),
        all => format!("; missing {}", all.join(" and ")),
    };
    match verdict.masking {
        Some(vectors) => format!("independent by masking, by {}{missing}", pair(vectors)),
        None => format!("not shown{missing}"),
    }
}
