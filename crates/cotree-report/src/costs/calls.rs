//! Who called whom how often, as far as counts of blocks tell.
//!
//! A call by name is made as often as its place ran. Calls through pointers, and calls that come from code that is not
//! profiled, show only in the entries of the functions that they reach: a function whose entries are not those that its
//! known callers account for has callers that nobody knows. Where all callers of a function are known, what it cost
//! belongs to them.

use super::cost::Cost;
use super::function::FunctionCosts;
use crate::unit::Unit;
use cotree_core::facts::{Callee, Linkage, linker_name};
use cotree_core::graph::cfg::Cfg;
use cotree_core::graph::dfs::Dfs;
use cotree_core::graph::dominators::Dominators;
use cotree_core::ids::{Block, CallId};
use std::collections::HashMap;

/// Calls that were made of one function by another one at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arc {
    /// The caller, an index into [`super::Costs::functions`].
    pub caller: usize,
    /// The call.
    pub call: CallId,
    /// The callee, an index as well.
    pub callee: usize,
    /// How often it was made.
    pub calls: u64,
}

/// The calls between functions.
#[derive(Clone, Debug, Default)]
pub struct CallGraph {
    /// Calls by name of functions that have a profile, by caller.
    arcs: Vec<Arc>,
    /// Per function: which arcs call it.
    callers: Vec<Vec<usize>>,
    /// Per function: was it also called by someone that we do not know, or by nobody at all?
    from_elsewhere: Vec<bool>,
    /// Per function: does it call through pointers, or code that is not profiled?
    calls_unknown: Vec<bool>,
    /// Per function: the closest one that is under way whenever it is; `None` if there is none that is known.
    around: Vec<Option<usize>>,
    /// Per function: does that one call it itself, and no other but those that run inside of it? If there is none
    /// around it: is it called by nobody that we know?
    direct: Vec<bool>,
}

impl CallGraph {
    pub(super) fn new(units: &[Unit<'_>], functions: &[FunctionCosts<'_>]) -> Self {
        let symbols = Symbols::new(units, functions);
        let mut graph = Self {
            callers: vec![Vec::new(); functions.len()],
            calls_unknown: vec![false; functions.len()],
            ..Self::default()
        };
        for (caller, costs) in functions.iter().enumerate() {
            for &(call, calls) in &costs.calls {
                let Some(facts) = costs.call(call) else { continue };
                let by_name = facts.callee_name().filter(|_| !facts.callee_uncertain);
                match by_name.and_then(|name| symbols.find(costs, name)) {
                    Some(callee) => {
                        graph.callers[callee].push(graph.arcs.len());
                        graph.arcs.push(Arc { caller, call, callee, calls });
                    }
                    None => graph.calls_unknown[caller] |= facts.callee != Callee::Assembly,
                }
            }
        }
        let told =
            |callee: usize| graph.callers[callee].iter().map(|&arc| u128::from(graph.arcs[arc].calls)).sum::<u128>();
        let elsewhere = |(number, costs): (usize, &FunctionCosts<'_>)| {
            let told = told(number);
            let vouched = costs.function.flaws().is_empty()
                && graph.callers[number]
                    .iter()
                    .all(|&arc| functions[graph.arcs[arc].caller].function.flaws().is_empty());
            told == 0 || costs.entries.map(u128::from) != Some(told) || !vouched
        };
        graph.from_elsewhere = functions.iter().enumerate().map(elsewhere).collect();
        graph.find_contexts();
        graph
    }

