//! Outcomes of branches, in bits that all functions share (Ball & Larus 1994, §6.2).
//!
//! A word of the slab says which byte of the window is open. The bits are shifted into it as long as there is room for
//! them, which its leading 1 tells; else they begin a new byte. The runtime closes a byte by clearing the word, and
//! says nothing of it: the leading 1 tells readers how many bits the byte has come to. A signal handler leaves the
//! bytes of whom it interrupts as they are, so bits that were on their way still come to where they belong.

use super::window::{advance, inlined, parameters};
use crate::ir::{Function, Type, Value};
use crate::lower::code::Code;
use cotree_core::method::trace::TraceWords;
use llvm_sys::LLVMIntPredicate;

/// `void (slab, slab in assembly, place, value)`: appends so many bits.
pub(super) fn append<'m>(code: &Code<'_, 'm>, words: TraceWords, bits: u8) -> (Function<'m>, Type<'m>) {
    let (module, caller) = (code.module, &code.counters);
    let [slab, in_assembly] = caller.pointers().map(Value::ty);
    let int8 = module.int8();
    let ty = module.void().function(&[slab, in_assembly, module.int64(), int8]);
    inlined(module, &format!("__cotree_append_bits_{bits}"), ty, |function| {
        let [slab, in_assembly, place, value] = parameters(function);
        let [entry, is_open, room, fresh, full, done] = [(); 6].map(|()| module.append_block(function));
        let counters = caller.in_block(entry, [slab, in_assembly]);
        let (builder, int64) = (&counters.builder, counters.int64);
        let (window_end, open_word) = (int64.constant(words.window_end()), words.open_byte());
        let open = counters.load_fresh(int64.constant(open_word));
        builder.branch(builder.compare(LLVMIntPredicate::LLVMIntNE, open, int64.constant(0)), is_open, fresh);

        builder.move_to_end(is_open);
        let byte = builder.truncate(counters.load_behind(window_end, open), int8);
        let limit = int8.constant(1 << (8 - bits));
        builder.branch(builder.compare(LLVMIntPredicate::LLVMIntULT, byte, limit), room, fresh);

        builder.move_to_end(room);
        let shifted = builder.shift_left(byte, int8.constant(bits.into()));
        counters.store_behind(window_end, open, builder.or(shifted, value));
        builder.return_nothing();

        builder.move_to_end(fresh);
        let cursor = counters.load(int64.constant(words.first), int64);
        counters.store_behind(window_end, cursor, builder.or(int8.constant(1 << bits), value));
        counters.store(int64.constant(open_word), cursor);
        advance(code, &counters, words, int64.constant(1), place, [full, done]);
    })
}
