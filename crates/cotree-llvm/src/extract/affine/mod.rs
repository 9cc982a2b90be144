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
mod shifts;

use super::{Extracted, FunctionIr};
use crate::ir;
use crate::module::Module;
use bounds::{Test, tests};
use cotree_core::facts::Function;
use cotree_core::graph::cfg::Cfg;
use cotree_core::graph::dfs::Dfs;
use cotree_core::graph::dominators::Dominators;
use cotree_core::graph::loops::LoopForest;
use cotree_core::ids::{Block, Edge};
use cotree_core::place::affine::AffineVariable;
use cotree_core::place::affine::region::LoopRegion;
use llvm_sys::LLVMOpcode;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The most increments in a row that are followed.
const LONGEST_CHAIN: usize = 32;
/// Blocks and edges that may be looked at for all phis of a function, per block and edge of the function.
const EFFORT: usize = 100;

/// LLVM's objects behind one [`AffineVariable`].
pub struct Value<'m> {
    /// The phi of the header.
    pub(crate) phi: ir::Phi<'m>,
    /// The width of the variable in bits.
    pub(crate) bits: u32,
    /// The latches: the other predecessors of the header are where the loop is entered.
    pub(crate) latches: Vec<ir::Block<'m>>,
    /// For each block from which the loop is left, the value that is read there.
    pub(crate) read: HashMap<Block, ir::Value<'m>>,
    /// Blocks from which the loop is left with none of the variable's values.
    pub(crate) settled: HashSet<Block>,
    /// Initial values may be undefined, so they must be frozen: otherwise they could differ from use to use.
    pub(crate) freeze: bool,
    /// Increments whose no-wrap flags must be removed, since only our own use would notice a poisoned value.
    pub(crate) flagged: Vec<ir::Instruction<'m>>,
    /// How the number is read from it.
    pub(crate) reading: Reading,
    /// The variable begins with the result of another loop.
    pub(crate) goes_on: bool,
    /// The conditions of the loop's branches that stay as they are while it runs.
    pub(crate) conditions: BTreeMap<Block, ir::Value<'m>>,
}

/// How a value is read.
pub(crate) enum Reading {
    /// The variable is the number.
    Itself,
    /// The position of its highest bit is the number.
    HighestBit {
        /// The variable always has such a bit.
        never_zero: bool,
        /// How far that goes down with each circuit.
        by: u64,
        /// Blocks from which the loop is left because it can't go down once more.
        ends: HashSet<Block>,
    },
}

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

/// A loop with what is needed to inspect its values.
struct SeenLoop<'a, 'm> {
    module: &'m Module,
    handles: &'a FunctionIr<'m>,
    cfg: &'a Cfg,
    loops: &'a LoopForest,
    numbers: &'a HashMap<ir::Block<'m>, Block>,
    region: LoopRegion,
    inside: BTreeSet<Block>,
    /// The blocks of the loop that are in no loop within it.
    own: BTreeSet<Block>,
    /// See [`Value::conditions`].
    conditions: BTreeMap<Block, ir::Value<'m>>,
}

/// A phi whose movements are known.
struct Traced<'m> {
    phi: ir::Phi<'m>,
    bits: u32,
    steps: Vec<(Edge, i64)>,
    /// The value that is current in each block.
    current: HashMap<Block, ir::Phi<'m>>,
    /// The increments.
    increments: Vec<ir::Instruction<'m>>,
}

/// A value taken back to a phi of the loop.
struct Origin<'m> {
    phi: ir::Phi<'m>,
    plus: i64,
    increments: Vec<ir::Instruction<'m>>,
}

