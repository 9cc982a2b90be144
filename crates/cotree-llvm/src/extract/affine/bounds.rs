//! What is known about overflow: from the tests by which the loop is left.
//!
//! - **A bound on circuits.** A variable moves by the same odd step from circuit to circuit, and a test that every
//!   circuit passes leaves the loop when it equals some value that does not change meanwhile. An odd step visits every
//!   value of the variable's width before any of them again: so the loop goes around less than 2^width times. (The step
//!   need not be odd if poison would tell.)
//! - **How often exactly.** From constants: see [`cotree_core::affine::fixed`].
//! - **Poison that is noticed.** Where an increment that wraps is poison, and the branch that decides on leaving the loop
//!   depends on the value, wrapping is undefined behaviour of the program.

use super::poison::certain;
use super::{SeenLoop, Traced};
use crate::ffi::*;
use cotree_core::affine::{LARGE, mask};
use cotree_core::dominators::Dominators;
use cotree_core::ids::{Block, Edge};
use llvm_sys::prelude::*;
use llvm_sys::{LLVMIntPredicate, LLVMOpcode};
use std::collections::HashMap;

/// Loops that go around more often are not followed to their end: what it costs to count one of them when it is left is nothing
/// beside the loop itself.
const MOST_ROUNDS: u64 = 4096;

/// Increments in a row that are followed to the variable of a loop around.
const LONGEST_SUM: usize = 4;

/// A comparison that decides whether the loop goes on.
pub(super) struct Test {
    /// The block that ends with it.
    pub(super) block: Block,
    /// It goes on when this holds.
    stays: LLVMIntPredicate,
    operands: [LLVMValueRef; 2],
    /// Every circuit passes it.
    pub(super) each_circuit: bool,
}

impl Test {
    /// If the loop goes on as long as the value is not less than some number, without its sign: that number.
    ///
    /// # Safety
    /// The test must match the module's IR.
    pub(super) unsafe fn bound_below(&self, value: LLVMValueRef) -> Option<u64> {
        use LLVMIntPredicate as P;
        let [compared, bound] = self.operands;
        // SAFETY: only a constant of up to 64 bits is read.
        unsafe {
            if compared != value || LLVMIsAConstantInt(bound).is_null() || LLVMGetIntTypeWidth(LLVMTypeOf(bound)) > 64 {
                return None;
            }
            let bound = LLVMConstIntGetZExtValue(bound);
            match self.stays {
                P::LLVMIntNE if bound == 0 => Some(1),
                P::LLVMIntUGT => bound.checked_add(1),
                P::LLVMIntUGE => Some(bound),
                _ => None,
            }
        }
    }
}

/// The tests of a loop.
///
/// # Safety
/// The loop must match the module's IR.
pub(super) unsafe fn tests(seen: &SeenLoop<'_, '_>, dominators: &Dominators) -> Vec<Test> {
    let mut tests = Vec::new();
    for &(_, from) in &seen.region.exits {
        let block = seen.region.blocks[from];
        // SAFETY: a conditional branch has two successors and a condition, a comparison has two operands.
        unsafe {
            let branch = LLVMGetBasicBlockTerminator(seen.handles.blocks[block.index()].raw());
            if LLVMGetInstructionOpcode(branch) != LLVMOpcode::LLVMBr || LLVMGetNumSuccessors(branch) != 2 {
                continue;
            }
            let condition = LLVMGetCondition(branch);
            if LLVMIsAInstruction(condition).is_null() || LLVMGetInstructionOpcode(condition) != LLVMOpcode::LLVMICmp {
                continue;
            }
            let stays_if_true = seen.numbers.get(&LLVMGetSuccessor(branch, 0)).is_some_and(|b| seen.inside.contains(b));
            let predicate = LLVMGetICmpPredicate(condition);
            tests.push(Test {
                block,
                stays: if stays_if_true { predicate } else { inverse(predicate) },
                operands: [LLVMGetOperand(condition, 0), LLVMGetOperand(condition, 1)],
                each_circuit: seen.latches().all(|latch| dominators.dominates(block, latch)),
            });
        }
    }
    tests
}

fn inverse(predicate: LLVMIntPredicate) -> LLVMIntPredicate {
    use LLVMIntPredicate as P;
    match predicate {
        P::LLVMIntEQ => P::LLVMIntNE,
        P::LLVMIntNE => P::LLVMIntEQ,
        P::LLVMIntUGT => P::LLVMIntULE,
        P::LLVMIntUGE => P::LLVMIntULT,
        P::LLVMIntULT => P::LLVMIntUGE,
        P::LLVMIntULE => P::LLVMIntUGT,
        P::LLVMIntSGT => P::LLVMIntSLE,
        P::LLVMIntSGE => P::LLVMIntSLT,
        P::LLVMIntSLT => P::LLVMIntSGE,
        P::LLVMIntSLE => P::LLVMIntSGT,
    }
}

