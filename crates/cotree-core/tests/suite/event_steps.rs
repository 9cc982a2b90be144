//! Queries at every step of one function: the counter and the query increment of the point are the exact count there.
//! Safe points: every circle has one.

use crate::events::{kinds, named, with_events};
use crate::programs::programs_of_llvm;
use crate::random;
use cotree_core::facts::events::{EventKind, FunctionEvents};
use cotree_core::facts::{Call, Callee, Function, Module, ProgramMap, SAFE_POINT};
use cotree_core::ids::{Block, CallId, Edge, FunctionId};
use cotree_core::method::events::safe_points::safe_points;
use cotree_core::method::events::{EventKinds, EventOptions, EventPlan, counters_of};
use cotree_core::method::{Method, MethodPlan};
use cotree_core::probe::{Place, Probe};
use cotree_core::unit::{Choices, UnitFacts, UnitPlan};
use proptest::prelude::*;

fn plan(map: &ProgramMap, events: EventOptions) -> Vec<EventPlan> {
    let facts = UnitFacts::new(map);
    match UnitPlan::of(&facts, Method::Events, Choices { events, ..Choices::default() }, false).unwrap().method {
        MethodPlan::Events(plan) => plan.functions,
        _ => panic!("another method's plan"),
    }
}

/// One activation with its counters, step by step.
struct Walker<'a> {
    function: &'a Function,
    plan: &'a EventPlan,
    events: FunctionEvents,
    kind: usize,
    counted: i64,
    before: i64,
}

