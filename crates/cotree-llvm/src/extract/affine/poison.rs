//! Values that may be poison or undefined, which a read of ours would be the first to notice.
//!
//! - **Noticed by the program.** Where an address or the condition of a branch is computed from a value, poison in it is
//!   undefined behaviour. Behind such a place the value can be read without more ado.
//! - **Too far away.** A variable of 64 bits that starts at a small number and moves by small steps meets no end of its range:
//!   no loop runs so long ([`cotree_core::affine::LONGEST_RUN`]).
//! - **Undefined** is only what comes from something undefined, whereas flags of instructions make poison. Undefined values may be other
//!   ones at each use, and no branch rules that out.

use super::bounds::constant;
use super::{SeenLoop, Traced, is_integer};
use crate::ffi::*;
use crate::linkage::attribute_kind;
use cotree_core::affine::LONGEST_RUN;
use cotree_core::dominators::Dominators;
use cotree_core::ids::Block;
use llvm_sys::LLVMOpcode;
use llvm_sys::prelude::*;
use std::collections::{BTreeSet, HashSet};

/// How many uses of a value, and of what is computed from it, are looked at.
const MOST_USES: usize = 48;
/// How many values are looked at on the way back to where a value comes from.
const MOST_SOURCES: usize = 48;

impl SeenLoop<'_, '_> {
    /// Is it undefined behaviour of the program to come to the end of the block if the value is poison there?
    ///
    /// # Safety
    /// `value` must be an instruction or parameter of the function.
    pub(super) unsafe fn noticed_before(&self, value: LLVMValueRef, end: Block, dominators: &Dominators) -> bool {
        // SAFETY: as the caller promises.
        let places = unsafe { noticing(value) };
        places.iter().any(|place| self.numbers.get(place).is_some_and(|&block| dominators.dominates(block, end)))
    }

    /// Would it take years until the variable wraps around?
    ///
    /// # Safety
    /// The values must be of the loop.
    pub(super) unsafe fn never_gets_far(&self, variable: &Traced) -> bool {
        let limit = 1i64 << (62 - LONGEST_RUN);
        // SAFETY: as the caller promises; flags are asked only of instructions that have them.
        unsafe {
            if variable.bits != 64 || !is_integer(variable.phi) {
                return false;
            }
            let starts: Option<Vec<i64>> = self.initial(variable.phi).map(|(v, _)| constant(v)).collect();
            let steps: Option<Vec<i64>> = variable
                .increments
                .iter()
                .map(|&i| self.increment(i, LLVMGetInstructionOpcode(i)).map(|(_, by)| by))
                .collect();
            let (Some(starts), Some(steps)) = (starts, steps) else { return false };
            // An increment runs at most so often as any loop goes around.
            let near = starts.iter().all(|start| start.unsigned_abs() < 1 << 61)
                && steps
                    .iter()
                    .try_fold(0i64, |sum, by| sum.checked_add(by.checked_abs()?))
                    .is_some_and(|s| s <= limit);
            let rises = starts.iter().chain(&steps).all(|&n| n >= 0);
            near && (rises || !variable.increments.iter().any(|&i| self.poisonous(i).1))
        }
    }

    /// Is the value the same at each use behind the end of the block, whatever happens?
    ///
    /// # Safety
    /// `value` must be of the function's module.
    pub(super) unsafe fn defined(&self, value: LLVMValueRef, end: Block, dominators: &Dominators) -> bool {
        let function = self.handles.function.raw();
        // SAFETY: as the caller promises; only instructions get to the second line.
        unsafe {
            certain(function, value)
                || (!LLVMIsAInstruction(value).is_null()
                    && never_undefined(function, value)
                    && self.noticed_before(value, end, dominators))
        }
    }
}

