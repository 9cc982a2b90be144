//! Finds affine variables: header phis that only move by constants while their loop runs
//! ([`cotree_core::place::affine`]).
//!
//! From each latch backwards, every block of the loop is asked which value of the variable is current there. A value is
//! taken back through increments to a phi of the loop; the constant between the two is how far the variable moves on
//! the edge. A phi hands the question on to what came in on each edge, any other block to its predecessors. If no block
//! gets two answers and the header's own phi is the last, the variable is affine. An assignment in the loop is neither
//! an increment nor a phi, and so ends the search (the erratum to Definition 3.5).

mod bounds;
mod poison;
mod seen;
mod shifts;
mod variable;

pub(crate) use variable::Reading;
pub use variable::Value;

use super::extracted::Extracted;
use super::handles::FunctionIr;
use crate::ir;
use crate::module::Module;
use bounds::{Test, tests};
use cotree_core::facts::Function;
use cotree_core::graph::cfg::Cfg;
use cotree_core::graph::dfs::Dfs;
use cotree_core::graph::dominators::Dominators;
use cotree_core::graph::loops::LoopForest;
use cotree_core::ids::Block;
use cotree_core::place::affine::AffineVariable;
use cotree_core::place::affine::region::LoopRegion;
use seen::{SeenLoop, Traced};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Blocks and edges that may be looked at for all phis of a function, per block and edge of the function.
const EFFORT: usize = 100;

/// Finds the affine variables of all functions that will be instrumented.
pub fn find(module: &Module, extracted: &mut Extracted) {
    let functions = extracted.facts.functions.iter().zip(&mut extracted.handles).zip(&mut extracted.affine);
    for ((function, handles), affine) in functions {
        let Some(cfg) = function.cfg().ok().filter(|_| function.untouched.is_none()) else { continue };
        let dfs = Dfs::new(&cfg);
        let loops = LoopForest::new(&cfg, &dfs);
        if !loops.is_empty() {
            let found = in_function(module, function, handles.open(module), &cfg, &dfs, &loops);
            let values;
            (*affine, values) = found.into_iter().unzip();
            handles.keep_affine(module, values);
        }
    }
}

fn in_function<'m>(
    module: &'m Module,
    function: &Function,
    handles: &FunctionIr<'m>,
    cfg: &Cfg,
    dfs: &Dfs,
    loops: &LoopForest,
) -> Vec<(AffineVariable, Value<'m>)> {
    let mut abandoned = vec![false; loops.len()];
    for site in function.sites() {
        let mut around = loops.innermost(site.block);
        while let Some(l) = around.filter(|l| !std::mem::replace(&mut abandoned[l.index()], true)) {
            around = loops.parent(l);
        }
    }
    let dominators = Dominators::new(cfg, dfs);
    let numbers: HashMap<ir::Block<'m>, Block> =
        handles.blocks.iter().enumerate().map(|(i, &b)| (b, Block::new(i))).collect();
    let mut scratch = LoopRegion::numbers(cfg);
    let mut effort = EFFORT * (cfg.block_count() + cfg.edge_count());
    let mut found = Vec::new();
    for l in loops.loops() {
        // Don't look for variables that can't be used.
        if abandoned[l.index()] || loops.is_irreducible(l) || loops.exit_count(l) == 0 {
            continue;
        }
        let region = LoopRegion::new(cfg, loops, l, &mut scratch);
        let own = region.blocks.iter().copied().filter(|&b| loops.innermost(b) == Some(l)).collect();
        let mut seen = SeenLoop {
            module,
            handles,
            cfg,
            loops,
            numbers: &numbers,
            inside: inside(&region),
            own,
            conditions: BTreeMap::new(),
            region,
        };
        seen.conditions = seen.steady(&dominators);
        let Some(rest) = effort.checked_sub(seen.region.size()) else { break };
        effort = rest;
        let tests = tests(&seen, &dominators);
        let (mut candidates, mut shifted) = (Vec::new(), Vec::new());
        for phi in handles.blocks[loops.header(l).index()].phis() {
            if let Some(bits) = seen.width(phi) {
                let Some(rest) = effort.checked_sub(seen.region.size()) else { return found };
                effort = rest;
                candidates.extend(seen.trace(phi, bits));
                shifted.extend(seen.shifted(phi, &tests, &dominators));
            }
        }
        found.extend(seen.judge(candidates, &shifted, &tests, &dominators));
        found.extend(shifted);
    }
    found
}

fn inside(region: &LoopRegion) -> BTreeSet<Block> {
    region.blocks.iter().copied().collect()
}

