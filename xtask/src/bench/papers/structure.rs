//! What follows from the map of a binary alone: the chords at which an event counter adds nothing, and how many paths
//! across functions there are if nothing is cut.

use anyhow::Result;
use cotree_core::facts::events::EventKind;
use cotree_core::facts::{Function, ProgramMap};
use cotree_core::graph::cfg::Cfg;
use cotree_core::ids::{Block, CallId, FunctionId};
use cotree_core::method::ipath::graph::{ENTRY, EXIT, FlowGraph, GEXIT, Role};
use cotree_core::method::ipath::{AtCall, Entry, FunctionKey};
use cotree_core::method::path::classes::EdgeClasses;
use cotree_core::method::path::cuts::necessary;
use cotree_core::place::spanning::{Extreme, SpanningTree, TreePriority};
use cotree_core::unit::certain_calls;
use cotree_core::weight::weighting::Weighting;
use cotree_profile::binary::BinaryFile;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// An event counter of IR instructions in one program (Ball 1994, §3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Events {
    /// Chords of the spanning trees.
    pub chords: u64,
    /// Chords whose increment is zero.
    pub zero: u64,
    /// Blocks.
    pub blocks: u64,
    /// Blocks at whose beginning the counter lacks nothing, so that a query needs no increment there.
    pub exact: u64,
}

/// Paths across functions without any cut for the sake of numbers (Melski & Reps 1998, §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Across {
    /// Bits of the largest path number.
    pub bits: f64,
    /// Edges that add to the number of a path.
    pub adding: u64,
    /// Edges that multiply for it, unless the multiplication is factored out.
    pub multiplying: u64,
    /// Places at which the number is needed: ends of paths, calls that paths cross, and returns.
    pub needed: u64,
}

/// Asks the map of a binary.
pub fn of(binary: &Path) -> Result<(Events, Across)> {
    let program = BinaryFile::open(binary)?.into_map().program;
    let mut events = Events::default();
    for (_, function) in program.functions() {
        if let Ok(cfg) = function.cfg() {
            events.add(function, &cfg);
        }
    }
    Ok((events, Across::new(&program)))
}

impl Events {
    /// The counter lacks at each block what happened since the function's entry, as far as the tree tells; a chord adds
    /// what makes it right where the chord leads to.
    fn add(&mut self, function: &Function, cfg: &Cfg) {
        let weighting = Weighting::expected(function, cfg);
        let tree = SpanningTree::new(cfg, &weighting, Extreme::Maximum, |_| TreePriority::Plain);
        let amounts = function.events(EventKind::Instructions);
        let along = |block: Block| if block == cfg.exit() { 0 } else { amounts.block(block).cast_signed() };
        let mut potential: Vec<Option<i64>> = vec![None; cfg.block_count()];
        potential[cfg.exit().index()] = Some(0);
        let mut work = vec![cfg.exit()];
        while let Some(block) = work.pop() {
            let here = potential[block.index()].unwrap_or(0);
            let forwards = cfg.succs(block).iter().map(|&edge| (edge, cfg.dst(edge), here + along(block)));
            let backwards = cfg.preds(block).iter().map(|&edge| (edge, cfg.src(edge), here - along(cfg.src(edge))));
            let exit = cfg.exit_edge();
            let around = [(exit, cfg.dst(exit), 0), (exit, cfg.src(exit), here)];
            for (edge, next, value) in
                forwards.chain(backwards).chain(around.into_iter().filter(|_| block == cfg.exit()))
            {
                if tree.contains(edge) && potential[next.index()].is_none() {
                    potential[next.index()] = Some(value);
                    work.push(next);
                }
            }
        }
        for chord in tree.chords() {
            self.chords += 1;
            let (src, dst) = (cfg.src(chord), cfg.dst(chord));
            let ends = potential[src.index()].zip(potential[dst.index()]);
            self.zero += u64::from(ends.is_some_and(|(from, to)| from + along(src) == to));
        }
        for block in cfg.blocks().filter(|&block| block != cfg.exit()) {
            self.blocks += 1;
            self.exact += u64::from(potential[block.index()] == Some(0));
        }
    }
}

/// A linear function like those of `psi_rho`, of numbers that may have thousands of bits: by the logarithms of its
/// factor and its constant.
#[derive(Clone, Copy)]
struct Linear {
    times: f64,
    plus: f64,
}

