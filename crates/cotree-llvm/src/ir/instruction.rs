//! Instructions and phis.

use super::{Block, Builder, Call, Location, MetadataKind, Node, Type, Value, kind};
use crate::ffi::*;
use crate::module::Module;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMAtomicOrdering, LLVMIntPredicate, LLVMOpcode, LLVMRealPredicate};

kind! {
    /// An instruction.
    Instruction is a Value
}

impl<'m> Instruction<'m> {
    /// What it does.
    #[must_use]
    pub fn opcode(self) -> LLVMOpcode {
        // SAFETY: a live instruction.
        unsafe { LLVMGetInstructionOpcode(self.raw()) }
    }

    /// The block that it is in; none if it was removed.
    #[must_use]
    pub fn block(self) -> Option<Block<'m>> {
        // SAFETY: a live instruction.
        unsafe { Block::from_raw(LLVMGetInstructionParent(self.raw())) }
    }

    /// The next one in its block.
    #[must_use]
    pub fn next(self) -> Option<Self> {
        self.block()?;
        // SAFETY: it is in a block.
        unsafe { Value::from_raw(LLVMGetNextInstruction(self.raw())) }.map(Self)
    }

    /// The one before it in its block.
    #[must_use]
    pub fn previous(self) -> Option<Self> {
        self.block()?;
        // SAFETY: it is in a block.
        unsafe { Value::from_raw(LLVMGetPreviousInstruction(self.raw())) }.map(Self)
    }

    /// The instruction as a phi.
    #[must_use]
    pub fn as_phi(self) -> Option<Phi<'m>> {
        (self.opcode() == LLVMOpcode::LLVMPHI).then_some(Phi(self))
    }

    /// The instruction as a call, an invoke or a `callbr`.
    #[must_use]
    pub fn as_call(self) -> Option<Call<'m>> {
        let call = matches!(self.opcode(), LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke | LLVMOpcode::LLVMCallBr);
        call.then_some(Call(self))
    }

    /// Puts another value in the place of an operand.
    ///
    /// # Panics
    /// If there is no such operand, or it is of another type.
    pub fn set_operand(self, index: u32, value: Value<'m>) {
        let fits = self.operand(index).is_some_and(|operand| operand.ty() == value.ty());
        assert!(fits, "an operand of the same type");
        // SAFETY: the operand exists; both are of one type, and so of one context.
        unsafe { LLVMSetOperand(self.raw(), index, value.raw()) };
    }

    /// How many successors it has; none unless it is a terminator.
    #[must_use]
    pub fn successor_count(self) -> u32 {
        // SAFETY: only terminators are asked for their successors.
        unsafe { if LLVMIsATerminatorInst(self.raw()).is_null() { 0 } else { LLVMGetNumSuccessors(self.raw()) } }
    }

    /// The successor with this number.
    #[must_use]
    pub fn successor(self, index: u32) -> Option<Block<'m>> {
        // SAFETY: the successor exists.
        unsafe { (index < self.successor_count()).then(|| Block::from_raw(LLVMGetSuccessor(self.raw(), index)))? }
    }

    /// The successors, in order.
    pub fn successors(self) -> impl Iterator<Item = Block<'m>> {
        (0..self.successor_count()).filter_map(move |index| self.successor(index))
    }

    /// Replaces one of the successors.
    ///
    /// # Panics
    /// If there is no such successor.
    pub fn set_successor(self, index: u32, block: Block<'m>) {
        assert!(index < self.successor_count(), "a successor that the terminator has");
        assert!(self.block().is_some_and(|own| own.function() == block.function()), "a block of the same function");
        // SAFETY: the successor exists, and both blocks are of one function.
        unsafe { LLVMSetSuccessor(self.raw(), index, block.raw()) };
    }

    /// The condition of a branch that has one.
    #[must_use]
    pub fn condition(self) -> Option<Value<'m>> {
        let conditional = self.opcode() == LLVMOpcode::LLVMBr && self.successor_count() == 2;
        // SAFETY: a conditional branch.
        unsafe { conditional.then(|| Value::from_raw(LLVMGetCondition(self.raw())))? }
    }

    /// The value of a switch's case, by the number of the successor that it leads to: from 1.
    #[must_use]
    pub fn case(self, successor: u32) -> Option<Value<'m>> {
        let exists = self.opcode() == LLVMOpcode::LLVMSwitch && (1..self.successor_count()).contains(&successor);
        // SAFETY: a switch with that case.
        unsafe { exists.then(|| Value::from_raw(LLVMGetSwitchCaseValue(self.raw(), successor)))? }
    }

    /// What a comparison of integers asks.
    #[must_use]
    pub fn int_predicate(self) -> Option<LLVMIntPredicate> {
        // SAFETY: a comparison of integers.
        (self.opcode() == LLVMOpcode::LLVMICmp).then(|| unsafe { LLVMGetICmpPredicate(self.raw()) })
    }

    /// What a comparison of floating-point numbers asks.
    #[must_use]
    pub fn float_predicate(self) -> Option<LLVMRealPredicate> {
        // SAFETY: a comparison of floating-point numbers.
        (self.opcode() == LLVMOpcode::LLVMFCmp).then(|| unsafe { LLVMGetFCmpPredicate(self.raw()) })
    }

    /// Whether it is arithmetic that may promise not to wrap.
    fn may_promise(self) -> bool {
        use LLVMOpcode::*;
        matches!(self.opcode(), LLVMAdd | LLVMSub | LLVMMul | LLVMShl)
    }

    /// Whether it promises not to wrap as a signed number, and as an unsigned one.
    #[must_use]
    pub fn never_wraps(self) -> (bool, bool) {
        // SAFETY: the flags are asked only of what has them.
        unsafe {
            if self.may_promise() { (LLVMGetNSW(self.raw()) != 0, LLVMGetNUW(self.raw()) != 0) } else { (false, false) }
        }
    }

    /// Whether an address computation promises to stay within its object.
    #[must_use]
    pub fn is_in_bounds(self) -> bool {
        // SAFETY: the flag is asked only of what has it.
        self.opcode() == LLVMOpcode::LLVMGetElementPtr && unsafe { LLVMIsInBounds(self.raw()) != 0 }
    }

    /// Takes promises away from arithmetic and address computations; others have none.
    pub fn promise_nothing(self) {
        // SAFETY: the flags are set only on what has them.
        unsafe {
            if self.may_promise() {
                LLVMSetNSW(self.raw(), 0);
                LLVMSetNUW(self.raw(), 0);
            } else if self.opcode() == LLVMOpcode::LLVMGetElementPtr {
                LLVMGEPSetNoWrapFlags(self.raw(), 0);
            }
        }
    }

    /// Whether it shifts to the right and promises to lose no bit.
    #[must_use]
    pub fn is_exact(self) -> bool {
        use LLVMOpcode::*;
        // SAFETY: the flag is asked only of what has it.
        matches!(self.opcode(), LLVMLShr | LLVMAShr | LLVMUDiv | LLVMSDiv) && unsafe { LLVMGetExact(self.raw()) != 0 }
    }

    /// Whether it is an `or` of numbers that promise to have no bit in common.
    #[must_use]
    pub fn is_disjoint(self) -> bool {
        // SAFETY: the flag is asked only of what has it.
        self.opcode() == LLVMOpcode::LLVMOr && unsafe { LLVMGetIsDisjoint(self.raw()) != 0 }
    }

    /// What an address computation steps by.
    #[must_use]
    pub fn element_type(self) -> Option<Type<'m>> {
        let address = self.opcode() == LLVMOpcode::LLVMGetElementPtr;
        // SAFETY: an address computation.
        address.then(|| unsafe { Type::from_raw(LLVMGetGEPSourceElementType(self.raw())) })
    }

    /// Takes over the freedoms with floating-point numbers of an instruction, if both may have any.
    pub fn copy_fast_math(self, from: Instruction<'m>) {
        // SAFETY: the flags are read from and written to what has them.
        unsafe {
            let both = [self, from].iter().all(|of| LLVMCanValueUseFastMathFlags(of.raw()) != 0);
            if both {
                LLVMSetFastMathFlags(self.raw(), LLVMGetFastMathFlags(from.raw()));
            }
        }
    }

    /// Whether it is a load or a store.
    fn is_access(self) -> bool {
        matches!(self.opcode(), LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMStore)
    }

    /// Makes a load or a store volatile, or not.
    ///
    /// # Panics
    /// If it is neither.
    pub fn set_volatile(self, volatile: bool) {
        assert!(self.is_access(), "only memory is volatile");
        // SAFETY: a load or a store.
        unsafe { LLVMSetVolatile(self.raw(), volatile.into()) };
    }

    /// Makes a load or a store of an aligned word atomic, in no order with others.
    ///
    /// # Panics
    /// If it is neither.
    pub fn make_atomic(self) {
        assert!(self.is_access(), "only memory is atomic");
        // SAFETY: a load or a store.
        unsafe {
            LLVMSetOrdering(self.raw(), LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic);
            LLVMSetAlignment(self.raw(), 8);
        }
    }

    /// Where it comes from in the source.
    #[must_use]
    pub fn location(self) -> Option<Location<'m>> {
        // SAFETY: a live instruction; LLVM has nothing but locations there.
        unsafe { Location::from_raw(LLVMInstructionGetDebugLoc(self.raw())) }
    }

    /// Says where it comes from.
    pub fn set_location(self, location: Option<Location<'m>>) {
        // SAFETY: a live instruction and null or a location of its context.
        unsafe { LLVMInstructionSetDebugLoc(self.raw(), Location::raw_or_null(location)) };
    }

    /// The node of metadata of this kind, as a value.
    #[must_use]
    pub fn metadata(self, kind: MetadataKind) -> Option<Value<'m>> {
        // SAFETY: a live instruction.
        unsafe { Value::from_raw(LLVMGetMetadata(self.raw(), kind.number())) }
    }

    /// Attaches a node of metadata.
    pub fn set_metadata(self, kind: MetadataKind, node: Node<'m>) {
        // SAFETY: a live instruction and a node.
        unsafe { LLVMSetMetadata(self.raw(), kind.number(), LLVMMetadataAsValue(self.ty().context(), node.raw())) };
    }
}

