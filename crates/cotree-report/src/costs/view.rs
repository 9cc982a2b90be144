//! The tables of `cotree costs`: what functions and calls have cost, exclusively and inclusively; and the same as JSON
//! (`docs/json.md`).

use super::{Cost, Costs};
use crate::filtered::{self, Shares};
use crate::names::{Names, demangle, matches};
use crate::terminal::{Style, grouped, number, percent, place, text};
use cotree_core::facts::events::EventKind;
use serde::Serialize;
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The name and version of the schema.
pub const SCHEMA: &str = "cotree-costs/1";

/// What to show.
#[derive(Clone, Debug)]
pub struct CostsOptions {
    /// The kind of events.
    pub kind: EventKind,
    /// Rows per table; 0: all.
    pub top: usize,
    /// Only functions that match, and calls by them and of them.
    pub function: Option<String>,
    /// How to show names.
    pub names: Names,
    /// The terminal.
    pub style: Style,
}

/// Writes the tables.
///
/// # Errors
/// If the output can't be written.
pub fn write(costs: &Costs<'_>, options: &CostsOptions, out: &mut dyn Write) -> io::Result<()> {
    let whole = costs.total().of(options.kind);
    writeln!(out, "{}: {}", options.kind.title(), grouped(whole))?;
    if costs.missing {
        writeln!(out, "{}", options.style.warning("NOT ALL EXACT: the trace does not have the whole execution"))?;
    }
    if !costs.missing && !costs.inclusive_exact() {
        let sentence = "NOT ALL EXACT: activations ended where what they had done by then is not known";
        writeln!(out, "{}", options.style.warning(sentence))?;
    }
    if costs.summed.as_ref().is_some_and(|summed| !summed.complete) {
        let sentence =
            "Calls through pointers, and by code that is not profiled, are in `cotree report`, and not here.";
        writeln!(out, "{}", options.style.wrap(sentence, 0))?;
    }
    if costs.inclusive().is_none() {
        let sentence = "The profile does not tell what calls led to: inclusive costs are in traces (--profile trace).";
        writeln!(out, "{}", options.style.wrap(sentence, 0))?;
    }
    if costs.functions.iter().any(|function| function.entries.is_none()) {
        let sentence = "Entries are known where every call is counted that may enter the function.";
        writeln!(out, "{}", options.style.wrap(sentence, 0))?;
    }
    writeln!(out)?;
    if let Some(pattern) = &options.function {
        let own = (0..costs.functions.len()).filter(|&function| is_wanted(costs, function, options));
        let own = own.map(|function| costs.functions[function].exclusive().of(options.kind)).sum();
        let what = options.kind.title();
        filtered::write(pattern, [own, whole], what, Shares::OfRun, options.style, out)?;
    }
    write_functions(costs, options, whole, out)?;
    write_calls(costs, options, whole, out)
}

fn shown<'a, T>(all: &'a [T], options: &CostsOptions) -> &'a [T] {
    if options.top == 0 { all } else { &all[..all.len().min(options.top)] }
}

fn heading(title: &str, shown: usize, all: usize, options: &CostsOptions, out: &mut dyn Write) -> io::Result<()> {
    let cut = if shown < all { format!(" ({shown} of {})", grouped(all as u128)) } else { String::new() };
    writeln!(out, "{}{}", options.style.heading(title), options.style.faint(&cut))
}

fn is_wanted(costs: &Costs<'_>, function: usize, options: &CostsOptions) -> bool {
    let symbol = &costs.functions[function].function.facts.symbol;
    options.function.as_ref().is_none_or(|pattern| matches(pattern, symbol))
}

/// What stands before a number that is not exact.
fn doubt(exact: bool) -> &'static str {
    if exact { "" } else { "~" }
}

fn write_functions(costs: &Costs<'_>, options: &CostsOptions, whole: u128, out: &mut dyn Write) -> io::Result<()> {
    let inclusive = |function: usize| Some(costs.inclusive_of(function)?.of(options.kind));
    let ran = (0..costs.functions.len()).filter(|&f| costs.functions[f].ran() && is_wanted(costs, f, options));
    let mut rows: Vec<(usize, u128, Option<u128>)> =
        ran.map(|f| (f, costs.functions[f].exclusive().of(options.kind), inclusive(f))).collect();
    rows.retain(|&(_, exclusive, inclusive)| exclusive > 0 || inclusive.is_some_and(|inclusive| inclusive > 0));
    rows.sort_by_key(|&(_, exclusive, inclusive)| (Reverse(inclusive), Reverse(exclusive)));
    let cut = shown(&rows, options);
    let inclusive_doubt = doubt(costs.inclusive_exact());
    heading("Functions", cut.len(), rows.len(), options, out)?;
    let table = cut.iter().map(|&(number, exclusive, inclusive)| {
        let function = &costs.functions[number];
        // Where sums are in doubt, so is what a function did itself: the difference of sums.
        let doubt = doubt(costs.sums_exact() && function.function.flaws().is_empty());
        vec![
            inclusive.map_or_else(|| "-".to_owned(), |inclusive| format!("{inclusive_doubt}{}", grouped(inclusive))),
            inclusive.map_or_else(|| "-".to_owned(), |inclusive| percent(inclusive, whole)),
            format!("{doubt}{}", grouped(exclusive)),
            percent(exclusive, whole),
            function.entries.map_or_else(|| "-".to_owned(), |entries| grouped(entries.into())),
            options.names.show(&function.function.facts.symbol),
            costs.units[function.unit].brief(function.function.facts.position),
        ]
    });
    let columns = [
        number("inclusive"),
        number("share").spare(1),
        number("exclusive"),
        number("share").spare(1),
        number("entries"),
        text("function"),
        place("where"),
    ];
    writeln!(out, "{}", options.style.table(&columns, table.collect()))
}

