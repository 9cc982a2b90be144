//! Affine variables instead of counters: what a loop's variable has counted is added where the loop is left
//! ([`cotree_core::affine`]).
//!
//! `counter += (value here − value at entry) / step + plus`. Where the loop is entered nothing is done, but that an
//! initial value which may be undefined is frozen: an undefined value may be another one at each use. Of a value that is shifted
//! the position of its highest bit is taken, here and there.

use super::Lowering;
use super::counters::Counters;
use crate::error::Error;
use crate::extract::affine::{Reading, Value};
use crate::ffi::*;
use crate::linkage::{FUNCTION_INDEX, attribute_kind};
use cotree_core::affine::Quotient;
use cotree_core::ids::{Edge, Variable};
use cotree_core::probe::{Closing, Probe};
use llvm_sys::prelude::*;
use llvm_sys::{LLVMInlineAsmDialect, LLVMOpcode};
use std::collections::{BTreeMap, BTreeSet};

/// The values at entry of the variables that a plan uses.
pub(super) type Initial = BTreeMap<Variable, LLVMValueRef>;

/// Prepares the variables that `probes` use.
///
/// # Safety
/// The handles must match the IR, of which nothing has been split yet.
pub(super) unsafe fn open<'p>(
    lowering: &Lowering<'_>,
    counters: &Counters,
    probes: impl Iterator<Item = &'p Probe>,
) -> Result<Initial, Error> {
    let used: BTreeSet<Variable> = probes.filter_map(|probe| Some(probe.closing()?.1.variable)).collect();
    let mut initial = Initial::new();
    for variable in used {
        let value = variable_of(lowering, variable)?;
        // SAFETY: as the caller promises. Flags are taken off instructions that can have them.
        unsafe {
            for increment in &value.flagged {
                let increment = increment.raw();
                match LLVMGetInstructionOpcode(increment) {
                    LLVMOpcode::LLVMAdd | LLVMOpcode::LLVMSub => {
                        LLVMSetNSW(increment, 0);
                        LLVMSetNUW(increment, 0);
                    }
                    LLVMOpcode::LLVMGetElementPtr => LLVMGEPSetNoWrapFlags(increment, 0),
                    _ => {}
                }
            }
            initial.insert(variable, value_at_entry(lowering, counters, value));
        }
    }
    Ok(initial)
}

fn variable_of<'a>(lowering: &Lowering<'a>, variable: Variable) -> Result<&'a Value<'a>, Error> {
    let found = lowering.handles.affine.get(variable.index());
    found.ok_or_else(|| lowering.unsupported(&format!("of the unknown variable {variable}")))
}

/// What the variable was when its loop was entered: the one number that comes in, or a phi beside the variable's own.
///
/// # Safety
/// The value must match the IR.
unsafe fn value_at_entry(lowering: &Lowering<'_>, counters: &Counters, variable: &Value<'_>) -> LLVMValueRef {
    let phi = variable.phi.raw();
    // SAFETY: as the caller promises. A terminator follows all that comes in from its block.
    unsafe {
        let entries: Vec<_> = (0..LLVMCountIncoming(phi))
            .map(|i| (i, LLVMGetIncomingBlock(phi, i)))
            .filter(|&(_, block)| variable.latches.iter().all(|latch| latch.raw() != block))
            .collect();
        if variable.freeze {
            let mut frozen: BTreeMap<LLVMBasicBlockRef, LLVMValueRef> = BTreeMap::new();
            for &(i, block) in &entries {
                if !LLVMIsAConstantInt(LLVMGetIncomingValue(phi, i)).is_null() {
                    continue;
                }
                // Parallel edges must bring the same value.
                let value = *frozen.entry(block).or_insert_with(|| {
                    counters.position_before(LLVMGetBasicBlockTerminator(block));
                    LLVMBuildFreeze(counters.builder, LLVMGetIncomingValue(phi, i), c"".as_ptr())
                });
                LLVMSetOperand(phi, i, value);
            }
        }
        let mut numbers: BTreeMap<LLVMBasicBlockRef, LLVMValueRef> = BTreeMap::new();
        for &(i, block) in &entries {
            numbers.entry(block).or_insert_with(|| {
                counters.position_before(LLVMGetBasicBlockTerminator(block));
                number(lowering, counters, variable, LLVMGetIncomingValue(phi, i))
            });
        }
        let first = numbers[&entries[0].1];
        if numbers.values().all(|&number| number == first) {
            return first;
        }
        counters.position_before(phi);
        let entry = LLVMBuildPhi(counters.builder, LLVMTypeOf(phi), c"".as_ptr());
        for i in 0..LLVMCountIncoming(phi) {
            let mut block = LLVMGetIncomingBlock(phi, i);
            let mut value = numbers.get(&block).copied().unwrap_or(entry);
            LLVMAddIncoming(entry, &raw mut value, &raw mut block, 1);
        }
        entry
    }
}

