//! What a search over commits has found, for people.

use super::super::text::{changed, shown_amount, shown_change};
use super::{Amount, Commit, Found, History, Wanted};
use crate::terminal::{Style, counted, number, text};
use std::io;

/// Writes, for each commit that made benchmarks dearer, which these are, what was measured of each, and what changed in
/// it: `top` functions at most; 0: all.
///
/// # Errors
/// If the output can't be written.
pub fn write_bisection(
    history: &History,
    found: &[Found],
    wanted: &Wanted,
    top: usize,
    style: Style,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let kind = wanted.kind.name();
    let (commits, count) = (&history.commits, history.count_measured());
    let good = &commits[0];
    writeln!(out, "{} since {}, {count} measured.\n", counted(commits.len() as u128 - 1, "commit"), good.short)?;
    for group in found.chunk_by(|a, b| a.suspects() == b.suspects()) {
        let suspects = group[0].suspects();
        let names: Vec<String> = group.iter().map(|found| format!("'{}'", found.name)).collect();
        writeln!(out, "{}", style.heading(&format!("More {kind} in {}", names.join(", "))))?;
        if suspects.clone().count() > 1 {
            writeln!(out, "since one of these, of which not all could be measured:")?;
        }
        for commit in suspects {
            let Commit { short, subject, author, day, parents, .. } = &commits[commit];
            writeln!(out, "\n  {short}  {subject}\n  {:width$}  {author}, {day}", "", width = short.len())?;
            if *parents > 1 {
                let into = format!("--good $(git merge-base {short}^1 {short}^2) --bad {short}^2");
                writeln!(out, "  a merge; to look into it: {into}")?;
            }
        }
        writeln!(out)?;
        for found in group {
            if group.len() > 1 {
                writeln!(out, "{}\n", style.heading(&format!("'{}'", found.name)))?;
            }
            write!(out, "{}", amounts(found, commits, kind, style))?;
            for difference in &found.differences {
                writeln!(out, "note: {difference}")?;
            }
            write!(out, "\n{}", changed(&found.comparison, &found.of_functions, top, style))?;
        }
    }
    Ok(())
}

/// What was measured, a commit in a row.
fn amounts(found: &Found, commits: &[Commit], kind: &'static str, style: Style) -> String {
    let first = found.amounts.first().map_or(Amount::Equal(0), |(_, amount)| *amount);
    let columns = [number(kind), number("change"), text("commit"), text("subject")];
    let rows = found.amounts.iter().map(|&(commit, amount)| {
        let Commit { short, subject, .. } = &commits[commit];
        vec![shown_amount(amount), shown_change(first, amount), short.clone(), subject.clone()]
    });
    style.table(&columns, rows.collect())
}
