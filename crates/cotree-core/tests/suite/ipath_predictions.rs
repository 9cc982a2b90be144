//! What edge counts predict of paths across functions: the `pow` program of Melski & Reps 1998 by hand, and random
//! programs, where no path that begins at the same place has a likelier step where the two part.

use crate::ipath_figures::{MAIN, POW, main_function, numbering, plan, pow_function};
use crate::ipath_programs::{inputs, lives, methods, shapes, with_invokes, with_pointers};
use crate::programs::{Program, programs_of_llvm};
use cotree_core::ids::{Block, CallId, Edge, FunctionId};
use cotree_core::interpret::Truth;
use cotree_core::method::ipath::decode::Step;
use cotree_core::method::ipath::graph::{Arc, Role};
use cotree_core::method::ipath::numbering::{Numbering, Shape};
use cotree_core::method::ipath::predict::{EdgeCounts, Predictor, beginnings, executed_steps};
use cotree_core::method::ipath::{self, IpathMethod};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Counts by hand: per function, entries, edges and calls.
struct ByHand(Vec<(u64, Vec<u64>, Vec<u64>)>);

impl EdgeCounts for ByHand {
    fn entries(&self, function: FunctionId) -> u64 {
        self.0[function.index()].0
    }

    fn edge(&self, function: FunctionId, edge: Edge) -> u64 {
        self.0[function.index()].1[edge.index()]
    }

    fn call(&self, function: FunctionId, call: CallId) -> u64 {
        self.0[function.index()].2[call.index()]
    }
}

struct OfTruth<'a>(&'a Truth);

impl EdgeCounts for OfTruth<'_> {
    fn entries(&self, function: FunctionId) -> u64 {
        self.0.functions[function.index()].entries
    }

    fn edge(&self, function: FunctionId, edge: Edge) -> u64 {
        self.0.functions[function.index()].edges[edge]
    }

    fn call(&self, function: FunctionId, call: CallId) -> u64 {
        self.0.functions[function.index()].calls[call]
    }
}

/// The blocks that steps enter, a call as a block that is left for the callee's first.
fn blocks(numbering: &Numbering, cfgs: &[cotree_core::graph::cfg::Cfg], steps: &[Step]) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    for step in steps {
        let &Step::Along(function, arc) = step else { continue };
        let cfg = &cfgs[function.index()];
        let block = match numbering.of(function).unwrap().graph.role(arc) {
            Role::Enter => Block(0),
            Role::Real(edge) => cfg.dst(edge),
            Role::BeginAfterEdge(block) => block,
            _ => continue,
        };
        found.push((function.0, block.0));
    }
    found
}

