//! The report of event counts of calls: what each function and each call had of events, by itself and with all that it
//! led to.

use crate::filtered::{self, Shares};
use crate::names::{Names, matches};
use crate::report::ReportOptions;
use crate::terminal::{grouped, number, percent, place, text};
use crate::unit::{Unit, UnitFunction};
use cotree_core::facts::events::EventKind;
use cotree_core::facts::{Call, Callee};
use cotree_core::ids::{CallId, FunctionId};
use cotree_core::method::events::EventProfile;
use cotree_core::method::events::call_sums::{CallSum, CallSums, FunctionSums};
use cotree_core::method::targets::SiteTargets;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The sums of a unit, and the kinds that they are of.
pub(super) struct Sums<'a> {
    pub(super) kinds: &'a [EventKind],
    pub(super) calls: &'a CallSums,
}

impl<'a> Sums<'a> {
    /// `None` if the method tells none.
    pub(super) fn of(unit: &Unit<'a>) -> Option<Self> {
        let EventProfile { kinds, calls, .. } = unit.profile.method.events()?;
        Some(Self { kinds, calls: calls.as_ref()? })
    }

    fn function(&self, function: &UnitFunction<'_>) -> Option<&'a FunctionSums> {
        self.calls.functions.get(function.index.index())?.as_ref()
    }
}

/// Is every sum right? An activation whose end is not known for certain may have been part of any call.
pub(super) fn exact(unit: &Unit<'_>) -> bool {
    unit.profile.sums_exact() && unit.profile.exact()
}

/// A call that was made.
struct Made<'a> {
    function: UnitFunction<'a>,
    id: CallId,
    facts: &'a Call,
    sum: &'a CallSum,
}

fn made<'a>(sums: &Sums<'a>, function: UnitFunction<'a>) -> impl Iterator<Item = Made<'a>> + use<'a> {
    let calls = sums.function(&function).map_or(&[][..], |sums| &sums.calls);
    let calls = function.facts.calls.numbered().zip(calls);
    calls.filter_map(move |((id, facts), sum)| {
        let sum = sum.as_ref().filter(|sum| sum.happened())?;
        Some(Made { function, id, facts, sum })
    })
}

/// What stands behind numbers that count inner turns of a recursion, too.
const AGAIN: &str = "+";

/// Writes tables of functions and calls, by events of the first kind.
pub(super) fn write(unit: &Unit<'_>, options: &ReportOptions, out: &mut dyn Write) -> io::Result<()> {
    let Some(sums) = Sums::of(unit) else { return Ok(()) };
    if sums.kinds.is_empty() {
        return Ok(());
    }
    let wanted = |function: &UnitFunction<'_>| {
        options.function.as_ref().is_none_or(|pattern| matches(pattern, &function.facts.symbol))
    };
    let functions: Vec<UnitFunction<'_>> = unit.functions().filter(wanted).collect();
    let whole = unit.profile.method.events().and_then(|profile| profile.totals.first()).copied().unwrap_or(0);
    let doubt = if exact(unit) { "" } else { "~" };
    let amount =
        |events: u64, repeats: bool| format!("{doubt}{}{}", grouped(events.into()), if repeats { AGAIN } else { "" });
    let mut rows: Vec<(&UnitFunction<'_>, &FunctionSums)> =
        functions.iter().filter_map(|function| Some((function, sums.function(function)?))).collect();
    rows.retain(|(_, sums)| sums.entries > 0 || sums.inclusive[0] > 0);
    rows.sort_by_key(|(_, sums)| (Reverse(sums.exclusive[0]), Reverse(sums.inclusive[0])));
    let shown = cut(&rows, options);
    writeln!(out)?;
    if let Some(pattern) = &options.function {
        let own = rows.iter().map(|(_, sums)| u128::from(sums.exclusive[0])).sum();
        let what = sums.kinds[0].title();
        filtered::write(pattern, [own, whole.into()], what, Shares::OfRun, options.style, out)?;
    }
    heading("Functions", shown.len(), rows.len(), options, out)?;
    let table = shown.iter().map(|(function, sums)| {
        vec![
            amount(sums.exclusive[0], false),
            percent(sums.exclusive[0].into(), whole.into()),
            amount(sums.inclusive[0], sums.repeats),
            grouped(sums.entries.into()),
            options.names.show(&function.facts.symbol),
            unit.brief(function.facts.position),
        ]
    });
    let columns = [
        number("exclusive"),
        number("share"),
        number("inclusive"),
        number("entries"),
        text("function"),
        place("where"),
    ];
    writeln!(out, "{}", options.style.table(&columns, table.collect()))?;

    let mut calls: Vec<Made<'_>> = functions.iter().flat_map(|&function| made(&sums, function)).collect();
    calls.sort_by_key(|made| Reverse(made.sum.inclusive[0]));
    let shown = cut(&calls, options);
    heading("Calls", shown.len(), calls.len(), options, out)?;
    let table = shown.iter().map(|made| {
        vec![
            amount(made.sum.inclusive[0], made.sum.repeats),
            grouped(made.sum.calls.into()),
            options.names.show(&made.function.facts.symbol),
            callees(unit, made, options.names).unwrap_or_else(|| options.names.callee(made.facts)),
            unit.brief(made.function.facts.call_position(made.id)),
        ]
    });
    let columns = [number("inclusive"), number("calls"), text("caller"), text("callee"), place("where")];
    writeln!(out, "{}", options.style.table(&columns, table.collect()))?;
    let repeats = |sums: &FunctionSums| sums.repeats || sums.calls.iter().flatten().any(|call| call.repeats);
    let again = functions.iter().filter_map(|function| sums.function(function)).any(repeats);
    if again {
        let sentence = "+ may call itself: what was under way several times at once counts each time";
        writeln!(out, "{}", options.style.wrap(sentence, 2))?;
    }
    if !exact(unit) {
        let sentence = "~ not exact: activations ended where what they had done by then is not known";
        writeln!(out, "{}", options.style.wrap(sentence, 2))?;
    }
    Ok(())
}

