//! Flaws: turns events of a run, such as a kill, into notes on the functions whose counts they may have affected.

use crate::binary::BinaryMap;
use crate::counts::UnitCounts;
use crate::exits::UnitExits;
use crate::method;
use crate::unit_profile::UnitProfile;
use cotree_core::facts::{Doubt, EdgeKind, Function};
use cotree_core::ids::{Block, FunctionId};
use cotree_core::method::MethodPlan;
use cotree_core::method::ipath::joined;
use cotree_core::place::promotion::promotes;
use cotree_core::plan::{DerivedEntry, FunctionPlan};
use cotree_core::probe::{Place, PlacedProbe, Probe};
use cotree_core::profile::{Flaw, FunctionProfile};
use cotree_core::unit::Layout;
use cotree_rt::layout::Flags;
use std::collections::{HashMap, HashSet};

/// Turns events of the run into flaws of the functions that they may have affected.
pub(crate) fn add_flaws(
    profile: &mut UnitProfile,
    map: &BinaryMap,
    counts: &UnitCounts,
    layout: &Layout,
    exits: &UnitExits,
    saturated: bool,
) {
    let has = |flags: Flags| counts.flags.has(flags);
    let live = counts.runs.cut_off > 0 || has(Flags::THREADS_ALIVE) || reset_under_threads(map, counts);
    let walk = has(Flags::WALK_INCOMPLETE | Flags::FOREIGN_JUMP | Flags::THREAD_CANCELLED);
    let threads = has(Flags::THREADS_UNEXPECTED | Flags::THREAD_UNREGISTERED | Flags::SLAB_SHARED) || exits.handlers;
    let exits_missing = has(Flags::EARLY_TABLE_FULL | Flags::UNHOOKED);
    let saturated = saturated || counts.saturated;
    let modules = map.program.modules.iter().enumerate();
    let module_of: Vec<usize> =
        modules.flat_map(|(m, module)| std::iter::repeat_n(m, module.functions.len())).collect();
    let began = Began::new(map, counts, layout, exits);
    // Interrupted code may be inlined from any function of its module.
    let interrupted: HashSet<usize> = exits.unknown.keys().map(|&f| module_of[f.index()]).collect();
    let lost = lost(map, exits);
    let ran = |profile: &Option<FunctionProfile>| profile.iter().any(|profile| profile.blocks.iter().any(|&c| c > 0));
    let ran: Vec<bool> = profile.functions.iter().map(ran).collect();
    let functions = map.program.functions().map(|(_, f)| f);
    let method = map.plan.method.method().entry();
    for (((function, plan), &base), index) in
        functions.zip(map.plan.method.functions()).zip(&layout.main).zip(FunctionId::all())
    {
        let recovered = profile.functions.get(index.index()).and_then(Option::as_ref);
        let impossible = recovered.is_some_and(|profile| reaches_unreachable(function, profile));
        let Some(flaws) = method::flaws_mut(&mut profile.method, &mut profile.functions, index) else { continue };
        let base = usize::try_from(base).expect("within the counter array");
        let counters = &counts.counters[base..base + plan.counters];
        let never_began = began.never[index.index()];
        let counted = counters.iter().any(|&c| c > 0) || ran[index.index()];
        // If every block and edge has its own counter, live activations affect only the lines after calls.
        let flow_matters = method.derives || function.sites().len() > 0;
        let mut flaw = |holds: bool, flaw: Flaw| {
            if holds && !flaws.contains(&flaw) {
                flaws.push(flaw);
            }
        };
        // How activations end matters only to methods that count blocks, or what happens in them.
        if method.promises.blocks || method.promises.events {
            flaw(live && flow_matters && !never_began, Flaw::LiveFrames);
            flaw(walk && flow_matters && !never_began, Flaw::WalkIncomplete);
            flaw(exits_missing && flow_matters && !never_began, Flaw::UnknownExit);
            flaw(lost.get(index.index()).is_some_and(|&lost| lost), Flaw::UnknownExit);
            let exits_unplaced = exits.unknown_total > 0 || exits.outside > 0;
            flaw(
                exits_unplaced && function.doubts.contains(&Doubt::UnmappedCallSites) && !never_began,
                Flaw::UnknownExit,
            );
            flaw(function.doubts.contains(&Doubt::BuiltinSetjmp) && !never_began, Flaw::UnknownExit);
            let switches = function.doubts.contains(&Doubt::SwitchesStacks);
            flaw(switches && flow_matters && !never_began, Flaw::SuspendedStacks);
        }
        let unaccounted = live
            || walk
            || exits_missing
            || interrupted.contains(&module_of[index.index()])
            || function.doubts.iter().any(|d| matches!(d, Doubt::SwitchesStacks | Doubt::BuiltinSetjmp));
        let in_loops = counts_in_variables(plan) || method::counts_in_loops(&map.plan.method, index);
        flaw(unaccounted && in_loops && !never_began, Flaw::LoopsUnderWay);
        flaw(threads, Flaw::Threads);
        flaw(has(Flags::FOREIGN_PROCESS), Flaw::Damaged);
        flaw(saturated && counted, Flaw::Damaged);
        flaw(method::counts_missing(&map.plan.method, counts.flags), Flaw::Damaged);
        // An activation that nobody accounts for may be in the last call of such a block.
        if impossible && flaws.is_empty() {
            flaws.push(Flaw::Inconsistent);
        }
    }
    pass_on(&mut profile.functions, map.plan.method.entries(), &began);
    add_optimised_before(profile, map, &began);
}

