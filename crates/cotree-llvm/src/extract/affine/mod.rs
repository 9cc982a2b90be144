//! Affine variables: header phis that only move by constants while their loop runs ([`cotree_core::affine`]).
//!
//! From each latch backwards, every block of the loop is asked which value of the variable is current there. A value is
//! taken back through increments to a phi of the loop; the constant between the two is how far the variable moves on the
//! edge. A phi hands the question on to what came in on each edge, any other block to its predecessors. If no block gets
//! two answers and the header's own phi is the last, the variable is affine. An assignment in the loop is neither an
//! increment nor a phi, and so ends the search (the erratum to Definition 3.5).

mod bounds;
mod poison;
mod shifts;

use super::{Extracted, FunctionIr};
use crate::ffi::*;
use crate::ir;
use crate::linkage::value_name;
use crate::module::Module;
use bounds::{Test, tests};
use cotree_core::affine::AffineVariable;
use cotree_core::affine::region::LoopRegion;
use cotree_core::cfg::Cfg;
use cotree_core::dfs::Dfs;
use cotree_core::dominators::Dominators;
use cotree_core::facts::Function;
use cotree_core::ids::{Block, Edge};
use cotree_core::loops::LoopForest;
use llvm_sys::prelude::*;
use llvm_sys::target::LLVMTargetDataRef;
use llvm_sys::{LLVMOpcode, LLVMTypeKind};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Increments in a row that are followed.
const LONGEST_CHAIN: usize = 32;
/// Blocks and edges that may be looked at for all phis of a function, per block and edge of the function.
const EFFORT: usize = 100;

/// LLVM's objects behind one [`AffineVariable`].
pub struct Value<'m> {
    /// The phi of the header.
    pub(crate) phi: ir::Phi<'m>,
    /// Its width.
    pub(crate) bits: u32,
    /// The latches: the other predecessors of the header are where the loop is entered.
    pub(crate) latches: Vec<ir::Block<'m>>,
    /// For each block from which the loop is left, the value that is read there.
    pub(crate) read: HashMap<Block, ir::Value<'m>>,
    /// Blocks from which the loop is left with what is none of its values.
    pub(crate) settled: HashSet<Block>,
    /// Initial values may be undefined: they need to be frozen, lest they differ from use to use.
    pub(crate) freeze: bool,
    /// Increments whose no-wrap flags must go, since a poisoned value would be noticed by our use of it alone.
    pub(crate) flagged: Vec<ir::Instruction<'m>>,
    /// What of it is the number.
    pub(crate) reading: Reading,
    /// It is a number that begins with what another loop has left.
    pub(crate) goes_on: bool,
    /// The conditions of the loop's branches that stay as they are while it runs.
    pub(crate) conditions: BTreeMap<Block, ir::Value<'m>>,
}

/// How a value is read.
pub(crate) enum Reading {
    /// It is the number.
    Itself,
    /// The position of its highest bit is the number.
    HighestBit {
        /// It has one.
        never_zero: bool,
        /// How far that goes down with each circuit.
        by: u64,
        /// Blocks from which the loop is left because it can't go down once more.
        ends: HashSet<Block>,
    },
}

/// Finds the affine variables of all functions that will be instrumented.
pub fn find(module: &Module, extracted: &mut Extracted) {
    // SAFETY: the data layout lives as long as its module, and handles are of this module.
    unsafe {
        let layout = LLVMGetModuleDataLayout(module.raw);
        let functions = extracted.facts.functions.iter().zip(&mut extracted.handles).zip(&mut extracted.affine);
        for ((function, handles), affine) in functions {
            let Some(cfg) = function.cfg().ok().filter(|_| function.untouched.is_none()) else { continue };
            let dfs = Dfs::new(&cfg);
            let loops = LoopForest::new(&cfg, &dfs);
            if !loops.is_empty() {
                let found = in_function(function, handles.open(module), &cfg, &dfs, &loops, layout);
                let values;
                (*affine, values) = found.into_iter().unzip();
                handles.keep_affine(module, values);
            }
        }
    }
}