impl Walker<'_> {
    fn probes(&mut self, place: Place) {
        let [up, down] = counters_of(self.kind);
        for placed in self.plan.probes.iter().filter(|placed| placed.place == place) {
            match placed.probe {
                Probe::CountBy(counter, by) if counter == up => self.counted += by as i64,
                Probe::CountBy(counter, by) if counter == down => self.counted -= by as i64,
                Probe::CountBy(..) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// Runs a block, and takes an edge out of it that `draw` chooses; gives the next block.
    fn step(&mut self, block: Block, draw: usize) -> Result<Option<Block>, TestCaseError> {
        let queries = &self.plan.queries[self.kind];
        self.probes(Place::Start(block));
        prop_assert_eq!(self.counted + queries.at_block(block), self.before, "{}", block);
        let calls: Vec<CallId> =
            self.function.calls.numbered().filter(|(_, call)| call.block == block).map(|(id, _)| id).collect();
        let mut ended = false;
        for &call in &calls {
            let terminator = self.function.calls[call].terminator;
            if terminator {
                self.probes(Place::End(block));
                ended = true;
            }
            self.probes(Place::Call(call));
            let now = self.before + self.events.through(call) as i64;
            prop_assert_eq!(self.counted + queries.at_call(call), now, "{}", call);
            if !terminator {
                self.probes(Place::After(call));
            }
        }
        if !ended {
            self.probes(Place::End(block));
        }
        self.before += self.events.block(block) as i64;
        let edges: Vec<usize> =
            (0..self.function.edges.len()).filter(|&e| self.function.edges[Edge::new(e)].src == block).collect();
        if edges.is_empty() {
            return Ok(None);
        }
        let edge = edges[draw % edges.len()];
        if let Some(&last) = calls.last().filter(|_| ended) {
            self.probes(Place::After(last));
        }
        self.probes(Place::Edge(Edge::new(edge)));
        let next = self.function.edges[Edge::new(edge)].dst;
        if next == self.function.exit() {
            prop_assert_eq!(self.counted + queries.returned, self.before);
            return Ok(None);
        }
        Ok(Some(next))
    }
}

/// Is every circle of the graph, given as each node's successors, gone without these nodes?
fn cuts_circles(next: &[Vec<usize>], cut: impl Fn(usize) -> bool) -> bool {
    // Takes away what has no successor left, again and again.
    let mut rest: Vec<usize> = (0..next.len()).filter(|&node| !cut(node)).collect();
    loop {
        let left: Vec<usize> =
            rest.iter().copied().filter(|&node| next[node].iter().any(|to| rest.contains(to))).collect();
        if left.len() == rest.len() {
            return left.is_empty();
        }
        rest = left;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// For random graphs, trees and walks, after every step.
    #[test]
    fn counter_and_query_increment_are_the_sum_after_every_step(
        mut function in random::functions_of_llvm(),
        seed in any::<u64>(),
        queries in any::<bool>(),
        draws in prop::collection::vec(any::<usize>(), 1..60),
    ) {
        with_events(&mut function, seed);
        let map = ProgramMap { modules: vec![Module { functions: vec![function], ..Module::default() }], ..ProgramMap::default() };
        let function = &map.modules[0].functions[0];
        let plans = plan(&map, EventOptions { kinds: kinds(), queries, ..EventOptions::default() });
        for (number, kind) in [EventKind::Instructions, EventKind::Loads].into_iter().enumerate() {
            let events = function.events(kind);
            let mut walker = Walker { function, plan: &plans[0], events, kind: number, counted: 0, before: 0 };
            let mut block = Block(0);
            for &draw in &draws {
                let Some(next) = walker.step(block, draw)? else { break };
                block = next;
            }
        }
    }

    /// Each circle of each graph has a safe point, and so has each circle of calls; nothing lacks of the counter there.
    #[test]
    fn every_circle_has_a_safe_point((program, seed) in programs_of_llvm()) {
        let (program, mut map, known) = named(program, seed);
        let points = safe_points(&map, &known, false).unwrap();
        for (function, points) in program.functions.iter().zip(&points) {
            let mut next = vec![Vec::new(); function.blocks.len() + 1];
            function.edges.iter().for_each(|edge| next[edge.src.index()].push(edge.dst.index()));
            // What is not reached never runs.
            let mut reached = vec![false; next.len()];
            let mut work = vec![0];
            while let Some(block) = work.pop() {
                if !std::mem::replace(&mut reached[block], true) {
                    work.extend(&next[block]);
                }
            }
            prop_assert!(cuts_circles(&next, |block| !reached[block] || points.contains(&Block::new(block))));
        }
        // Unknown code is one more node: it may call whom it knows.
        let count = program.functions.len();
        let mut next = vec![Vec::new(); count + 1];
        for (caller, function) in program.functions.iter().enumerate() {
            for call in function.calls.iter() {
                next[caller].push(match &call.callee {
                    Callee::Symbol(name) => name[1..].parse::<usize>().unwrap(),
                    _ => count,
                });
            }
        }
        next[count] = (0..count).filter(|&f| !known[f]).collect();
        prop_assert!(cuts_circles(&next, |f| f < count && points[f].contains(&Block(0))));
        // Calls stand there.
        for (function, points) in map.modules[0].functions.iter_mut().zip(&points) {
            let mut calls: Vec<Call> = function.calls.iter().cloned().collect();
            calls.extend(points.iter().map(|&block| Call::site(block, Callee::Symbol(SAFE_POINT.into()))));
            calls.sort_by_key(|call| (call.block, !call.is_safe_point()));
            function.calls = calls.into_iter().collect();
            for run in function.blocks.iter_mut().enumerate().filter(|(b, _)| points.contains(&Block::new(*b))).flat_map(|(_, b)| &mut b.runs) {
                run.after_calls += 1;
            }
        }
        let kinds: EventKinds = kinds();
        let plans = plan(&map, EventOptions { kinds, limits: true, ..EventOptions::default() });
        for (number, function) in map.modules[0].functions.iter().enumerate() {
            let plain = program.functions[number].events(EventKind::Instructions);
            let events = function.events(EventKind::Instructions);
            let mut others = 0;
            for (id, call) in function.calls.numbered() {
                if call.is_safe_point() {
                    prop_assert_eq!(plans[number].queries[0].at_call(id), 0, "{} in {:?}", id, FunctionId::new(number));
                    prop_assert_eq!(events.through(id), 0);
                } else {
                    prop_assert_eq!(events.through(id), plain.through(CallId::new(others)));
                    others += 1;
                }
            }
        }
    }
}
