//! The head of each view: what ran, and whether the profile is exact.

use crate::explain;
use crate::functions::Vouched;
use crate::method::title::title;
use crate::shell::command_line;
use crate::terminal::{Style, counted, grouped};
use crate::unit::{Unit, counting_every_turn, untouched_reason};
use cotree_core::profile::Flaw;
use std::io::{self, Write};

/// Why nothing was counted in a unit, if nothing was.
#[must_use]
pub fn nothing_counted(unit: &Unit<'_>) -> Option<String> {
    let reasons: Option<Vec<&str>> =
        unit.functions().map(|function| function.facts.untouched.map(untouched_reason)).collect();
    let mut reasons = reasons.filter(|reasons| !reasons.is_empty())?;
    let which = match reasons.len() {
        1 => "its one function has no counters".to_owned(),
        functions => format!("none of its {} functions has counters", grouped(functions as u128)),
    };
    reasons.sort_unstable();
    reasons.dedup();
    Some(format!("{which}: {}", reasons.join(", or ")))
}

/// Writes the heading: the unit's binary, its runs, and whether the profile is exact.
pub(crate) fn write_head(unit: &Unit<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let profile = unit.profile;
    writeln!(out, "{}", style.heading(&profile.binary.display().to_string()))?;
    let mut facts = format!("build {}, {}", profile.unit, title(unit));
    let runs = profile.runs.total();
    if runs != 1 {
        facts.push_str(&format!(", {} runs", grouped(u128::from(runs))));
    }
    writeln!(out, "{}", style.wrap(&facts, 0))?;
    if !profile.command.is_empty() {
        writeln!(out, "{}", style.wrap(&format!("command: {}", command_line(&profile.command)), 0))?;
    }
    writeln!(out)?;
    if let Some(why) = nothing_counted(unit) {
        let text = format!("NOTHING WAS COUNTED: {why}");
        writeln!(out, "{}", style.warning(&style.wrap(&text, 2)))?;
    } else if profile.exact() && !profile.sums_exact() {
        let text =
            "NOT ALL EXACT: what each function and call had is in doubt, and marked with ~; the totals are exact";
        writeln!(out, "{}", style.warning(&style.wrap(text, 2)))?;
    } else if profile.exact() {
        writeln!(out, "{}", style.good("exact: every count below is the number of times that it happened"))?;
    } else {
        let vouched = Vouched::of_unit(unit);
        let text = format!(
            "NOT ALL EXACT: {} of {} cannot be vouched for; what is in doubt is marked with ~",
            grouped(u128::from(vouched.doubtful)),
            counted(u128::from(vouched.functions), "function")
        );
        writeln!(out, "{}", style.warning(&style.wrap(&text, 2)))?;
    }
    let missing = unit.functions().filter(|function| function.flaws().contains(&Flaw::LoopsUnderWay)).count();
    if missing > 0 {
        let text = format!(
            "- all that loops had counted which were under way at the end may be missing, in {}: build with {} to \
             have every turn counted in memory",
            counted(missing as u128, "function"),
            counting_every_turn(profile.method.method())
        );
        writeln!(out, "{}", style.warning(&style.wrap(&text, 2)))?;
    }
    for note in &profile.notes {
        let line = style.wrap(&format!("- {}", explain::note_line(note)), 2);
        writeln!(out, "{}", if note.doubtful() { style.warning(&line) } else { line })?;
    }
    writeln!(out)
}
