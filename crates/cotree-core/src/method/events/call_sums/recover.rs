//! Sums from counters and repairs. The key and the counts come from files, so neither is trusted.

use super::recursion::Components;
use super::{OutermostCounters, counters};
use crate::facts::{ProgramMap, linker_name};
use crate::ids::{CallId, Counter};
use crate::method::events::UnitEventPlan;
use crate::method::events::reach::CallGraph;
use crate::profile::EarlyExits;

/// The events of one call, from all its turns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallSum {
    /// How often the call was made.
    pub calls: u64,
    /// Per kind, the events while it was under way.
    pub inclusive: Vec<u64>,
    /// The call may be made again while it is under way.
    pub recursive: bool,
    /// If it is, the events of the inner one count for both in `inclusive`. Otherwise they count once.
    pub repeats: bool,
}

impl CallSum {
    /// The call was made, or was under way already when counting began: a forked child, and what `cotree_reset` leaves,
    /// have events of calls that they did not make.
    #[must_use]
    pub fn happened(&self) -> bool {
        self.calls > 0 || self.inclusive.iter().any(|&events| events > 0)
    }
}

/// The events of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionSums {
    /// How often it was entered.
    pub entries: u64,
    /// Per kind, the events of its activations with all that they called.
    pub inclusive: Vec<u64>,
    /// Per kind, its own.
    pub exclusive: Vec<u64>,
    /// The function may be entered again while it runs.
    pub recursive: bool,
    /// If it is, the events of the inner activation count for both in `inclusive`. Otherwise they count once.
    pub repeats: bool,
    /// Per call; `None` where it is not measured.
    pub calls: Vec<Option<CallSum>>,
    /// All these numbers can be.
    pub possible: bool,
}

/// The events of the functions and calls of a unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallSums {
    /// No activation ended where its part of the events was not known to those that were called with it.
    pub exact: bool,
    /// Per function; `None` where nothing is measured.
    pub functions: Vec<Option<FunctionSums>>,
}

/// Sums while they are made: modulo 2⁶⁴, as the program made them.
#[derive(Clone, Default)]
struct Raw {
    times: u64,
    sums: Vec<u64>,
}

impl Raw {
    fn add(&mut self, other: &Self) {
        self.times = self.times.wrapping_add(other.times);
        self.sums.resize(self.sums.len().max(other.sums.len()), 0);
        for (sum, &more) in self.sums.iter_mut().zip(&other.sums) {
            *sum = sum.wrapping_add(more);
        }
    }
}

