//! Numbers that are shifted to the right, each time that their loop goes around.
//!
//! `while (v) { …; v >>= 3; }` moves the highest bit of `v` down by three, and it does so until `v` is 0: then the position of
//! the highest bit tells nothing any more. So the loop must not go around with a 0. Where it does not go around at all, any number
//! may have come in.
//!
//! Where the loop is left since nothing would remain, the value needs not be looked at: the highest bit has gone down as far as
//! it could, to its first position modulo three.

use super::bounds::Test;
use super::{LONGEST_CHAIN, Reading, SeenLoop, Value, incoming, is_integer, phi_of, values_of};
use crate::ffi::*;
use crate::linkage::value_name;
use cotree_core::affine::AffineVariable;
use cotree_core::dominators::Dominators;
use llvm_sys::LLVMOpcode;
use llvm_sys::prelude::*;
use std::collections::HashSet;

impl<'m> SeenLoop<'_, 'm> {
    /// The phi as a variable, if it is shifted on all ways around.
    ///
    /// # Safety
    /// `phi` must be a phi of the loop's header.
    pub(super) unsafe fn shifted(
        &self,
        phi: LLVMValueRef,
        tests: &[Test],
        dominators: &Dominators,
    ) -> Option<(AffineVariable, Value<'m>)> {
        let header = self.region.blocks[0];
        // SAFETY: as the caller promises; a phi has an entry for each predecessor.
        unsafe {
            let bits = self.width(phi).filter(|bits| is_integer(phi) && matches!(bits, 8 | 16 | 32 | 64))?;
            let back = self.cfg.preds(header).iter().filter(|&&e| self.inside.contains(&self.cfg.src(e)));
            let (mut steps, mut ends) = (Vec::new(), HashSet::new());
            for &edge in back {
                let next = incoming(phi, self.handles.blocks[self.cfg.src(edge).index()].raw())?;
                let by = self.shift(next, phi)?;
                let remains = |test: &&Test| {
                    test.each_circuit
                        && (test.bound_below(next).is_some_and(|bound| bound > 0)
                            || test.bound_below(phi).is_some_and(|bound| bound >> by > 0))
                };
                let nothing_else_ends = |test: &&Test| {
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
                if LLVMGetBasicBlockTerminator(block) == value {
                    return None;
                }
                freeze |= !self.defined(value, end, dominators);
                let constant = !LLVMIsAConstantInt(value).is_null() && LLVMIsNull(value) == 0;
                never_zero &= constant || self.is_positive_from(block, value);
            }
            // What is frozen need not be what was compared.
            never_zero &= !freeze;
            let value = Value {
                phi: phi_of(phi),
                bits,
                latches: self.latches().map(|b| self.handles.blocks[b.index()]).collect(),
                read: values_of(self.region.exits.iter().map(|&(_, from)| (self.region.blocks[from], phi))),
                settled: HashSet::new(),
                freeze,
                goes_on: false,
                flagged: Vec::new(),
                reading: Reading::HighestBit { never_zero, by, ends },
                conditions: values_of(self.conditions.clone()),
            };
            let facts = AffineVariable {
                name: value_name(phi),
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
    }

    /// By how many bits the value is the phi shifted to the right.
    ///
    /// # Safety
    /// `value` must be of the module.
    unsafe fn shift(&self, mut value: LLVMValueRef, phi: LLVMValueRef) -> Option<u32> {
        let mut by = 0;
        // SAFETY: operands and flags are asked for only where the opcode has them.
        unsafe {
            for _ in 0..LONGEST_CHAIN {
                self.home(value)?;
                if LLVMGetInstructionOpcode(value) != LLVMOpcode::LLVMLShr || LLVMGetExact(value) != 0 {
                    return None;
                }
                let amount = LLVMGetOperand(value, 1);
                let constant = (!LLVMIsAConstantInt(amount).is_null()).then(|| LLVMConstIntGetZExtValue(amount))?;
                let width = LLVMGetIntTypeWidth(LLVMTypeOf(amount));
                by += u32::try_from(constant).ok().filter(|&by| 0 < by && by < width)?;
                value = LLVMGetOperand(value, 0);
                if value == phi {
                    return (by < width).then_some(by);
                }
            }
        }
        None
    }
}
