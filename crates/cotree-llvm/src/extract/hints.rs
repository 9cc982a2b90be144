//! Hints at which way branches go ([`cotree_core::hints`]): what is compared, what the compiler was told, which constants
//! are returned.

use super::calls::call_has;
use crate::ffi::*;
use crate::walk;
use cotree_core::facts::EdgeFacts;
use cotree_core::hints::{Branch, Hints, Test};
use cotree_core::ids::{Block, Edge};
use llvm_sys::prelude::*;
use llvm_sys::{LLVMIntPredicate, LLVMOpcode, LLVMRealPredicate, LLVMTypeKind};

/// Blocks that do nothing but jump on, as many as may stand between a branch and the `return` that it leads to.
const JUMPS_TO_RETURN: usize = 2;

/// # Safety
/// `blocks` must be the reachable blocks of one verified function of `context`, and `edges` theirs.
pub(super) unsafe fn hints(context: LLVMContextRef, blocks: &[LLVMBasicBlockRef], edges: &[EdgeFacts]) -> Hints {
    let mut hints = Hints::default();
    // SAFETY: every block of a verified function has a terminator; all values are reached from it.
    unsafe {
        let prof = LLVMGetMDKindIDInContext(context, c"prof".as_ptr(), 4);
        for (number, &block) in blocks.iter().enumerate() {
            let number = Block::new(number);
            if walk::instructions(block).any(|instruction| is_cold_call(instruction)) {
                hints.cold.push(number);
            }
            let terminator = LLVMGetBasicBlockTerminator(block);
            if LLVMGetNumSuccessors(terminator) < 2 {
                continue;
            }
            if LLVMGetInstructionOpcode(terminator) == LLVMOpcode::LLVMBr
                && let Some((test, on_true)) = test(LLVMGetCondition(terminator))
            {
                hints.branches.push(Branch { block: number, test, on_true });
            }
            let weights = branch_weights(terminator, prof);
            let first = edges.partition_point(|edge| edge.src < number);
            let own = edges.iter().enumerate().skip(first).take_while(|(_, edge)| edge.src == number);
            for (index, edge) in own {
                if let Some(weight) = weights.as_deref().map(|weights| told(terminator, weights, edge)) {
                    hints.told.push((Edge::new(index), weight));
                }
                if let Some(value) = blocks.get(edge.dst.index()).and_then(|&target| returned(block, target)) {
                    hints.returns.push((Edge::new(index), value));
                }
            }
        }
    }
    hints
}

/// # Safety
/// `instruction` must be valid.
unsafe fn is_cold_call(instruction: LLVMValueRef) -> bool {
    // SAFETY: attributes are looked up on calls only.
    unsafe {
        matches!(LLVMGetInstructionOpcode(instruction), LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke)
            && call_has(instruction, "cold")
    }
}

/// The `branch_weights` of a branch, one per successor.
///
/// # Safety
/// `terminator` must be valid, and `prof` the number of that kind of metadata.
unsafe fn branch_weights(terminator: LLVMValueRef, prof: u32) -> Option<Vec<f64>> {
    // SAFETY: LLVM writes exactly as many operands as it announces; those that are no constants are absent or strings.
    unsafe {
        let node = LLVMGetMetadata(terminator, prof);
        if node.is_null() {
            return None;
        }
        let mut operands = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(node) as usize];
        LLVMGetMDNodeOperands(node, operands.as_mut_ptr());
        let weights: Vec<f64> = operands.into_iter().filter_map(|operand| constant(operand)).map(unsigned).collect();
        (weights.len() == LLVMGetNumSuccessors(terminator) as usize).then_some(weights)
    }
}

/// A weight, which is an unsigned number of 32 bits (of 64 in a few versions of LLVM).
fn unsigned(weight: i64) -> f64 {
    f64::from(u32::try_from(weight & 0xFFFF_FFFF).unwrap_or(u32::MAX))
}

/// The weight of one edge: of all cases that it stands for.
///
/// # Safety
/// `weights` must be those of the branch `terminator`, and `edge` one of its edges.
unsafe fn told(terminator: LLVMValueRef, weights: &[f64], edge: &EdgeFacts) -> f64 {
    // SAFETY: the successor's number is one of the branch's, as are those of the weights.
    unsafe {
        if LLVMGetInstructionOpcode(terminator) != LLVMOpcode::LLVMSwitch {
            return weights.get(edge.successor as usize).copied().unwrap_or(0.0);
        }
        let target = LLVMGetSuccessor(terminator, edge.successor);
        let same = |&(successor, _): &(u32, _)| LLVMGetSuccessor(terminator, successor) == target;
        (0..).zip(weights).filter(same).map(|(_, weight)| weight).sum()
    }
}

