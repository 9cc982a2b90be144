//! How each family of methods is explained: a file for each, and the only place here that knows them all.

mod calls;
mod counters;
mod events;
mod ipath;
mod paths;
mod trace;

use super::code::Code;
use super::planned::Planned;
use cotree_core::facts::{Function, ProgramMap};
use cotree_core::ids::FunctionId;
use cotree_core::method::MethodPlan;
use cotree_core::place::affine::Replacements;
use cotree_core::place::cold_blocks;
use cotree_core::plan::{CallPoint, DerivedEntry};
use counters::Counters;
use paths::Paths;
use std::fmt::Write;

/// What is counted in one function, by its number in the unit.
pub(super) fn write(planned: &Planned, number: usize, code: Code<'_>, out: &mut String) -> std::fmt::Result {
    let Code { function, cfg } = code;
    let Some(plan) = planned.plan.method.function(FunctionId::new(number)) else { return writeln!(out, "  no probes") };
    let hints = planned.hints.get(number);
    let weighting = planned.weighting(number, code);
    let variables = planned.variables.get(number).map_or(&[][..], Vec::as_slice);
    let replacements = Replacements::new(function, cfg, &weighting, variables);
    let aside = hints
        .filter(|_| planned.hints_branches)
        .map(|hints| cold_blocks::edges_to_cold_counters(function, cfg, hints, plan));
    let aside = aside.unwrap_or_default();
    let counters = Counters { code, weighting: &weighting, plan, replacements: &replacements, variables, aside };
    match &planned.plan.method {
        MethodPlan::None => Ok(()),
        MethodPlan::Counters(_) => {
            counters.write(out)?;
            counters.write_rest(planned.plan.method.method().promises().edges, out)?;
            counters.write_variables(out)?;
            let entry = planned.plan.method.entries().iter().find(|entry| entry.function == FunctionId::new(number));
            write_callers(out, &planned.program, entry)
        }
        MethodPlan::Paths(unit) => {
            Paths { code, plan: &unit.functions[number], array: unit.array }.write(out)?;
            counters.write(out)?;
            writeln!(out, "  the counts of edges and blocks follow from those of the paths")
        }
        MethodPlan::Calls(unit) => calls::write(code, &unit.functions[number], out),
        MethodPlan::Ipath(unit) => ipath::write(code, unit, number, &planned.program, out),
        MethodPlan::Events(unit) => events::write(code, unit, &unit.functions[number], out),
        MethodPlan::Traces(unit) => trace::write(code, &weighting, &unit.functions[number], out),
    }
}

/// Where the entries of a function without an entry counter are counted.
fn write_callers(out: &mut String, program: &ProgramMap, entry: Option<&DerivedEntry>) -> std::fmt::Result {
    let Some(DerivedEntry { calls, .. }) = entry else { return Ok(()) };
    let sites = if calls.len() == 1 { "call site" } else { "call sites" };
    writeln!(out, "  entries: derived from {} {sites}", calls.len())?;
    let functions: Vec<&Function> = program.functions().map(|(_, f)| f).collect();
    for CallPoint { function, block, .. } in calls {
        let caller = functions[function.index()];
        let line = caller.blocks[*block].lines.first().map(|span| format!(" (line {})", span.at.line));
        writeln!(out, "    {block}{} of {}", line.unwrap_or_default(), caller.symbol)?;
    }
    Ok(())
}