impl<'m> SeenLoop<'_, 'm> {
    /// Finds out what can be proven about each variable of a loop, of which `shifted` are known already.
    fn judge(
        &self,
        traced: Vec<Traced<'m>>,
        shifted: &[(AffineVariable, Value<'m>)],
        tests: &[Test<'m>],
        dominators: &Dominators,
    ) -> Vec<(AffineVariable, Value<'m>)> {
        let header = self.region.blocks[0];
        let circuits = traced.iter().filter_map(|t| self.circuits(t, tests));
        let circuits = circuits.chain(shifted.iter().filter_map(|(v, _)| v.circuits)).min();
        let trips = traced.iter().filter_map(|t| self.trips(t, tests));
        let trips = trips.chain(shifted.iter().filter_map(|(v, _)| v.trips)).min();
        let rounds = traced.iter().find_map(|t| self.rounds(t, tests));
        let judge = |t: Traced<'m>| {
            let flags: Vec<_> = t.increments.iter().map(|&i| self.poisonous(i)).collect();
            let poisonous = flags.iter().all(|f| f.0) || flags.iter().all(|f| f.1);
            let asked = self.tested(&t, tests, dominators);
            let noticed = asked || self.noticed(&t, dominators);
            let never_far = self.never_gets_far(&t);
            let mut flagged = if noticed || never_far { Vec::new() } else { t.increments.clone() };
            let never_wraps = poisonous && asked;
            let (mut read, mut settled, mut ahead) = (HashMap::new(), HashSet::new(), BTreeMap::new());
            for &(_, from) in &self.region.exits {
                let from = self.region.blocks[from];
                if let Some((equal, by)) = self.equal_at(&t, from, tests) {
                    ahead.extend((by != 0).then_some((from, by)));
                    settled.insert(from);
                    read.insert(from, equal);
                    continue;
                }
                let mut value: ir::Value<'m> = t.current[&from].into();
                if let Some((next, by)) = self.next(&t, from, dominators) {
                    let tested = self.noticed_before(next, from, dominators);
                    if tested || !never_wraps || t.bits == 64 {
                        value = next.into();
                        ahead.insert(from, by);
                    }
                    if !tested && noticed && value == next.into() && !never_far {
                        flagged.extend(self.origin(next).into_iter().flat_map(|o| o.increments));
                    }
                }
                read.insert(from, value);
            }
            let freeze = self.initial(t.phi).any(|(value, block)| {
                let end = self.numbers.get(&block);
                !end.is_some_and(|&end| self.defined(value, end, dominators))
            });
            let value = Value {
                phi: t.phi,
                bits: t.bits,
                latches: self.latches().map(|b| self.handles.blocks[b.index()]).collect(),
                read,
                settled,
                freeze,
                goes_on: t.phi.ty().is_integer()
                    && self.initial(t.phi).any(|(value, _)| self.is_of_another_loop(value)),
                flagged,
                reading: Reading::Itself,
                conditions: self.conditions.clone(),
            };
            let facts = AffineVariable {
                name: t.phi.name(),
                header,
                bits: t.bits,
                pointer: t.phi.ty().is_pointer(),
                shifted: false,
                steps: t.steps,
                ahead: ahead.into_iter().collect(),
                from_constant: self.starts_at_constant(t.phi),
                never_wraps,
                circuits,
                rounds,
                trips,
                steady: self.conditions.keys().copied().collect(),
            };
            // A value that the entering block's own terminator makes can't be frozen in time.
            let frozen_late =
                value.freeze && self.initial(t.phi).any(|(v, block)| ir::Value::from(block.terminator()) == v);
            (!frozen_late).then_some((facts, value))
        };
        traced.into_iter().filter_map(judge).collect()
    }

    /// The next step, if it has always been made when the loop is left from the block: the value that is at hand there,
    /// where the one before it may be needed by nobody else. With how far it is ahead. (Where the program goes on with
    /// the number before it, keeping both would take a register more.)
    fn next(&self, variable: &Traced<'m>, from: Block, dominators: &Dominators) -> Option<(ir::Instruction<'m>, i64)> {
        let current = variable.current[&from];
        let steps = variable.increments.iter().filter_map(|&increment| {
            let (home, origin) = (self.home(increment)?, self.origin(increment)?);
            let made = origin.phi == current && dominators.dominates(home, from);
            (made && origin.plus != 0).then_some((origin.increments.len(), increment, origin.plus))
        });
        let (_, next, by) = steps.max_by_key(|step| step.0)?;
        let only_current_lives_on = current.ty().is_integer() && self.used_outside(current) && !self.used_outside(next);
        (!only_current_lives_on).then_some((next, by))
    }

    /// Does the value come out of a loop that was left before this one was entered?
    fn is_of_another_loop(&self, value: ir::Value<'m>) -> bool {
        let home = value.as_instruction().and_then(|instruction| self.numbers.get(&instruction.block()?));
        let made_in = home.and_then(|&home| self.loops.innermost(home));
        made_in.is_some_and(|l| !self.loops.contains(l, self.region.blocks[0]))
    }

    /// Does the program itself use the value after the loop?
    fn used_outside(&self, value: impl Into<ir::Value<'m>>) -> bool {
        value.into().users().into_iter().any(|user| self.home(user).is_none())
    }

    /// Does the same number always come in?
    fn starts_at_constant(&self, phi: ir::Phi<'m>) -> bool {
        let mut entries = self.initial(phi).map(|(value, _)| value);
        let first = entries.next();
        first.is_some_and(|first| first.is_constant_int() && entries.all(|value| value == first))
    }

    fn latches(&self) -> impl Iterator<Item = Block> {
        let header = self.region.blocks[0];
        self.cfg.preds(header).iter().map(|&e| self.cfg.src(e)).filter(|b| self.inside.contains(b))
    }

    /// What comes into the loop by a phi of its header, from which blocks.
    fn initial(&self, phi: ir::Phi<'m>) -> impl Iterator<Item = (ir::Value<'m>, ir::Block<'m>)> {
        phi.entries().filter(|(_, block)| !self.numbers.get(block).is_some_and(|b| self.inside.contains(b)))
    }
}
