//! Paths across functions: how a function is entered, which calls its paths cross, and what its probes do.

use super::Code;
use cotree_core::facts::{Function, ProgramMap};
use cotree_core::ids::Table;
use cotree_core::method::ipath::{AtCall, Entry, IN_ARRAY, UnitIpathPlan};
use cotree_core::probe::{PlacedProbe, Probe, Reg};
use std::fmt::Write;

pub(super) fn write(
    code: Code<'_>,
    unit: &UnitIpathPlan,
    number: usize,
    program: &ProgramMap,
    out: &mut String,
) -> std::fmt::Result {
    let plan = &unit.functions[number];
    let functions: Vec<&Function> = program.functions().map(|(_, function)| function).collect();
    let how = match plan.key.entry {
        Entry::Unmeasured => return writeln!(out, "  no probes"),
        Entry::Alone => "each activation begins a path",
        Entry::Called { cut: false } => "paths of the callers go on here",
        Entry::Called { cut: true } => "paths of some callers go on here; other callers begin one",
        Entry::Open => "paths of callers that name it go on here; all other activations begin a path",
    };
    writeln!(out, "  {} paths in the unit; {how}", unit.paths)?;
    for &(call, at) in &plan.key.calls {
        let callee = |id: cotree_core::ids::FunctionId| functions[id.index()].symbol.clone();
        match at {
            AtCall::Cross(id) => writeln!(out, "  {call}: paths go on in {}", callee(id))?,
            AtCall::Begin(id) => writeln!(out, "  {call}: the path runs on past it, and one begins in {}", callee(id))?,
            AtCall::Descend(id) => {
                writeln!(out, "  {call}: the path runs on past it, and is the context of those of {}", callee(id))?;
            }
            AtCall::Reach(group) => {
                let members: Vec<String> = unit.groups.members(group).iter().map(|&id| callee(id)).collect();
                let members = members.join(", ");
                writeln!(out, "  {call}: the path runs on past it, and is the context of those of {members}")?;
            }
            AtCall::Pass => writeln!(out, "  {call}: the path runs on past it")?,
            AtCall::Cut => writeln!(out, "  {call}: the path ends, and one begins behind it")?,
        }
    }
    plan.probes.iter().try_for_each(|placed| write_probe(code, placed, out))?;
    writeln!(out, "  the counts of edges and blocks follow from those of the paths")
}

fn write_probe(code: Code<'_>, placed: &PlacedProbe, out: &mut String) -> std::fmt::Result {
    let place = code.place(placed.place);
    let scaled = |register: Reg, times: i64, plus: i64| match (times, plus) {
        (0, _) => plus.to_string(),
        (1, 0) => register.to_string(),
        (1, _) => format!("{register} {plus:+}"),
        (_, 0) => format!("{register} × {times}"),
        _ => format!("{register} × {times} {plus:+}"),
    };
    match placed.probe {
        Probe::Add(register, k) => writeln!(out, "    {place}: {register} += {k}"),
        Probe::Linear { to, from, times, plus } => writeln!(out, "    {place}: {to} = {}", scaled(from, times, plus)),
        Probe::AddProduct { to, factor, times } => writeln!(out, "    {place}: {to} += {factor} × {times}"),
        Probe::Read(register, word) => writeln!(out, "    {place}: {register} = {word}"),
        Probe::Write { word, from, times, plus } => {
            writeln!(out, "    {place}: {word} = {}", scaled(from, times, plus))
        }
        Probe::SetUnless(register, flag, k) => writeln!(out, "    {place}: unless {flag}, {register} = {k}"),
        Probe::AddUnless(register, flag, k) => writeln!(out, "    {place}: unless {flag}, {register} += {k}"),
        Probe::CountPath(table, register, k) => {
            let number = scaled(register, 1, k);
            writeln!(out, "    {place}: the path with the number {number} is counted{}", counted_in(table))
        }
        Probe::Claim { to, word, mark } => {
            writeln!(out, "    {place}: {to} = 1 if {word} is {mark}, which becomes 0; else {to} = 0")
        }
        Probe::ClaimByAddress { to, word, .. } => {
            writeln!(out, "    {place}: {to} = 0 if {word} is the function's address, and becomes 0; else {to} = 1")
        }
        Probe::NameCallee { word, .. } => writeln!(out, "    {place}: {word} = the address that is called"),
        Probe::Meter { amount, since } => writeln!(out, "    {place}: {amount} = total − {since}, {since} = total"),
        Probe::CopyUnless { to, flag, from } => writeln!(out, "    {place}: unless {flag}, {to} = {from}"),
        Probe::CountPathUnless { table, reg, flag } => {
            let table = counted_in(table);
            writeln!(out, "    {place}: unless {flag}, the path with the number {reg} is counted{table}")
        }
        _ => Ok(()),
    }
}

const fn counted_in(table: Table) -> &'static str {
    if matches!(table, IN_ARRAY) { " in its word" } else { "" }
}
