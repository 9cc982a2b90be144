//! Addresses of memory accesses, in the stream of tokens (Ball & Larus 1994, §6.2).
//!
//! Before each access its address is appended, as the step from the one before. That is in a word of the slab in front
//! of those of the trace. Whoever comes in between, a signal handler or the runtime, leaves the word as it was or sets
//! it to 0, and the reader knows where.

use super::window::{HARDLY, Recording, advance, inlined, parameters};
use crate::extract::lanes::{LanePlace, Lanes};
use crate::ir::{Function, Instruction, Type, Value};
use crate::lower::code::Code;
use cotree_core::method::trace::TraceWords;
use cotree_rt::layout::TracePlace;
use llvm_sys::LLVMIntPredicate;

/// LLVM's name for the count of zeros before a number's first bit.
const LEADING_ZEROS: &str = "llvm.ctlz.i64";

/// Has each of the function's accesses that are told append its address.
pub(super) fn append_all(code: &Code<'_, '_>, words: TraceWords, recording: Recording) {
    debug_assert!(!recording.in_ring || code.ir.accesses.is_empty(), "a ring has no addresses");
    let counters = &code.counters;
    let [slab, in_assembly] = counters.pointers();
    for access in &code.ir.accesses {
        let builder = &counters.builder;
        let (address, length) = match access.lane() {
            Some((lane, lanes)) => {
                builder.move_before(access.instruction);
                let (address, length) = of_lane(code, words, access.instruction, lane, lanes);
                (address, Some(length))
            }
            None => {
                let Some(address) = access.address() else { continue };
                builder.move_before(access.instruction);
                let length = access.length().map(|length| builder.widen(length, counters.int64));
                (builder.address_to_int(address, counters.int64), length)
            }
        };
        if let Some(length) = length {
            let (append, ty) = append_number(code, words);
            builder.call(ty, append, &[slab, in_assembly, length]);
        }
        let (append, ty) = append_address(code, words);
        builder.call(ty, append, &[slab, in_assembly, address]);
    }
}

/// Address and length of the lane of a vector. That of a lane which is not active are 0, and the address that was told
/// last, from which there is no step. What such a lane would access need not be a number at all.
fn of_lane<'m>(
    code: &Code<'_, 'm>,
    words: TraceWords,
    instruction: Instruction<'m>,
    lane: u32,
    Lanes { mask, place, size }: Lanes,
) -> (Value<'m>, Value<'m>) {
    let (builder, int64) = (&code.counters.builder, code.counters.int64);
    let operand = |number| instruction.operand(number).expect("as when the access was found");
    let is_active = |lane| {
        let bits = builder.freeze(builder.bits(builder.extract(operand(mask), lane)));
        if bits.ty() == code.module.int1() {
            return bits;
        }
        builder.compare(LLVMIntPredicate::LLVMIntSLT, bits, bits.ty().zero())
    };
    let address = |number| builder.freeze(builder.address_to_int(operand(number), int64));
    let (active, length, address) = match place {
        LanePlace::Packed(base) => {
            let (_, lanes) = operand(mask).ty().vector_elements().expect("a mask");
            let ones = (0..lanes).map(|lane| builder.widen(is_active(lane), int64));
            let count = ones.reduce(|sum, one| builder.add(sum, one)).unwrap_or(int64.zero());
            let any = builder.compare(LLVMIntPredicate::LLVMIntNE, count, int64.zero());
            (any, builder.mul(count, int64.constant(size)), address(base))
        }
        place => {
            let active = is_active(lane);
            let length = builder.select(active, int64.constant(size), int64.zero());
            let address = match place {
                LanePlace::Row(base) | LanePlace::Packed(base) => {
                    builder.add(address(base), int64.constant(size * u64::from(lane)))
                }
                LanePlace::Pointers(all) => {
                    builder.freeze(builder.address_to_int(builder.extract(operand(all), lane), int64))
                }
                LanePlace::Indexed { base, index, scale } => {
                    let number = builder.freeze(builder.extract(operand(index), lane));
                    let number = builder.widen(number, int64);
                    let sign = int64.constant(1 << (operand_bits(operand(index)) - 1));
                    // The sign is kept: what is above it is what a subtraction takes from there.
                    let signed = builder.sub(builder.xor(number, sign), sign);
                    builder.add(address(base), builder.mul(signed, int64.constant(scale)))
                }
            };
            (active, length, address)
        }
    };
    let last = code.counters.load(int64.constant(words.last_address()), int64);
    (builder.select(active, address, last), length)
}

