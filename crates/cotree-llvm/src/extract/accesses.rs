//! Accesses of memory whose addresses are traced: loads, stores, atomic operations, `memcpy` and its kin, and arguments
//! that a call copies.
//!
//! Vectors that are read or written in part, as masks say, are left out: nobody knows before how many addresses they
//! have. So is what is not reached by plain addresses, as thread-local storage of a segment register is.

use crate::ir::{At, Instruction, Type, Value};
use crate::module::Module;
use cotree_core::facts::AccessKind;
use llvm_sys::LLVMOpcode::*;

/// Where an access has its address.
#[derive(Clone, Copy)]
pub(crate) struct AccessIr<'m> {
    /// The instruction.
    pub(crate) instruction: Instruction<'m>,
    /// Which of its operands is the address.
    address: u32,
    /// Which one is the length, if only the running program knows that.
    length: Option<u32>,
}

impl<'m> AccessIr<'m> {
    /// The address.
    pub(crate) fn address(self) -> Option<Value<'m>> {
        self.instruction.operand(self.address)
    }

    /// The length, if only the running program knows it.
    pub(crate) fn length(self) -> Option<Value<'m>> {
        self.instruction.operand(self.length?)
    }
}

/// An access: what it does, how many bytes it is of if that is known, and where it is.
pub(super) type Found<'m> = (AccessKind, Option<u64>, AccessIr<'m>);

/// The accesses of an instruction, in order.
pub(super) fn of<'m>(module: &'m Module, instruction: Instruction<'m>) -> Vec<Found<'m>> {
    let fixed = |kind, ty: Option<Type<'m>>, address| {
        let length = ty.and_then(|ty| ty.stored_size(module))?;
        Some((kind, Some(length), AccessIr { instruction, address, length: None }))
    };
    let typed = |operand: u32| instruction.operand(operand).map(Value::ty);
    let found = match instruction.opcode() {
        LLVMLoad => fixed(AccessKind::Load, Some(instruction.ty()), 0).into_iter().collect(),
        LLVMStore => fixed(AccessKind::Store, typed(0), 1).into_iter().collect(),
        LLVMAtomicRMW | LLVMAtomicCmpXchg => fixed(AccessKind::Update, typed(1), 0).into_iter().collect(),
        LLVMCall | LLVMInvoke => of_call(module, instruction),
        _ => Vec::new(),
    };
    let is_plain = |found: &Found<'m>| found.2.address().is_some_and(|at| at.ty().address_space() == Some(0));
    found.into_iter().filter(is_plain).collect()
}

fn of_call<'m>(module: &'m Module, instruction: Instruction<'m>) -> Vec<Found<'m>> {
    let Some(call) = instruction.as_call() else { return Vec::new() };
    if let Some(name) = call.intrinsic() {
        const LENGTH: u32 = 2;
        let known = instruction.operand(LENGTH).and_then(Value::constant);
        let length = if known.is_some() { None } else { Some(LENGTH) };
        let access = |kind, address| (kind, known, AccessIr { instruction, address, length });
        let copies = name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.");
        return match copies {
            true => vec![access(AccessKind::Load, 1), access(AccessKind::Store, 0)],
            false if name.starts_with("llvm.memset.") => vec![access(AccessKind::Store, 0)],
            false => Vec::new(),
        };
    }
    if call.is_musttail() {
        return Vec::new();
    }
    let copied = |address: u32| {
        let length = call.attribute_type(At::Parameter(address), "byval")?.stored_size(module)?;
        Some((AccessKind::Load, Some(length), AccessIr { instruction, address, length: None }))
    };
    (0..call.argument_count()).filter_map(copied).collect()
}