/// The functions that an unknown exit affects, one flag per function: those in which it may have been, and where paths
/// cross calls all that may have been on the path.
fn lost(map: &BinaryMap, exits: &UnitExits) -> Vec<bool> {
    let unknown = exits.unknown.keys().copied();
    if let MethodPlan::Ipath(unit) = &map.plan.method {
        return joined(&unit.keys(), unknown);
    }
    let mut lost = vec![false; map.program.functions().count()];
    unknown.for_each(|function| lost[function.index()] = true);
    lost
}

/// Functions that were optimised before their counters went in. How often they call others is right, so that the flaw
/// is not passed on.
fn add_optimised_before(profile: &mut UnitProfile, map: &BinaryMap, began: &Began) {
    for ((_, function), index) in map.program.functions().zip(FunctionId::all()) {
        if function.doubts.contains(&Doubt::OptimisedBefore) && !began.never[index.index()] {
            let flaws = method::flaws_mut(&mut profile.method, &mut profile.functions, index);
            flaws.into_iter().for_each(|flaws| flaws.push(Flaw::OptimisedBefore));
        }
    }
}

/// Did an activation come to the end of a block that has none? The program's behaviour is undefined then, or inline
/// assembly has left the function.
fn reaches_unreachable(function: &Function, profile: &FunctionProfile) -> bool {
    let mut ends = vec![false; function.blocks.len()];
    for edge in function.edges.iter().filter(|edge| edge.kind == EdgeKind::Unreachable) {
        if let Some(end) = ends.get_mut(edge.src.index()) {
            *end = true;
        }
    }
    if !ends.contains(&true) {
        return false;
    }
    let mut left: Vec<i128> = profile.blocks.iter().map(|&count| count.into()).collect();
    for (site, &early) in function.sites().zip(&profile.early) {
        if let Some(left) = left.get_mut(site.block.index()) {
            *left -= i128::from(early);
        }
    }
    ends.iter().zip(left).any(|(&end, left)| end && left > 0)
}

/// Was there a reset while other threads were there? A reset accounts only for its own thread's frames.
fn reset_under_threads(map: &BinaryMap, counts: &UnitCounts) -> bool {
    counts.flags.has(Flags::RESET_AMONG_THREADS) && map.threaded
}

/// Passes flaws of callers on to the functions whose entries follow from them.
fn pass_on(functions: &mut [Option<FunctionProfile>], entries: &[DerivedEntry], began: &Began) {
    let mut callees: HashMap<FunctionId, Vec<FunctionId>> = HashMap::new();
    for entry in entries.iter().filter(|entry| !began.never[entry.function.index()]) {
        for call in &entry.calls {
            let callees = callees.entry(call.function).or_default();
            if callees.last() != Some(&entry.function) {
                callees.push(entry.function);
            }
        }
    }
    let flawed = |(index, profile): (usize, &Option<FunctionProfile>)| {
        profile.as_ref().filter(|profile| !profile.flaws.is_empty()).map(|_| FunctionId::new(index))
    };
    let mut work: Vec<FunctionId> = functions.iter().enumerate().filter_map(flawed).collect();
    while let Some(caller) = work.pop() {
        let Some(flaws) = functions[caller.index()].as_ref().map(|profile| profile.flaws.clone()) else { continue };
        for &callee in callees.get(&caller).into_iter().flatten() {
            let Some(profile) = &mut functions[callee.index()] else { continue };
            let before = profile.flaws.len();
            let new = flaws.iter().filter(|flaw| !profile.flaws.contains(flaw)).copied().collect::<Vec<_>>();
            profile.flaws.extend(new);
            if profile.flaws.len() > before {
                work.push(callee);
            }
        }
    }
}

/// Are there loops whose counts are complete only when they are left? These are loops counted by their own variables
/// or in registers, and loops whose number of turns is taken as known.
pub(crate) fn counts_in_variables(plan: FunctionPlan<'_>) -> bool {
    !plan.fixed.is_empty() || promotes(plan) || plan.probes.iter().any(|placed| placed.probe.closing().is_some())
}

/// Decides which functions certainly had no activation, whatever is wrong with a run.
struct Began {
    never: Vec<bool>,
}

