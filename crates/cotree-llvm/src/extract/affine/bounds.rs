//! Proves facts about overflow of loop variables from the tests by which the loop is left.
//!
//! - **A bound on circuits.** A variable moves by the same odd step from circuit to circuit, and a test that every
//!   circuit passes leaves the loop when it equals some value that does not change meanwhile. An odd step visits every
//!   value of the variable's width before any of them again: so the loop goes around less than 2^width times. (The step
//!   need not be odd if poison would tell.)
//! - **Exact trip counts.** From constants: see [`cotree_core::place::affine::fixed`].
//! - **Poison that is noticed.** If an increment that wraps is poison, and the branch that decides on leaving the loop
//!   depends on the value, then wrapping is undefined behaviour of the program.

use super::poison::certain;
use super::seen::{SeenLoop, Traced};
use crate::ir;
use cotree_core::graph::dominators::Dominators;
use cotree_core::ids::{Block, Edge};
use cotree_core::place::affine::{LARGE, mask};
use llvm_sys::{LLVMIntPredicate, LLVMOpcode};
use std::collections::HashMap;

/// Loops that go around more often are not followed to their end: to count one of them when it is left costs nothing
/// in comparison with the loop itself.
const MOST_ROUNDS: u64 = 4096;

/// The most increments in a row that are followed to the variable of an outer loop.
const LONGEST_SUM: usize = 4;

/// A comparison that decides whether the loop goes on.
pub(super) struct Test<'m> {
    /// The block that ends with it.
    pub(super) block: Block,
    /// The loop goes on when this holds.
    stays: LLVMIntPredicate,
    operands: [ir::Value<'m>; 2],
    /// Every circuit passes it.
    pub(super) each_circuit: bool,
}

impl<'m> Test<'m> {
    /// If the loop goes on as long as the value, unsigned, is not less than some number: that number.
    pub(super) fn bound_below(&self, value: impl Into<ir::Value<'m>>) -> Option<u64> {
        use LLVMIntPredicate as P;
        let [compared, bound] = self.operands;
        let bound = bound.constant().filter(|_| compared == value.into())?;
        match self.stays {
            P::LLVMIntNE if bound == 0 => Some(1),
            P::LLVMIntUGT => bound.checked_add(1),
            P::LLVMIntUGE => Some(bound),
            _ => None,
        }
    }
}

