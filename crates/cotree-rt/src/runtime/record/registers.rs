//! Finds the path registers of activations that end early, by return address.
//!
//! The code generator notes for each call where the values that live through it are: in memory, in registers that
//! callees preserve, or nowhere because they are constants. The machine function's number is stored before its first
//! instruction, which the unwind tables give. So if the linker drops a function, nothing refers to its
//! part of the table any longer.

use crate::arch::registers::FrameRegisters;
use crate::layout::{FUNCTION_MAGIC, FunctionPrefix, RegisterReturn, RegisterValue};
use crate::runtime::os::sys;
use crate::runtime::stack::cache::Cache;
use crate::runtime::stack::unwind;
use crate::runtime::stack::walk::Top;
use crate::runtime::unit;

/// The value in a place of the table.
fn value(registers: &FrameRegisters, place: u64) -> Option<u64> {
    // SAFETY: the table's own index.
    let element = |index: u32| unsafe { unit::descriptor().register_values.add(index as usize).read() };
    match RegisterValue::unpack(place)? {
        RegisterValue::Constant(number) => Some(i64::from(number) as u64),
        RegisterValue::LongConstant(index) => Some(element(index)),
        RegisterValue::Address(index) => {
            let address = at(registers, RegisterValue::unpack(element(index))?)?;
            let above = address.wrapping_sub(unit::descriptor().counters as u64) as i64;
            let number = (above % 8 == 0).then_some((above / 8) as u64)?;
            Some(number.wrapping_sub(element(index + 1)))
        }
        place => at(registers, place),
    }
}

/// What is in a place; None for what is none.
fn at(registers: &FrameRegisters, place: RegisterValue) -> Option<u64> {
    match place {
        RegisterValue::Register(register) => registers.get(register),
        RegisterValue::Memory(register, offset) => {
            let address = registers.get(register)?.wrapping_add_signed(i64::from(offset));
            let sure = address & !0xFFF == registers.sp & !0xFFF && address.is_multiple_of(8);
            // SAFETY: the frame is there, and so is what the table says is in it; a page that the kernel can read.
            (sure || sys::readable(address)).then(|| unsafe { (address as *const u64).read_unaligned() })
        }
        _ => None,
    }
}

/// Gives the values that are known at a return address of this unit, with their numbers.
pub fn for_each(pc: u64, registers: &FrameRegisters, mut act: impl FnMut(u64, u64)) {
    if !unit::notes_registers() {
        return;
    }
    for (number, place) in places(pc).iter().enumerate() {
        if let Some(value) = value(registers, *place) {
            act(number as u64, value);
        }
    }
}

/// How many values are known of the frames of a stack.
pub fn count_on_stack(top: Top<'_>) -> u64 {
    let mut count = 0;
    let mut walk = top.walk();
    while let Some(frame) = walk.next() {
        if let (Some(_), Some(registers)) = (unit::link_address(frame.pc), walk.registers()) {
            for_each(frame.pc, registers, |_, _| count += 1);
        }
    }
    count
}

/// One more than the index of a call in the table: to find it takes a search of the unwind tables.
static CACHE: Cache<256> = Cache::new();
/// In the cache: the call is not in the table.
const NONE: u64 = u64::MAX;

/// Where the values are.
fn places(pc: u64) -> &'static [u64] {
    let hash = unit::hash(pc);
    let mut found = CACHE.find(pc, hash);
    if found == 0 {
        found = find(pc).map_or(NONE, |index| index as u64 + 1);
        CACHE.keep(pc, hash, found);
    }
    if found == NONE {
        return &[];
    }
    let descriptor = unit::descriptor();
    // SAFETY: an index that `find` gave; one more record follows, and values are within the table.
    unsafe {
        let point = descriptor.register_returns.add(found as usize - 1);
        let (first, end) = ((*point).value as usize, (*point.add(1)).value as usize);
        core::slice::from_raw_parts(descriptor.register_values.add(first), end - first)
    }
}

/// The index of the call in the table.
fn find(pc: u64) -> Option<usize> {
    let (start, _) = unwind::function_range(pc - 1)?;
    let prefix = start.checked_sub(size_of::<FunctionPrefix>() as u64)?;
    if prefix <= unit::image().0 {
        return None;
    }
    // SAFETY: code of this image, behind its first byte; functions lie in whole segments.
    let FunctionPrefix { magic, number, .. } = unsafe { (prefix as *const FunctionPrefix).read_unaligned() };
    let descriptor = unit::descriptor();
    if magic != FUNCTION_MAGIC || u64::from(number) >= descriptor.register_functions {
        return None;
    }
    let offset = u32::try_from(pc - start).ok()?;
    // SAFETY: one index more than there are functions.
    let (first, end) = unsafe {
        let index = descriptor.register_index.add(number as usize);
        (*index as usize, *index.add(1) as usize)
    };
    // SAFETY: the function's part of the table.
    let points: &[RegisterReturn] =
        unsafe { core::slice::from_raw_parts(descriptor.register_returns.add(first), end - first) };
    points.binary_search_by_key(&offset, |point| point.offset).ok().map(|at| first + at)
}