    /// Takes the calls of a trace, which knows all calls: nothing else is to be found out.
    pub(super) fn of_arcs(arcs: Vec<Arc>, functions: &[FunctionCosts<'_>]) -> Self {
        let count = functions.len();
        let mut callers = vec![Vec::new(); count];
        arcs.iter().enumerate().for_each(|(number, arc)| callers[arc.callee].push(number));
        Self {
            arcs,
            callers,
            from_elsewhere: vec![false; count],
            calls_unknown: vec![false; count],
            around: vec![None; count],
            direct: vec![true; count],
        }
    }

    /// The known calls, by caller.
    #[must_use]
    pub fn arcs(&self) -> &[Arc] {
        &self.arcs
    }

    /// The known calls of a function.
    pub fn callers(&self, function: usize) -> impl Iterator<Item = &Arc> {
        self.callers[function].iter().map(|&arc| &self.arcs[arc])
    }

    /// Is it entered through pointers, from outside, or by nobody, or are its counts in doubt?
    #[must_use]
    pub fn is_entered_from_elsewhere(&self, function: usize) -> bool {
        self.from_elsewhere[function]
    }

    /// The closest other function that is under way whenever this one is; `None` if there is none that is known.
    #[must_use]
    pub fn around(&self, function: usize) -> Option<usize> {
        self.around[function]
    }

    /// Does the function around it call it itself, so that there is no other between the two?
    #[must_use]
    pub fn is_direct(&self, function: usize) -> bool {
        self.direct[function]
    }

    /// All calls lead from one root; a function that every way to another one passes is under way while that runs. So
    /// the closest one is its immediate dominator.
    fn find_contexts(&mut self) {
        let count = self.callers.len();
        (self.around, self.direct) = (vec![None; count], vec![false; count]);
        let block = |function: usize| Block::new(function + 1);
        let roots = (0..count).filter(|&function| self.from_elsewhere[function]).map(|root| (Block(0), block(root)));
        let calls = self.arcs.iter().map(|arc| (block(arc.caller), block(arc.callee)));
        let Ok(cfg) = Cfg::new(count + 1, roots.chain(calls)) else { return };
        let dominators = Dominators::new(&cfg, &Dfs::new(&cfg));
        for function in 0..count {
            let around = dominators.immediate(block(function)).and_then(|around| around.index().checked_sub(1));
            // Calls from inside of the function are its recursion.
            let from_around =
                |arc: &Arc| Some(arc.caller) == around || dominators.dominates(block(function), block(arc.caller));
            let direct = self.callers(function).all(from_around);
            self.direct[function] = direct;
            self.around[function] = around;
        }
    }

    /// The inclusive cost of each arc, if that of all of them is known: each function is called by one call at most,
    /// and every function with callers that are not known was entered by nobody's call. Then what a call led to is what
    /// its callee and those below it cost.
    #[must_use]
    pub fn inclusive(&self, functions: &[FunctionCosts<'_>]) -> Option<Vec<Cost>> {
        let is_tree = self.callers.iter().all(|callers| callers.len() <= 1)
            && (0..self.callers.len())
                .all(|function| self.callers[function].is_empty() || !self.from_elsewhere[function]);
        let roots = (0..self.callers.len()).filter(|&f| self.callers[f].is_empty() && functions[f].ran()).count();
        if !is_tree || (roots > 1 && self.calls_unknown.iter().any(|&unknown| unknown)) {
            return None;
        }
        let mut costs: Vec<Cost> = functions.iter().map(FunctionCosts::exclusive).collect();
        // Callees before callers: from the leaves up, as many calls as each function still waits for.
        let mut waits = vec![0usize; costs.len()];
        self.arcs.iter().for_each(|arc| waits[arc.caller] += 1);
        let mut ready: Vec<usize> = (0..costs.len()).filter(|&f| waits[f] == 0).collect();
        let mut done = 0;
        while let Some(function) = ready.pop() {
            done += 1;
            if let Some(&arc) = self.callers[function].first() {
                let caller = self.arcs[arc].caller;
                let cost = costs[function];
                costs[caller] += cost;
                waits[caller] -= 1;
                if waits[caller] == 0 {
                    ready.push(caller);
                }
            }
        }
        (done == costs.len()).then(|| self.arcs.iter().map(|arc| costs[arc.callee]).collect())
    }
}

/// Finds the functions that calls by name call.
struct Symbols<'a> {
    /// The function of a symbol in a module of a unit.
    in_module: HashMap<(usize, &'a str, &'a str), usize>,
    /// The first one in a unit that other modules can name, and in any unit.
    in_unit: HashMap<(usize, &'a str), usize>,
    anywhere: HashMap<&'a str, usize>,
}

impl<'a> Symbols<'a> {
    fn new(units: &[Unit<'_>], functions: &[FunctionCosts<'a>]) -> Self {
        let (mut in_module, mut in_unit, mut anywhere) = (HashMap::new(), HashMap::new(), HashMap::new());
        for (number, costs) in functions.iter().enumerate() {
            let symbol = linker_name(&costs.function.facts.symbol);
            in_module.entry((costs.unit, costs.function.module.name.as_str(), symbol)).or_insert(number);
            if costs.function.facts.linkage != Linkage::Internal {
                in_unit.entry((costs.unit, symbol)).or_insert(number);
                anywhere.entry(symbol).or_insert(number);
            }
        }
        debug_assert!(functions.iter().all(|costs| costs.unit < units.len()));
        Self { in_module, in_unit, anywhere }
    }

    fn find(&self, caller: &FunctionCosts<'a>, name: &'a str) -> Option<usize> {
        let module = caller.function.module.name.as_str();
        let known = self.in_module.get(&(caller.unit, module, name));
        known.or_else(|| self.in_unit.get(&(caller.unit, name))).or_else(|| self.anywhere.get(name)).copied()
    }
}