/// The constant that is returned when the way from the first block to the second is taken, if nothing else can be.
///
/// # Safety
/// Both must be blocks of a verified function, the second a successor of the first.
unsafe fn returned(mut from: LLVMBasicBlockRef, mut at: LLVMBasicBlockRef) -> Option<i64> {
    // SAFETY: terminators and their operands are valid; a `ret` without operands is told apart.
    unsafe {
        for _ in 0..=JUMPS_TO_RETURN {
            let terminator = LLVMGetBasicBlockTerminator(at);
            match LLVMGetInstructionOpcode(terminator) {
                LLVMOpcode::LLVMRet if LLVMGetNumOperands(terminator) == 1 => {
                    return constant(coming_from(LLVMGetOperand(terminator, 0), at, from)?);
                }
                LLVMOpcode::LLVMBr if LLVMGetNumSuccessors(terminator) == 1 => {
                    (from, at) = (at, LLVMGetSuccessor(terminator, 0));
                }
                _ => return None,
            }
        }
        None
    }
}

/// The value in the block `at`: of one of its phis what comes from the block `from`.
///
/// # Safety
/// The value must be valid.
unsafe fn coming_from(value: LLVMValueRef, at: LLVMBasicBlockRef, from: LLVMBasicBlockRef) -> Option<LLVMValueRef> {
    // SAFETY: only instructions are asked for opcode and parent, only phis for incoming values.
    unsafe {
        let is_phi = !LLVMIsAInstruction(value).is_null()
            && LLVMGetInstructionOpcode(value) == LLVMOpcode::LLVMPHI
            && LLVMGetInstructionParent(value) == at;
        if !is_phi {
            return Some(value);
        }
        let mut entries = 0..LLVMCountIncoming(value);
        entries.find(|&i| LLVMGetIncomingBlock(value, i) == from).map(|i| LLVMGetIncomingValue(value, i))
    }
}

/// The value of a constant integer of up to 64 bits, sign-extended, and 0 for null.
///
/// # Safety
/// `value` must be null or valid.
unsafe fn constant(value: LLVMValueRef) -> Option<i64> {
    // SAFETY: the type is looked at first.
    unsafe {
        if value.is_null() {
            None
        } else if !LLVMIsAConstantInt(value).is_null() {
            (LLVMGetIntTypeWidth(LLVMTypeOf(value)) <= 64).then(|| LLVMConstIntGetSExtValue(value))
        } else {
            (is_pointer(value) && LLVMIsNull(value) != 0).then_some(0)
        }
    }
}

/// # Safety
/// `value` must be valid, and no metadata.
unsafe fn is_pointer(value: LLVMValueRef) -> bool {
    // SAFETY: as the caller promises.
    unsafe { matches!(LLVMGetTypeKind(LLVMTypeOf(value)), LLVMTypeKind::LLVMPointerTypeKind) }
}

/// What a condition tests, and whether that holds if it is true.
///
/// # Safety
/// `condition` must be valid.
unsafe fn test(condition: LLVMValueRef) -> Option<(Test, bool)> {
    // SAFETY: only instructions are asked for an opcode, only comparisons for predicates.
    unsafe {
        if LLVMIsAInstruction(condition).is_null() {
            return None;
        }
        match LLVMGetInstructionOpcode(condition) {
            LLVMOpcode::LLVMICmp if is_pointer(LLVMGetOperand(condition, 0)) => match LLVMGetICmpPredicate(condition) {
                LLVMIntPredicate::LLVMIntEQ => Some((Test::SamePointer, true)),
                LLVMIntPredicate::LLVMIntNE => Some((Test::SamePointer, false)),
                _ => None,
            },
            LLVMOpcode::LLVMICmp => integers(condition),
            LLVMOpcode::LLVMFCmp => floats(LLVMGetFCmpPredicate(condition)),
            _ => None,
        }
    }
}

/// # Safety
/// `comparison` must be an `icmp`.
unsafe fn integers(comparison: LLVMValueRef) -> Option<(Test, bool)> {
    use LLVMIntPredicate::*;
    // SAFETY: an `icmp` has two operands.
    unsafe {
        let (left, right) = (LLVMGetOperand(comparison, 0), LLVMGetOperand(comparison, 1));
        if let Some(found) = steps(LLVMGetICmpPredicate(comparison), left, right) {
            return Some(found);
        }
        match (LLVMGetICmpPredicate(comparison), constant(right)) {
            (LLVMIntEQ, Some(0)) if is_masked(left) => Some((Test::BitsClear, true)),
            (LLVMIntNE, Some(0)) if is_masked(left) => Some((Test::BitsClear, false)),
            (LLVMIntEQ | LLVMIntNE, _) => None,
            (LLVMIntSLT, Some(0)) => Some((Test::Negative, true)),
            (LLVMIntSGT, Some(-1)) => Some((Test::Negative, false)),
            (LLVMIntSGT, Some(0)) => Some((Test::Positive, true)),
            (LLVMIntSLT, Some(1)) => Some((Test::Positive, false)),
            (LLVMIntULT | LLVMIntSLT, Some(_)) => Some((Test::BelowConstant, true)),
            (LLVMIntUGT | LLVMIntSGT, Some(_)) => Some((Test::BelowConstant, false)),
            (LLVMIntULT | LLVMIntSLT | LLVMIntULE | LLVMIntSLE, None) => Some((Test::Below, true)),
            (LLVMIntUGT | LLVMIntSGT | LLVMIntUGE | LLVMIntSGE, None) => Some((Test::Below, false)),
            _ => None,
        }
    }
}