/// `pow` with the counts of Fig. 4, and then with more calls from the second place, and more turns that leave at once.
#[test]
fn what_is_predicted_of_pow() {
    let functions = [main_function(), pow_function()];
    let cfgs: Vec<_> = functions.iter().map(|f| f.cfg().unwrap()).collect();
    let shapes: Vec<_> = functions.iter().zip(&cfgs).map(|(function, cfg)| Some(Shape { function, cfg })).collect();
    // main: v1→v4, v4→v5, v4→v15, v5→v6, v5→v9, call→v9, v9→v10, v9→v13, call→v13, v13→v4, to Exit.
    let main = |even: u64, third: u64| {
        let edges = vec![1, 18, 1, even, 18 - even, even, third, 18 - third, third, 18, 1];
        (1, edges, vec![even, third])
    };
    let pow = |calls: u64, turns: u64| (calls, vec![calls, turns, calls, turns, calls], vec![]);
    let arc = |numbering: &Numbering, function: FunctionId, role: Role| -> Arc {
        let graph = &numbering.of(function).unwrap().graph;
        (0..graph.arc_count()).find(|&arc| graph.role(arc) == role).unwrap()
    };
    for method in [IpathMethod::Context, IpathMethod::Piecewise] {
        let plan = plan(&functions, &[&[], &[(0, 0), (0, 1)]], method);
        let numbering = numbering(&functions, &plan);
        let follow = |counts: &ByHand, function: FunctionId, role: Role| {
            let predictor = Predictor { numbering: &numbering, shapes: &shapes, counts };
            let steps = predictor.follow(function, arc(&numbering, function, role));
            blocks(&numbering, &cfgs, &steps)
        };
        let loop_of = |function| (function, Role::BeginAfterEdge(Block(1)));
        // Of a number that is even as often as odd, the first branch is followed: into the call, and there up to the
        // loop's next turn.
        let paper = ByHand(vec![main(9, 6), pow(15, 30)]);
        let (function, role) = loop_of(MAIN);
        assert_eq!(follow(&paper, function, role), [(0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (1, 2)]);
        let (function, role) = loop_of(POW);
        assert_eq!(follow(&paper, function, role), [(1, 1), (1, 2)]);
        // Where loops of pow are mostly left at once, the path goes through it, comes back, and past the second call.
        let short = ByHand(vec![main(10, 6), pow(16, 3)]);
        let (function, role) = loop_of(MAIN);
        let through = [(0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (1, 3), (0, 4), (0, 6)];
        assert_eq!(follow(&short, function, role), through);
        // In pow's loop it is not known who called: most did so from the first place.
        let (function, role) = loop_of(POW);
        assert_eq!(follow(&short, function, role), [(1, 1), (1, 3), (0, 4), (0, 6)]);
        // Most called from the second place.
        let second = ByHand(vec![main(5, 16), pow(21, 3)]);
        assert_eq!(follow(&second, function, role), [(1, 1), (1, 3), (0, 6)]);
        let (function, role) = loop_of(MAIN);
        let second_only = [(0, 1), (0, 2), (0, 4), (0, 5), (1, 0), (1, 1), (1, 3), (0, 6)];
        assert_eq!(follow(&second, function, role), second_only);
    }
}

/// How much edge counts say for the step with this index; `None` where that is no choice between edges or calls.
fn weight(
    numbering: &Numbering,
    shapes: &[Option<Shape<'_>>],
    counts: &OfTruth<'_>,
    steps: &[Step],
    at: usize,
) -> Option<u64> {
    let role = |index: usize| match steps.get(index) {
        Some(&Step::Along(function, arc)) => Some((function, numbering.of(function).unwrap().graph.role(arc))),
        _ => None,
    };
    let edge = |function: FunctionId, src: Block, dst: Block| {
        let cfg = shapes[function.index()].unwrap().cfg;
        cfg.succs(src).iter().copied().find(|&edge| cfg.dst(edge) == dst).map(|edge| counts.edge(function, edge))
    };
    if let Step::Return(caller, call) = steps[at] {
        return Some(counts.call(caller, call));
    }
    match role(at)? {
        (function, Role::Real(edge) | Role::Return(edge) | Role::EndOnEdge(edge)) => Some(counts.edge(function, edge)),
        (function, Role::ToDispatch(src)) => match role(at + 1)? {
            (_, Role::FromDispatch(dst)) => edge(function, src, dst),
            _ => None,
        },
        (function, Role::FromDispatch(dst)) => match role(at - 1)? {
            (_, Role::ToDispatch(src)) => edge(function, src, dst),
            _ => None,
        },
        _ => None,
    }
}

/// How many activations of a function no crossed call has made.
fn called_otherwise(numbering: &Numbering, counts: &OfTruth<'_>, function: FunctionId) -> u64 {
    let crossed: u64 = (0..numbering.functions.len())
        .map(FunctionId::new)
        .flat_map(|caller| {
            let graph = numbering.of(caller).map(|numbers| &numbers.graph);
            let crossings = graph.into_iter().flat_map(|graph| graph.crossings());
            let into = crossings.filter(|&(.., callee)| callee == function);
            into.map(|(_, call, _)| counts.call(caller, call)).collect::<Vec<u64>>()
        })
        .sum();
    counts.entries(function).saturating_sub(crossed)
}

/// The function in which steps are before one of them.
fn function_before(steps: &[Step], at: usize) -> FunctionId {
    match steps[at - 1] {
        Step::Along(function, _) | Step::Start(function, _) | Step::Return(function, _) => function,
        Step::Call(_, _, callee) | Step::Descend(_, _, callee) => callee,
    }
}

fn programs() -> impl Strategy<Value = (Program, u64)> {
    programs_of_llvm().prop_map(|(program, seed)| (with_pointers(with_invokes(program), seed), seed))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// What is predicted is a path, and where another one from the same place parts from it, that is by what ran no
    /// more often.
    #[test]
    fn no_path_parts_from_the_predicted_one_by_a_likelier_step(
        (program, seed) in programs(),
        life in lives(),
        (method, options) in methods(),
    ) {
        let Some(script) = program.script(seed, life) else { return Ok(()) };
        let inputs = inputs(&program, seed);
        let Ok(plan) = ipath::plan(&inputs, method, options) else { return Ok(()) };
        let outcome = program.process().run(&script).unwrap();
        let (shapes, counts) = (shapes(&program), OfTruth(&outcome.truth));
        let numbering = Numbering::new(&shapes, &plan.keys(), method.is_piecewise()).unwrap();
        let predictor = Predictor { numbering: &numbering, shapes: &shapes, counts: &counts };
        let mut predicted: BTreeMap<Step, Vec<Step>> = BTreeMap::new();
        for function in (0..program.functions.len()).map(FunctionId::new) {
            let numbers = numbering.of(function).unwrap();
            for first in beginnings(numbers) {
                let steps = predictor.follow(function, first);
                let at_entry = numbers.graph.role(first) == Role::Enter;
                let start = if at_entry { numbers.from_entry } else { numbers.from_gentry };
                if start.is_some() && (at_entry || method.is_piecewise()) {
                    let whole = [&[Step::Start(function, at_entry)], &steps[..]].concat();
                    let number = numbering.number(&whole);
                    prop_assert!(number.is_some(), "{:?}", whole);
                    prop_assert_eq!(numbering.path(number.unwrap()), Some(whole));
                }
                predicted.insert(steps[0], steps);
            }
        }
        let sample: Vec<u64> = if plan.paths < 2000 {
            (0..plan.paths).collect()
        } else {
            (0..300).map(|i| seed.wrapping_mul(2 * i + 1).wrapping_add(i) % plan.paths).collect()
        };
        for number in sample {
            let path = numbering.path(number).unwrap();
            let steps = executed_steps(&numbering, &path);
            let predicted = &predicted[&steps[0]];
            let at = steps.iter().zip(predicted).take_while(|(a, b)| a == b).count();
            let otherwise = || called_otherwise(&numbering, &counts, function_before(predicted, at));
            match (predicted.get(at), steps.get(at)) {
                (None, None) => {}
                (Some(_), Some(_)) => {
                    let here = weight(&numbering, &shapes, &counts, predicted, at);
                    // A path that ends in a call that did not come back is never predicted where others run on.
                    let Some(there) = weight(&numbering, &shapes, &counts, steps, at) else { continue };
                    prop_assert!(here.is_some_and(|here| here >= there), "{here:?} {there}: {at} {predicted:?}");
                }
                (Some(_), None) => {
                    let here = weight(&numbering, &shapes, &counts, predicted, at);
                    prop_assert!(here.is_some_and(|here| here > otherwise()), "{here:?}: {at} {predicted:?}");
                }
                (None, Some(_)) => {
                    let there = weight(&numbering, &shapes, &counts, steps, at);
                    prop_assert!(there.is_some_and(|there| there <= otherwise()), "{there:?}: {at} {predicted:?}");
                }
            }
        }
    }
}
