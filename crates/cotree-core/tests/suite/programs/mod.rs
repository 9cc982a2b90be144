//! Random programs, and runs of them: functions that call each other at call sites and between them, that end by
//! `exit`, jump and throw over each other, handle signals, fork, and have several threads.

use crate::random;
use cotree_core::facts::{Call as Facts, Callee, EdgeFacts, EdgeKind, Function};
use cotree_core::graph::cfg::Cfg;
use cotree_core::ids::{Block, CallId, FunctionId};
use cotree_core::interpret::{Action, Conduct, Process, Thread, script};
use cotree_core::plan::CallPoint;
use proptest::prelude::*;

/// One call of a program.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    pub point: CallPoint,
    pub callee: usize,
    /// The call is the site with the point's number, else it comes between sites and is certain to return.
    pub at_site: bool,
}

#[derive(Clone, Debug)]
pub struct Program {
    pub functions: Vec<Function>,
    pub graphs: Vec<Cfg>,
    pub calls: Vec<Call>,
    /// Functions that are called from outside, too.
    pub roots: Vec<bool>,
    /// Per function and call, the callees.
    callees: Vec<Vec<Vec<FunctionId>>>,
}

/// How a program runs.
#[derive(Clone, Copy, Debug)]
pub struct Life {
    pub threads: usize,
    /// Functions called from outside handle signals, too.
    pub signals: bool,
    /// A `longjmp` goes to any call site, not just to where one returned that may return twice.
    pub jumps_anywhere: bool,
}

/// Programs of up to five functions.
pub fn programs() -> impl Strategy<Value = (Program, u64)> {
    programs_of(random::functions(6))
}

/// Programs of functions as LLVM could have made them.
pub fn programs_of_llvm() -> impl Strategy<Value = (Program, u64)> {
    programs_of(random::functions_of_llvm())
}

/// Programs of functions in which everything that happens to an activation shows where it goes on: invokes have two
/// successors, computed gotos nothing but computed edges.
pub fn programs_to_trace() -> impl Strategy<Value = (Program, u64)> {
    programs_of(random::functions_of_llvm().prop_map(|mut function| {
        let exit = function.exit();
        function.edges.retain(|edge| edge.dst != Block(0));
        for block in (0..function.blocks.len()).map(Block::new) {
            let kinds = |function: &Function, kind| function.edges.iter().any(|e| e.src == block && e.kind == kind);
            if kinds(&function, EdgeKind::IndirectBranch) {
                function.edges.retain(|edge| edge.src != block || edge.kind == EdgeKind::IndirectBranch);
            }
            let invokes = function.sites_of(block).any(|(_, site)| site.terminator);
            let inner = function.edges.iter().filter(|edge| edge.src == block && edge.dst != exit).count();
            if invokes && inner >= 1 && function.edges.iter().filter(|edge| edge.src == block).count() >= 2 {
                // The last inner one is the landing pad.
                let mut inner = inner;
                let mut normal = false;
                function.edges.retain_mut(|edge| {
                    if edge.src != block {
                        return true;
                    }
                    inner -= usize::from(edge.dst != exit);
                    let unwinds = edge.dst != exit && inner == 0;
                    edge.kind = if unwinds { EdgeKind::InvokeUnwind } else { EdgeKind::InvokeNormal };
                    unwinds || !std::mem::replace(&mut normal, true)
                });
            }
            let unwinds = kinds(&function, EdgeKind::InvokeUnwind) && kinds(&function, EdgeKind::InvokeNormal);
            if !unwinds {
                for edge in function.edges.iter_mut().filter(|edge| edge.src == block) {
                    if edge.kind == EdgeKind::InvokeUnwind {
                        edge.kind = EdgeKind::Jump;
                    }
                }
                function.calls.update(|_, call| call.terminator &= call.block != block);
            }
        }
        function
    }))
}