/// Does equality end the loop?
fn ends_when_equal(stays: LLVMIntPredicate) -> bool {
    use LLVMIntPredicate as P;
    matches!(stays, P::LLVMIntNE | P::LLVMIntUGT | P::LLVMIntULT | P::LLVMIntSGT | P::LLVMIntSLT)
}

impl SeenLoop<'_, '_> {
    /// How often the loop goes around at most, by what a variable tells.
    ///
    /// # Safety
    /// The values must be of the loop.
    pub(super) unsafe fn circuits(&self, variable: &Traced, tests: &[Test]) -> Option<u64> {
        let steps: HashMap<Edge, i128> = variable.steps.iter().map(|&(e, by)| (e, i128::from(by))).collect();
        let step = self.region.step_per_circuit(|e| steps.get(&e).copied().unwrap_or(0))?;
        if variable.bits >= 64 {
            // SAFETY: as the caller promises.
            return (step == 1)
                .then(|| tests.iter().filter_map(|t| unsafe { self.counts_up_to(variable, t) }).min())?;
        }
        if step % 2 == 0 {
            return None;
        }
        let bounds = |test: &Test| {
            let [a, b] = test.operands;
            // SAFETY: as the caller promises.
            unsafe {
                test.each_circuit
                    && ends_when_equal(test.stays)
                    && ((self.is_of(variable, test, a) && self.unchanging(b))
                        || (self.is_of(variable, test, b) && self.unchanging(a)))
            }
        };
        tests.iter().any(bounds).then(|| mask(variable.bits))
    }

    /// How often the loop goes around at most, if a wide variable counts in it from 0 to a value that was narrower once.
    ///
    /// # Safety
    /// The values must be of the loop.
    unsafe fn counts_up_to(&self, variable: &Traced, test: &Test) -> Option<u64> {
        use LLVMIntPredicate as P;
        // SAFETY: as the caller promises; a conversion has one operand.
        unsafe {
            let [value, bound] = test.operands;
            let origin = self.origin(value).filter(|o| o.phi == variable.phi && test.each_circuit)?;
            let mut entries = self.initial(variable.phi);
            let (first, entry) = entries.next()?;
            let from_zero = entries.next().is_none() && !LLVMIsAConstantInt(first).is_null() && LLVMIsNull(first) != 0;
            let widened = !LLVMIsAInstruction(bound).is_null()
                && LLVMGetInstructionOpcode(bound) == LLVMOpcode::LLVMZExt
                && self.unchanging(bound);
            if !from_zero || !widened {
                return None;
            }
            let narrow = LLVMGetOperand(bound, 0);
            let most = mask(LLVMGetIntTypeWidth(LLVMTypeOf(narrow)));
            match (test.stays, origin.plus) {
                (P::LLVMIntULT | P::LLVMIntSLT, 0..) | (P::LLVMIntNE, 0) => Some(most),
                // The first comparison is with 1, and goes past a bound of 0.
                (P::LLVMIntNE, 1) if self.is_positive_before(entry, narrow) => Some(most - 1),
                _ => None,
            }
        }
    }

    /// Does a branch on the only way to the block make sure that the value is not 0?
    ///
    /// # Safety
    /// The values must be of the function.
    unsafe fn is_positive_before(&self, block: LLVMBasicBlockRef, value: LLVMValueRef) -> bool {
        let Some(mut at) = self.numbers.get(&block).copied() else { return false };
        for _ in 0..8 {
            let [edge] = self.cfg.preds(at) else { return false };
            let before = self.cfg.src(*edge);
            let Some(source) = self.handles.blocks.get(before.index()) else { return false };
            let target = self.handles.blocks[at.index()].raw();
            // SAFETY: as the caller promises.
            if let Some(holds) = unsafe { compared_with_zero(source.raw(), target, value) } {
                return is_positive(holds);
            }
            at = before;
        }
        false
    }

    /// Does a branch make sure that the value is not 0 when the loop is entered from the block?
    ///
    /// # Safety
    /// The values must be of the function.
    pub(super) unsafe fn is_positive_from(&self, block: LLVMBasicBlockRef, value: LLVMValueRef) -> bool {
        let header = self.handles.blocks[self.region.blocks[0].index()].raw();
        // SAFETY: as the caller promises.
        unsafe {
            compared_with_zero(block, header, value).is_some_and(is_positive) || self.is_positive_before(block, value)
        }
    }

