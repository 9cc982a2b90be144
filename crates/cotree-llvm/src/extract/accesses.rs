//! Accesses of memory whose addresses are traced: loads, stores, atomic operations, `memcpy` and its kin, arguments
//! that a call copies, and vectors of which masks say which lanes are accessed ([`lanes`]).
//!
//! What is not reached by plain addresses, as thread-local storage of a segment register is, and what instructions of
//! one kind of processor access by ways of their own, is only told to be left out ([`is_left_out`]).

use super::lanes::{self, Lanes};
use crate::ir::{At, Call, Instruction, Type, Value};
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
    /// The lane of a vector that it is, with all that is known of these: address and length are then computed.
    lane: Option<(u32, Lanes)>,
}

impl<'m> AccessIr<'m> {
    /// The address.
    pub(crate) fn address(self) -> Option<Value<'m>> {
        self.instruction.operand(self.address)
    }

    /// The lane that it is, if it is one.
    pub(crate) fn lane(self) -> Option<(u32, Lanes)> {
        self.lane
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
        Some((kind, Some(length), AccessIr { instruction, address, length: None, lane: None }))
    };
    let typed = |operand: u32| instruction.operand(operand).map(Value::ty);
    let found = match instruction.opcode() {
        LLVMLoad => fixed(AccessKind::Load, Some(instruction.ty()), 0).into_iter().collect(),
        LLVMStore => fixed(AccessKind::Store, typed(0), 1).into_iter().collect(),
        LLVMAtomicRMW | LLVMAtomicCmpXchg => fixed(AccessKind::Update, typed(1), 0).into_iter().collect(),
        LLVMCall | LLVMInvoke => of_call(module, instruction),
        _ => Vec::new(),
    };
    found.into_iter().filter(is_plain).collect()
}

/// Is the access by a plain address? Those of lanes are.
fn is_plain(found: &Found<'_>) -> bool {
    let (_, _, access) = found;
    access.lane.is_some() || access.address().is_some_and(|at| at.ty().address_space() == Some(0))
}

/// Does the instruction access memory in a way whose addresses are not told? Inline assembly is no instruction of ours.
pub(super) fn is_left_out<'m>(module: &'m Module, instruction: Instruction<'m>) -> bool {
    let in_segment = |operand: u32| {
        let space = instruction.operand(operand).and_then(|at| at.ty().address_space());
        space.is_some_and(|space| space != 0)
    };
    match instruction.opcode() {
        LLVMLoad | LLVMAtomicRMW | LLVMAtomicCmpXchg => in_segment(0),
        LLVMStore => in_segment(1),
        LLVMCall | LLVMInvoke => instruction.as_call().is_some_and(|call| {
            let Some(name) = call.intrinsic() else { return false };
            of_call(module, instruction).is_empty() && lanes::is_unknown_access(call, &name)
        }),
        _ => false,
    }
}

fn of_call<'m>(module: &'m Module, instruction: Instruction<'m>) -> Vec<Found<'m>> {
    let Some(call) = instruction.as_call() else { return Vec::new() };
    if let Some(name) = call.intrinsic() {
        const LENGTH: u32 = 2;
        let known = instruction.operand(LENGTH).and_then(Value::constant);
        let length = if known.is_some() { None } else { Some(LENGTH) };
        let access = |kind, address| (kind, known, AccessIr { instruction, address, length, lane: None });
        let copies = name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.");
        return match copies {
            true => vec![access(AccessKind::Load, 1), access(AccessKind::Store, 0)],
            false if name.starts_with("llvm.memset.") => vec![access(AccessKind::Store, 0)],
            false => of_lanes(module, instruction, call, &name),
        };
    }
    if call.is_musttail() {
        return Vec::new();
    }
    let copied = |address: u32| {
        let length = call.attribute_type(At::Parameter(address), "byval")?.stored_size(module)?;
        Some((AccessKind::Load, Some(length), AccessIr { instruction, address, length: None, lane: None }))
    };
    (0..call.argument_count()).filter_map(copied).collect()
}

fn of_lanes<'m>(module: &'m Module, instruction: Instruction<'m>, call: Call<'m>, name: &str) -> Vec<Found<'m>> {
    let Some((kind, lanes, count)) = lanes::of(module, instruction, call, name) else { return Vec::new() };
    let access = |lane| AccessIr { instruction, address: 0, length: None, lane: Some((lane, lanes)) };
    (0..count).map(|lane| (kind, None, access(lane))).collect()
}