/// Recovers the sums of a unit. `counts` are all its counters; `early` and `repairs` say per function how its
/// activations ended early: how many at each site, and per kind and site what the counter was then.
pub(in crate::method::events) fn recover(
    unit: &UnitEventPlan,
    program: &ProgramMap,
    counts: &[u64],
    early: &[Option<&EarlyExits>],
    repairs: &[Option<&Vec<Vec<i64>>>],
) -> CallSums {
    let kinds = unit.kinds.len();
    // Where else a name of the unit could lead was known when it was planned: such functions are measured by
    // themselves.
    let graph = CallGraph::new(program, false);
    // What begins the program is called by nobody else, unless by name.
    let called = |callee: usize| {
        unit.functions.get(callee).is_some_and(|plan| plan.key.sums.measured)
            && linker_name(&graph.functions[callee].1.symbol) != "main"
    };
    let components = Components::new(&graph, called);
    let count = |counter: Counter| counts.get(counter.index()).copied().unwrap_or(0);
    let mut exact = true;
    let (counters, _) = counters(&unit.functions, kinds);
    let mut own: Vec<Raw> = vec![Raw { times: 0, sums: vec![0; kinds] }; unit.functions.len()];
    let mut calls: Vec<Vec<Option<Raw>>> = Vec::with_capacity(unit.functions.len());
    for (number, (plan, counters)) in unit.functions.iter().zip(&counters).enumerate() {
        let Some((_, function)) = graph.functions.get(number) else { break };
        let site = |call: CallId| function.calls.site_of(call);
        let ends = |call| {
            early.get(number).copied().flatten().and_then(|early| early.at_site.get(site(call)?)).copied().unwrap_or(0)
        };
        let repair = |kind: usize, at: usize| {
            let sites = repairs.get(number).copied().flatten().and_then(|kinds| kinds.get(kind));
            sites.and_then(|sites| sites.get(at)).map_or(0, |sum| sum.cast_unsigned())
        };
        for lacking in &plan.key.at_sites {
            let ends = early.get(number).copied().flatten().map_or(&[][..], |early| &early.at_site);
            exact &= lacking.iter().zip(ends).all(|(&lacking, &ends)| lacking == 0 || ends == 0);
        }
        if let Some(counters) = counters.own {
            let sum = |kind: usize| {
                let repairs = (0..function.sites().len()).map(|at| repair(kind, at)).fold(0, u64::wrapping_add);
                count(counters.sum(kind)).wrapping_add(repairs)
            };
            own[number].add(&Raw { times: count(counters.times()), sums: (0..kinds).map(sum).collect() });
        }
        let mut of_calls = Vec::with_capacity(counters.calls.len());
        for ((call, facts), counters) in function.calls.numbered().zip(&counters.calls) {
            let Some(counters) = counters else {
                of_calls.push(None);
                continue;
            };
            let times = count(counters.times());
            let back = times.wrapping_sub(ends(call).cast_unsigned());
            let sum = |kind: usize| {
                let left = plan.key.sums.returned.get(kind).and_then(|calls| calls.get(call)).copied().unwrap_or(0);
                let summed = plan.key.sums.calls[call].is_summed();
                let counted = if summed { count(counters.sum(kind)) } else { 0 };
                let repair = site(call).filter(|_| summed).map_or(0, |at| repair(kind, at.index()));
                counted.wrapping_add(repair).wrapping_add(back.wrapping_mul(left.cast_unsigned()))
            };
            let raw = Raw { times, sums: (0..kinds).map(sum).collect() };
            if let [callee] = graph.entered(number, facts).functions
                && unit.functions.get(*callee).is_some_and(|plan| !plan.key.sums.measured)
            {
                own[*callee].add(&raw);
            }
            of_calls.push(Some(raw));
        }
        calls.push(of_calls);
    }
    let finish = |(number, (own, calls)): (usize, (&Raw, Vec<Option<Raw>>))| {
        let plan = &unit.functions[number];
        if !plan.is_counted() {
            return None;
        }
        let mut possible = true;
        let mut amount = |raw: u64| match raw.cast_signed() {
            0.. => raw,
            _ => {
                possible = false;
                0
            }
        };
        let counters = &counters[number];
        let outermost = |counters: Option<OutermostCounters>, all: &[u64]| -> Vec<u64> {
            let sum = |kind: usize| counters.map_or(all[kind], |counters| count(counters.sum(kind)));
            (0..kinds).map(sum).collect()
        };
        let inclusive = outermost(counters.outermost, &own.sums).into_iter().map(&mut amount).collect();
        let of_calls = |kind: usize| calls.iter().flatten().map(|call| call.sums[kind]).fold(0, u64::wrapping_add);
        let exclusive = (0..kinds).map(|kind| amount(own.sums[kind].wrapping_sub(of_calls(kind)))).collect();
        let (_, function) = graph.functions[number];
        let mut of_call = |((raw, facts), &of_outermost): ((Option<Raw>, &_), &Option<OutermostCounters>)| {
            let entered = graph.entered(number, facts);
            let recursive = components.leads_back(number, entered.functions, entered.unknown);
            raw.map(|raw| CallSum {
                calls: amount(raw.times),
                inclusive: outermost(of_outermost, &raw.sums).into_iter().map(&mut amount).collect(),
                recursive,
                repeats: recursive && of_outermost.is_none(),
            })
        };
        let calls = calls.into_iter().zip(function.calls.iter());
        let calls = calls.zip(&counters.outermost_calls).map(&mut of_call).collect();
        let entries = amount(own.times);
        let recursive = components.is_recursive(number);
        Some(FunctionSums {
            entries,
            inclusive,
            exclusive,
            recursive,
            repeats: recursive && counters.outermost.is_none(),
            calls,
            possible,
        })
    };
    let functions = own.iter().zip(calls).enumerate().map(finish).collect();
    CallSums { exact, functions }
}