    /// How often the loop goes around before its only exit is taken, if the variable comes in as a constant, moves by the same
    /// step each time, and is compared with a constant. Found by going around.
    ///
    /// # Safety
    /// The values must be of the loop.
    pub(super) unsafe fn rounds(&self, variable: &Traced, tests: &[Test]) -> Option<u64> {
        let (&[(_, exit)], [test]) = (&self.region.exits[..], tests) else { return None };
        let block = self.region.blocks[exit];
        let simple = self.latches().count() == 1 && test.block == block && self.own.contains(&block);
        if !simple || !test.each_circuit || variable.current.get(&block) != Some(&variable.phi) {
            return None;
        }
        let steps: HashMap<Edge, i128> = variable.steps.iter().map(|&(e, by)| (e, i128::from(by))).collect();
        let step = self.region.step_per_circuit(|e| steps.get(&e).copied().unwrap_or(0))?;
        let step = u64::try_from(step.rem_euclid(1 << variable.bits)).ok()?;
        // SAFETY: as the caller promises; only constants are read.
        unsafe {
            let constant = |v: LLVMValueRef| {
                let known = !LLVMIsAConstantInt(v).is_null() && self.width(v) == Some(variable.bits);
                known.then(|| LLVMConstIntGetZExtValue(v))
            };
            let first = self.initial(variable.phi).next().and_then(|(value, _)| constant(value))?;
            let [a, b] = test.operands;
            let (compared, bound, swapped) = match (constant(a), constant(b)) {
                (None, Some(bound)) => (a, bound, false),
                (Some(bound), None) => (b, bound, true),
                _ => return None,
            };
            let origin = self.origin(compared).filter(|origin| origin.phi == variable.phi)?;
            if !self.starts_at_constant(variable.phi) {
                return None;
            }
            let mut value = first.wrapping_add_signed(origin.plus) & mask(variable.bits);
            for rounds in 0..=MOST_ROUNDS {
                let (left, right) = if swapped { (bound, value) } else { (value, bound) };
                if !holds(test.stays, left, right, variable.bits) {
                    return Some(rounds);
                }
                value = value.wrapping_add(step) & mask(variable.bits);
            }
        }
        None
    }

    /// How often the loop may be expected to go around: from constants, or from a bound that is the remainder of something,
    /// as in the loops that unrolled ones leave behind. An estimate.
    ///
    /// # Safety
    /// The values must be of the loop.
    pub(super) unsafe fn trips(&self, variable: &Traced, tests: &[Test]) -> Option<u64> {
        let step: i64 = variable.steps.iter().map(|s| s.1).find(|&by| by != 0)?;
        let trips = |test: &Test| {
            let [a, b] = test.operands;
            // SAFETY: as the caller promises.
            unsafe {
                let bound = if self.is_of(variable, test, a) {
                    b
                } else if self.is_of(variable, test, b) {
                    a
                } else {
                    return None;
                };
                let (first, _) = self.initial(variable.phi).next()?;
                match (self.likely(first), self.likely(bound)) {
                    (Some(first), Some(bound)) => {
                        Some(bound.checked_sub(first)?.unsigned_abs().div_ceil(step.unsigned_abs()))
                    }
                    _ => remainder(bound).or_else(|| remainder(first)).map(|most| most / 2),
                }
            }
        };
        tests.iter().filter_map(trips).min()
    }

    /// What the value is: a constant, or halfway between two, if it is a variable of a loop around this one, give or take a
    /// constant. An estimate.
    ///
    /// # Safety
    /// `value` must be of the module.
    unsafe fn likely(&self, mut value: LLVMValueRef) -> Option<i64> {
        let mut plus = 0i64;
        // SAFETY: as the caller promises; only instructions are asked for their opcode and block.
        unsafe {
            for _ in 0..LONGEST_SUM {
                if let Some(known) = constant(value) {
                    return known.checked_add(plus);
                }
                if LLVMIsAInstruction(value).is_null() {
                    return None;
                }
                if LLVMGetInstructionOpcode(value) == LLVMOpcode::LLVMPHI {
                    let (first, _, by) = self.rising(value)?;
                    let around = *self.numbers.get(&LLVMGetInstructionParent(value))?;
                    let l = self.loops.headed_by(around).filter(|&l| self.loops.contains(l, self.region.blocks[0]))?;
                    let turns = self.turns(self.loops.header(l))?;
                    return by.checked_mul(turns / 2)?.checked_add(first)?.checked_add(plus);
                }
                let (from, by) = self.increment(value, LLVMGetInstructionOpcode(value))?;
                (value, plus) = (from, plus.checked_add(by)?);
            }
        }
        None
    }