impl Module {
    /// Takes an instruction out of its block. It stays in memory until the module is swept, and nothing should use it
    /// any more.
    ///
    /// # Panics
    /// If it was removed before, or is of another module.
    pub fn remove(&self, instruction: Instruction<'_>) {
        assert!(instruction.block().is_some() && self.owns(*instruction), "an instruction in a block of this module");
        // SAFETY: it is in a block. It is deleted in `sweep`, when no handle is left.
        unsafe { LLVMInstructionRemoveFromParent(instruction.raw()) };
        self.removed.borrow_mut().push(instruction.raw());
    }

    /// Moves an instruction to the end of another block, which has no terminator yet.
    ///
    /// # Panics
    /// If it is in no block, or one of the two is of another module.
    pub fn move_to_end<'m>(&'m self, instruction: Instruction<'m>, block: Block<'m>) {
        assert!(instruction.block().is_some() && self.owns(*instruction), "an instruction in a block of this module");
        let builder = Builder::at_end(self, block);
        // SAFETY: it is in a block.
        unsafe { LLVMInstructionRemoveFromParent(instruction.raw()) };
        builder.insert(instruction);
    }

    /// Deletes what was removed.
    pub(crate) fn sweep(&mut self) {
        self.renew();
        for instruction in self.removed.get_mut().drain(..) {
            // SAFETY: it was taken out of its block and is in this list once. The module is borrowed exclusively, so
            // there are no handles to it; what may still use it gets a value of the same type instead.
            unsafe {
                if !LLVMGetFirstUse(instruction).is_null() {
                    LLVMReplaceAllUsesWith(instruction, LLVMGetPoison(LLVMTypeOf(instruction)));
                }
                LLVMDeleteInstruction(instruction);
            }
        }
    }
}