/// The tests of a loop.
pub(super) fn tests<'m>(seen: &SeenLoop<'_, 'm>, dominators: &Dominators) -> Vec<Test<'m>> {
    let test = |block: Block| {
        let branch = seen.handles.blocks[block.index()].terminator();
        let condition = branch.condition()?.as_instruction()?;
        let predicate = condition.int_predicate()?;
        let stays_if_true = seen.numbers.get(&branch.successor(0)?).is_some_and(|b| seen.inside.contains(b));
        Some(Test {
            block,
            stays: if stays_if_true { predicate } else { inverse(predicate) },
            operands: [condition.operand(0)?, condition.operand(1)?],
            each_circuit: seen.latches().all(|latch| dominators.dominates(block, latch)),
        })
    };
    seen.region.exits.iter().filter_map(|&(_, from)| test(seen.region.blocks[from])).collect()
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

impl<'m> SeenLoop<'_, 'm> {
    /// The most circuits of the loop that a variable's bounds allow.
    pub(super) fn circuits(&self, variable: &Traced<'m>, tests: &[Test<'m>]) -> Option<u64> {
        let steps: HashMap<Edge, i128> = variable.steps.iter().map(|&(e, by)| (e, i128::from(by))).collect();
        let step = self.region.step_per_circuit(|e| steps.get(&e).copied().unwrap_or(0))?;
        if variable.bits >= 64 {
            return (step == 1).then(|| tests.iter().filter_map(|t| self.counts_up_to(variable, t)).min())?;
        }
        if step % 2 == 0 {
            return None;
        }
        let bounds = |test: &Test<'m>| {
            let [a, b] = test.operands;
            test.each_circuit
                && ends_when_equal(test.stays)
                && ((self.is_of(variable, test, a) && self.unchanging(b))
                    || (self.is_of(variable, test, b) && self.unchanging(a)))
        };
        tests.iter().any(bounds).then(|| mask(variable.bits))
    }

    /// The most circuits of the loop if a wide variable counts from 0 to a value that was extended from a narrower one.
    fn counts_up_to(&self, variable: &Traced<'m>, test: &Test<'m>) -> Option<u64> {
        use LLVMIntPredicate as P;
        let [value, bound] = test.operands;
        let origin = self.origin(value).filter(|o| o.phi == variable.phi && test.each_circuit)?;
        let mut entries = self.initial(variable.phi);
        let (first, entry) = entries.next()?;
        let from_zero = entries.next().is_none() && first.is_constant_int() && first.is_zero();
        if !from_zero || !bound.is(LLVMOpcode::LLVMZExt) || !self.unchanging(bound) {
            return None;
        }
        let narrow = bound.operand(0)?;
        let most = mask(narrow.ty().bits()?);
        match (test.stays, origin.plus) {
            (P::LLVMIntULT | P::LLVMIntSLT, 0..) | (P::LLVMIntNE, 0) => Some(most),
            // The first comparison is with 1, and goes past a bound of 0.
            (P::LLVMIntNE, 1) if self.is_positive_before(entry, narrow) => Some(most - 1),
            _ => None,
        }
    }

    /// Does a branch on the only path to the block make sure that the value is not 0?
    fn is_positive_before(&self, block: ir::Block<'m>, value: ir::Value<'m>) -> bool {
        let Some(mut at) = self.numbers.get(&block).copied() else { return false };
        for _ in 0..8 {
            let [edge] = self.cfg.preds(at) else { return false };
            let before = self.cfg.src(*edge);
            let Some(&source) = self.handles.blocks.get(before.index()) else { return false };
            if let Some(holds) = compared_with_zero(source, self.handles.blocks[at.index()], value) {
                return is_positive(holds);
            }
            at = before;
        }
        false
    }

    /// Does a branch make sure that the value is not 0 when the loop is entered from the block?
    pub(super) fn is_positive_from(&self, block: ir::Block<'m>, value: ir::Value<'m>) -> bool {
        let header = self.handles.blocks[self.region.blocks[0].index()];
        compared_with_zero(block, header, value).is_some_and(is_positive) || self.is_positive_before(block, value)
    }

    /// How often the loop goes around before its only exit is taken, if the variable starts at a constant, moves by the
    /// same step each time, and is compared with a constant. We simulate the loop.
    pub(super) fn rounds(&self, variable: &Traced<'m>, tests: &[Test<'m>]) -> Option<u64> {
        let (&[(_, exit)], [test]) = (&self.region.exits[..], tests) else { return None };
        let block = self.region.blocks[exit];
        let simple = self.latches().count() == 1 && test.block == block && self.own.contains(&block);
        if !simple || !test.each_circuit || variable.current.get(&block) != Some(&variable.phi) {
            return None;
        }
        let steps: HashMap<Edge, i128> = variable.steps.iter().map(|&(e, by)| (e, i128::from(by))).collect();
        let step = self.region.step_per_circuit(|e| steps.get(&e).copied().unwrap_or(0))?;
        let step = u64::try_from(step.rem_euclid(1 << variable.bits)).ok()?;
        let constant = |v: ir::Value<'m>| v.constant().filter(|_| self.width(v) == Some(variable.bits));
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
        None
    }

    /// An estimate of how often the loop goes around: from constants, or from a bound that is a remainder, as in the
    /// remainder loops of unrolled ones.
    pub(super) fn trips(&self, variable: &Traced<'m>, tests: &[Test<'m>]) -> Option<u64> {
        let step: i64 = variable.steps.iter().map(|s| s.1).find(|&by| by != 0)?;
        let trips = |test: &Test<'m>| {
            let [a, b] = test.operands;
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
        };
        tests.iter().filter_map(trips).min()
    }

    /// An estimate of the value: a constant or, if it is a variable of an outer loop plus a constant, halfway between
    /// its first and its last value.
    fn likely(&self, mut value: ir::Value<'m>) -> Option<i64> {
        let mut plus = 0i64;
        for _ in 0..LONGEST_SUM {
            if let Some(known) = value.signed_constant() {
                return known.checked_add(plus);
            }
            let instruction = value.as_instruction()?;
            if let Some(phi) = instruction.as_phi() {
                let (first, _, by) = self.rising(phi)?;
                let around = *self.numbers.get(&phi.block()?)?;
                let l = self.loops.headed_by(around).filter(|&l| self.loops.contains(l, self.region.blocks[0]))?;
                let turns = self.turns(self.loops.header(l))?;
                return by.checked_mul(turns / 2)?.checked_add(first)?.checked_add(plus);
            }
            let (from, by) = self.increment(instruction)?;
            (value, plus) = (from, plus.checked_add(by)?);
        }
        None
    }

    /// If the phi starts at a constant and moves by one: where it starts, what comes next, and by how much that
    /// differs.
    fn rising(&self, phi: ir::Phi<'m>) -> Option<(i64, ir::Instruction<'m>, i64)> {
        if phi.len() != 2 {
            return None;
        }
        let [a, b] = [phi.incoming(0)?.0, phi.incoming(1)?.0];
        let (first, next) = match (a.signed_constant(), b.signed_constant()) {
            (Some(first), None) => (first, b),
            (None, Some(first)) => (first, a),
            _ => return None,
        };
        let next = next.as_instruction()?;
        let (from, by) = self.increment(next)?;
        (from == phi.into() && by != 0).then_some((first, next, by))
    }

    /// How often the loop with this header goes around, if it runs from a constant to another one. An estimate.
    fn turns(&self, header: Block) -> Option<i64> {
        for phi in self.handles.blocks[header.index()].phis() {
            let Some((first, next, by)) = self.rising(phi) else { continue };
            let compares = |user: &ir::Value<'m>| user.is(LLVMOpcode::LLVMICmp);
            let bound = |user: ir::Value<'m>| user.operand(1)?.signed_constant();
            if let Some(last) = next.users().into_iter().filter(compares).find_map(bound) {
                return last.checked_sub(first)?.checked_div(by);
            }
        }
        None
    }

    /// If the loop is left from the block because the variable is equal to a value that is known elsewhere: that, and
    /// how far it is ahead.
    pub(super) fn equal_at(
        &self,
        variable: &Traced<'m>,
        from: Block,
        tests: &[Test<'m>],
    ) -> Option<(ir::Value<'m>, i64)> {
        // Elsewhere the effect on registers may cost more than the few instructions that this saves.
        if self.handles.blocks.len() > LARGE {
            return None;
        }
        let test = tests.iter().find(|test| test.block == from && test.stays == LLVMIntPredicate::LLVMIntNE)?;
        let current = variable.current[&from];
        let [a, b] = test.operands;
        let moved = |value: ir::Value<'m>| {
            if value == current.into() {
                return Some(0);
            }
            let increment = value.as_instruction().filter(|i| variable.increments.contains(i))?;
            Some(self.origin(increment).filter(|o| o.phi == current)?.plus)
        };
        let (by, other) = moved(a).map(|by| (by, b)).or_else(|| Some((moved(b)?, a)))?;
        certain(self.handles.function, other).then_some((other, by))
    }

    /// Is the value the variable's present one, give or take a constant?
    fn is_of(&self, variable: &Traced<'m>, test: &Test<'m>, value: ir::Value<'m>) -> bool {
        self.origin(value).is_some_and(|origin| variable.current.get(&test.block) == Some(&origin.phi))
    }

    /// Does the value stay what it is while the loop runs?
    fn unchanging(&self, value: ir::Value<'m>) -> bool {
        self.home(value).is_none()
    }

    /// Would it be undefined behaviour of the program if the variable's value at some exit were poison?
    pub(super) fn noticed(&self, variable: &Traced<'m>, dominators: &Dominators) -> bool {
        let mut exits = self.region.exits.iter().map(|&(_, from)| self.region.blocks[from]);
        exits.all(|exit| self.noticed_before(variable.current[&exit], exit, dominators))
    }

    /// Do the loop's own tests notice that? (An access to memory would prove as much, but says nothing about how often
    /// the loop goes around: searches are short, and to count them by a narrow variable costs more than it saves.)
    pub(super) fn tested(&self, variable: &Traced<'m>, tests: &[Test<'m>], dominators: &Dominators) -> bool {
        let mut exits = self.region.exits.iter().map(|&(_, from)| self.region.blocks[from]);
        exits.all(|exit| {
            tests.iter().any(|test| {
                test.operands.iter().any(|&value| self.is_of(variable, test, value))
                    && dominators.dominates(test.block, exit)
                    && variable.current[&exit] == variable.current[&test.block]
            })
        })
    }
}

/// How the value compares with 0 where the block is left for another one, if the branch there depends on that.
fn compared_with_zero<'m>(
    source: ir::Block<'m>,
    target: ir::Block<'m>,
    value: ir::Value<'m>,
) -> Option<LLVMIntPredicate> {
    let branch = source.terminator();
    let condition = branch.condition()?.as_instruction()?;
    let predicate = condition.int_predicate()?;
    if condition.operand(0) != Some(value) || !condition.operand(1)?.is_zero() {
        return None;
    }
    match [0, 1].map(|index| branch.successor(index) == Some(target)) {
        [true, false] => Some(predicate),
        [false, true] => Some(inverse(predicate)),
        _ => None,
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
fn remainder(value: ir::Value<'_>) -> Option<u64> {
    let mask = value.is(LLVMOpcode::LLVMAnd).then(|| value.operand(1))??;
    u64::try_from(mask.signed_constant()?).ok()
}