impl<'m> SeenLoop<'_, 'm> {
    /// The width of a value that can be counted with.
    fn width(&self, value: impl Into<ir::Value<'m>>) -> Option<u32> {
        let ty = value.into().ty();
        match ty.bits() {
            Some(bits) => (2..=64).contains(&bits).then_some(bits),
            None => (ty.address_space() == Some(0)).then_some(64),
        }
    }

    /// The block of the loop that defines the value.
    fn home(&self, value: impl Into<ir::Value<'m>>) -> Option<Block> {
        let block = *self.numbers.get(&value.into().as_instruction()?.block()?)?;
        self.inside.contains(&block).then_some(block)
    }

    /// The loop's own two-way branches that stay within it, and whose conditions are known before it is entered. They
    /// have been reached wherever the loop is left: a condition that no branch has used may be undefined, and we must
    /// not use it.
    fn steady(&self, dominators: &Dominators) -> BTreeMap<Block, ir::Value<'m>> {
        let stays = |block: &&Block| {
            let &[one, other] = self.cfg.succs(**block) else { return false };
            let (one, other) = (self.cfg.dst(one), self.cfg.dst(other));
            one != other && self.inside.contains(&one) && self.inside.contains(&other)
        };
        let reached = |block: &&Block| {
            self.region.exits.iter().all(|&(_, from)| dominators.dominates(**block, self.region.blocks[from]))
        };
        let condition = |&block: &Block| {
            let condition = self.handles.blocks[block.index()].terminator().condition()?;
            self.home(condition).is_none().then_some((block, condition))
        };
        self.own.iter().filter(stays).filter(reached).filter_map(condition).collect()
    }

    /// Takes a value back through increments.
    fn origin(&self, value: impl Into<ir::Value<'m>>) -> Option<Origin<'m>> {
        let mut value = value.into();
        let mut plus = 0i64;
        let mut increments = Vec::new();
        for _ in 0..LONGEST_CHAIN {
            self.home(value)?;
            let instruction = value.as_instruction()?;
            if let Some(phi) = instruction.as_phi() {
                return Some(Origin { phi, plus, increments });
            }
            let (from, by) = self.increment(instruction)?;
            increments.push(instruction);
            plus = plus.checked_add(by)?;
            value = from;
        }
        None
    }

    /// If the instruction is an increment: of what, and by how much.
    fn increment(&self, instruction: ir::Instruction<'m>) -> Option<(ir::Value<'m>, i64)> {
        self.width(instruction)?;
        let constant = |index: u32| {
            let operand = instruction.operand(index)?;
            operand.signed_constant().filter(|_| self.width(operand).is_some())
        };
        match instruction.opcode() {
            LLVMOpcode::LLVMAdd => match (constant(0), constant(1)) {
                (None, Some(by)) => Some((instruction.operand(0)?, by)),
                (Some(by), None) => Some((instruction.operand(1)?, by)),
                _ => None,
            },
            LLVMOpcode::LLVMOr if instruction.is_disjoint() => Some((instruction.operand(0)?, constant(1)?)),
            LLVMOpcode::LLVMSub => Some((instruction.operand(0)?, constant(1)?.checked_neg()?)),
            LLVMOpcode::LLVMGetElementPtr if instruction.operand_count() == 2 => {
                let size = instruction.element_type()?.size(self.module)?;
                let by = constant(1)?.checked_mul(i64::try_from(size).ok()?)?;
                Some((instruction.operand(0)?, by))
            }
            _ => None,
        }
    }

    /// Is the increment poison where it wraps as a signed number, and as an unsigned one?
    fn poisonous(&self, increment: ir::Instruction<'m>) -> (bool, bool) {
        match increment.opcode() {
            LLVMOpcode::LLVMAdd | LLVMOpcode::LLVMSub => increment.never_wraps(),
            _ => (increment.is_in_bounds(), false),
        }
    }

    /// Follows a header phi around its loop.
    fn trace(&self, phi: ir::Phi<'m>, bits: u32) -> Option<Traced<'m>> {
        let header = self.region.blocks[0];
        let mut current: HashMap<Block, ir::Phi<'m>> = HashMap::from([(header, phi)]);
        let mut steps = Vec::new();
        let mut increments = BTreeSet::new();
        let mut work = vec![header];
        while let Some(block) = work.pop() {
            let wanted = current[&block];
            let here = self.home(wanted) == Some(block);
            if block == header && wanted != phi {
                return None;
            }
            for &edge in self.cfg.preds(block) {
                let src = self.cfg.src(edge);
                if !self.inside.contains(&src) {
                    continue;
                }
                let before = if here {
                    let origin = self.origin(wanted.incoming_from(self.handles.blocks[src.index()])?)?;
                    if origin.plus != 0 {
                        steps.push((edge, origin.plus));
                    }
                    increments.extend(origin.increments);
                    origin.phi
                } else {
                    wanted
                };
                match current.insert(src, before) {
                    None => work.push(src),
                    Some(known) if known != before => return None,
                    Some(_) => {}
                }
            }
        }
        if increments.is_empty() {
            return None;
        }
        steps.sort_unstable();
        steps.dedup();
        Some(Traced { phi, bits, steps, current, increments: increments.into_iter().collect() })
    }

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
