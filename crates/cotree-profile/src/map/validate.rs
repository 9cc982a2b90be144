//! Validates a map from a file, so that its users need no checks of their own: every index in range, every order kept.

use super::{MapError, accesses, covered, plan};
use crate::binary::BinaryMap;
use cotree_core::facts::{Call, Function, Position};
use cotree_core::ids::{Counter, FunctionId, Site};
use cotree_core::method::MethodPlan;
use cotree_core::plan::{FunctionPlan, MOST_FIXED_DEPTH, Measure};
use cotree_core::probe::{Place, Probe};

/// Checks every index and order that users of a map rely on.
///
/// # Errors
/// The first thing found wrong.
pub fn validate(map: &BinaryMap) -> Result<(), MapError> {
    let files = map.program.files.len();
    let functions: Vec<&Function> = map.program.functions().map(|(_, f)| f).collect();
    for (index, function) in functions.iter().enumerate() {
        check_function(function, files)
            .and_then(|()| accesses::check(function))
            .map_err(|what| MapError::InvalidFunction { function: index, what })?;
    }
    map.program.modules.iter().try_for_each(covered::check).map_err(MapError::Invalid)?;
    if map.plan.method != MethodPlan::None {
        check_plans(map.plan.method.functions(), &functions)?;
    }
    if let Some(check) = &map.plan.check {
        check_plans(check.iter().map(FunctionPlan::from), &functions)?;
    }
    plan::check(&map.plan.method, &functions)?;
    for code in &map.code.functions {
        let mut last = None;
        for point in &code.returns {
            if last.is_some_and(|l| l >= point.offset) || point.offset > code.size {
                return Err(MapError::Invalid("return offsets do not rise within their function"));
            }
            last = Some(point.offset);
            let known = |&(function, site): &(FunctionId, Site)| {
                functions.get(function.index()).is_some_and(|function| site.index() < function.sites().len())
            };
            if !point.chain.iter().chain(&point.registers).all(known) {
                return Err(MapError::Invalid("a return address belongs to no call site"));
            }
        }
    }
    Ok(())
}

fn check_plans<'a>(plans: impl Iterator<Item = FunctionPlan<'a>>, functions: &[&Function]) -> Result<(), MapError> {
    let plans: Vec<FunctionPlan<'_>> = plans.collect();
    if plans.len() != functions.len() {
        return Err(MapError::Invalid("there is not one plan per function"));
    }
    for (index, (plan, function)) in plans.into_iter().zip(functions).enumerate() {
        check_plan(plan, function).map_err(|what| MapError::InvalidFunction { function: index, what })?;
    }
    Ok(())
}

fn check_function(function: &Function, files: usize) -> Result<(), &'static str> {
    let known = |p: &Position| (p.file as usize) < files && p.line > 0;
    let require = |holds: bool, what: &'static str| if holds { Ok(()) } else { Err(what) };
    if function.blocks.is_empty() {
        // A declaration or a body that is not modelled.
        require(function.edges.is_empty() && function.calls.is_empty(), "it has edges but no blocks")?;
    } else {
        function.cfg().map_err(|_| "its edges do not form a control-flow graph")?;
    }
    require(function.position.iter().all(known), "its position is in no file")?;
    check_calls(function)?;
    for (index, copy) in function.inlined.iter().enumerate() {
        require(copy.parent.is_none_or(|p| (p as usize) < index), "an inlined copy comes before its parent")?;
        require(copy.call.iter().all(known), "an inlined copy is called from no file")?;
    }
    let mut sites = function.sites().peekable();
    for (index, block) in function.blocks.iter().enumerate() {
        let mut here = 0;
        while sites.next_if(|s| s.block.index() == index).is_some() {
            here += 1;
        }
        for span in &block.lines {
            require(known(&span.at), "a line is in no file")?;
            require(
                span.inlined.is_none_or(|i| (i as usize) < function.inlined.len()),
                "a line belongs to no inlined copy",
            )?;
            require(span.after_sites <= here, "a line comes after more calls than its block has")?;
        }
        require(block.lines.is_sorted_by_key(|s| s.after_sites), "the lines of a block are not in order")?;
    }
    Ok(())
}

