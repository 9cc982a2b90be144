//! Flow across calls: a function that is only called directly, from known places, is entered as often as these run.
//!
//! In the supergraph each call point is linked to its callee's entry, and flow conservation holds across functions. The
//! virtual edge EXIT→entry of such a function has a known count, and its plan needs one counter less
//! ([`ChordMethod::plan_entered`]). The callers' counts must be known first, so among functions that
//! call each other some keep all their counters. Not every call in a cycle is a problem: most blocks' counts follow
//! from the counters alone, whatever the entries are. Only blocks between entry and EXIT of the spanning tree need the
//! entries.
//!
//! [`choose`] picks functions greedily, those that save most first, and avoids cycles among them.

use crate::facts::Function;
use crate::graph::cfg::Cfg;
use crate::ids::{Block, FunctionId, IdMap};
use crate::method::counters::Measured;
use crate::method::counters::chords::ChordMethod;
use crate::plan::{CallPoint, CounterPlan, DerivedEntry};
use crate::profile::EarlyExits;

/// A function whose entries could follow from its callers.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Everything that calls it, in order.
    pub calls: Vec<CallPoint>,
    /// The saving, if they do.
    pub saves: f64,
    /// Per block, whether its count would follow from the entries only.
    pub waits: IdMap<Block, bool>,
}

impl Candidate {
    /// What is known of a function with the plan of [`ChordMethod::plan_entered`]; `None` if the plan is not one of its
    /// graph.
    #[must_use]
    pub fn new(
        method: ChordMethod,
        function: &Function,
        cfg: &Cfg,
        plan: &CounterPlan,
        calls: Vec<CallPoint>,
        saves: f64,
    ) -> Option<Self> {
        let zeros = vec![0; plan.key.measures.len()];
        let foreseen = method
            .foresee(cfg, Measured { function, key: &plan.key, counts: &zeros, early: &EarlyExits::default() })
            .ok()?;
        Some(Self { calls, saves, waits: foreseen.into_iter().map(|count| count.is_none()).collect() })
    }
}

/// How many steps the search for cycles may take in all, a few seconds' worth: functions that are left then keep their
/// counters.
const MOST_STEPS: u64 = 200_000_000;

/// Chooses the functions whose entries are derived, by rising number. `candidates` has one entry per function.
#[must_use]
pub fn choose(candidates: Vec<Option<Candidate>>) -> Vec<DerivedEntry> {
    let graph = CallGraph::new(&candidates);
    let cyclic = graph.core();
    let mut order: Vec<usize> = (0..candidates.len()).filter(|&f| cyclic[f]).collect();
    let saves = |f: usize| candidates[f].as_ref().map_or(0.0, |c| c.saves);
    order.sort_by(|&a, &b| saves(b).total_cmp(&saves(a)).then(a.cmp(&b)));
    // Functions on no cycle can be chosen freely.
    let mut chosen: Vec<bool> = candidates.iter().zip(&cyclic).map(|(c, &cyclic)| c.is_some() && !cyclic).collect();
    let mut search =
        Search { graph: &graph, cyclic: &cyclic, seen: vec![usize::MAX; candidates.len()], left: MOST_STEPS };
    for function in order {
        chosen[function] = !search.closes_cycle(function, &chosen);
    }
    let derived = |(function, candidate): (u32, Option<Candidate>)| {
        candidate
            .filter(|_| chosen[function as usize])
            .map(|c| DerivedEntry { function: FunctionId(function), calls: c.calls })
    };
    (0..).zip(candidates).filter_map(derived).collect()
}

/// The dependences: from each candidate to those whose entries would depend on its own.
struct CallGraph {
    callees: Vec<Vec<u32>>,
}

impl CallGraph {
    fn new(candidates: &[Option<Candidate>]) -> Self {
        let mut callees = vec![Vec::new(); candidates.len()];
        for (number, candidate) in (0u32..).zip(candidates) {
            for call in candidate.iter().flat_map(|c| &c.calls) {
                let caller = call.function.index();
                let waits = candidates.get(caller).and_then(Option::as_ref).and_then(|c| c.waits.get(call.block));
                if waits == Some(&true) {
                    callees[caller].push(number);
                }
            }
        }
        for list in &mut callees {
            list.sort_unstable();
            list.dedup();
        }
        Self { callees }
    }

    /// The functions that remain after repeatedly removing those without callers and those without callees. They
    /// contain all cycles.
    fn core(&self) -> Vec<bool> {
        let mut callers = vec![Vec::new(); self.callees.len()];
        for (caller, callees) in (0u32..).zip(&self.callees) {
            for &callee in callees {
                callers[callee as usize].push(caller);
            }
        }
        let mut inside = vec![true; self.callees.len()];
        for (before, after) in [(&callers, &self.callees), (&self.callees, &callers)] {
            let mut left: Vec<usize> =
                before.iter().map(|list| list.iter().filter(|&&f| inside[f as usize]).count()).collect();
            let mut work: Vec<usize> = (0..left.len()).filter(|&f| inside[f] && left[f] == 0).collect();
            while let Some(function) = work.pop() {
                inside[function] = false;
                for &next in &after[function] {
                    left[next as usize] -= 1;
                    if left[next as usize] == 0 && inside[next as usize] {
                        work.push(next as usize);
                    }
                }
            }
        }
        inside
    }
}

/// Looks for paths from a function back to it.
struct Search<'a> {
    graph: &'a CallGraph,
    cyclic: &'a [bool],
    /// Per function, the start of the search that reached it last.
    seen: Vec<usize>,
    left: u64,
}

impl Search<'_> {
    /// Would there be a cycle among the chosen ones with this function? Also true if the budget for the search is used
    /// up.
    fn closes_cycle(&mut self, function: usize, chosen: &[bool]) -> bool {
        let mut work = vec![function];
        while let Some(at) = work.pop() {
            for &next in &self.graph.callees[at] {
                let next = next as usize;
                if next == function || self.left == 0 {
                    return true;
                }
                self.left -= 1;
                if self.cyclic[next] && chosen[next] && self.seen[next] != function {
                    self.seen[next] = function;
                    work.push(next);
                }
            }
        }
        false
    }
}

/// How often each function is expected to run, one that is called from outside once: `weigh` says how often a call
/// point runs per activation of its function.
#[must_use]
pub fn frequencies(calls: &[Vec<CallPoint>], weigh: impl Fn(&CallPoint) -> f64) -> Vec<f64> {
    /// The depth of calls that is considered. The result is an estimate, which only decides which counters stay.
    const ROUNDS: usize = 8;
    const MOST: f64 = 1e12;
    let mut often = vec![1.0; calls.len()];
    for _ in 0..ROUNDS {
        let sum = |calls: &Vec<CallPoint>| {
            let made = |call: &CallPoint| often.get(call.function.index()).copied().unwrap_or(0.0) * weigh(call);
            if calls.is_empty() { 1.0 } else { calls.iter().map(made).sum::<f64>().min(MOST) }
        };
        often = calls.iter().map(sum).collect();
    }
    often
}

/// How often a caller reaches a call that comes after this many call sites of a block: as often as it enters the block,
/// minus the activations that were abandoned at these sites, plus those that were revived there.
#[must_use]
pub fn executions(caller: &Function, early: &EarlyExits, entries: i128, block: Block, after_sites: u32) -> i128 {
    if early.at_site.is_empty() {
        return entries;
    }
    let before = caller.sites_of(block).take(after_sites as usize);
    entries - before.map(|(site, _)| i128::from(early.at_site.get(site).copied().unwrap_or(0))).sum::<i128>()
}
