//! The index: what the overview shows, and one line for each function and file.

use super::content::Pages;
use super::data::Amount;
use super::files::FileTotals;
use super::functions::PER_SCRIPT;
use super::hot_loops::LoopRow;
use super::numbering::Numbering;
use super::remarks::{self, Explanations, Remark};
use super::trace::Ends;
use crate::functions::FunctionSummary;
use crate::method::totals;
use crate::terminal::grouped;
use crate::unit::Unit;
use cotree_core::profile::Flaw;
use serde::Serialize;

/// The most loops that the overview has.
const MOST_LOOPS: usize = 500;

/// All of it. Lists of what there are many of are columns: one list per property.
#[derive(Serialize)]
pub(super) struct Index<'a> {
    version: &'static str,
    facts: &'a [(String, String)],
    units: Vec<UnitData<'a>>,
    files: Files<'a>,
    functions: Functions,
    per_script: usize,
    /// The kind of events that costs are of.
    kind: &'static str,
    loops: &'a [LoopRow],
    /// How many paths ran, if these are counted.
    paths: Option<u64>,
    /// How the threads of a trace ended, if there is one.
    trace: Option<&'a Ends>,
    /// What codes mean.
    explanations: Explanations,
    /// The profile that this one is compared with.
    before: Option<&'a str>,
}

#[derive(Serialize)]
struct UnitData<'a> {
    name: &'a str,
    method: &'static str,
    exact: bool,
    notes: Vec<Remark>,
    /// Names, amounts and remarks.
    totals: Vec<(String, Amount, String)>,
    /// Why functions are not vouched for, and how many these are.
    doubts: Vec<(Remark, u64)>,
}

#[derive(Serialize)]
struct Files<'a> {
    paths: &'a [&'a str],
    /// Lines with code, those of them that ran, and what they cost.
    lines: Vec<u32>,
    ran: Vec<u32>,
    cost: Vec<Amount>,
    /// Numbers of files that are not what was built, and why.
    faults: Vec<(usize, &'static str)>,
}

#[derive(Default, Serialize)]
struct Functions {
    name: Vec<String>,
    unit: Vec<usize>,
    /// File and line; -1 and 0 where they are not known.
    file: Vec<i64>,
    line: Vec<u32>,
    /// What a function cost itself, and with all that it called.
    own: Vec<Amount>,
    inclusive: Option<Vec<Amount>>,
    entries: Vec<Option<Amount>>,
    inlined: Vec<Amount>,
    executions: Vec<Amount>,
    blocks: Vec<u64>,
    unreached: Vec<u64>,
    /// 0: vouched for; 1: not; 2: without counts; 3: only inlined.
    state: Vec<u8>,
}

/// Makes the index; `loops` are all, the hottest first.
pub(super) fn of<'a>(
    pages: &'a Pages<'_>,
    numbering: &'a Numbering<'_>,
    files: &[FileTotals],
    loops: &'a [LoopRow],
    paths: Option<u64>,
    trace: Option<&'a Ends>,
) -> Index<'a> {
    let mut functions = Functions::default();
    for function in &numbering.functions {
        let f = &function.summary;
        functions.name.push(pages.names.show(&f.symbol));
        functions.unit.push(function.unit);
        let place = numbering.place(function.unit, f.position);
        functions.file.push(place.map_or(-1, |(file, _)| file as i64));
        functions.line.push(place.map_or(0, |(_, line)| line));
        functions.own.push(Amount::default());
        functions.entries.push(Some(f.entries().into()));
        functions.inlined.push(f.inlined_entries.into());
        functions.executions.push(Amount(f.block_executions));
        functions.blocks.push(f.blocks);
        functions.unreached.push(f.unreached);
        functions.state.push(match () {
            () if f.failed || !f.flaws.is_empty() => 1,
            () if f.untouched.is_some() => 2,
            () if f.bodies.is_empty() => 3,
            () => 0,
        });
    }
    add_costs(pages, numbering, &mut functions);
    Index {
        version: env!("CARGO_PKG_VERSION"),
        facts: &pages.facts,
        units: pages.units().iter().enumerate().map(|(number, unit)| unit_of(unit, number, numbering)).collect(),
        files: Files {
            paths: &numbering.files,
            lines: files.iter().map(|file| file.lines).collect(),
            ran: files.iter().map(|file| file.ran).collect(),
            cost: files.iter().map(|file| Amount(file.cost)).collect(),
            faults: files.iter().enumerate().filter_map(|(number, file)| Some((number, file.fault?))).collect(),
        },
        functions,
        per_script: PER_SCRIPT,
        kind: pages.kind().title(),
        loops: &loops[..loops.len().min(MOST_LOOPS)],
        paths,
        trace,
        explanations: remarks::explanations(),
        before: pages.before.as_ref().map(|before| before.name.as_str()),
    }
}

