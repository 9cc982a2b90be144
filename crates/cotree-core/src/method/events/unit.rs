//! Plans the event counters of a whole link unit.
//!
//! A function may return with something lacking if all its callers are known: they count it as events of their calls.
//! So functions are planned after those that they call. Where such functions call each other in a circle, one of them
//! returns with nothing lacking.

use super::graph::Input;
use super::jumps::may_jump;
use super::{EventMethod, EventPlan, UnitEventPlan, call_sums, increments, naive, reach};
use crate::facts::events::FunctionEvents;
use crate::facts::{EdgeKind, Function};
use crate::ids::{CallId, FunctionId, IdMap};
use crate::place::affine::{AffineVariable, Replacements};
use crate::unit::{FunctionGraph, Guess, PlanError, Planner, callers};
use rayon::prelude::*;
use std::collections::HashMap;

/// Plans all functions.
///
/// # Errors
/// See [`PlanError`].
pub(crate) fn plan_unit(method: EventMethod, planner: &Planner<'_>) -> Result<UnitEventPlan, PlanError> {
    let options = planner.choices().events;
    let kinds: Vec<_> = options.kinds.iter().collect();
    let facts = planner.facts();
    let queried = facts.queried || options.queries || options.limits;
    let calls = method == EventMethod::Calls;
    let reaching = if (queried || calls) && !options.naive {
        reach::calls_that_reach(facts.program, facts.preemptible)
    } else {
        vec![IdMap::default(); planner.len()]
    };
    let callees = Callees::new(planner, calls);
    let mut functions: Vec<EventPlan> = vec![EventPlan::default(); planner.len()];
    for level in &callees.levels {
        let plan = |&number: &usize| -> Result<(usize, EventPlan), PlanError> {
            let Some(at) = planner.function(number, Guess::Predicted)? else {
                return Ok((number, EventPlan { counters: 2 * kinds.len(), ..EventPlan::default() }));
            };
            let events: Vec<_> = kinds.iter().map(|&kind| at.function.events(kind)).collect();
            if options.naive {
                return Ok((number, naive::plan(at.function, &events)));
            }
            let returned = |call: CallId, kind: usize| match callees.of[number].get(&call) {
                Some(&callee) => functions[callee].queries.get(kind).map_or(0, |queries| queries.returned),
                None => 0,
            };
            let mut plan = plan_one(planner, &at, &events, &reaching[number], callees.adjusted[number], &returned);
            plan.framed = framed(at.function, &plan, &returned);
            Ok((number, plan))
        };
        for (number, plan) in level.par_iter().map(plan).collect::<Result<Vec<_>, _>>()? {
            functions[number] = plan;
        }
    }
    if calls {
        call_sums::plan_unit(planner, &mut functions, kinds.len(), |functions, caller, call, kind| {
            callees.of[caller]
                .get(&call)
                .and_then(|&callee| functions[callee].queries.get(kind))
                .map_or(0, |q| q.returned)
        });
    }
    Ok(UnitEventPlan { method, kinds, queried, functions })
}

fn plan_one(
    planner: &Planner<'_>,
    at: &FunctionGraph<'_>,
    events: &[FunctionEvents],
    resting: &IdMap<CallId, bool>,
    adjusted: bool,
    returned: &(dyn Fn(CallId, usize) -> i64 + Sync),
) -> EventPlan {
    let FunctionGraph { function, cfg, weighting, .. } = at;
    // What a loop lacks while it runs is not known at queries, and computed jumps meet across loops.
    let computed = function.edges.iter().any(|edge| !edge.kind.splittable());
    let usable = planner.choices().affine && !computed && !resting.contains(&true);
    let variables: &[AffineVariable] = if usable { at.variables } else { &[] };
    let replacements = Replacements::new(function, cfg, weighting, variables);
    let input = Input { function, cfg, weighting, replacements: &replacements, resting, adjusted };
    increments::plan(input, events, &|call, kind| returned(call, kind))
}

/// The calls whose end matters to the counts of others: all of a function that returns with something lacking, and
/// those of functions that do.
fn framed(function: &Function, plan: &EventPlan, returned: &dyn Fn(CallId, usize) -> i64) -> Vec<CallId> {
    let all = plan.queries.iter().any(|queries| queries.returned != 0);
    let lacks = |call: CallId| (0..plan.queries.len()).any(|kind| returned(call, kind) != 0);
    let sites = function.calls.numbered().filter(|(_, call)| call.is_site);
    sites.filter(|&(call, _)| all || lacks(call)).map(|(call, _)| call).collect()
}