kind! {
    /// A phi.
    Phi is a Instruction
}

impl<'m> Phi<'m> {
    /// How many entries it has.
    #[must_use]
    pub fn len(self) -> u32 {
        // SAFETY: a phi.
        unsafe { LLVMCountIncoming(self.raw()) }
    }

    /// Whether nothing comes in: it is under construction.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// What comes in, and from where.
    #[must_use]
    pub fn incoming(self, index: u32) -> Option<(Value<'m>, Block<'m>)> {
        if index >= self.len() {
            return None;
        }
        // SAFETY: a phi with that entry.
        unsafe {
            let value = Value::from_raw(LLVMGetIncomingValue(self.raw(), index))?;
            Some((value, Block::from_raw(LLVMGetIncomingBlock(self.raw(), index))?))
        }
    }

    /// All that comes in, in order.
    pub fn entries(self) -> impl Iterator<Item = (Value<'m>, Block<'m>)> {
        (0..self.len()).filter_map(move |index| self.incoming(index))
    }

    /// What comes in from a block.
    #[must_use]
    pub fn incoming_from(self, block: Block<'m>) -> Option<Value<'m>> {
        self.entries().find(|&(_, from)| from == block).map(|(value, _)| value)
    }

    /// Adds an entry.
    ///
    /// # Panics
    /// If the value is of another type.
    pub fn add_incoming(self, value: impl Into<Value<'m>>, block: Block<'m>) {
        let value = value.into();
        assert!(value.ty() == self.ty(), "a value of the phi's type");
        assert!(block.as_value().ty().context() == self.ty().context(), "a block of the same module");
        let (mut value, mut block): (LLVMValueRef, LLVMBasicBlockRef) = (value.raw(), block.raw());
        // SAFETY: one value of the phi's type, and one block.
        unsafe { LLVMAddIncoming(self.raw(), &raw mut value, &raw mut block, 1) };
    }
}
