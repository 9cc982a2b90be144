//! Random runs: turns a source of numbers into a script that a program could follow.

use super::process::{Action, Position, Process, Thread};
use crate::facts::EdgeKind;
use crate::graph::cfg::Cfg;
use crate::ids::{Block, CallId, Edge, FunctionId, IdMap};
use std::collections::VecDeque;

/// What a program may do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conduct {
    /// Per function and call, the functions of which the call always enters one; empty if it calls code outside of the
    /// program.
    pub callees: Vec<Vec<Vec<FunctionId>>>,
    /// The functions that code outside of the program calls, at least one: threads begin with them.
    pub roots: Vec<FunctionId>,
    /// The functions that handle signals; without them there are none.
    pub handlers: Vec<FunctionId>,
    /// How many threads there are.
    pub threads: usize,
    /// After this many actions the run comes to an end.
    pub length: usize,
    /// The greatest depth of stacks. A run that needs more is given up.
    pub depth: usize,
    /// The percentage of calls of code outside of the program that do not just return.
    pub oddities: usize,
    /// A `longjmp` may go to any call site, not just to where a call that may return twice has returned.
    pub jumps_anywhere: bool,
}

/// A script; `None` if the run does not come to an end, or can't without abandoning activations outside of calls.
/// `draw` gives a number below its argument.
pub fn script(
    process: &mut Process<'_>,
    conduct: &Conduct,
    draw: &mut dyn FnMut(usize) -> usize,
) -> Option<Vec<(Thread, Action)>> {
    let functions = (0..process.function_count()).map(FunctionId::new);
    let distances = functions.map(|function| distances(process.cfg(function))).collect();
    let begins = (0..conduct.threads).map(|_| 1 + draw(3)).collect();
    let mut run = Run {
        process,
        conduct,
        draw,
        distances,
        begins,
        caught: IdMap::filled(false, conduct.threads),
        script: Vec::new(),
    };
    while !run.process.is_over() {
        let left: Vec<Thread> = (0..conduct.threads).map(Thread::new).filter(|&thread| run.has_more(thread)).collect();
        if left.is_empty() {
            break;
        }
        let thread = left[(run.draw)(left.len())];
        let action = match run.signal(thread) {
            Some(signal) => signal,
            None => {
                run.process.settle(thread);
                if !run.has_more(thread) {
                    continue;
                }
                run.next(thread)?
            }
        };
        run.caught[thread] = matches!(action, Action::Throw { .. });
        run.process.act(thread, action).ok()?;
        run.script.push((thread, action));
        if run.script.len() > 4 * conduct.length + 100 {
            return None;
        }
    }
    Some(run.script)
}

/// How many edges each block is away from EXIT; `None` if it does not lead there.
fn distances(cfg: &Cfg) -> IdMap<Block, Option<usize>> {
    let mut distances = cfg.per_block(None);
    distances[cfg.exit()] = Some(0);
    let mut open = VecDeque::from([(cfg.exit(), 0)]);
    while let Some((block, distance)) = open.pop_front() {
        for edge in cfg.preds(block).iter().filter(|&&edge| edge != cfg.exit_edge()) {
            let slot = &mut distances[cfg.src(*edge)];
            if slot.is_none() {
                *slot = Some(distance + 1);
                open.push_back((cfg.src(*edge), distance + 1));
            }
        }
    }
    distances
}

struct Run<'r, 'a> {
    process: &'r mut Process<'a>,
    conduct: &'r Conduct,
    draw: &'r mut dyn FnMut(usize) -> usize,
    /// Per function and block.
    distances: IdMap<FunctionId, IdMap<Block, Option<usize>>>,
    /// Per thread, how often it may begin with a root.
    begins: IdMap<Thread, usize>,
    /// Per thread, whether it has just caught an exception.
    caught: IdMap<Thread, bool>,
    script: Vec<(Thread, Action)>,
}

impl Run<'_, '_> {
    fn has_more(&self, thread: Thread) -> bool {
        self.depth(thread) > 0 || self.begins[thread] > 0
    }

    fn depth(&self, thread: Thread) -> usize {
        self.process.positions(thread).len()
    }