/// How many bits the numbers of a vector have.
fn operand_bits(vector: Value<'_>) -> u32 {
    vector.ty().vector_elements().and_then(|(element, _)| element.bits()).expect("a vector of integers")
}

/// `void (slab, slab in assembly, address)`: appends the step from the address that was told last.
fn append_address<'m>(code: &Code<'_, 'm>, words: TraceWords) -> (Function<'m>, Type<'m>) {
    let (module, caller) = (code.module, &code.counters);
    let (append, append_type) = append_number(code, words);
    let [slab, in_assembly] = caller.pointers().map(Value::ty);
    let ty = module.void().function(&[slab, in_assembly, module.int64()]);
    inlined(module, "__cotree_append_address", ty, |function| {
        let [slab, in_assembly, address] = parameters(function);
        let counters = caller.in_block(module.append_block(function), [slab, in_assembly]);
        let (builder, int64) = (&counters.builder, counters.int64);
        let last = int64.constant(words.last_address());
        let step = builder.sub(address, counters.load(last, int64));
        counters.store(last, address);
        // Steps in either direction: the sign becomes the lowest bit.
        let sign = builder.sub(int64.constant(0), builder.shift_right(step, int64.constant(63)));
        let number = builder.xor(builder.add(step, step), sign);
        builder.call(append_type, append, &[slab, in_assembly, number]);
        builder.return_nothing();
    })
}

/// `void (slab, slab in assembly, number)`: appends a number of a length of its own
/// ([`put_number`](cotree_core::method::trace::stream::put_number)).
fn append_number<'m>(code: &Code<'_, 'm>, words: TraceWords) -> (Function<'m>, Type<'m>) {
    let (module, caller) = (code.module, &code.counters);
    let [slab, in_assembly] = caller.pointers().map(Value::ty);
    let ty = module.void().function(&[slab, in_assembly, module.int64()]);
    inlined(module, "__cotree_append_number", ty, |function| {
        let [slab, in_assembly, number] = parameters(function);
        let [entry, short, long, stored, full, done] = [(); 6].map(|()| module.append_block(function));
        let counters = caller.in_block(entry, [slab, in_assembly]);
        let (builder, int64) = (&counters.builder, counters.int64);
        let constant = |value: u64| int64.constant(value);
        let zeros_type = int64.function(&[int64, module.int1()]);
        let zeros = module.function_or_declare(LEADING_ZEROS, zeros_type, |_| {});
        let never_zero = builder.or(number, constant(1));
        let zeros: Value<'m> = builder.call(zeros_type, zeros, &[never_zero, module.int1().constant(1)]).into();
        // A byte for each seven bits: (64 - zeros + 6) / 7.
        let bytes = builder.shift_right(builder.mul(builder.sub(constant(70), zeros), constant(37)), constant(8));
        let cursor = counters.load(constant(words.first), int64);
        let is_long = builder.compare(LLVMIntPredicate::LLVMIntUGT, bytes, constant(8));
        module.set_branch_weights(builder.branch(is_long, long, short), &HARDLY);
        let window_end = constant(words.window_end());

        builder.move_to_end(short);
        let with_mark = builder.or(builder.add(number, number), constant(1));
        let marked = builder.shift_left(with_mark, builder.sub(bytes, constant(1)));
        counters.store_behind(window_end, cursor, marked);
        builder.jump(stored);

        builder.move_to_end(long);
        counters.store_behind(window_end, cursor, module.int8().constant(0));
        counters.store_behind(window_end, builder.add(cursor, constant(1)), number);
        builder.jump(stored);

        builder.move_to_end(stored);
        let written = builder.phi(int64);
        written.add_incoming(bytes, short);
        written.add_incoming(constant(9), long);
        // Nobody tells the stack here: there is no ring.
        advance(code, &counters, words, written.into(), constant(TracePlace::NONE), [full, done]);
    })
}
