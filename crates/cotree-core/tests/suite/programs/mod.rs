//! Random programs, and runs of them: functions that call each other at call sites and between them, that end by `exit`,
//! jump and throw over each other, and have their counters reset in the middle.

use crate::random;
use cotree_core::cfg::Cfg;
use cotree_core::facts::{EdgeFacts, EdgeKind, Function};
use cotree_core::ids::{Block, Edge, Site};
use cotree_core::interpret::{From, Until, Walk};
use cotree_core::plan::CallPoint;
use proptest::prelude::*;

/// One call of a program.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    pub point: CallPoint,
    pub callee: usize,
    /// It is the site with the point's number, else it comes between sites and is certain to return.
    pub at_site: bool,
}

#[derive(Clone, Debug)]
pub struct Program {
    pub functions: Vec<Function>,
    pub graphs: Vec<Cfg>,
    pub calls: Vec<Call>,
    /// Functions that are called from outside, too.
    pub roots: Vec<bool>,
}

/// Programs of up to five functions.
pub fn programs() -> impl Strategy<Value = (Program, u64)> {
    let functions = prop::collection::vec(random::functions(6).prop_map(with_ways_out), 1..=5);
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
            let point = CallPoint { function: caller as u32, block, after_sites: after as u32 };
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
        (Program { functions, graphs, calls, roots }, seed)
    })
}

/// Blocks that lead nowhere return.
fn with_ways_out(mut function: Function) -> Function {
    for block in (0..function.blocks.len()).map(Block::new) {
        if function.edges.iter().all(|e| e.src != block) {
            let dst = function.exit();
            function.edges.push(EdgeFacts { src: block, dst, kind: EdgeKind::Return, successor: 0 });
        }
    }
    function
}

impl Program {
    /// Everything that calls a function, in order.
    pub fn callers(&self, callee: usize) -> Vec<CallPoint> {
        self.calls.iter().filter(|c| c.callee == callee).map(|c| c.point).collect()
    }

    /// The walks of each function in a run; `None` if the run does not come to an end.
    pub fn run(&self, seed: u64) -> Option<Vec<Vec<Walk>>> {
        let mut run = Run {
            program: self,
            state: seed | 1,
            steps: 0,
            calm: seed.is_multiple_of(3),
            finished: vec![Vec::new(); self.functions.len()],
            frames: Vec::new(),
            quiet: 0,
        };
        let roots: Vec<usize> = (0..self.functions.len()).filter(|&f| self.roots[f]).collect();
        for _ in 0..=run.draw(4) {
            let root = roots[run.draw(roots.len())];
            if run.activation(root)? == Outcome::Exit {
                break;
            }
        }
        Some(run.finished)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Returned,
    /// All frames die.
    Exit,
    /// Frames die down to the one of this depth, which goes on at a site.
    Jump(usize, Site),
    /// The same, and it goes on behind the call that it is in.
    Throw(usize),
}

struct Frame {
    function: usize,
    from: From,
    edges: Vec<Edge>,
    at: Option<Site>,
}

struct Run<'a> {
    program: &'a Program,
    state: u64,
    steps: usize,
    /// Nothing but calls and returns.
    calm: bool,
    finished: Vec<Vec<Walk>>,
    frames: Vec<Frame>,
    /// Calls under way that are certain to return.
    quiet: usize,
}

impl Run<'_> {
    fn draw(&mut self, below: usize) -> usize {
        self.state = self.state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        (self.state >> 33) as usize % below
    }

    fn end(&mut self, until: Until) {
        let frame = self.frames.last_mut().expect("an activation is under way");
        let walk = Walk { from: frame.from, edges: std::mem::take(&mut frame.edges), until };
        self.finished[frame.function].push(walk);
    }

    /// What happens while somebody else's function runs, called by the innermost frame.
    fn event(&mut self) -> Outcome {
        if self.quiet > 0 {
            return Outcome::Returned;
        }
        if self.frames.len() > 12 || self.steps > 300 {
            return Outcome::Exit;
        }
        if self.calm {
            return Outcome::Returned;
        }
        match self.draw(60) {
            0 => Outcome::Exit,
            1..=3 => {
                self.finished.iter_mut().for_each(Vec::clear);
                for frame in &mut self.frames {
                    frame.from = From::Site(frame.at.expect("all are calling"));
                    frame.edges.clear();
                }
                Outcome::Returned
            }
            4..=9 => {
                let depth = self.draw(self.frames.len());
                let sites = self.program.functions[self.frames[depth].function].sites().len();
                Outcome::Jump(depth, Site::new(self.draw(sites)))
            }
            10..=14 => {
                let depth = self.draw(self.frames.len());
                let frame = &self.frames[depth];
                let site = frame.at.expect("all are calling");
                let catches = self.program.functions[frame.function].calls[site].terminator;
                if catches { Outcome::Throw(depth) } else { Outcome::Returned }
            }
            _ => Outcome::Returned,
        }
    }

    fn activation(&mut self, number: usize) -> Option<Outcome> {
        let program = self.program;
        let (function, graph) = (&program.functions[number], &program.graphs[number]);
        let depth = self.frames.len();
        self.frames.push(Frame { function: number, from: From::Entry, edges: Vec::new(), at: None });
        let (mut block, mut first) = (graph.entry(), 0);
        'blocks: loop {
            self.steps += 1;
            if self.steps > 3000 || self.frames.len() > 40 {
                return None;
            }
            let sites: Vec<Site> = function.sites_of(block).map(|(site, _)| site).collect();
            let start = std::mem::take(&mut first);
            for index in start..=sites.len() {
                let point = CallPoint { function: number as u32, block, after_sites: index as u32 };
                for call in program.calls.iter().filter(|c| c.point == point && !c.at_site) {
                    self.quiet += 1;
                    assert!(self.activation(call.callee)? == Outcome::Returned);
                    self.quiet -= 1;
                }
                let Some(&site) = sites.get(index) else { break };
                self.frames[depth].at = Some(site);
                let call = program.calls.iter().find(|c| c.point == point && c.at_site);
                let outcome = match call {
                    Some(call) => self.activation(call.callee)?,
                    None => self.event(),
                };
                match outcome {
                    Outcome::Returned => {}
                    Outcome::Throw(target) if target == depth => {}
                    Outcome::Jump(target, to) if target == depth => {
                        self.end(Until::Site(site));
                        self.frames[depth].from = From::Site(to);
                        self.frames[depth].at = None;
                        block = function.calls[to].block;
                        first = function.sites_of(block).position(|(s, _)| s == to).expect("it is in its block") + 1;
                        continue 'blocks;
                    }
                    _ => {
                        self.end(Until::Site(site));
                        self.frames.pop();
                        return Some(outcome);
                    }
                }
                self.frames[depth].at = None;
            }
            let ways = graph.succs(block);
            if ways.is_empty() {
                return None;
            }
            let out = ways.iter().find(|&&e| graph.dst(e) == graph.exit());
            let edge = match out {
                Some(&edge) if self.steps > 200 || self.quiet > 1 => edge,
                _ => ways[self.draw(ways.len())],
            };
            self.frames[depth].edges.push(edge);
            block = graph.dst(edge);
            if block == graph.exit() {
                self.end(Until::Exit);
                self.frames.pop();
                return Some(Outcome::Returned);
            }
        }
    }
}