/// Blocks that can't be passed if the value is poison.
///
/// # Safety
/// `value` must be an instruction or parameter.
unsafe fn noticing(value: LLVMValueRef) -> BTreeSet<LLVMBasicBlockRef> {
    let mut places = BTreeSet::new();
    let mut work = vec![value];
    let mut left = MOST_USES;
    // SAFETY: the uses of an instruction or parameter are by instructions; operands are asked for where the opcode has them.
    unsafe {
        while let Some(poison) = work.pop() {
            let mut usage = LLVMGetFirstUse(poison);
            while !usage.is_null() && left > 0 {
                left -= 1;
                let user = LLVMGetUser(usage);
                usage = LLVMGetNextUse(usage);
                let noticed = match LLVMGetInstructionOpcode(user) {
                    LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMBr | LLVMOpcode::LLVMSwitch => true,
                    LLVMOpcode::LLVMStore => LLVMGetOperand(user, 1) == poison,
                    LLVMOpcode::LLVMICmp => {
                        work.push(user);
                        false
                    }
                    opcode => {
                        if passes_on(opcode) {
                            work.push(user);
                        }
                        false
                    }
                };
                if noticed {
                    places.insert(LLVMGetInstructionParent(user));
                }
            }
        }
    }
    places
}

/// Does the instruction give poison for poison, and nothing undefined for what is defined?
fn passes_on(opcode: LLVMOpcode) -> bool {
    matches!(
        opcode,
        LLVMOpcode::LLVMAdd
            | LLVMOpcode::LLVMSub
            | LLVMOpcode::LLVMMul
            | LLVMOpcode::LLVMShl
            | LLVMOpcode::LLVMLShr
            | LLVMOpcode::LLVMAShr
            | LLVMOpcode::LLVMAnd
            | LLVMOpcode::LLVMOr
            | LLVMOpcode::LLVMXor
            | LLVMOpcode::LLVMTrunc
            | LLVMOpcode::LLVMZExt
            | LLVMOpcode::LLVMSExt
            | LLVMOpcode::LLVMGetElementPtr
    )
}

/// Can the value be poison at worst, and not undefined?
///
/// # Safety
/// `value` must be of the function's module.
unsafe fn never_undefined(function: LLVMValueRef, value: LLVMValueRef) -> bool {
    let mut seen = HashSet::from([value]);
    let mut work = vec![value];
    // SAFETY: operands are asked for only where the opcode has them.
    unsafe {
        while let Some(value) = work.pop() {
            if certain(function, value) {
                continue;
            }
            if LLVMIsAInstruction(value).is_null() || seen.len() > MOST_SOURCES {
                return false;
            }
            let opcode = LLVMGetInstructionOpcode(value);
            let sources: Vec<LLVMValueRef> = if opcode == LLVMOpcode::LLVMPHI {
                (0..LLVMCountIncoming(value)).map(|i| LLVMGetIncomingValue(value, i)).collect()
            } else if passes_on(opcode) {
                (0..LLVMGetNumOperands(value).cast_unsigned()).map(|i| LLVMGetOperand(value, i)).collect()
            } else {
                return false;
            };
            work.extend(sources.into_iter().filter(|&source| seen.insert(source)));
        }
    }
    true
}

/// Is the value neither undefined nor poison, by its own nature?
///
/// # Safety
/// `value` must be of the function's module.
pub(super) unsafe fn certain(function: LLVMValueRef, value: LLVMValueRef) -> bool {
    // SAFETY: as the caller promises; parameters are numbered from 0, their attributes from 1.
    unsafe {
        if !LLVMIsAArgument(value).is_null() {
            let noundef = attribute_kind("noundef");
            return (0..LLVMCountParams(function))
                .find(|&i| LLVMGetParam(function, i) == value)
                .is_some_and(|i| !LLVMGetEnumAttributeAtIndex(function, i + 1, noundef).is_null());
        }
        if !LLVMIsAInstruction(value).is_null() {
            return match LLVMGetInstructionOpcode(value) {
                LLVMOpcode::LLVMFreeze | LLVMOpcode::LLVMAlloca => true,
                LLVMOpcode::LLVMSExt => certain(function, LLVMGetOperand(value, 0)),
                _ => false,
            };
        }
        // Not: undef, poison, and expressions that may come to that.
        !LLVMIsAConstantInt(value).is_null()
            || LLVMIsNull(value) != 0
            || !LLVMIsAGlobalVariable(value).is_null()
            || !LLVMIsAFunction(value).is_null()
    }
}
