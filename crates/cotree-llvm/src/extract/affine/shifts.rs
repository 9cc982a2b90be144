//! Finds variables that are shifted to the right each time that their loop goes around.
//!
//! `while (v) { …; v >>= 3; }` moves the highest bit of `v` down by three until `v` is 0. Then there is no highest bit.
//! So the loop must not go around with a 0. If it does not go around at all, any number may have come in.
//!
//! If the loop is left because the value would become 0, the value need not be read: the highest bit has gone down as
//! far as it could, to its first position modulo three.

use super::bounds::Test;
use super::seen::{LONGEST_CHAIN, SeenLoop};
use super::variable::{Reading, Value};
use crate::ir;
use cotree_core::graph::dominators::Dominators;
use cotree_core::place::affine::AffineVariable;
use llvm_sys::LLVMOpcode;
use std::collections::HashSet;

impl<'m> SeenLoop<'_, 'm> {
    /// A phi of the loop's header as a variable, if it is shifted on all paths around the loop.
    pub(super) fn shifted(
        &self,
        phi: ir::Phi<'m>,
        tests: &[Test<'m>],
        dominators: &Dominators,
    ) -> Option<(AffineVariable, Value<'m>)> {
        let header = self.region.blocks[0];
        let bits = self.width(phi).filter(|bits| phi.ty().is_integer() && matches!(bits, 8 | 16 | 32 | 64))?;
        let back = self.cfg.preds(header).iter().filter(|&&e| self.inside.contains(&self.cfg.src(e)));
        let (mut steps, mut ends) = (Vec::new(), HashSet::new());
        for &edge in back {
            let next = phi.incoming_from(self.handles.blocks[self.cfg.src(edge).index()])?;
            let by = self.shift(next, phi)?;
            let remains = |test: &&Test<'m>| {
                test.each_circuit
                    && (test.bound_below(next).is_some_and(|bound| bound > 0)
                        || test.bound_below(phi).is_some_and(|bound| bound >> by > 0))
            };
            let nothing_else_ends = |test: &&Test<'m>| {
                test.bound_below(next) == Some(1) || (by < 64 && test.bound_below(phi) == Some(1 << by))
            };
            tests.iter().find(remains)?;
            ends.extend(tests.iter().filter(nothing_else_ends).map(|test| test.block));
            steps.push((edge, -i64::from(by)));
        }
        steps.sort_unstable();
        let by = steps.first().map(|step| step.1)?;
        if steps.iter().any(|step| step.1 != by) {
            return None;
        }
        let by = by.unsigned_abs();
        // Numbers of all lengths are alike, but for very long ones.
        let trips = Some(u64::from(bits.min(32)) / by / 2);
        let (mut freeze, mut never_zero) = (false, true);
        for (value, block) in self.initial(phi) {
            let end = *self.numbers.get(&block)?;
            if ir::Value::from(block.terminator()) == value {
                return None;
            }
            freeze |= !self.defined(value, end, dominators);
            let constant = value.is_constant_int() && !value.is_zero();
            never_zero &= constant || self.is_positive_from(block, value);
        }
        // What is frozen need not be what was compared.
        never_zero &= !freeze;
        let value = Value {
            phi,
            bits,
            latches: self.latches().map(|b| self.handles.blocks[b.index()]).collect(),
            read: self.region.exits.iter().map(|&(_, from)| (self.region.blocks[from], phi.into())).collect(),
            settled: HashSet::new(),
            freeze,
            goes_on: false,
            flagged: Vec::new(),
            reading: Reading::HighestBit { never_zero, by, ends },
            conditions: self.conditions.clone(),
        };
        let facts = AffineVariable {
            name: phi.name(),
            header,
            bits,
            pointer: false,
            shifted: true,
            steps,
            ahead: Vec::new(),
            from_constant: self.starts_at_constant(phi),
            never_wraps: true,
            circuits: Some(u64::from(bits)),
            rounds: None,
            trips,
            steady: self.conditions.keys().copied().collect(),
        };
        Some((facts, value))
    }

    /// By how many bits the value is the phi shifted to the right.
    fn shift(&self, mut value: ir::Value<'m>, phi: ir::Phi<'m>) -> Option<u32> {
        let mut by = 0;
        for _ in 0..LONGEST_CHAIN {
            self.home(value)?;
            let shift = value.as_instruction().filter(|i| i.opcode() == LLVMOpcode::LLVMLShr && !i.is_exact())?;
            let amount = shift.operand(1)?;
            let width = amount.ty().bits()?;
            by += u32::try_from(amount.constant()?).ok().filter(|&by| 0 < by && by < width)?;
            value = shift.operand(0)?;
            if value == phi.into() {
                return (by < width).then_some(by);
            }
        }
        None
    }
}
