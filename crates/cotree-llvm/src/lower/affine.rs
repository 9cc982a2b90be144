//! Lowers closings: where a loop is left, the count of its affine variable is added to a counter
//! ([`cotree_core::place::affine`]).
//!
//! `counter += (value here − value at entry) / step + plus`. Nothing is done where the loop is entered, unless the
//! initial value may be undefined: then it is frozen, because an undefined value may differ at each use. For a value
//! that is shifted, the formula uses the position of its highest bit instead.

use super::code::{Code, Initial};
use crate::error::Error;
use crate::extract::affine::{Reading, Value as Variable};
use crate::ir::{At, Block, Value};
use cotree_core::ids::{self, Edge};
use cotree_core::place::affine::Quotient;
use cotree_core::probe::Closing;
use std::collections::{BTreeMap, BTreeSet};

/// Prepares the variables of these closings, before anything is split.
pub(super) fn open<'m>(code: &Code<'_, 'm>, closings: impl Iterator<Item = Closing>) -> Result<Initial<'m>, Error> {
    let used: BTreeSet<ids::Variable> = closings.map(|closing| closing.variable).collect();
    let mut initial = Initial::new();
    for number in used {
        let variable = variable_of(code, number)?;
        variable.flagged.iter().for_each(|increment| increment.promise_nothing());
        initial.insert(number, value_at_entry(code, variable));
    }
    Ok(initial)
}

fn variable_of<'a, 'm>(code: &Code<'a, 'm>, variable: ids::Variable) -> Result<&'a Variable<'m>, Error> {
    let found = code.ir.affine.get(variable.index());
    found.ok_or_else(|| code.unsupported(&format!("of the unknown variable {variable}")))
}

/// What the variable was when its loop was entered: the one number that comes in, or a phi beside the variable's own.
fn value_at_entry<'m>(code: &Code<'_, 'm>, variable: &Variable<'m>) -> Value<'m> {
    let (phi, builder) = (variable.phi, &code.counters.builder);
    let from_outside = |block: &Block<'m>| !variable.latches.contains(block);
    if variable.freeze {
        let mut frozen: BTreeMap<Block<'m>, Value<'m>> = BTreeMap::new();
        for (i, (value, block)) in (0..).zip(phi.entries()).filter(|(_, (_, block))| from_outside(block)) {
            if value.is_constant_int() {
                continue;
            }
            // Parallel edges must bring the same value.
            let value = *frozen.entry(block).or_insert_with(|| {
                builder.move_before(block.terminator());
                builder.freeze(value)
            });
            phi.set_operand(i, value);
        }
    }
    let mut first = None;
    let mut numbers: BTreeMap<Block<'m>, Value<'m>> = BTreeMap::new();
    for (value, block) in phi.entries().filter(|(_, block)| from_outside(block)) {
        // A terminator follows all that comes in from its block.
        let number = *numbers.entry(block).or_insert_with(|| {
            builder.move_before(block.terminator());
            number(code, variable, value)
        });
        first.get_or_insert(number);
    }
    let first = first.expect("a loop is entered from somewhere");
    if numbers.values().all(|&number| number == first) {
        return first;
    }
    builder.move_before(*phi);
    let entry = builder.phi(phi.ty());
    for (_, block) in phi.entries() {
        entry.add_incoming(numbers.get(&block).copied().unwrap_or(entry.into()), block);
    }
    entry.into()
}

/// Reads the number that counts from one of the variable's values.
fn number<'m>(code: &Code<'_, 'm>, variable: &Variable<'m>, value: Value<'m>) -> Value<'m> {
    let Reading::HighestBit { never_zero, .. } = variable.reading else { return value };
    let (builder, ty, flag) = (&code.counters.builder, value.ty(), code.module.int1());
    let kind = ty.function(&[ty, flag]);
    let zeros = code.module.function_or_declare(&format!("llvm.ctlz.i{}", variable.bits), kind, |_| {});
    // A zero is never shifted, so any position will do if both values give the same.
    let value = if never_zero { value } else { builder.or(value, ty.constant(1)) };
    let zeros = builder.call(kind, zeros, &[value, flag.constant(1)]);
    builder.xor(zeros, ty.constant(u64::from(variable.bits) - 1))
}

