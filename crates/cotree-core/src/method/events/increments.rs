//! Potentials of all points, and from them the increments of chords and the query increments (Ball 1994, §3.2 and
//! §3.3).

use super::graph::{Arc, EventGraph, Input, Part, Point, REST, Within};
use super::offsets::Offsets;
use super::{EventKey, EventPlan, QueryIncrements, counters_of};
use crate::facts::Function;
use crate::facts::events::FunctionEvents;
use crate::ids::{Block, CallId, Edge, IdMap};
use crate::probe::{Place, PlacedProbe, Probe};
use std::collections::BTreeMap;

/// What happens in the blocks of one function by each place in them; calls of adjusted functions leave a part of their
/// callee's events to it.
struct Amounts<'a> {
    events: &'a FunctionEvents,
    /// Per call, what was left by those before it in its block, and by it.
    left: IdMap<CallId, [i64; 2]>,
    /// Per block, by all of them.
    left_in: IdMap<Block, i64>,
}

impl<'a> Amounts<'a> {
    /// `returned` says what each call leaves.
    fn new(function: &Function, events: &'a FunctionEvents, returned: &dyn Fn(CallId) -> i64) -> Self {
        let mut left_in = IdMap::filled(0i64, function.blocks.len());
        let mut left = IdMap::default();
        for (call, facts) in function.calls.numbered() {
            let sum = &mut left_in[facts.block];
            let before = *sum;
            *sum = sum.wrapping_add(returned(call));
            left.push([before, *sum]);
        }
        Self { events, left, left_in }
    }

    fn at(&self, block: Block, within: Within) -> i64 {
        match within {
            Within::Beginning => 0,
            Within::Call(call) => self.events.through(call).cast_signed().wrapping_add(self.left[call][0]),
            Within::Behind(call) => self.events.through(call).cast_signed().wrapping_add(self.left[call][1]),
            Within::End => self.events.block(block).cast_signed().wrapping_add(self.left_in[block]),
        }
    }

    fn along(&self, arc: &Arc) -> i64 {
        self.at(arc.block, arc.span[1]).wrapping_sub(self.at(arc.block, arc.span[0]))
    }
}

/// Plans a function. `events` are those of each kind; `returned` says what a call leaves of them to its caller.
pub(super) fn plan(input: Input<'_>, events: &[FunctionEvents], returned: &dyn Fn(CallId, usize) -> i64) -> EventPlan {
    let graph = EventGraph::new(input);
    let mut plan = EventPlan { counters: 2 * events.len(), ..EventPlan::default() };
    for (kind, events) in events.iter().enumerate() {
        let amounts = Amounts::new(input.function, events, &|call| returned(call, kind));
        let potentials = Potentials::new(&graph, &amounts, input);
        let shifts = potentials.place(kind, &graph, &amounts, input, &mut plan);
        let queries = potentials.queries(&graph, &amounts, input.function, &shifts);
        plan.key.at_sites.push(at_sites(input.function, &queries));
        plan.queries.push(queries);
    }
    plan.key.counts_in_loops =
        !input.replacements.fixed.edges.is_empty() || plan.probes.iter().any(|placed| placed.probe.closing().is_some());
    plan.probes.sort_by_key(|placed| placed.place);
    plan
}

/// The query increments of call sites.
fn at_sites(function: &Function, queries: &QueryIncrements) -> Vec<i64> {
    let sites = function.calls.numbered().filter(|(_, facts)| facts.is_site);
    sites.map(|(call, _)| queries.at_call(call)).collect()
}

/// What the counter of one kind lacks at each point.
struct Potentials {
    points: IdMap<Point, i64>,
    /// Per arc, what happens along it in all: what loops of known length lack where they are left is added there.
    along: Vec<i64>,
}