    /// If the phi starts at a constant and moves by one: where it starts, what comes next, and by how much that differs.
    ///
    /// # Safety
    /// `phi` must be a phi of the function.
    unsafe fn rising(&self, phi: LLVMValueRef) -> Option<(i64, LLVMValueRef, i64)> {
        // SAFETY: as the caller promises; only instructions are asked for their opcode.
        unsafe {
            if LLVMCountIncoming(phi) != 2 {
                return None;
            }
            let [a, b] = [0, 1].map(|i| LLVMGetIncomingValue(phi, i));
            let (first, next) = match (constant(a), constant(b)) {
                (Some(first), None) => (first, b),
                (None, Some(first)) => (first, a),
                _ => return None,
            };
            let opcode = (!LLVMIsAInstruction(next).is_null()).then(|| LLVMGetInstructionOpcode(next))?;
            let (from, by) = self.increment(next, opcode)?;
            (from == phi && by != 0).then_some((first, next, by))
        }
    }

    /// How often the loop with this header goes around, if it runs from a constant to another one. An estimate.
    ///
    /// # Safety
    /// The header must be of the function.
    unsafe fn turns(&self, header: Block) -> Option<i64> {
        // SAFETY: as the caller promises; a comparison has two operands.
        unsafe {
            let mut phi = LLVMGetFirstInstruction(self.handles.blocks[header.index()].raw());
            while LLVMGetInstructionOpcode(phi) == LLVMOpcode::LLVMPHI {
                if let Some((first, next, by)) = self.rising(phi) {
                    let mut usage = LLVMGetFirstUse(next);
                    while !usage.is_null() {
                        let user = LLVMGetUser(usage);
                        let compares = LLVMGetInstructionOpcode(user) == LLVMOpcode::LLVMICmp;
                        if let Some(last) = compares.then(|| constant(LLVMGetOperand(user, 1))).flatten() {
                            return last.checked_sub(first)?.checked_div(by);
                        }
                        usage = LLVMGetNextUse(usage);
                    }
                }
                phi = LLVMGetNextInstruction(phi);
            }
        }
        None
    }

    /// If the loop is left from the block because the variable is equal to a value that is known elsewhere: that, and how far
    /// it is ahead.
    ///
    /// # Safety
    /// The values must be of the loop.
    pub(super) unsafe fn equal_at(
        &self,
        variable: &Traced,
        from: Block,
        tests: &[Test],
    ) -> Option<(LLVMValueRef, i64)> {
        // Elsewhere the few instructions that this saves are nothing beside what it may do to registers.
        if self.handles.blocks.len() > LARGE {
            return None;
        }
        let test = tests.iter().find(|test| test.block == from && test.stays == LLVMIntPredicate::LLVMIntNE)?;
        let current = variable.current[&from];
        let [a, b] = test.operands;
        // SAFETY: as the caller promises.
        unsafe {
            let moved = |value: LLVMValueRef| {
                if value == current {
                    return Some(0);
                }
                let origin = self.origin(value).filter(|o| o.phi == current && variable.increments.contains(&value))?;
                Some(origin.plus)
            };
            let (by, other) = moved(a).map(|by| (by, b)).or_else(|| Some((moved(b)?, a)))?;
            certain(self.handles.function.raw(), other).then_some((other, by))
        }
    }

    /// Is the value the variable's present one, give or take a constant?
    ///
    /// # Safety
    /// The values must be of the loop.
    unsafe fn is_of(&self, variable: &Traced, test: &Test, value: LLVMValueRef) -> bool {
        // SAFETY: as the caller promises.
        let origin = unsafe { self.origin(value) };
        origin.is_some_and(|origin| variable.current.get(&test.block) == Some(&origin.phi))
    }

    /// Does the value stay what it is while the loop runs?
    ///
    /// # Safety
    /// `value` must be of the module.
    unsafe fn unchanging(&self, value: LLVMValueRef) -> bool {
        // SAFETY: as the caller promises.
        unsafe { self.home(value).is_none() }
    }

    /// Would it be undefined behaviour of the program if the variable's value at some exit were poison?
    ///
    /// # Safety
    /// The values must be of the loop.
    pub(super) unsafe fn noticed(&self, variable: &Traced, dominators: &Dominators) -> bool {
        let mut exits = self.region.exits.iter().map(|&(_, from)| self.region.blocks[from]);
        // SAFETY: as the caller promises.
        exits.all(|exit| unsafe { self.noticed_before(variable.current[&exit], exit, dominators) })
    }