    fn ends(&self) -> bool {
        self.script.len() > self.conduct.length
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> Option<T> {
        if of.is_empty() { None } else { Some(of[(self.draw)(of.len())]) }
    }

    fn signal(&mut self, thread: Thread) -> Option<Action> {
        let depth = self.depth(thread);
        let chance = depth > 0 && depth < self.conduct.depth && !self.ends() && !self.conduct.handlers.is_empty();
        // The landing pad comes first, or it would not be known any more that there is one to go to.
        if !chance || self.caught[thread] || (self.draw)(16) > 0 {
            return None;
        }
        let (steps, probes) = ((self.draw)(8) as u32, (self.draw)(4) as u32);
        self.pick(&self.conduct.handlers).map(|handler| Action::Signal { handler, steps, probes })
    }

    /// The next action of a thread that has made all its small steps; `None` if there is none.
    fn next(&mut self, thread: Thread) -> Option<Action> {
        let conduct = self.conduct;
        let depth = self.depth(thread);
        if depth == 0 {
            self.begins[thread] -= 1;
            return self.pick(&conduct.roots).map(Action::Enter);
        }
        let may_go_deeper = depth < conduct.depth && !self.ends();
        let here = self.process.positions(thread).next_back()?;
        let Position { function, block, calling, ref calls_ahead, .. } = here;
        let ahead = calls_ahead.clone();
        let outside = calling.is_some_and(|call| self.callees(function, call).is_empty());
        if outside {
            if may_go_deeper && (self.draw)(100) < conduct.oddities / 4 {
                return self.pick(&conduct.roots).map(Action::Enter);
            }
            let odd = (self.draw)(100) < conduct.oddities || (self.ends() && conduct.oddities > 0);
            if let Some(action) = odd.then(|| self.oddity(thread)).flatten() {
                return Some(action);
            }
        }
        let edges = self.possible_edges(thread, function, block);
        let demanded = ahead.clone().find(|&call| !self.callees(function, CallId::new(call)).is_empty());
        let last = demanded.map_or(ahead.end, |call| call + 1);
        let calls: Vec<usize> = (ahead.start..last).collect();
        let wants = !calls.is_empty() && (edges.is_empty() || demanded.is_some() || (self.draw)(3) > 0);
        if let Some(call) = self.pick(&calls).filter(|_| wants).map(CallId::new) {
            let callees = self.callees(function, call).to_vec();
            if !callees.is_empty() && depth >= conduct.depth {
                return None;
            }
            let callee = self.pick(&callees);
            return Some(Action::Call { call, callee });
        }
        match self.pick(&edges) {
            Some(edge) => Some(Action::Take(edge)),
            None => (outside && self.dies_at_sites(thread)).then_some(Action::EndThread),
        }
    }

    fn callees(&self, function: FunctionId, call: CallId) -> &[FunctionId] {
        let calls = self.conduct.callees.get(function.index());
        calls.and_then(|calls| calls.get(call.index())).map_or(&[], Vec::as_slice)
    }

    /// The edges that may be taken from the block. When the run is to end, those that lead to EXIT soonest.
    fn possible_edges(&self, thread: Thread, function: FunctionId, block: Block) -> Vec<Edge> {
        let (facts, cfg) = (self.process.function(function), self.process.cfg(function));
        let unwinds = |edge: Edge| facts.edges[edge].kind == EdgeKind::InvokeUnwind;
        let mut edges = cfg.succs(block).to_vec();
        if edges.iter().any(|&edge| unwinds(edge)) {
            edges.retain(|&edge| unwinds(edge) == self.caught[thread]);
        }
        if self.ends() {
            let distance = |edge: &Edge| self.distances[function][cfg.dst(*edge)].unwrap_or(usize::MAX);
            let least = edges.iter().map(distance).min();
            edges.retain(|edge| Some(distance(edge)) == least);
        }
        edges
    }

    /// Are all activations of the thread in calls at which they may end early? The innermost one is not if its callee
    /// was a function of the program, which has returned.
    fn dies_at_sites(&self, thread: Thread) -> bool {
        let innermost = self.depth(thread).wrapping_sub(1);
        self.process.positions(thread).enumerate().all(|(depth, position)| {
            let calls = &self.process.function(position.function).calls;
            let under_way = |call: &CallId| depth != innermost || self.callees(position.function, *call).is_empty();
            position.calling.filter(under_way).is_some_and(|call| calls.site_of(call).is_some())
        })
    }

    /// Code outside of the program does something else than to return.
    fn oddity(&mut self, thread: Thread) -> Option<Action> {
        if !self.dies_at_sites(thread) {
            return None;
        }
        let kinds = if self.ends() { 2 } else { 12 };
        match (self.draw)(kinds) {
            0 => Some(Action::EndThread),
            1 => {
                let all = (0..self.conduct.threads).all(|other| self.dies_at_sites(Thread::new(other)));
                all.then_some(Action::Exit)
            }
            2 | 3 => Some(Action::Fork),
            4..8 => {
                let frames = self.depth(thread);
                let depth = (self.draw)(frames);
                let target = self.process.positions(thread).nth(depth)?;
                let sites = self.process.function(target.function).sites().len();
                let mut sites: Vec<_> = (0..sites).map(crate::ids::Site::new).collect();
                if !self.conduct.jumps_anywhere {
                    sites.retain(|site| target.set_jumps.contains(site));
                }
                self.pick(&sites).map(|site| Action::Jump { depth: depth as u32, site })
            }
            _ => {
                let catches = |position: &Position<'_>| {
                    let calls = &self.process.function(position.function).calls;
                    position.calling.is_some_and(|call| calls[call].terminator)
                };
                let positions = self.process.positions(thread).enumerate();
                let depths: Vec<u32> = positions.filter(|(_, p)| catches(p)).map(|(depth, _)| depth as u32).collect();
                self.pick(&depths).map(|depth| Action::Throw { depth })
            }
        }
    }
}
