//! A loop whose values are inspected, and the variables that move in it.

use crate::extract::handles::FunctionIr;
use crate::ir;
use crate::module::Module;
use cotree_core::graph::cfg::Cfg;
use cotree_core::graph::dominators::Dominators;
use cotree_core::graph::loops::LoopForest;
use cotree_core::ids::{Block, Edge};
use cotree_core::place::affine::region::LoopRegion;
use llvm_sys::LLVMOpcode;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The most increments in a row that are followed.
pub(super) const LONGEST_CHAIN: usize = 32;
/// A loop with what is needed to inspect its values.
pub(super) struct SeenLoop<'a, 'm> {
    pub(super) module: &'m Module,
    pub(super) handles: &'a FunctionIr<'m>,
    pub(super) cfg: &'a Cfg,
    pub(super) loops: &'a LoopForest,
    pub(super) numbers: &'a HashMap<ir::Block<'m>, Block>,
    pub(super) region: LoopRegion,
    pub(super) inside: BTreeSet<Block>,
    /// The blocks of the loop that are in no loop within it.
    pub(super) own: BTreeSet<Block>,
    /// See [`super::variable::Value::conditions`].
    pub(super) conditions: BTreeMap<Block, ir::Value<'m>>,
}

/// A phi whose movements are known.
pub(super) struct Traced<'m> {
    pub(super) phi: ir::Phi<'m>,
    pub(super) bits: u32,
    pub(super) steps: Vec<(Edge, i64)>,
    /// The value that is current in each block.
    pub(super) current: HashMap<Block, ir::Phi<'m>>,
    /// The increments.
    pub(super) increments: Vec<ir::Instruction<'m>>,
}

/// A value taken back to a phi of the loop.
pub(super) struct Origin<'m> {
    pub(super) phi: ir::Phi<'m>,
    pub(super) plus: i64,
    pub(super) increments: Vec<ir::Instruction<'m>>,
}

impl<'m> SeenLoop<'_, 'm> {
    /// The width of a value that can be counted with.
    pub(super) fn width(&self, value: impl Into<ir::Value<'m>>) -> Option<u32> {
        let ty = value.into().ty();
        match ty.bits() {
            Some(bits) => (2..=64).contains(&bits).then_some(bits),
            None => (ty.address_space() == Some(0)).then_some(64),
        }
    }

    /// The block of the loop that defines the value.
    pub(super) fn home(&self, value: impl Into<ir::Value<'m>>) -> Option<Block> {
        let block = *self.numbers.get(&value.into().as_instruction()?.block()?)?;
        self.inside.contains(&block).then_some(block)
    }

    /// The loop's own two-way branches that stay within it, and whose conditions are known before it is entered. They
    /// have been reached wherever the loop is left: a condition that no branch has used may be undefined, and we must
    /// not use it.
    pub(super) fn steady(&self, dominators: &Dominators) -> BTreeMap<Block, ir::Value<'m>> {
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
    pub(super) fn origin(&self, value: impl Into<ir::Value<'m>>) -> Option<Origin<'m>> {
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
    pub(super) fn increment(&self, instruction: ir::Instruction<'m>) -> Option<(ir::Value<'m>, i64)> {
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
    pub(super) fn poisonous(&self, increment: ir::Instruction<'m>) -> (bool, bool) {
        match increment.opcode() {
            LLVMOpcode::LLVMAdd | LLVMOpcode::LLVMSub => increment.never_wraps(),
            _ => (increment.is_in_bounds(), false),
        }
    }

    /// Follows a header phi around its loop.
    pub(super) fn trace(&self, phi: ir::Phi<'m>, bits: u32) -> Option<Traced<'m>> {
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
}