impl Potentials {
    fn new(graph: &EventGraph, amounts: &Amounts<'_>, input: Input<'_>) -> Self {
        let arcs = &graph.arcs;
        let mut offsets = Offsets::new(graph.points);
        let mut along: Vec<i64> = arcs.iter().map(|arc| amounts.along(arc)).collect();
        let fixed = &input.replacements.fixed.edges;
        let arc_of: BTreeMap<Edge, usize> = if fixed.is_empty() {
            BTreeMap::new()
        } else {
            arcs.iter().enumerate().filter_map(|(number, arc)| Some((arc.edge?, number))).collect()
        };
        let mut next = 0;
        let deepest = fixed.iter().map(|fixed| fixed.depth).max().unwrap_or(0);
        for level in (0..=deepest).rev() {
            while next < arcs.len() && arcs[next].depth > level {
                join(&mut offsets, &arcs[next], along[next]);
                next += 1;
            }
            // The tree of each of these loops is complete, so what one turn counts is known.
            for fixed in fixed.iter().filter(|fixed| fixed.depth == level) {
                let (back, out) = (arc_of[&fixed.edge], arc_of[&fixed.of]);
                let arc = &arcs[back];
                let rise = offsets.between(arc.from.index(), arc.to.index()).unwrap_or(0);
                let turn = along[back].wrapping_sub(rise);
                along[out] = along[out].wrapping_add(turn.wrapping_mul(fixed.times.cast_signed()));
            }
        }
        for number in next..arcs.len() {
            join(&mut offsets, &arcs[number], along[number]);
        }
        let height = |point| offsets.between(REST.index(), point).unwrap_or_else(|| offsets.find(point).1);
        let points = (0..graph.points).map(height).collect();
        Self { points, along }
    }

    /// The increment of an arc.
    fn increment(&self, number: usize, arc: &Arc) -> i64 {
        if arc.in_tree || arc.fixed {
            return 0;
        }
        self.points[arc.from].wrapping_add(self.along[number]).wrapping_sub(self.points[arc.to])
    }

    /// Adds the probes of a kind to the plan. Gives per block what is counted where it begins although it happens
    /// later.
    fn place(
        &self,
        kind: usize,
        graph: &EventGraph,
        amounts: &Amounts<'_>,
        input: Input<'_>,
        plan: &mut EventPlan,
    ) -> IdMap<Block, i64> {
        let mut shifts = IdMap::filled(0i64, amounts.left_in.len());
        let mut sums: BTreeMap<Place, i64> = BTreeMap::new();
        for (number, arc) in graph.arcs.iter().enumerate() {
            let increment = self.increment(number, arc);
            if increment == 0 {
                continue;
            }
            if let Some((_, replacement)) = arc.edge.and_then(|edge| input.replacements.of(edge)) {
                let [up, down] = counters_of(kind);
                let counter = if increment > 0 { up } else { down };
                let branch = replacement.conditional.then_some(replacement.edge);
                let times = increment.unsigned_abs();
                plan.probes.extend(replacement.closings.iter().map(|&(place, closing)| PlacedProbe {
                    place,
                    probe: Probe::CloseBy { counter, closing, branch, times },
                }));
                continue;
            }
            if arc.edge.is_some() && arc.place == Place::Start(arc.block) {
                let shift = &mut shifts[arc.block];
                *shift = shift.wrapping_add(increment);
            }
            let sum = sums.entry(arc.place).or_default();
            *sum = sum.wrapping_add(increment);
        }
        plan.probes.extend(sums.into_iter().filter_map(|(place, sum)| add(kind, place, sum)));
        shifts
    }

    fn queries(
        &self,
        graph: &EventGraph,
        amounts: &Amounts<'_>,
        function: &Function,
        shifts: &IdMap<Block, i64>,
    ) -> QueryIncrements {
        let at_call = |(call, part): (CallId, &Option<Part>)| {
            let Some(part) = part else { return 0 };
            let block = function.calls[call].block;
            let passed = amounts.at(block, Within::Call(call)).wrapping_sub(amounts.at(block, part.within));
            self.points[part.point].wrapping_add(passed).wrapping_sub(shifts[block])
        };
        let at_block = |(&point, shift): (&Point, &i64)| self.points[point].wrapping_sub(*shift);
        QueryIncrements {
            blocks: graph.blocks.iter().zip(shifts).map(at_block).collect(),
            calls: graph.calls.numbered().map(at_call).collect(),
            returned: self.points[graph.returned],
        }
    }
}

fn join(offsets: &mut Offsets, arc: &Arc, along: i64) {
    if arc.in_tree {
        offsets.join(arc.from.index(), arc.to.index(), along);
    }
}

/// The probe that counts so many events, or fewer than none; no probe for none.
pub(super) fn add(kind: usize, place: Place, events: i64) -> Option<PlacedProbe> {
    let [up, down] = counters_of(kind);
    let counter = if events > 0 { up } else { down };
    (events != 0).then_some(PlacedProbe { place, probe: Probe::CountBy(counter, events.unsigned_abs()) })
}

/// The key of a function of which nothing is lacking anywhere.
pub(super) fn exact_key(function: &Function, kinds: usize) -> EventKey {
    EventKey { at_sites: vec![vec![0; function.sites().len()]; kinds], ..EventKey::default() }
}