/// Whom a call through a pointer has led to, the most frequent first.
fn reached<'a>(unit: &Unit<'a>, function: &UnitFunction<'_>, call: CallId) -> Option<&'a SiteTargets> {
    let sites = unit.profile.targets.as_ref()?.get(function.index.index())?;
    sites.iter().find(|site| site.call == call)
}

/// Their names, if any of them is known.
fn callees(unit: &Unit<'_>, made: &Made<'_>, names: Names) -> Option<String> {
    /// More than that are counted.
    const MOST: usize = 3;
    let site = reached(unit, &made.function, made.id).filter(|site| !site.functions.is_empty())?;
    let name = |&(callee, _): &(FunctionId, u64)| Some(names.show(&unit.function(callee)?.facts.symbol));
    let mut named: Vec<String> = site.functions.iter().take(MOST).filter_map(name).collect();
    let more = site.functions.len().saturating_sub(MOST) + usize::from(site.others > 0);
    if more > 0 {
        named.push(format!("{more} more"));
    }
    Some(named.join(", "))
}

fn cut<'a, T>(all: &'a [T], options: &ReportOptions) -> &'a [T] {
    if options.top == 0 { all } else { &all[..all.len().min(options.top)] }
}

fn heading(title: &str, shown: usize, all: usize, options: &ReportOptions, out: &mut dyn Write) -> io::Result<()> {
    let cut = if shown < all { format!(" ({shown} of {})", grouped(all as u128)) } else { String::new() };
    writeln!(out, "{}{}", options.style.heading(title), options.style.faint(&cut))
}

/// The sums of a function, as the export has them.
pub(super) fn details(unit: &Unit<'_>, function: &UnitFunction<'_>) -> BTreeMap<&'static str, Value> {
    let Some(sums) = Sums::of(unit) else { return BTreeMap::new() };
    let Some(own) = sums.function(function) else { return BTreeMap::new() };
    let amounts = |amounts: &[u64]| -> Value {
        let amount = |(kind, &amount): (&EventKind, &u64)| (kind.name().to_owned(), Value::from(amount));
        Value::Object(sums.kinds.iter().zip(amounts).map(amount).collect())
    };
    let call = |((id, facts), sum): ((CallId, &Call), &Option<CallSum>)| {
        let sum = sum.as_ref()?;
        let mut object = serde_json::Map::new();
        object.insert("block".into(), facts.block.0.into());
        if let Callee::Symbol(symbol) = &facts.callee {
            object.insert("callee".into(), symbol.as_str().into());
        }
        if let Some(site) = reached(unit, function, id) {
            let callee = |&(callee, calls): &(FunctionId, u64)| {
                let symbol = unit.function(callee).map_or("", |callee| &callee.facts.symbol);
                json!({"symbol": symbol, "calls": calls})
            };
            object.insert("callees".into(), site.functions.iter().map(callee).collect());
            object.insert("others".into(), site.others.into());
        }
        if let Some(at) = function.facts.call_position(id) {
            object.insert("position".into(), json!({"file": at.file, "line": at.line, "column": at.column}));
        }
        object.insert("calls".into(), sum.calls.into());
        object.insert("inclusive".into(), amounts(&sum.inclusive));
        object.insert("recursive".into(), sum.recursive.into());
        object.insert("repeats".into(), sum.repeats.into());
        Some(Value::Object(object))
    };
    let calls: Vec<Value> = function.facts.calls.numbered().zip(&own.calls).filter_map(call).collect();
    let events = json!({
        "entries": own.entries,
        "exclusive": amounts(&own.exclusive),
        "inclusive": amounts(&own.inclusive),
        "recursive": own.recursive,
        "repeats": own.repeats,
        "inclusive_exact": exact(unit),
        "calls": calls,
    });
    BTreeMap::from([("events", events)])
}
