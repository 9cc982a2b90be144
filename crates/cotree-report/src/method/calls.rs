//! What is particular to call profiles: which calls were made most, by whom, of whom and where.

use super::total::Total;
use crate::explain;
use crate::filtered::{self, Shares};
use crate::names::matches;
use crate::report::ReportOptions;
use crate::terminal::{Style, grouped, number, percent, place, text};
use crate::unit::{Unit, UnitFunction, flaw_reason, untouched_reason};
use cotree_core::facts::{Call, Callee};
use cotree_core::method::calls::CallProfile;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// A call that is counted.
struct Counted<'a> {
    function: UnitFunction<'a>,
    facts: &'a Call,
    /// Where the source has it.
    place: String,
    count: u64,
}

fn profile_of<'a>(unit: &Unit<'a>, function: &UnitFunction<'a>) -> Option<&'a CallProfile> {
    unit.profile.method.calls().get(function.index.index())?.as_ref()
}

/// The calls of a function that are counted.
fn counted<'a>(unit: &Unit<'a>, function: UnitFunction<'a>) -> impl Iterator<Item = Counted<'a>> {
    let counts = profile_of(unit, &function).map_or(&[][..], |profile| &profile.calls);
    let calls = function.facts.calls.numbered().zip(counts);
    calls.filter_map(move |((call, facts), count)| {
        let place = unit.brief(function.facts.call_position(call));
        Some(Counted { function, facts, place, count: (*count)? })
    })
}

/// How often these functions have made calls.
pub(super) fn total<'a>(unit: &Unit<'a>, functions: impl Iterator<Item = UnitFunction<'a>>) -> Total {
    let (mut made, mut counters) = (0, 0u128);
    for call in functions.flat_map(|function| counted(unit, function)) {
        made += u128::from(call.count);
        counters += 1;
    }
    ("calls made", made, format!("at {} calls", grouped(counters)))
}

/// Writes the report: totals, the hottest calls, what cannot be vouched for and what was not measured.
pub(super) fn write(unit: &Unit<'_>, options: &ReportOptions, out: &mut dyn Write) -> io::Result<()> {
    let wanted = |function: &UnitFunction<'_>| {
        options.function.as_ref().is_none_or(|pattern| matches(pattern, &function.facts.symbol))
    };
    let functions = || unit.functions().filter(wanted);
    let mut calls: Vec<Counted<'_>> = functions().flat_map(|function| counted(unit, function)).collect();
    let all = calls.len();
    let made: u128 = calls.iter().map(|call| u128::from(call.count)).sum();
    let (_, whole, _) = total(unit, unit.functions());
    calls.retain(|call| call.count > 0);
    if let Some(pattern) = &options.function {
        filtered::write(pattern, [made, whole], "calls", Shares::OfRun, options.style, out)?;
    }
    writeln!(out, "  calls made  {}", grouped(made))?;
    writeln!(out, "  calls run   {} of {}\n", grouped(calls.len() as u128), grouped(all as u128))?;
    // Sorting is stable: calls of one count stay in program order.
    calls.sort_by_key(|call| std::cmp::Reverse(call.count));
    let shown = if options.top == 0 { &calls[..] } else { &calls[..calls.len().min(options.top)] };
    let cut = if shown.len() < calls.len() {
        format!(" ({} of {})", shown.len(), grouped(calls.len() as u128))
    } else {
        String::new()
    };
    if !shown.is_empty() {
        writeln!(out, "{}{}", options.style.heading("Hottest calls"), options.style.faint(&cut))?;
        let rows = shown.iter().map(|call| {
            let doubt = if call.function.flaws().is_empty() { "" } else { "~" };
            vec![
                format!("{doubt}{}", grouped(u128::from(call.count))),
                percent(u128::from(call.count), whole),
                options.names.show(&call.function.facts.symbol),
                options.names.callee(call.facts),
                call.place.clone(),
            ]
        });
        let columns = [number("calls"), number("share").spare(1), text("caller"), text("callee"), place("where")];
        writeln!(out, "{}", options.style.table(&columns, rows.collect()))?;
    }
    remarks(functions(), options, options.style, out)
}

/// Functions whose counts are in doubt, and those that have none.
fn remarks<'a>(
    functions: impl Iterator<Item = UnitFunction<'a>>,
    options: &ReportOptions,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut by_reason: BTreeMap<(&str, &str, &str), Vec<String>> = BTreeMap::new();
    for function in functions {
        let vouched = |&flaw| ("not vouched for", explain::of_flaw(flaw).code, flaw_reason(flaw));
        let flaws = function.flaws().iter().map(vouched);
        let untouched = |reason| ("not instrumented", explain::of_untouched(reason).code, untouched_reason(reason));
        let untouched = function.facts.untouched.map(untouched);
        for reason in flaws.chain(untouched) {
            by_reason.entry(reason).or_default().push(options.names.show(&function.facts.symbol));
        }
    }
    for ((what, code, reason), names) in by_reason {
        let limit = if options.verbose { names.len() } else { names.len().min(5) };
        let more = if limit < names.len() { format!(" and {} more", names.len() - limit) } else { String::new() };
        writeln!(out, "{}", style.wrap(&format!("{what} [{code}]: {reason}: {}{more}", names[..limit].join(", ")), 2))?;
    }
    Ok(())
}

/// The calls of a function, as the export has them.
pub(super) fn details(unit: &Unit<'_>, function: &UnitFunction<'_>) -> BTreeMap<&'static str, Value> {
    let call = |((call, facts), count): ((cotree_core::ids::CallId, &Call), &Option<u64>)| {
        let mut object = serde_json::Map::new();
        object.insert("block".into(), facts.block.0.into());
        match &facts.callee {
            Callee::Symbol(symbol) => object.insert("callee".into(), symbol.as_str().into()),
            Callee::Assembly => object.insert("assembly".into(), true.into()),
            Callee::Indirect | Callee::Fault => None,
        };
        if let Some(at) = function.facts.call_position(call) {
            object.insert("position".into(), json!({"file": at.file, "line": at.line, "column": at.column}));
        }
        object.insert("count".into(), (*count)?.into());
        Some(Value::Object(object))
    };
    let Some(profile) = profile_of(unit, function) else { return BTreeMap::new() };
    let calls = function.facts.calls.numbered().zip(&profile.calls).filter_map(call).collect();
    BTreeMap::from([("calls", Value::Array(calls))])
}