impl Began {
    /// A function never began if each activation would have passed a counter first, and this counter is zero. Where
    /// entries follow from callers, the counter may be before each call, or the caller never began. An activation that
    /// came to life at a call, as all of a forked child and after a reset, has passed no counter before.
    fn new(map: &BinaryMap, counts: &UnitCounts, layout: &Layout, exits: &UnitExits) -> Self {
        let never_entered = |(plan, &base): (FunctionPlan<'_>, &u64)| {
            let base = usize::try_from(base).expect("within the counter array");
            never_entered(plan, &counts.counters[base..base + plan.counters])
        };
        let mut never_entered: Vec<HashSet<Block>> =
            map.plan.method.functions().zip(&layout.main).map(never_entered).collect();
        let revived = revived(map, exits);
        for (function, blocks) in &revived {
            never_entered[function.index()].retain(|block| *block != Block(0) && !blocks.contains(block));
        }
        if reset_under_threads(map, counts) {
            // Other threads may have been in activations whose beginning the reset cleared.
            return Self { never: vec![false; never_entered.len()] };
        }
        let mut never: Vec<bool> = never_entered.iter().map(|blocks| blocks.contains(&Block(0))).collect();
        let entries = map.plan.method.entries();
        // Per derived function, the calls that may have been made.
        let mut open = vec![0; entries.len()];
        let mut callees: HashMap<FunctionId, Vec<usize>> = HashMap::new();
        for (index, entry) in entries.iter().enumerate() {
            for call in &entry.calls {
                let caller = call.function.index();
                if !never[caller] && !never_entered[caller].contains(&call.block) {
                    open[index] += 1;
                    callees.entry(call.function).or_default().push(index);
                }
            }
        }
        // Of those that came to life, one more.
        for (index, entry) in entries.iter().enumerate() {
            open[index] += usize::from(revived.contains_key(&entry.function));
        }
        let mut work: Vec<usize> = (0..open.len()).filter(|&index| open[index] == 0).collect();
        while let Some(index) = work.pop() {
            let function = entries[index].function;
            if std::mem::replace(&mut never[function.index()], true) {
                continue;
            }
            for callee in callees.remove(&function).unwrap_or_default() {
                open[callee] -= 1;
                if open[callee] == 0 {
                    work.push(callee);
                }
            }
        }
        Self { never }
    }
}

/// Functions with early exits, and the blocks of these. Where more came to life than ended early in all runs together,
/// there is one.
fn revived(map: &BinaryMap, exits: &UnitExits) -> HashMap<FunctionId, HashSet<Block>> {
    let functions = map.program.functions().zip(FunctionId::all()).filter_map(|((_, function), id)| {
        let early = exits.by_function.get(&id)?;
        let sites = function.sites().zip(&early.at_site).filter(|(_, early)| **early != 0);
        Some((id, sites.map(|(site, _)| site.block).collect()))
    });
    functions.filter(|(_, blocks): &(_, HashSet<Block>)| !blocks.is_empty()).collect()
}

/// The blocks that were never entered: each entry would first have passed a counter, and this counter is zero.
fn never_entered(plan: FunctionPlan<'_>, counters: &[u64]) -> HashSet<Block> {
    let zero = |placed: &PlacedProbe| match (placed.place, placed.probe) {
        (Place::Start(block), Probe::Count(counter)) => (counters.get(counter.index()) == Some(&0)).then_some(block),
        _ => None,
    };
    plan.probes.iter().filter_map(zero).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotree_core::ids::{Counter, Edge, Variable};
    use cotree_core::plan::{CounterKey, CounterPlan, FixedEdge};
    use cotree_core::probe::Closing;

    /// A count that is kept while a loop runs is lost with an activation that is lost there.
    #[test]
    fn all_that_is_counted_at_the_end_of_loops_is_known_to_be() {
        let closing = Closing { variable: Variable(0), from: Block(1), step: 1, offset: 0, plus: 0 };
        let counts_in_variables = |plan: CounterPlan| counts_in_variables(FunctionPlan::from(&plan));
        let of = |probe: Probe| CounterPlan {
            probes: vec![PlacedProbe { place: Place::Edge(Edge(3)), probe }],
            ..CounterPlan::default()
        };
        assert!(!counts_in_variables(of(Probe::Count(Counter(0)))));
        assert!(counts_in_variables(of(Probe::Close(Counter(0), closing))));
        assert!(counts_in_variables(of(Probe::CloseIf(Counter(0), closing, Edge(1)))));
        let fixed = FixedEdge { edge: Edge(1), times: 9, of: Edge(0), depth: 0 };
        assert!(counts_in_variables(CounterPlan {
            key: CounterKey { fixed: vec![fixed], ..CounterKey::default() },
            ..CounterPlan::default()
        }));
    }
}