/// # Safety
/// The handles must match the module's IR.
unsafe fn in_function<'m>(
    function: &Function,
    handles: &FunctionIr<'m>,
    cfg: &Cfg,
    dfs: &Dfs,
    loops: &LoopForest,
    layout: LLVMTargetDataRef,
) -> Vec<(AffineVariable, Value<'m>)> {
    let mut abandoned = vec![false; loops.len()];
    for site in function.sites() {
        let mut around = loops.innermost(site.block);
        while let Some(l) = around.filter(|l| !std::mem::replace(&mut abandoned[l.index()], true)) {
            around = loops.parent(l);
        }
    }
    let dominators = Dominators::new(cfg, dfs);
    let numbers: HashMap<LLVMBasicBlockRef, Block> =
        handles.blocks.iter().enumerate().map(|(i, &b)| (b.raw(), Block::new(i))).collect();
    let mut scratch = LoopRegion::numbers(cfg);
    let mut effort = EFFORT * (cfg.block_count() + cfg.edge_count());
    let mut found = Vec::new();
    for l in loops.loops() {
        // What can't be used need not be found.
        if abandoned[l.index()] || loops.is_irreducible(l) || loops.exit_count(l) == 0 {
            continue;
        }
        let region = LoopRegion::new(cfg, loops, l, &mut scratch);
        let own = region.blocks.iter().copied().filter(|&b| loops.innermost(b) == Some(l)).collect();
        let mut seen = SeenLoop {
            handles,
            cfg,
            loops,
            numbers: &numbers,
            layout,
            inside: inside(&region),
            own,
            conditions: BTreeMap::new(),
            region,
        };
        // SAFETY: as the caller promises.
        seen.conditions = unsafe { seen.steady(&dominators) };
        let Some(rest) = effort.checked_sub(seen.region.size()) else { break };
        effort = rest;
        // SAFETY: as the caller promises.
        unsafe {
            let mut phi = LLVMGetFirstInstruction(handles.blocks[loops.header(l).index()].raw());
            let tests = tests(&seen, &dominators);
            let (mut candidates, mut shifted) = (Vec::new(), Vec::new());
            while LLVMGetInstructionOpcode(phi) == LLVMOpcode::LLVMPHI {
                if let Some(bits) = seen.width(phi) {
                    let Some(rest) = effort.checked_sub(seen.region.size()) else { return found };
                    effort = rest;
                    candidates.extend(seen.trace(phi, bits));
                    shifted.extend(seen.shifted(phi, &tests, &dominators));
                }
                phi = LLVMGetNextInstruction(phi);
            }
            found.extend(seen.judge(candidates, &shifted, &tests, &dominators));
            found.extend(shifted);
        }
    }
    found
}

fn inside(region: &LoopRegion) -> BTreeSet<Block> {
    region.blocks.iter().copied().collect()
}

/// A loop with the means to look at its values.
struct SeenLoop<'a, 'm> {
    handles: &'a FunctionIr<'m>,
    cfg: &'a Cfg,
    loops: &'a LoopForest,
    numbers: &'a HashMap<LLVMBasicBlockRef, Block>,
    layout: LLVMTargetDataRef,
    region: LoopRegion,
    inside: BTreeSet<Block>,
    /// Those of its blocks that are in no loop within it.
    own: BTreeSet<Block>,
    /// See [`Value::conditions`].
    conditions: BTreeMap<Block, LLVMValueRef>,
}

/// A phi whose movements are known.
struct Traced {
    phi: LLVMValueRef,
    bits: u32,
    steps: Vec<(Edge, i64)>,
    /// The value that is current in each block.
    current: HashMap<Block, LLVMValueRef>,
    /// The increments.
    increments: Vec<LLVMValueRef>,
}

/// A value taken back to a phi of the loop.
struct Origin {
    phi: LLVMValueRef,
    plus: i64,
    increments: Vec<LLVMValueRef>,
}

