//! Which calls are measured, and the probes that do it.

use super::recursion::Components;
use super::{CallForm, CallSumKey, FunctionCounters, OutermostCounters, counters};
use crate::facts::{Call, EdgeKind, Function};
use crate::ids::{Block, CallId, Counter, FunctionId};
use crate::method::events::reach::CallGraph;
use crate::method::events::{EventPlan, counters_of};
use crate::probe::{OutermostStep, Place, PlacedProbe, Probe};
use crate::unit::{Planner, callers};
use std::collections::BTreeMap;

/// Adds to the plans of all functions what measures their calls. `left` says what a call's callee leaves to it, by
/// kind.
pub(in crate::method::events) fn plan_unit(
    planner: &Planner<'_>,
    functions: &mut [EventPlan],
    kinds: usize,
    left: impl Fn(&[EventPlan], usize, CallId, usize) -> i64,
) {
    let facts = planner.facts();
    let graph = CallGraph::new(facts.program, facts.preemptible);
    let constant = constant_functions(&graph, functions);
    let mut keys: Vec<CallSumKey> = Vec::with_capacity(functions.len());
    for (number, plan) in functions.iter().enumerate() {
        let function = planner.facts_of(number);
        if !plan.is_counted() {
            keys.push(CallSumKey::default());
            continue;
        }
        let form = |(call_id, call): (CallId, &Call)| {
            let entered = graph.entered(number, call);
            if call.must_tail {
                CallForm::Unmeasured
            } else if call.is_marker() || (entered.functions.is_empty() && !entered.unknown) {
                CallForm::External
            } else if !entered.unknown
                && entered.functions.iter().all(|&callee| constant[callee])
                && !planner.asks_for_call(number, call_id)
            {
                CallForm::Counted
            } else {
                CallForm::Summed
            }
        };
        let returned =
            |kind| (0..function.calls.len()).map(|call| left(functions, number, CallId::new(call), kind)).collect();
        keys.push(CallSumKey {
            measured: false,
            outermost: false,
            calls: function.calls.numbered().map(form).collect(),
            returned: (0..kinds).map(returned).collect(),
        });
    }
    let calls = callers(facts.program, &facts.callers_known);
    for (number, plan) in functions.iter().enumerate() {
        let told = |&(caller, call): &(FunctionId, CallId)| {
            let form = keys[caller.index()].calls.get(call);
            form.is_some_and(|form| form.is_counted())
        };
        keys[number].measured = plan.is_counted() && (calls[number].is_empty() || !calls[number].iter().all(told));
    }
    let measured: Vec<bool> = keys.iter().map(|key| key.measured).collect();
    let components = Components::new(&graph, |callee| measured[callee]);
    for (number, plan) in functions.iter().enumerate().filter(|(_, plan)| plan.is_counted()) {
        let complete = plan.queries.iter().all(|queries| queries.returned == 0);
        let key = &mut keys[number];
        // Where a call returns twice, an activation may come back to life that was not the outermost one. Then the
        // function is told to count several times.
        let again_alive = planner.facts_of(number).calls.iter().any(|call| call.returns_twice);
        key.outermost = complete && components.is_recursive(number) && !again_alive;
        for (call, facts) in planner.facts_of(number).calls.numbered() {
            let entered = graph.entered(number, facts);
            let again = components.leads_back(number, entered.functions, entered.unknown);
            let complete = key.returned.iter().all(|calls| calls[call] == 0);
            let asked = planner.asks_for_call(number, call);
            let kept = asked || (key.outermost && again);
            if kept && complete && !facts.returns_twice && key.calls[call] == CallForm::Summed {
                key.calls[call] = CallForm::Outermost;
            }
        }
    }
    for (plan, key) in functions.iter_mut().zip(keys) {
        plan.key.sums = key;
    }
    let (counters, count) = counters(functions, kinds);
    for ((number, plan), counters) in functions.iter_mut().enumerate().zip(counters) {
        plan.counters = count;
        if plan.is_counted() {
            place(planner.facts_of(number), plan, &counters, kinds);
        }
    }
}

/// Functions that return with the same number of events lacking each time, which nothing counts before, and that call
/// no others but such.
fn constant_functions(graph: &CallGraph<'_>, functions: &[EventPlan]) -> Vec<bool> {
    let candidate = |(number, plan): (usize, &EventPlan)| {
        let (_, function) = graph.functions[number];
        let nobody = |call| {
            let entered = graph.entered(number, call);
            entered.functions.is_empty() && !entered.unknown
        };
        plan.is_counted() && plan.probes.is_empty() && function.calls.iter().all(nobody)
    };
    functions.iter().enumerate().map(candidate).collect()
}