/// The logarithm of a sum.
fn sum(a: f64, b: f64) -> f64 {
    let (large, small) = if a > b { (a, b) } else { (b, a) };
    if small == f64::NEG_INFINITY { large } else { large + (small - large).exp2().ln_1p() / std::f64::consts::LN_2 }
}

impl Linear {
    const ZERO: Linear = Linear { times: f64::NEG_INFINITY, plus: f64::NEG_INFINITY };
    const ONE: Linear = Linear { times: f64::NEG_INFINITY, plus: 0.0 };
    const IDENTITY: Linear = Linear { times: 0.0, plus: f64::NEG_INFINITY };

    fn and(self, other: Linear) -> Linear {
        Linear { times: sum(self.times, other.times), plus: sum(self.plus, other.plus) }
    }

    fn after(self, inner: Linear) -> Linear {
        Linear { times: self.times + inner.times, plus: sum(self.times + inner.plus, self.plus) }
    }

    fn at_one(self) -> f64 {
        sum(self.times, self.plus)
    }
}

impl Across {
    fn new(program: &ProgramMap) -> Across {
        let functions: Vec<&Function> = program.functions().map(|(_, function)| function).collect();
        let calls = crossed(program, &functions);
        let mut across = Across::default();
        let mut psi: Vec<Option<Linear>> = vec![None; functions.len()];
        let (mut called, mut paths) = (vec![false; functions.len()], f64::NEG_INFINITY);
        calls.iter().flatten().for_each(|&(_, callee)| called[callee] = true);
        for number in callees_first(&calls) {
            let Ok(cfg) = functions[number].cfg() else { continue };
            let entry = across.add(functions[number], &cfg, &calls[number], &psi);
            psi[number] = Some(entry);
            // The functions that nobody crosses into begin all paths.
            if !called[number] {
                paths = sum(paths, entry.at_one());
            }
        }
        across.bits = paths.max(0.0);
        across
    }

    /// Adds a function. Gives the ψ of its entry.
    fn add(&mut self, function: &Function, cfg: &Cfg, calls: &[(CallId, usize)], callees: &[Option<Linear>]) -> Linear {
        let classes = EdgeClasses::new(function, cfg);
        let cross = |&(call, callee): &(CallId, usize)| (call, AtCall::Cross(FunctionId::new(callee)));
        let known = calls.iter().filter(|(_, callee)| callees[*callee].is_some());
        let mut cuts = necessary(function, cfg, &classes);
        cuts.edges.extend(cfg.edges().filter(|&edge| cfg.src(edge) == cfg.dst(edge)));
        cuts.edges.sort_unstable();
        cuts.edges.dedup();
        let key =
            FunctionKey { entry: Entry::Alone, cuts, calls: known.map(cross).collect(), ..FunctionKey::default() };
        let graph = FlowGraph::new(function, cfg, &classes, &key, false);
        let mut psi = vec![Linear::ZERO; graph.node_count()];
        (psi[EXIT], psi[GEXIT]) = (Linear::IDENTITY, Linear::ONE);
        for &node in graph.topological_order().iter().rev().filter(|&&node| node != EXIT && node != GEXIT) {
            let mut before = Linear::ZERO;
            for &arc in graph.out(node) {
                let next = psi[graph.dst(arc)];
                let paths = match graph.role(arc) {
                    Role::Cross(_, callee) => callees[callee.index()].map_or(next, |callee| callee.after(next)),
                    _ => next,
                };
                self.adding += u64::from(before.at_one() > f64::NEG_INFINITY);
                self.multiplying += u64::from(before.times > f64::NEG_INFINITY);
                self.needed += u64::from(matches!(
                    graph.role(arc),
                    Role::Cross(..) | Role::Return(_) | Role::EndOnEdge(_) | Role::EndAtBlock(_) | Role::EndAtCall(_)
                ));
                before = before.and(paths);
            }
            psi[node] = before;
        }
        psi[ENTRY]
    }
}