impl<'m> SeenLoop<'_, 'm> {
    /// The width of a value that can be counted with.
    ///
    /// # Safety
    /// `value` must be of the module.
    unsafe fn width(&self, value: LLVMValueRef) -> Option<u32> {
        // SAFETY: as the caller promises; each type is asked only what its kind has.
        unsafe {
            let ty = LLVMTypeOf(value);
            match LLVMGetTypeKind(ty) {
                LLVMTypeKind::LLVMIntegerTypeKind => Some(LLVMGetIntTypeWidth(ty)).filter(|w| (2..=64).contains(w)),
                LLVMTypeKind::LLVMPointerTypeKind if LLVMGetPointerAddressSpace(ty) == 0 => Some(64),
                _ => None,
            }
        }
    }

    /// The block of the loop that defines the value.
    ///
    /// # Safety
    /// `value` must be of the module.
    unsafe fn home(&self, value: LLVMValueRef) -> Option<Block> {
        // SAFETY: as the caller promises.
        unsafe {
            if LLVMIsAInstruction(value).is_null() {
                return None;
            }
            let block = *self.numbers.get(&LLVMGetInstructionParent(value))?;
            self.inside.contains(&block).then_some(block)
        }
    }

    /// Its own branches of two ways that stay in it, whose conditions are known before it is entered. They have been reached
    /// wherever it is left: what a branch never looked at may be undefined, and must not be looked at by us.
    ///
    /// # Safety
    /// The handles must match the module's IR.
    unsafe fn steady(&self, dominators: &Dominators) -> BTreeMap<Block, LLVMValueRef> {
        let stays = |block: &&Block| {
            let &[one, other] = self.cfg.succs(**block) else { return false };
            let (one, other) = (self.cfg.dst(one), self.cfg.dst(other));
            one != other && self.inside.contains(&one) && self.inside.contains(&other)
        };
        let reached = |block: &&Block| {
            self.region.exits.iter().all(|&(_, from)| dominators.dominates(**block, self.region.blocks[from]))
        };
        let condition = |&block: &Block| {
            // SAFETY: as the caller promises; conditional branches have conditions.
            unsafe {
                let branch = LLVMGetBasicBlockTerminator(self.handles.blocks[block.index()].raw());
                let conditional =
                    LLVMGetInstructionOpcode(branch) == LLVMOpcode::LLVMBr && LLVMGetNumSuccessors(branch) == 2;
                let condition = conditional.then(|| LLVMGetCondition(branch))?;
                self.home(condition).is_none().then_some((block, condition))
            }
        };
        self.own.iter().filter(stays).filter(reached).filter_map(condition).collect()
    }

    /// Takes a value back through increments.
    ///
    /// # Safety
    /// `value` must be of the module.
    unsafe fn origin(&self, mut value: LLVMValueRef) -> Option<Origin> {
        let mut plus = 0i64;
        let mut increments = Vec::new();
        // SAFETY: operands are asked for only where the opcode has them.
        unsafe {
            for _ in 0..LONGEST_CHAIN {
                self.home(value)?;
                let opcode = LLVMGetInstructionOpcode(value);
                if opcode == LLVMOpcode::LLVMPHI {
                    return Some(Origin { phi: value, plus, increments });
                }
                let (from, by) = self.increment(value, opcode)?;
                increments.push(value);
                plus = plus.checked_add(by)?;
                value = from;
            }
        }
        None
    }

    /// If the instruction is an increment: of what, and by how much.
    ///
    /// # Safety
    /// `value` must be an instruction with this opcode.
    unsafe fn increment(&self, value: LLVMValueRef, opcode: LLVMOpcode) -> Option<(LLVMValueRef, i64)> {
        // SAFETY: as the caller promises; binary operators have two operands, an address computation with one index too.
        unsafe {
            self.width(value)?;
            let constant = |i: u32| {
                let operand = LLVMGetOperand(value, i);
                let usable = !LLVMIsAConstantInt(operand).is_null() && self.width(operand).is_some();
                usable.then(|| LLVMConstIntGetSExtValue(operand))
            };
            match opcode {
                LLVMOpcode::LLVMAdd => match (constant(0), constant(1)) {
                    (None, Some(by)) => Some((LLVMGetOperand(value, 0), by)),
                    (Some(by), None) => Some((LLVMGetOperand(value, 1), by)),
                    _ => None,
                },
                LLVMOpcode::LLVMOr if LLVMGetIsDisjoint(value) != 0 => Some((LLVMGetOperand(value, 0), constant(1)?)),
                LLVMOpcode::LLVMSub => Some((LLVMGetOperand(value, 0), constant(1)?.checked_neg()?)),
                LLVMOpcode::LLVMGetElementPtr if LLVMGetNumOperands(value) == 2 => {
                    let element = LLVMGetGEPSourceElementType(value);
                    let size = (LLVMTypeIsSized(element) != 0).then(|| LLVMABISizeOfType(self.layout, element))?;
                    let by = constant(1)?.checked_mul(i64::try_from(size).ok()?)?;
                    Some((LLVMGetOperand(value, 0), by))
                }
                _ => None,
            }
        }
    }

    /// Is the increment poison where it wraps?
    ///
    /// # Safety
    /// `value` must be an increment.
    unsafe fn poisonous(&self, value: LLVMValueRef) -> (bool, bool) {
        // SAFETY: flags are asked only of instructions that have them.
        unsafe {
            match LLVMGetInstructionOpcode(value) {
                LLVMOpcode::LLVMAdd | LLVMOpcode::LLVMSub => (LLVMGetNSW(value) != 0, LLVMGetNUW(value) != 0),
                LLVMOpcode::LLVMGetElementPtr => (LLVMIsInBounds(value) != 0, false),
                _ => (false, false),
            }
        }
    }

    /// Follows a header phi around its loop.
    ///
    /// # Safety
    /// `phi` must be a phi of the loop's header.
    unsafe fn trace(&self, phi: LLVMValueRef, bits: u32) -> Option<Traced> {
        let header = self.region.blocks[0];
        let mut current: HashMap<Block, LLVMValueRef> = HashMap::from([(header, phi)]);
        let mut steps = Vec::new();
        let mut increments = BTreeSet::new();
        let mut work = vec![header];
        while let Some(block) = work.pop() {
            let wanted = current[&block];
            // SAFETY: phis have an entry for each predecessor.
            let here = unsafe { self.home(wanted) } == Some(block);
            if block == header && wanted != phi {
                return None;
            }
            for &edge in self.cfg.preds(block) {
                let src = self.cfg.src(edge);
                if !self.inside.contains(&src) {
                    continue;
                }
                let before = if here {
                    // SAFETY: as above.
                    let origin = unsafe { self.origin(incoming(wanted, self.handles.blocks[src.index()].raw())?)? };
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
    ///
    /// # Safety
    /// The values must be of the loop.
    unsafe fn judge(
        &self,
        traced: Vec<Traced>,
        shifted: &[(AffineVariable, Value<'m>)],
        tests: &[Test],
        dominators: &Dominators,
    ) -> Vec<(AffineVariable, Value<'m>)> {
        let header = self.region.blocks[0];
        // SAFETY: as the caller promises.
        let circuits = traced.iter().filter_map(|t| unsafe { self.circuits(t, tests) });
        let circuits = circuits.chain(shifted.iter().filter_map(|(v, _)| v.circuits)).min();
        // SAFETY: as the caller promises.
        let trips = traced.iter().filter_map(|t| unsafe { self.trips(t, tests) });
        let trips = trips.chain(shifted.iter().filter_map(|(v, _)| v.trips)).min();
        // SAFETY: as the caller promises.
        let rounds = traced.iter().find_map(|t| unsafe { self.rounds(t, tests) });
        let judge = |t: Traced| {
            // SAFETY: as the caller promises.
            unsafe {
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
                    let mut value = t.current[&from];
                    if let Some((next, by)) = self.next(&t, from, dominators) {
                        let tested = self.noticed_before(next, from, dominators);
                        if tested || !never_wraps || t.bits == 64 {
                            value = next;
                            ahead.insert(from, by);
                        }
                        if !tested && noticed && value == next && !never_far {
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
                    phi: phi_of(t.phi),
                    bits: t.bits,
                    latches: self.latches().map(|b| self.handles.blocks[b.index()]).collect(),
                    read: values_of(read),
                    settled,
                    freeze,
                    goes_on: is_integer(t.phi) && self.initial(t.phi).any(|(value, _)| self.is_of_another_loop(value)),
                    flagged: flagged.into_iter().filter_map(|f| ir::Value::from_raw(f)?.as_instruction()).collect(),
                    reading: Reading::Itself,
                    conditions: values_of(self.conditions.clone()),
                };
                let facts = AffineVariable {
                    name: value_name(t.phi),
                    header,
                    bits: t.bits,
                    pointer: LLVMGetTypeKind(LLVMTypeOf(t.phi)) == LLVMTypeKind::LLVMPointerTypeKind,
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
                    value.freeze && self.initial(t.phi).any(|(v, block)| LLVMGetBasicBlockTerminator(block) == v);
                (!frozen_late).then_some((facts, value))
            }
        };
        traced.into_iter().filter_map(judge).collect()
    }

    /// The next step, if it has always been made when the loop is left from the block: the value that is at hand there,
    /// where the one before it may be needed by nobody else. With how far it is ahead. (Where the program goes on with the
    /// number before it, keeping both would take a register more.)
    ///
    /// # Safety
    /// The values must be of the loop.
    unsafe fn next(&self, variable: &Traced, from: Block, dominators: &Dominators) -> Option<(LLVMValueRef, i64)> {
        let current = variable.current[&from];
        let steps = variable.increments.iter().filter_map(|&increment| {
            // SAFETY: as the caller promises.
            let (home, origin) = unsafe { (self.home(increment)?, self.origin(increment)?) };
            let made = origin.phi == current && dominators.dominates(home, from);
            (made && origin.plus != 0).then_some((origin.increments.len(), increment, origin.plus))
        });
        let (_, next, by) = steps.max_by_key(|step| step.0)?;
        // SAFETY: as the caller promises.
        let only_current_lives_on =
            unsafe { is_integer(current) && self.used_outside(current) && !self.used_outside(next) };
        (!only_current_lives_on).then_some((next, by))
    }

    /// Does the value come out of a loop that was left before this one was entered?
    ///
    /// # Safety
    /// `value` must be of the module.
    unsafe fn is_of_another_loop(&self, value: LLVMValueRef) -> bool {
        // SAFETY: as the caller promises.
        let home = unsafe {
            if LLVMIsAInstruction(value).is_null() { None } else { self.numbers.get(&LLVMGetInstructionParent(value)) }
        };
        let made_in = home.and_then(|&home| self.loops.innermost(home));
        made_in.is_some_and(|l| !self.loops.contains(l, self.region.blocks[0]))
    }

    /// Does the program itself use the value behind the loop?
    ///
    /// # Safety
    /// `value` must be an instruction of the loop.
    unsafe fn used_outside(&self, value: LLVMValueRef) -> bool {
        // SAFETY: the users of an instruction are instructions.
        unsafe {
            let mut usage = LLVMGetFirstUse(value);
            while !usage.is_null() {
                if self.home(LLVMGetUser(usage)).is_none() {
                    return true;
                }
                usage = LLVMGetNextUse(usage);
            }
        }
        false
    }

    /// Does the same number always come in?
    ///
    /// # Safety
    /// `phi` must be a phi of the header.
    unsafe fn starts_at_constant(&self, phi: LLVMValueRef) -> bool {
        // SAFETY: as the caller promises.
        unsafe {
            let mut entries = self.initial(phi).map(|(value, _)| value);
            let first = entries.next();
            first.is_some_and(|first| !LLVMIsAConstantInt(first).is_null() && entries.all(|value| value == first))
        }
    }

    fn latches(&self) -> impl Iterator<Item = Block> {
        let header = self.region.blocks[0];
        self.cfg.preds(header).iter().map(|&e| self.cfg.src(e)).filter(|b| self.inside.contains(b))
    }

    /// What comes into the loop, from which blocks.
    ///
    /// # Safety
    /// `phi` must be a phi of the header.
    unsafe fn initial(&self, phi: LLVMValueRef) -> impl Iterator<Item = (LLVMValueRef, LLVMBasicBlockRef)> {
        // SAFETY: indices below the number of entries.
        let entries = unsafe {
            (0..LLVMCountIncoming(phi)).map(move |i| (LLVMGetIncomingValue(phi, i), LLVMGetIncomingBlock(phi, i)))
        };
        entries.filter(|(_, block)| !self.numbers.get(block).is_some_and(|b| self.inside.contains(b)))
    }
}

/// # Safety
/// `phi` must be a phi of a module that is borrowed for `'m`.
unsafe fn phi_of<'m>(phi: LLVMValueRef) -> ir::Phi<'m> {
    // SAFETY: as the caller promises.
    unsafe { ir::Value::from_raw(phi) }.and_then(ir::Value::as_phi).expect("a phi")
}

/// # Safety
/// All must be values of a module that is borrowed for `'m`.
unsafe fn values_of<'m, M: FromIterator<(Block, ir::Value<'m>)>>(
    values: impl IntoIterator<Item = (Block, LLVMValueRef)>,
) -> M {
    // SAFETY: as the caller promises.
    values.into_iter().filter_map(|(block, value)| Some((block, unsafe { ir::Value::from_raw(value) }?))).collect()
}

/// # Safety
/// `value` must be of a module.
unsafe fn is_integer(value: LLVMValueRef) -> bool {
    // SAFETY: as the caller promises.
    unsafe { LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMTypeKind::LLVMIntegerTypeKind }
}

/// What comes into a phi from a block.
///
/// # Safety
/// `phi` must be a phi.
unsafe fn incoming(phi: LLVMValueRef, from: LLVMBasicBlockRef) -> Option<LLVMValueRef> {
    // SAFETY: indices below the number of entries.
    unsafe {
        (0..LLVMCountIncoming(phi))
            .find(|&i| LLVMGetIncomingBlock(phi, i) == from)
            .map(|i| LLVMGetIncomingValue(phi, i))
    }
}