/// A loop's variable compared with anything that may be an upper border, most of the loop being inside; which constants seldom are.
///
/// # Safety
/// Both must be valid values, of one comparison with that predicate.
unsafe fn steps(predicate: LLVMIntPredicate, left: LLVMValueRef, right: LLVMValueRef) -> Option<(Test, bool)> {
    use LLVMIntPredicate::*;
    let below = match predicate {
        LLVMIntEQ | LLVMIntNE => return None,
        LLVMIntULT | LLVMIntSLT | LLVMIntULE | LLVMIntSLE => true,
        LLVMIntUGT | LLVMIntSGT | LLVMIntUGE | LLVMIntSGE => false,
    };
    // SAFETY: as the caller promises.
    let (left, right) = unsafe {
        if constant(right).is_some() {
            return None;
        }
        (is_stepped(left), is_stepped(right))
    };
    (left != right).then_some((Test::StepBelow, below == left))
}

/// So many instructions away a variable may be.
const NEXT_TO_STEPPED: usize = 6;

/// Is the value a variable that moves by constant steps in some loop, or one plus a constant?
///
/// # Safety
/// `value` must be valid.
unsafe fn is_stepped(value: LLVMValueRef) -> bool {
    // SAFETY: as the caller promises.
    unsafe { !follow(value, NEXT_TO_STEPPED, std::ptr::null_mut()).is_null() }
}

/// From a value through additions of constants, casts and phis of what comes of one value to `wanted`, or, if that is null, to the
/// first phi that its own steps lead back to. Null if there is none.
///
/// # Safety
/// `value` must be valid.
unsafe fn follow(mut value: LLVMValueRef, most: usize, wanted: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: only instructions are asked for an opcode, and for the operands that it has.
    unsafe {
        for _ in 0..most {
            if LLVMIsAInstruction(value).is_null() {
                break;
            }
            value = match LLVMGetInstructionOpcode(value) {
                LLVMOpcode::LLVMZExt | LLVMOpcode::LLVMSExt | LLVMOpcode::LLVMTrunc => LLVMGetOperand(value, 0),
                LLVMOpcode::LLVMAdd | LLVMOpcode::LLVMSub | LLVMOpcode::LLVMOr
                    if constant(LLVMGetOperand(value, 1)).is_some() =>
                {
                    LLVMGetOperand(value, 0)
                }
                LLVMOpcode::LLVMPHI if value == wanted => return value,
                LLVMOpcode::LLVMPHI if wanted.is_null() && is_header(value) => return value,
                LLVMOpcode::LLVMPHI => LLVMGetIncomingValue(value, 0),
                _ => break,
            };
        }
    }
    std::ptr::null_mut()
}

/// Do the steps of a phi lead back to it?
///
/// # Safety
/// `phi` must be a valid phi.
unsafe fn is_header(phi: LLVMValueRef) -> bool {
    // SAFETY: as the caller promises.
    unsafe {
        (0..LLVMCountIncoming(phi))
            .any(|incoming| follow(LLVMGetIncomingValue(phi, incoming), NEXT_TO_STEPPED, phi) == phi)
    }
}

/// Is it some number of which a constant mask has been taken?
///
/// # Safety
/// `value` must be valid.
unsafe fn is_masked(value: LLVMValueRef) -> bool {
    // SAFETY: only instructions are asked for an opcode; an `and` has two operands.
    unsafe {
        !LLVMIsAInstruction(value).is_null()
            && LLVMGetInstructionOpcode(value) == LLVMOpcode::LLVMAnd
            && !LLVMIsAConstantInt(LLVMGetOperand(value, 1)).is_null()
    }
}

fn floats(predicate: LLVMRealPredicate) -> Option<(Test, bool)> {
    use LLVMRealPredicate::*;
    match predicate {
        LLVMRealOEQ | LLVMRealUEQ => Some((Test::SameFloat, true)),
        LLVMRealONE | LLVMRealUNE => Some((Test::SameFloat, false)),
        LLVMRealUNO => Some((Test::Unordered, true)),
        LLVMRealORD => Some((Test::Unordered, false)),
        _ => None,
    }
}