/// Per function, the calls that surely reach a function with a map, but for recursive ones.
fn crossed(program: &ProgramMap, functions: &[&Function]) -> Vec<Vec<(CallId, usize)>> {
    let mut calls: Vec<Vec<(CallId, usize)>> = vec![Vec::new(); functions.len()];
    for (callee, callers) in certain_calls(program, &vec![true; functions.len()]).into_iter().enumerate() {
        for (caller, call) in callers {
            let facts = &functions[caller.index()].calls[call];
            if !(facts.must_tail || facts.returns_twice || facts.resume_marker) {
                calls[caller.index()].push((call, callee));
            }
        }
    }
    calls.iter_mut().for_each(|calls| calls.sort_unstable());
    let order = depth_first(&calls);
    let mut finished = vec![0; calls.len()];
    order.iter().enumerate().for_each(|(place, &function)| finished[function] = place);
    for (caller, calls) in calls.iter_mut().enumerate() {
        calls.retain(|&(_, callee)| finished[callee] < finished[caller]);
    }
    calls
}

/// The functions, callees first, once no call is recursive.
fn callees_first(calls: &[Vec<(CallId, usize)>]) -> Vec<usize> {
    depth_first(calls)
}

/// The functions in the order in which a depth-first search of the call graph leaves them: a callee that is left later
/// than its caller is called by a backedge.
fn depth_first(calls: &[Vec<(CallId, usize)>]) -> Vec<usize> {
    let (mut seen, mut order) = (vec![false; calls.len()], Vec::new());
    for root in 0..calls.len() {
        if std::mem::replace(&mut seen[root], true) {
            continue;
        }
        let mut stack = vec![(root, 0)];
        while let Some((function, next)) = stack.last_mut() {
            let Some(&(_, callee)) = calls[*function].get(*next) else {
                order.push(*function);
                stack.pop();
                continue;
            };
            *next += 1;
            if !std::mem::replace(&mut seen[callee], true) {
                stack.push((callee, 0));
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotree_core::facts::{BlockFacts, EdgeFacts, EdgeKind, InstructionCounts, Run};

    /// A block of so many instructions.
    fn block(total: u32) -> BlockFacts {
        let instructions = InstructionCounts { total, ..InstructionCounts::default() };
        let runs = vec![Run { instructions, ..Run::default() }];
        BlockFacts { instructions, runs, ..BlockFacts::default() }
    }

    /// Two branches in a row, each to one of two blocks, which join. Those of the first have so many instructions.
    fn diamonds(left: u32, right: u32) -> Function {
        let edge = |(src, dst, kind)| EdgeFacts { src: Block::new(src), dst: Block::new(dst), kind, successor: 0 };
        let branch = |from| {
            [
                (from, from + 1, EdgeKind::True),
                (from, from + 2, EdgeKind::False),
                (from + 1, from + 3, EdgeKind::Jump),
                (from + 2, from + 3, EdgeKind::Jump),
            ]
        };
        let edges = branch(0).into_iter().chain(branch(3)).chain([(6, 7, EdgeKind::Return)]);
        Function {
            blocks: [5, left, right, 2, 3, 3, 1].map(block).to_vec().into(),
            edges: edges.map(edge).collect(),
            ..Function::default()
        }
    }

    fn events(function: &Function) -> Events {
        let mut events = Events::default();
        events.add(function, &function.cfg().expect("the graph is right"));
        events
    }

    #[test]
    fn a_chord_adds_nothing_where_both_ways_are_as_long() {
        // Of ten edges, EXIT's to the entry among them, seven make the tree. Two chords count whole executions.
        let (same, other) = (events(&diamonds(3, 3)), events(&diamonds(3, 4)));
        assert_eq!((same.chords, same.zero), (3, 1));
        assert_eq!((other.chords, other.zero), (3, 0));
        assert_eq!(same.blocks, 7);
    }

    #[test]
    fn uncut_paths_multiply_through_calls() {
        // Two ways through the callee, which is called twice in a row: 2 · 2 ways.
        let two = Linear { times: 1.0, plus: f64::NEG_INFINITY };
        assert!((two.after(two).at_one() - 2.0).abs() < 1e-9);
        // And one path that ends within the callee.
        let ends = two.and(Linear::ONE);
        assert!((ends.at_one().exp2() - 3.0).abs() < 1e-9);
        assert!((ends.after(ends).at_one().exp2() - 7.0).abs() < 1e-9);
        assert!((sum(Linear::IDENTITY.at_one(), f64::NEG_INFINITY)).abs() < 1e-9);
    }

    #[test]
    fn callees_come_first_and_recursion_is_left_out() {
        let call = CallId::new;
        let calls = vec![vec![(call(0), 1), (call(1), 2)], vec![(call(0), 2)], Vec::new()];
        assert_eq!(callees_first(&calls), [2, 1, 0]);
    }
}