fn write_calls(costs: &Costs<'_>, options: &CostsOptions, whole: u128, out: &mut dyn Write) -> io::Result<()> {
    let Some(inclusive) = costs.inclusive() else { return Ok(()) };
    let arcs = costs.graph.arcs().iter().zip(&inclusive);
    let wanted =
        |arc: &super::calls::Arc| is_wanted(costs, arc.caller, options) || is_wanted(costs, arc.callee, options);
    let mut rows: Vec<_> = arcs.filter(|(arc, cost)| wanted(arc) && cost.of(options.kind) > 0).collect();
    rows.sort_by_key(|(_, cost)| Reverse(cost.of(options.kind)));
    let cut = shown(&rows, options);
    let doubt = doubt(costs.inclusive_exact());
    if cut.is_empty() {
        return Ok(());
    }
    heading("Calls", cut.len(), rows.len(), options, out)?;
    let table = cut.iter().map(|(arc, cost)| {
        let caller = &costs.functions[arc.caller];
        let name = |function: usize| options.names.show(&costs.functions[function].function.facts.symbol);
        let position = caller.function.facts.call_position(arc.call);
        vec![
            format!("{doubt}{}", grouped(cost.of(options.kind))),
            percent(cost.of(options.kind), whole),
            grouped(arc.calls.into()),
            name(arc.caller),
            name(arc.callee),
            costs.units[caller.unit].brief(position),
        ]
    });
    let columns = [
        number("inclusive"),
        number("share").spare(1),
        number("calls"),
        text("caller"),
        text("callee"),
        place("where"),
    ];
    writeln!(out, "{}", options.style.table(&columns, table.collect()))
}

#[derive(Serialize)]
struct File<'a> {
    schema: &'static str,
    whole: bool,
    total: BTreeMap<&'static str, Value>,
    functions: Vec<JsonFunction<'a>>,
    calls: Option<Vec<JsonCall>>,
}

#[derive(Serialize)]
struct JsonFunction<'a> {
    binary: String,
    symbol: &'a str,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    exact: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    entries: Option<u64>,
    exclusive: BTreeMap<&'static str, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inclusive: Option<BTreeMap<&'static str, Value>>,
}

#[derive(Serialize)]
struct JsonCall {
    caller: usize,
    callee: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    calls: u64,
    inclusive: BTreeMap<&'static str, Value>,
}

/// Amounts by kind: those that happened. Amounts beyond 64 bits are text.
pub(crate) fn amounts(cost: &Cost) -> BTreeMap<&'static str, Value> {
    let happened = EventKind::ALL.into_iter().filter(|&kind| cost.of(kind) > 0);
    let amount = |amount: u128| u64::try_from(amount).map_or_else(|_| amount.to_string().into(), Value::from);
    happened.map(|kind| (kind.name(), amount(cost.of(kind)))).collect()
}

/// Writes functions and calls of all kinds as JSON.
///
/// # Errors
/// If the output can't be written.
pub fn write_json(costs: &Costs<'_>, out: &mut dyn Write) -> io::Result<()> {
    let sums_exact = costs.sums_exact();
    let functions = costs.functions.iter().enumerate().map(|(number, function)| {
        let facts = function.function.facts;
        JsonFunction {
            binary: costs.units[function.unit].profile.binary.display().to_string(),
            symbol: &facts.symbol,
            name: demangle(&facts.symbol),
            file: facts.position.map(|position| costs.file(function, position.file)),
            line: facts.position.map(|position| position.line),
            exact: sums_exact && function.function.flaws().is_empty(),
            entries: function.entries,
            exclusive: amounts(&function.exclusive()),
            inclusive: costs.inclusive_of(number).as_ref().map(amounts),
        }
    });
    let calls = costs.inclusive().map(|inclusive| {
        let call = |(arc, cost): (&super::calls::Arc, &Cost)| JsonCall {
            caller: arc.caller,
            callee: arc.callee,
            line: costs.functions[arc.caller].line_of_call(arc.call).at.map(|(_, line)| line),
            calls: arc.calls,
            inclusive: amounts(cost),
        };
        costs.graph.arcs().iter().zip(&inclusive).map(call).collect()
    });
    let file = File {
        schema: SCHEMA,
        whole: costs.inclusive_exact(),
        total: amounts(&costs.total()),
        functions: functions.collect(),
        calls,
    };
    serde_json::to_writer(&mut *out, &file)?;
    writeln!(out)
}