/// The number that counts.
///
/// # Safety
/// The builder must be positioned where the value, which is one of the variable's, is available.
unsafe fn number(
    lowering: &Lowering<'_>,
    counters: &Counters,
    variable: &Value<'_>,
    value: LLVMValueRef,
) -> LLVMValueRef {
    let Reading::HighestBit { never_zero, .. } = variable.reading else { return value };
    let b = counters.builder;
    // SAFETY: as the caller promises; all is of one integer type, and the name says which function it is.
    unsafe {
        let ty = LLVMTypeOf(value);
        let flag = LLVMInt1TypeInContext(counters.context);
        let name = std::ffi::CString::new(format!("llvm.ctlz.i{}", variable.bits)).expect("no NUL in it");
        let kind = LLVMFunctionType(ty, [ty, flag].as_mut_ptr(), 2, 0);
        let mut zeros = LLVMGetNamedFunction(lowering.module.raw, name.as_ptr());
        if zeros.is_null() {
            zeros = LLVMAddFunction(lowering.module.raw, name.as_ptr(), kind);
        }
        // A number without any bit is never shifted, and has to be as far as itself.
        let value = if never_zero { value } else { LLVMBuildOr(b, value, LLVMConstInt(ty, 1, 0), c"".as_ptr()) };
        let mut operands = [value, LLVMConstInt(flag, 1, 0)];
        let zeros = LLVMBuildCall2(b, kind, zeros, operands.as_mut_ptr(), 2, c"".as_ptr());
        LLVMBuildXor(b, zeros, LLVMConstInt(ty, u64::from(variable.bits) - 1, 0), c"".as_ptr())
    }
}