fn check_calls(function: &Function) -> Result<(), &'static str> {
    let require = |holds: bool, what: &'static str| if holds { Ok(()) } else { Err(what) };
    let calls = &function.calls;
    require(calls.iter().is_sorted_by_key(|call| call.block), "its calls are not in order")?;
    require(calls.iter().all(|call| call.block < function.exit()), "a call stands in no block")?;
    let in_line = |call: &Call| call.line.is_none() || function.line_span(call).is_some();
    require(calls.iter().all(in_line), "a call is in no line")?;
    let consistent = |call: &Call| !(if call.is_site { call.must_tail } else { call.resume_marker || call.is_fault() });
    require(calls.iter().all(consistent), "a call is a call site and is none")?;
    let mut rest = calls.iter().peekable();
    for (index, block) in function.blocks.iter().enumerate() {
        let mut here = 0;
        while let Some(call) = rest.next_if(|call| call.block.index() == index) {
            here += u32::from(!call.is_marker());
        }
        require(here == block.instructions.calls, "a block does not list all its calls")?;
    }
    Ok(())
}

fn check_plan(plan: FunctionPlan<'_>, function: &Function) -> Result<(), &'static str> {
    let edges = function.edges.len() + 1;
    let edge = |e: cotree_core::ids::Edge| e.index() < edges;
    let block = |b: cotree_core::ids::Block| b <= function.exit();
    let counter = |c: cotree_core::ids::Counter| c.index() < plan.counters;
    for measure in plan.measures {
        let known = match *measure {
            Measure::Edge(e) => edge(e),
            Measure::Block(b) => block(b),
        };
        if !known {
            return Err("a counter measures what is not there");
        }
    }
    if !plan.fixed.iter().all(|f| edge(f.edge) && edge(f.of) && f.depth < MOST_FIXED_DEPTH)
        || !plan.fixed.is_sorted_by_key(|f| f.depth)
    {
        return Err("a loop of known length is none of its loops");
    }
    for placed in plan.probes {
        let place = match placed.place {
            Place::Start(b) | Place::End(b) => block(b),
            Place::Edge(e) => edge(e),
            Place::Call(call) => function.calls.get(call).is_some(),
            Place::After(call) => function.calls.get(call).is_some_and(Call::comes_back),
        };
        let probe = match placed.probe {
            Probe::Count(c) | Probe::CountBy(c, _) | Probe::AddTo(c, ..) => counter(c),
            Probe::AddCounter { to, from, .. } => counter(to) && counter(from),
            Probe::Outermost { sums, kinds, .. } => {
                counter(sums) && (0..u32::from(kinds)).all(|kind| counter(Counter(sums.0.saturating_add(kind))))
            }
            Probe::CountIfTaken(c, e) => counter(c) && edge(e),
            Probe::Close(c, closing) => counter(c) && block(closing.from),
            Probe::CloseIf(c, closing, e) => counter(c) && block(closing.from) && edge(e),
            Probe::CloseBy { counter: c, closing, branch, .. } => {
                counter(c) && block(closing.from) && branch.is_none_or(edge)
            }
            Probe::Set(..)
            | Probe::Add(..)
            | Probe::CountPath(..)
            | Probe::Emit { .. }
            | Probe::EmitFull { .. }
            | Probe::EmitBits { .. }
            | Probe::RecordEntry
            | Probe::Linear { .. }
            | Probe::AddProduct { .. }
            | Probe::Read(..)
            | Probe::Write { .. }
            | Probe::SetUnless(..)
            | Probe::AddUnless(..)
            | Probe::Claim { .. }
            | Probe::ClaimByAddress { .. }
            | Probe::NameCallee { .. }
            | Probe::CopyUnless { .. }
            | Probe::Meter { .. }
            | Probe::CountPathUnless { .. } => true,
        };
        if !place || !probe {
            return Err("a probe stands or counts where nothing is");
        }
    }
    Ok(())
}