/// Puts the probes of a function where they belong, between those that count its events.
fn place(function: &Function, plan: &mut EventPlan, counters: &FunctionCounters, kinds: usize) {
    let mut first: BTreeMap<Place, Vec<Probe>> = BTreeMap::new();
    let mut last: BTreeMap<Place, Vec<Probe>> = BTreeMap::new();
    let outermost = |step, OutermostCounters { word, sums }: OutermostCounters| Probe::Outermost {
        step,
        word,
        sums,
        kinds: u8::try_from(kinds).expect("there are few kinds"),
    };
    let sums = |to: &dyn Fn(usize) -> Counter, minus: bool| -> Vec<Probe> {
        (0..kinds).map(|kind| Probe::AddCounter { to: to(kind), from: counters_of(kind)[0], minus }).collect()
    };
    if let Some(own) = counters.own {
        let begin = first.entry(Place::Start(Block(0))).or_default();
        begin.push(Probe::Count(own.times()));
        begin.extend(sums(&|kind| own.sum(kind), true));
        for (number, edge) in function.edges.numbered() {
            if edge.dst == function.exit() && edge.kind != EdgeKind::Unreachable {
                last.entry(Place::Edge(number)).or_default().extend(sums(&|kind| own.sum(kind), false));
            }
        }
    }
    if let Some(own) = counters.outermost {
        plan.own_frame = true;
        first.entry(Place::Start(Block(0))).or_default().push(outermost(OutermostStep::Begin, own));
        for (number, edge) in function.edges.numbered() {
            if edge.dst == function.exit() && edge.kind != EdgeKind::Unreachable {
                last.entry(Place::Edge(number)).or_default().push(outermost(OutermostStep::End, own));
            }
        }
        for (call, _) in function.calls.numbered().filter(|(_, facts)| facts.returns_twice && facts.comes_back()) {
            first.entry(Place::After(call)).or_default().push(outermost(OutermostStep::Again, own));
        }
    }
    plan.own_frame |= counters.outermost_calls.iter().any(Option::is_some);
    let calls = counters.calls.iter().zip(&counters.outermost_calls);
    for ((call, facts), (counters, outermost_call)) in function.calls.numbered().zip(calls) {
        let Some(counters) = counters else { continue };
        let before = last.entry(Place::Call(call)).or_default();
        before.push(Probe::Count(counters.times()));
        if !plan.key.sums.calls[call].is_summed() {
            continue;
        }
        before.extend(sums(&|kind| counters.sum(kind), true));
        before.extend(outermost_call.map(|counters| outermost(OutermostStep::Begin, counters)));
        let mut behind: Vec<Probe> = outermost_call.iter().map(|&call| outermost(OutermostStep::End, call)).collect();
        behind.extend(sums(&|kind| counters.sum(kind), false));
        if facts.comes_back() {
            first.entry(Place::After(call)).or_default().extend(&behind);
        }
        if facts.terminator {
            let unwinds =
                |edge: &crate::facts::EdgeFacts| edge.src == facts.block && edge.kind == EdgeKind::InvokeUnwind;
            for (number, _) in function.edges.numbered().filter(|(_, edge)| unwinds(edge)) {
                first.entry(Place::Edge(number)).or_default().extend(&behind);
            }
        }
    }
    let placed = |probes: BTreeMap<Place, Vec<Probe>>| -> Vec<PlacedProbe> {
        let placed =
            |(place, probes): (Place, Vec<Probe>)| probes.into_iter().map(move |probe| PlacedProbe { place, probe });
        probes.into_iter().flat_map(placed).collect()
    };
    let mut probes = placed(first);
    probes.extend(std::mem::take(&mut plan.probes).into_iter().map(in_one_counter));
    probes.extend(placed(last));
    probes.sort_by_key(|placed| placed.place);
    plan.probes = probes;
}

/// What is taken away is taken from the counter that is added to: reading the events is reading one counter then.
fn in_one_counter(placed: PlacedProbe) -> PlacedProbe {
    let up = |counter: Counter| (counter.0 % 2 == 1).then(|| Counter(counter.0 - 1));
    let probe = match placed.probe {
        Probe::CountBy(counter, by) => {
            up(counter).map_or(placed.probe, |counter| Probe::CountBy(counter, by.wrapping_neg()))
        }
        Probe::CloseBy { counter, closing, branch, times } => up(counter)
            .map_or(placed.probe, |counter| Probe::CloseBy { counter, closing, branch, times: times.wrapping_neg() }),
        other => other,
    };
    PlacedProbe { probe, ..placed }
}