/// Adds the variable's count, multiplied; with `branch`, only if its branch went that branch whenever it was reached.
/// The builder stands where the loop has just been left.
pub(super) fn close(
    code: &Code<'_, '_>,
    counter: u64,
    closing: Closing,
    branch: Option<Edge>,
    times: u64,
) -> Result<(), Error> {
    let unsupported = || code.unsupported(&format!("{closing:?}"));
    let variable = variable_of(code, closing.variable)?;
    let present = code.present(*variable.read.get(&closing.from).ok_or_else(unsupported)?);
    let entry = code.initial.get().and_then(|initial| initial.get(&closing.variable)).ok_or_else(unsupported)?;
    let entry = code.present(*entry);
    let condition = match branch.map(|branch| code.facts.edges[branch]) {
        None => None,
        Some(facts) => {
            let condition = *variable.conditions.get(&facts.src).ok_or_else(unsupported)?;
            Some((code.present(condition), facts.successor == 0))
        }
    };
    let bits = variable.bits;
    let present = match &variable.reading {
        Reading::Itself if variable.settled.contains(&closing.from) => present,
        Reading::Itself => out_of_sight(code, present, bits),
        Reading::HighestBit { by, ends, .. } if ends.contains(&closing.from) => {
            code.counters.builder.remainder(entry, entry.ty().constant(*by))
        }
        Reading::HighestBit { .. } => number(code, variable, present),
    };
    // Strength reduction treats a value that comes from an earlier loop as a variable of that loop, too.
    let entry = if variable.goes_on { out_of_sight(code, entry, bits) } else { entry };
    let (builder, int64) = (&code.counters.builder, code.counters.int64);
    let mut amount = counted(code, closing, bits, [integer(code, present), integer(code, entry)]);
    if let Some((condition, if_true)) = condition {
        let nothing = int64.constant(0);
        let (then, otherwise) = if if_true { (amount, nothing) } else { (nothing, amount) };
        amount = builder.select(condition, then, otherwise);
    }
    if times != 1 {
        amount = builder.mul(amount, int64.constant(times));
    }
    code.counters.add_whole(counter, amount);
    Ok(())
}

/// An address as a number; numbers as they are.
fn integer<'m>(code: &Code<'_, 'm>, value: Value<'m>) -> Value<'m> {
    let is_address = value.ty().is_pointer();
    if is_address { code.counters.builder.address_to_int(value, code.counters.int64) } else { value }
}

/// How much a variable of so many bits has counted, as a word.
fn counted<'m>(code: &Code<'_, 'm>, closing: Closing, bits: u32, [present, entry]: [Value<'m>; 2]) -> Value<'m> {
    let (builder, int64) = (&code.counters.builder, code.counters.int64);
    let quotient = Quotient::new(closing.step, bits);
    let (from, less, offset) = if quotient.negate {
        (entry, present, closing.offset)
    } else {
        (present, entry, closing.offset.wrapping_neg())
    };
    let constant = |n: u64| present.ty().constant(n & cotree_core::place::affine::mask(bits));
    let mut amount = builder.sub(from, less);
    if offset != 0 {
        amount = builder.add(amount, constant(offset.cast_unsigned()));
    }
    if quotient.shift != 0 {
        amount = builder.shift_right(amount, constant(u64::from(quotient.shift)));
    }
    if quotient.inverse != 1 {
        amount = builder.mul(amount, constant(quotient.inverse));
        if quotient.shift != 0 {
            amount = builder.and(amount, constant(quotient.mask));
        }
    }
    if bits < 64 {
        amount = builder.widen(amount, int64);
    }
    if closing.plus != 0 {
        amount = builder.add(amount, int64.constant(closing.plus.cast_unsigned()));
    }
    amount
}

/// The value, hidden from the optimiser. Otherwise loop strength reduction would introduce a
/// variable for the difference to the value at entry, which would be updated in every circuit. Hiding costs
/// no instruction (it is empty assembly, from a register to the same one), and if the trip count is known, the value is
/// still replaced by its final one.
fn out_of_sight<'m>(code: &Code<'_, 'm>, value: Value<'m>, bits: u32) -> Value<'m> {
    if !matches!(bits, 8 | 16 | 32 | 64) {
        return value;
    }
    let ty = value.ty();
    let call = code.counters.builder.assembly(ty.function(&[ty]), "", "=r,0", false, &[value]);
    call.add_attribute(At::Function, code.module.attribute("nounwind"));
    call.into()
}