/// Adds what functions have cost; and how often they were entered, where no blocks are counted.
fn add_costs(pages: &Pages<'_>, numbering: &Numbering<'_>, functions: &mut Functions) {
    let kind = pages.kind();
    let inclusive_known = (0..pages.costs.functions.len()).any(|number| pages.costs.inclusive_of(number).is_some());
    let mut inclusive = vec![Amount::default(); functions.own.len()];
    for (number, costs) in pages.costs.functions.iter().enumerate() {
        let Some(function) = numbering.of_body(costs.unit, costs.function.index) else { continue };
        functions.own[function].0 += costs.exclusive().of(kind);
        inclusive[function].0 += pages.costs.inclusive_of(number).map_or(0, |cost| cost.of(kind));
        if costs.function.profile.is_none() {
            let known = functions.entries[function].zip(costs.entries);
            functions.entries[function] = known.map(|(sum, more)| Amount(sum.0 + u128::from(more)));
        }
    }
    functions.inclusive = inclusive_known.then_some(inclusive);
}

fn unit_of<'a>(unit: &'a Unit<'_>, number: usize, numbering: &Numbering<'_>) -> UnitData<'a> {
    let own = || numbering.functions.iter().filter(|f| f.unit == number).map(|f| &f.summary);
    let measured = || own().filter(|f| f.is_measured());
    let count = |of: fn(&FunctionSummary) -> u64| Amount(measured().map(|f| u128::from(of(f))).sum());
    let executed = |of: fn(&FunctionSummary) -> u128| Amount(own().map(of).sum());
    let row = |name: &str, amount: Amount, remark: String| (name.to_owned(), amount, remark);
    let blocks: u64 = measured().map(|f| f.blocks).sum();
    let (name, total, remark) = totals::total(unit, unit.functions().filter(|f| f.profile.is_some()));
    let mut totals = vec![
        row("functions run", count(|f| u64::from(f.ran())), format!("of {}", grouped(measured().count() as u128))),
        row("blocks run", count(|f| f.blocks - f.unreached), format!("of {}", grouped(blocks.into()))),
        row("function entries", executed(|f| f.own_entries.into()), String::new()),
        row("block executions", executed(|f| f.block_executions), String::new()),
        row("instructions", executed(|f| f.instructions.total), String::new()),
    ];
    // Without counts of blocks there are those of the method alone.
    if unit.functions().all(|f| f.profile.is_none()) {
        totals.clear();
    }
    totals.push(row(name, Amount(total), remark));
    let mut doubts: Vec<(Flaw, u64)> = Vec::new();
    for &flaw in measured().flat_map(|f| &f.own_flaws) {
        match doubts.iter_mut().find(|(known, _)| *known == flaw) {
            Some((_, functions)) => *functions += 1,
            None => doubts.push((flaw, 1)),
        }
    }
    UnitData {
        name: &unit.map.program.name,
        method: unit.profile.method.method().title(),
        exact: unit.profile.exact(),
        notes: unit.profile.notes.iter().map(remarks::note).collect(),
        totals,
        doubts: doubts.into_iter().map(|(flaw, functions)| (remarks::flaw(flaw), functions)).collect(),
    }
}