/// Adds what the variable has counted, if `way` has been taken whenever its branch was reached, where one is given.
///
/// # Safety
/// The builder must be positioned where the loop has just been left.
pub(super) unsafe fn close(
    lowering: &Lowering<'_>,
    counters: &Counters,
    counter: u64,
    closing: Closing,
    way: Option<Edge>,
) -> Result<(), Error> {
    let unsupported = || lowering.unsupported(&format!("{closing:?}"));
    let value = variable_of(lowering, closing.variable)?;
    let present = lowering.present(value.read.get(&closing.from).ok_or_else(unsupported)?.raw());
    let entry = lowering.initial.get().and_then(|initial| initial.get(&closing.variable)).ok_or_else(unsupported)?;
    let entry = lowering.present(*entry);
    let condition = match way.map(|way| lowering.function.edges[way.index()]) {
        None => None,
        Some(facts) => {
            let condition = value.conditions.get(&facts.src).ok_or_else(unsupported)?.raw();
            Some((lowering.present(condition), facts.successor == 0))
        }
    };
    let bits = value.bits;
    let quotient = Quotient::new(closing.step, bits);
    let b = counters.builder;
    // SAFETY: both values are available in the block from which the loop is left, and so where it leads; all arithmetic
    // is on integers of one width.
    unsafe {
        let integer = |value: LLVMValueRef| {
            if LLVMGetTypeKind(LLVMTypeOf(value)) == llvm_sys::LLVMTypeKind::LLVMPointerTypeKind {
                LLVMBuildPtrToInt(b, value, counters.int64, c"".as_ptr())
            } else {
                value
            }
        };
        let present = match &value.reading {
            Reading::Itself if value.settled.contains(&closing.from) => present,
            Reading::Itself => out_of_sight(counters, present, bits),
            Reading::HighestBit { by, ends, .. } if ends.contains(&closing.from) => {
                LLVMBuildURem(b, entry, LLVMConstInt(LLVMTypeOf(entry), *by, 0), c"".as_ptr())
            }
            Reading::HighestBit { .. } => number(lowering, counters, value, present),
        };
        // What the loop before this one has left is a variable of that to strength reduction, too.
        let entry = if value.goes_on { out_of_sight(counters, entry, bits) } else { entry };
        let (present, entry) = (integer(present), integer(entry));
        let (from, less, offset) = if quotient.negate {
            (entry, present, closing.offset)
        } else {
            (present, entry, closing.offset.wrapping_neg())
        };
        let ty = LLVMTypeOf(present);
        let constant = |n: u64| LLVMConstInt(ty, n & cotree_core::affine::mask(bits), 0);
        let mut amount = LLVMBuildSub(b, from, less, c"".as_ptr());
        if offset != 0 {
            amount = LLVMBuildAdd(b, amount, constant(offset.cast_unsigned()), c"".as_ptr());
        }
        if quotient.shift != 0 {
            amount = LLVMBuildLShr(b, amount, constant(u64::from(quotient.shift)), c"".as_ptr());
        }
        if quotient.inverse != 1 {
            amount = LLVMBuildMul(b, amount, constant(quotient.inverse), c"".as_ptr());
            if quotient.shift != 0 {
                amount = LLVMBuildAnd(b, amount, constant(quotient.mask), c"".as_ptr());
            }
        }
        if bits < 64 {
            amount = LLVMBuildZExt(b, amount, counters.int64, c"".as_ptr());
        }
        if closing.plus != 0 {
            let plus = LLVMConstInt(counters.int64, closing.plus.cast_unsigned(), 0);
            amount = LLVMBuildAdd(b, amount, plus, c"".as_ptr());
        }
        if let Some((condition, if_true)) = condition {
            let nothing = LLVMConstInt(counters.int64, 0, 0);
            let (then, otherwise) = if if_true { (amount, nothing) } else { (nothing, amount) };
            amount = LLVMBuildSelect(b, condition, then, otherwise, c"".as_ptr());
        }
        counters.add_whole(counter, amount);
    }
    Ok(())
}

/// The same value, of which the optimiser does not know that it is. Loop strength reduction would otherwise make a
/// variable of its own for the difference to the value at entry, one that has to be updated in every circuit. It costs
/// no instruction, and the value of a loop whose trip count is known is still replaced by what it must be.
///
/// # Safety
/// The builder must be positioned where the value is available.
unsafe fn out_of_sight(counters: &Counters, value: LLVMValueRef, bits: u32) -> LLVMValueRef {
    if !matches!(bits, 8 | 16 | 32 | 64) {
        return value;
    }
    let constraints = "=r,0";
    // SAFETY: as the caller promises; assembly without instructions, from a register to the same one.
    unsafe {
        let ty = LLVMTypeOf(value);
        let mut operands = [value];
        let function = LLVMFunctionType(ty, [ty].as_mut_ptr(), 1, 0);
        let asm = LLVMGetInlineAsm(
            function,
            c"".as_ptr(),
            0,
            constraints.as_ptr().cast(),
            constraints.len(),
            0,
            0,
            LLVMInlineAsmDialect::LLVMInlineAsmDialectATT,
            0,
        );
        let call = LLVMBuildCall2(counters.builder, function, asm, operands.as_mut_ptr(), 1, c"".as_ptr());
        let nounwind = LLVMCreateEnumAttribute(counters.context, attribute_kind("nounwind"), 0);
        LLVMAddCallSiteAttribute(call, FUNCTION_INDEX, nounwind);
        call
    }
}
