//! Targets of indirect calls: at which line a pointer is called, and which functions it led to.

use crate::filtered::{self, Shares};
use crate::names::matches;
use crate::report::{ReportOptions, write_head};
use crate::terminal::{counted, grouped, number, percent, place, text};
use crate::unit::{Unit, UnitFunction};
use cotree_core::method::targets::SiteTargets;
use serde_json::{Value, json};
use std::io::{self, Write};

/// An indirect call.
struct Row<'a> {
    function: UnitFunction<'a>,
    targets: &'a SiteTargets,
    /// How often it was made, by the counts of blocks.
    made: u64,
}

impl Row<'_> {
    /// Calls whose target is not known: in exact profiles only what a coroutine's handle leads to, or a null pointer.
    fn unknown(&self) -> u64 {
        self.made.saturating_sub(self.targets.total())
    }
}

/// The indirect calls of a function; none where targets were not counted.
fn rows<'a>(unit: &Unit<'a>, function: UnitFunction<'a>) -> impl Iterator<Item = Row<'a>> {
    let targets = unit.profile.targets.as_ref().and_then(|all| all.get(function.index.index()));
    let flow = function.flow();
    targets.into_iter().flatten().map(move |targets| {
        let made = flow.as_ref().map_or_else(|| targets.total(), |flow| flow.call(targets.call));
        Row { function, targets, made }
    })
}

/// Writes the view of one unit: the calls that were made most first.
///
/// # Errors
/// If the output can't be written.
pub fn write(unit: &Unit<'_>, options: &ReportOptions, out: &mut dyn Write) -> io::Result<()> {
    write_head(unit, options.style, out)?;
    let style = options.style;
    if unit.profile.targets.is_none() {
        return writeln!(out, "targets of calls were not counted: build with cotree --targets cc …");
    }
    let wanted = |function: &UnitFunction<'_>| {
        options.function.as_ref().is_none_or(|pattern| matches(pattern, &function.facts.symbol))
    };
    let mut all: Vec<Row<'_>> = unit.functions().filter(wanted).flat_map(|function| rows(unit, function)).collect();
    let sites = all.len() as u128;
    let sum = |rows: &[Row<'_>]| rows.iter().map(|row| u128::from(row.made)).sum::<u128>();
    let made = sum(&all);
    let whole = sum(&unit.functions().flat_map(|function| rows(unit, function)).collect::<Vec<_>>());
    if let Some(pattern) = &options.function {
        filtered::write(pattern, [made, whole], "calls through pointers", Shares::OfRun, style, out)?;
    }
    all.retain(|row| row.made > 0 || row.targets.total() > 0);
    let ran = grouped(all.len() as u128);
    writeln!(out, "  calls through pointers  {} at {ran} of {}\n", grouped(made), counted(sites, "call"))?;
    if all.is_empty() {
        return Ok(());
    }
    all.sort_by_key(|row| std::cmp::Reverse(row.made));
    let shown = if options.top == 0 { &all[..] } else { &all[..all.len().min(options.top)] };
    let cut = if shown.len() < all.len() { format!(" ({} of {ran})", shown.len()) } else { String::new() };
    writeln!(out, "{}{}", style.heading("Targets"), style.faint(&cut))?;
    let mut lines = Vec::new();
    for row in shown {
        let doubt = if row.function.flaws().is_empty() { "" } else { "~" };
        let facts = row.function.facts;
        lines.push(vec![
            format!("{doubt}{}", grouped(u128::from(row.made))),
            percent(u128::from(row.made), whole),
            options.names.show(&facts.symbol),
            unit.brief(facts.call_position(row.targets.call)),
        ]);
        let mut line = |count: u64, name: String| {
            let share = percent(u128::from(count), u128::from(row.made));
            lines.push(vec![grouped(u128::from(count)), share, format!("  {name}"), String::new()]);
        };
        let limit = if options.verbose || options.top == 0 { usize::MAX } else { 8 };
        for &(target, count) in row.targets.functions.iter().take(limit) {
            line(count, unit.function(target).map_or_else(String::new, |f| options.names.show(&f.facts.symbol)));
        }
        let rest = row.targets.functions.iter().skip(limit);
        let (others, sum) = rest.fold((0u128, 0u64), |(n, sum), (_, count)| (n + 1, sum.saturating_add(*count)));
        if others > 0 {
            line(sum, format!("({} more)", counted(others, "function")));
        }
        if row.targets.others > 0 {
            line(row.targets.others, "(code that cotree did not compile)".into());
        }
        if row.unknown() > 0 {
            line(row.unknown(), "(not known)".into());
        }
    }
    let columns = [number("calls"), number("share"), text("function"), place("where")];
    writeln!(out, "{}", style.table(&columns, lines))
}

/// The indirect calls of a function, as the export has them; `None` if targets were not counted.
pub(super) fn details(unit: &Unit<'_>, function: &UnitFunction<'_>) -> Option<Value> {
    unit.profile.targets.as_ref()?;
    let site = |row: Row<'_>| {
        let facts = row.function.facts;
        let name = |target| unit.function(target).map_or("", |f| f.facts.symbol.as_str());
        let functions = row.targets.functions.iter();
        let functions: Vec<Value> = functions
            .map(|&(target, count)| json!({"function": target.0, "symbol": name(target), "count": count}))
            .collect();
        let at = facts.call_position(row.targets.call);
        json!({
            "block": facts.calls[row.targets.call].block.0,
            "position": at.map(|at| json!({"file": at.file, "line": at.line, "column": at.column})),
            "count": row.made,
            "functions": functions,
            "others": row.targets.others,
        })
    };
    Some(rows(unit, *function).map(site).collect())
}