    /// Do the loop's own tests notice that? (That an access to memory would is as good a proof, but says nothing of how often the loop
    /// goes around: searches are short, and to count them by a narrow variable costs more than it saves.)
    ///
    /// # Safety
    /// The values must be of the loop.
    pub(super) unsafe fn tested(&self, variable: &Traced, tests: &[Test], dominators: &Dominators) -> bool {
        let mut exits = self.region.exits.iter().map(|&(_, from)| self.region.blocks[from]);
        exits.all(|exit| {
            tests.iter().any(|test| {
                // SAFETY: as the caller promises.
                let asked = unsafe { test.operands.iter().any(|&value| self.is_of(variable, test, value)) };
                asked
                    && dominators.dominates(test.block, exit)
                    && variable.current[&exit] == variable.current[&test.block]
            })
        })
    }
}

/// The value of a constant of up to 64 bits.
///
/// # Safety
/// `value` must be of a module.
pub(super) unsafe fn constant(value: LLVMValueRef) -> Option<i64> {
    // SAFETY: only a constant of up to 64 bits is read.
    unsafe {
        let known = !LLVMIsAConstantInt(value).is_null() && LLVMGetIntTypeWidth(LLVMTypeOf(value)) <= 64;
        known.then(|| LLVMConstIntGetSExtValue(value))
    }
}

/// How the value compares with 0 where the block is left for another one, if the branch there depends on that.
///
/// # Safety
/// The values must be of one function.
unsafe fn compared_with_zero(
    source: LLVMBasicBlockRef,
    target: LLVMBasicBlockRef,
    value: LLVMValueRef,
) -> Option<LLVMIntPredicate> {
    // SAFETY: as the caller promises; a conditional branch has two successors, a comparison two operands.
    unsafe {
        let branch = LLVMGetBasicBlockTerminator(source);
        if LLVMGetInstructionOpcode(branch) != LLVMOpcode::LLVMBr || LLVMGetNumSuccessors(branch) != 2 {
            return None;
        }
        let condition = LLVMGetCondition(branch);
        let compares = !LLVMIsAInstruction(condition).is_null()
            && LLVMGetInstructionOpcode(condition) == LLVMOpcode::LLVMICmp
            && LLVMGetOperand(condition, 0) == value
            && LLVMIsNull(LLVMGetOperand(condition, 1)) != 0;
        let predicate = compares.then(|| LLVMGetICmpPredicate(condition))?;
        match [0, 1].map(|i| LLVMGetSuccessor(branch, i) == target) {
            [true, false] => Some(predicate),
            [false, true] => Some(inverse(predicate)),
            _ => None,
        }
    }
}

fn is_positive(holds: LLVMIntPredicate) -> bool {
    use LLVMIntPredicate as P;
    matches!(holds, P::LLVMIntNE | P::LLVMIntUGT | P::LLVMIntSGT)
}

/// Does the comparison hold of two numbers of so many bits?
fn holds(predicate: LLVMIntPredicate, a: u64, b: u64, bits: u32) -> bool {
    use LLVMIntPredicate as P;
    let signed = |value: u64| (value << (64 - bits)).cast_signed() >> (64 - bits);
    match predicate {
        P::LLVMIntEQ => a == b,
        P::LLVMIntNE => a != b,
        P::LLVMIntUGT => a > b,
        P::LLVMIntUGE => a >= b,
        P::LLVMIntULT => a < b,
        P::LLVMIntULE => a <= b,
        P::LLVMIntSGT => signed(a) > signed(b),
        P::LLVMIntSGE => signed(a) >= signed(b),
        P::LLVMIntSLT => signed(a) < signed(b),
        P::LLVMIntSLE => signed(a) <= signed(b),
    }
}

/// The most that a value can be, if it is a remainder by a constant power of two.
///
/// # Safety
/// `value` must be of the module.
unsafe fn remainder(value: LLVMValueRef) -> Option<u64> {
    // SAFETY: as the caller promises; a conjunction has two operands.
    unsafe {
        let and = !LLVMIsAInstruction(value).is_null() && LLVMGetInstructionOpcode(value) == LLVMOpcode::LLVMAnd;
        let mask = and.then(|| LLVMGetOperand(value, 1)).filter(|&m| !LLVMIsAConstantInt(m).is_null())?;
        u64::try_from(LLVMConstIntGetSExtValue(mask)).ok()
    }
}