/// Who calls whom, as far as functions return with something lacking.
struct Callees {
    /// Per function, may it?
    adjusted: Vec<bool>,
    /// Per function, which such function each of its calls enters.
    of: Vec<HashMap<CallId, usize>>,
    /// All functions, each on a later level than those that it depends on.
    levels: Vec<Vec<usize>>,
}

impl Callees {
    /// `measured`: what calls have counted of them is known apart from what their exceptions did, so only calls that
    /// end no block may be adjusted.
    fn new(planner: &Planner<'_>, measured: bool) -> Self {
        let facts = planner.facts();
        let choices = planner.choices();
        let calls = if choices.interprocedural_flow && !choices.events.naive {
            callers(facts.program, &facts.callers_known)
        } else {
            vec![Vec::new(); planner.len()]
        };
        let jumps: Vec<IdMap<CallId, bool>> =
            (0..planner.len()).map(|number| may_jump(planner.facts_of(number))).collect();
        let fits = |&(caller, call): &(FunctionId, CallId)| {
            let facts = planner.facts_of(caller.index());
            let jumps = jumps[caller.index()][call];
            // What a call has led to is known to the program only where its callee returns with nothing lacking.
            let asked = planner.asks_for_call(caller.index(), call);
            call_fits(facts, call) && !jumps && !(measured && (asked || facts.calls[call].terminator))
        };
        let adjusted = (0..planner.len()).map(|callee| {
            let stays = may_adjust(planner.facts_of(callee)) && !jumps[callee].contains(&true);
            !calls[callee].is_empty() && stays && calls[callee].iter().all(fits)
        });
        let mut adjusted: Vec<bool> = adjusted.collect();
        if measured {
            // An activation within another one of the function does not count: all must be counted by itself.
            let recursive = call_sums::recursive(facts, |callee| !adjusted[callee]);
            adjusted.iter_mut().zip(recursive).for_each(|(adjusted, recursive)| *adjusted &= !recursive);
        }
        let mut callees = Self { adjusted, of: vec![HashMap::new(); planner.len()], levels: Vec::new() };
        for (callee, calls) in calls.iter().enumerate().filter(|&(callee, _)| callees.adjusted[callee]) {
            for (caller, call) in calls {
                callees.of[caller.index()].insert(*call, callee);
            }
        }
        callees.order();
        callees
    }

    /// Finds the levels, and breaks circles.
    fn order(&mut self) {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            Done,
        }
        let next: Vec<Vec<usize>> = self
            .of
            .iter()
            .map(|calls| {
                let mut callees: Vec<usize> = calls.values().copied().collect();
                callees.sort_unstable();
                callees.dedup();
                callees
            })
            .collect();
        let mut state = vec![State::New; self.of.len()];
        let mut level = vec![0usize; self.of.len()];
        for root in 0..self.of.len() {
            if state[root] != State::New {
                continue;
            }
            let mut open = vec![(root, 0usize)];
            state[root] = State::Open;
            while let Some((function, at)) = open.last_mut() {
                let function = *function;
                let Some(&callee) = next[function].get(*at) else {
                    let deepest = next[function].iter().filter(|&&callee| self.adjusted[callee]);
                    level[function] = deepest.map(|&callee| level[callee] + 1).max().unwrap_or(0);
                    state[function] = State::Done;
                    open.pop();
                    continue;
                };
                *at += 1;
                match state[callee] {
                    State::New => {
                        state[callee] = State::Open;
                        open.push((callee, 0));
                    }
                    State::Open => self.adjusted[callee] = false,
                    State::Done => {}
                }
            }
        }
        for calls in &mut self.of {
            calls.retain(|_, callee| self.adjusted[*callee]);
        }
        self.levels = vec![Vec::new(); level.iter().max().map_or(0, |deepest| deepest + 1)];
        for (function, level) in level.into_iter().enumerate() {
            self.levels[level].push(function);
        }
    }
}

/// May a function return with something lacking, if all its callers are known? Not if its last call takes its place.
fn may_adjust(function: &Function) -> bool {
    let exit = function.exit();
    function.untouched.is_none()
        && function.calls.iter().all(|call| !call.must_tail)
        && function.edges.iter().all(|edge| edge.dst != exit || edge.kind.splittable())
}

/// Does each return of the call stand for one of the callee? A call that returns twice does not. An exception that ends
/// it must have an edge of its own.
fn call_fits(caller: &Function, call: CallId) -> bool {
    let facts = &caller.calls[call];
    let catches = || caller.edges.iter().any(|edge| edge.src == facts.block && edge.kind == EdgeKind::InvokeUnwind);
    !facts.must_tail && !facts.resume_marker && !facts.returns_twice && (!facts.terminator || catches())
}