fn programs_of(functions: impl Strategy<Value = Function>) -> impl Strategy<Value = (Program, u64)> {
    let functions = prop::collection::vec(functions.prop_map(with_returns), 1..=5);
    let calls = prop::collection::vec((any::<u16>(), any::<u16>(), any::<u16>(), any::<u16>(), any::<bool>()), 1..14);
    (functions, calls, any::<u8>(), any::<u64>()).prop_map(|(functions, wanted, roots, seed)| {
        let mut calls: Vec<Call> = Vec::new();
        for (caller, block, site, callee, at_site) in wanted {
            let caller = usize::from(caller) % functions.len();
            let facts = &functions[caller];
            // Sites are few and far between: make for them.
            let block = match facts.sites().nth(usize::from(site) % facts.sites().len().max(1)) {
                Some(site) if at_site => site.block,
                _ => Block::new(usize::from(block) % facts.blocks.len()),
            };
            let sites: Vec<_> = facts.sites_of(block).collect();
            let after =
                if at_site { usize::from(site) % sites.len().max(1) } else { usize::from(site) % (sites.len() + 1) };
            let callee = usize::from(callee) % functions.len();
            let point = CallPoint { function: FunctionId::new(caller), block, after_sites: after as u32 };
            let taken = calls.iter().any(|c| c.at_site && c.point == point);
            // Nothing comes after a terminator, and calls that are certain to return don't recurse.
            let behind = !at_site && after == sites.len() && sites.last().is_some_and(|(_, s)| s.terminator);
            if if at_site { sites.is_empty() || taken } else { behind || callee <= caller } {
                continue;
            }
            calls.push(Call { point, callee, at_site });
        }
        calls.sort_by_key(|c| (c.point, c.at_site, c.callee));
        let roots = (0..functions.len()).map(|f| f == 0 || roots >> f & 3 == 3).collect();
        let graphs = functions.iter().map(|f| f.cfg().unwrap()).collect();
        let (functions, callees) = (0..).zip(functions).map(|(number, f)| with_calls(number, f, &calls)).unzip();
        (Program { functions, graphs, calls, roots, callees }, seed)
    })
}

/// Blocks that lead nowhere return.
fn with_returns(mut function: Function) -> Function {
    for block in (0..function.blocks.len()).map(Block::new) {
        if function.edges.iter().all(|e| e.src != block) {
            let dst = function.exit();
            function.edges.push(EdgeFacts { src: block, dst, kind: EdgeKind::Return, successor: 0 });
        }
    }
    function
}

/// The function with all its calls, and whom each calls.
fn with_calls(number: u32, mut function: Function, calls: &[Call]) -> (Function, Vec<Vec<FunctionId>>) {
    let (mut all, mut callees): (Vec<Facts>, Vec<Vec<FunctionId>>) = Default::default();
    for block in (0..function.blocks.len()).map(Block::new) {
        let sites: Vec<Facts> = function.sites_of(block).map(|(_, site)| site.clone()).collect();
        for after in 0..=sites.len() {
            let point = CallPoint { function: FunctionId(number), block, after_sites: after as u32 };
            let here = |at_site| calls.iter().filter(move |c| c.point == point && c.at_site == at_site);
            for call in here(false) {
                all.push(Facts { block, callee: Callee::Indirect, ..Facts::default() });
                callees.push(vec![FunctionId::new(call.callee)]);
            }
            if let Some(site) = sites.get(after) {
                all.push(site.clone());
                callees.push(here(true).map(|call| FunctionId::new(call.callee)).collect());
            }
        }
    }
    function.calls = all.into_iter().collect();
    (function, callees)
}

impl Program {
    /// Everything that calls a function, in order.
    pub fn callers(&self, callee: usize) -> Vec<CallPoint> {
        self.calls.iter().filter(|c| c.callee == callee).map(|c| c.point).collect()
    }

    /// Whom a call of a function enters, one of these each time; nobody if it calls code outside of the program.
    pub fn callees(&self, caller: usize, call: CallId) -> &[FunctionId] {
        &self.callees[caller][call.index()]
    }

    /// Has a call enter another function as well.
    pub fn also_enters(&mut self, caller: usize, call: CallId, callee: FunctionId) {
        let callees = &mut self.callees[caller][call.index()];
        if !callees.contains(&callee) {
            callees.push(callee);
        }
    }

    /// A process without probes.
    pub fn process(&self) -> Process<'_> {
        Process::new(self.functions.iter().zip(&self.graphs))
    }

    /// What happens in a run; `None` if it does not come to an end.
    pub fn script(&self, seed: u64, life: Life) -> Option<Vec<(Thread, Action)>> {
        let mut state = seed | 1;
        let mut draw = |below: usize| {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            (state >> 33) as usize % below
        };
        let roots: Vec<_> = (0..self.functions.len()).filter(|&f| self.roots[f]).map(FunctionId::new).collect();
        let conduct = Conduct {
            callees: self.callees.clone(),
            handlers: if life.signals { roots.clone() } else { Vec::new() },
            roots,
            threads: life.threads,
            length: 150,
            depth: 14,
            // Every third program only calls and returns.
            oddities: if seed.is_multiple_of(3) { 0 } else { 25 },
            jumps_anywhere: life.jumps_anywhere,
        };
        script(&mut self.process(), &conduct, &mut draw)
    }
}
