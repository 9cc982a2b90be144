//! Notes in a binary's debug information of where a program is, and on which path: what the build writes, and a reader
//! finds after a fault ([`crate::held_path`]).
//!
//! The stretches of all functions of a unit ([`cotree_core::facts::stretches`]) are numbered. Where an instruction is
//! of one stretch, the discriminator of its row in the line table says of which; where paths change in no block, its
//! number is that of the block's first stretch. A variable of each function, whose name says the function and the
//! number of its first stretch, has this value in a stretch (modulo 2⁶⁴):
//!
//! | bits | what |
//! | ---: | --- |
//! | 0–23 | the number of the stretch |
//! | 24–25 | the kind of [`Note`] |
//! | 26–63 | a number: that of the path up to the block, or what the path register has to be added to |
//!
//! In functions that are compiled as they are written the variable is a constant in each stretch, and another one,
//! [`REGISTER`], is the path register. In others the register has been added.
//!
//! Paths across functions have numbers of 64 bits. The variable has the lower 38 of them, and another one, [`high()`],
//! in the same manner the upper 26; its name says so ([`HALVES`]), since the optimiser may leave nothing of the other
//! one. Where callers say with which path they call, that is a sum alone ([`Note::Product`]): the number is the sum and
//! a product of [`FACTOR`] and [`COMPLETIONS`], which are told likewise, with [`FACTOR_REGISTER`] and
//! [`COMPLETIONS_REGISTER`] in functions that are compiled as they are written.

use cotree_core::ids::FunctionId;

/// At most this many stretches of a unit have numbers.
pub const MOST_BLOCKS: u32 = 1 << 24;
/// Path numbers from this one on are not noted.
pub const MOST_PATHS: u64 = 1 << 37;
/// The name of the variable that is the path register.
pub const REGISTER: &str = "__cotree_path_register";
/// The name of the variable that is a factor of the number of a path across functions.
pub const FACTOR: &str = "__cotree_path_factor";
/// The name of the variable that is the register of [`FACTOR`].
pub const FACTOR_REGISTER: &str = "__cotree_path_factor_register";
/// The name of the variable that is the other factor.
pub const COMPLETIONS: &str = "__cotree_path_completions";
/// The name of the variable that is the register of [`COMPLETIONS`].
pub const COMPLETIONS_REGISTER: &str = "__cotree_path_completions_register";
/// In the name of a variable, in place of a shift: its number is told in two halves.
pub const HALVES: u32 = 64;
/// How many bits of a number are in the lower half.
pub const HIGH_SHIFT: u32 = 64 - NUMBER_SHIFT;
/// A register that holds a number is shifted left by so much before it is added.
pub const NUMBER_SHIFT: u32 = 26;
/// A register that holds the address of a word of 8 bytes is shifted left by so much.
pub const ADDRESS_SHIFT: u32 = 23;

/// What every name begins with that says a function.
const PREFIX: &str = "__cotree_path_of_";
const KIND: u32 = 24;

/// What is noted of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// The path register and this are the number of the path up to the block.
    Register(i64),
    /// The path register, this, and the product of [`FACTOR`] and [`COMPLETIONS`] are the number of the path.
    Product(i64),
    /// The path up to the block has this number.
    Known(u64),
    /// The path has been counted.
    Counted,
}

impl Note {
    /// The number that is noted.
    #[must_use]
    pub const fn number(self) -> u64 {
        match self {
            Self::Register(plus) | Self::Product(plus) => plus.cast_unsigned(),
            Self::Known(number) => number,
            Self::Counted => 0,
        }
    }

    /// A note of this kind with another number.
    #[must_use]
    pub const fn with(self, number: u64) -> Self {
        match self {
            Self::Register(_) => Self::Register(number.cast_signed()),
            Self::Product(_) => Self::Product(number.cast_signed()),
            Self::Known(_) => Self::Known(number),
            Self::Counted => Self::Counted,
        }
    }

    /// The value of the variable in the block with this number.
    #[must_use]
    pub fn pack(self, block: u32) -> u64 {
        let (kind, number) = match self {
            Self::Register(plus) => (0, plus.cast_unsigned()),
            Self::Known(number) => (1, number),
            Self::Counted => (2, 0),
            Self::Product(plus) => (3, plus.cast_unsigned()),
        };
        number << NUMBER_SHIFT | kind << KIND | u64::from(block)
    }

    /// The note in a value, and the block. Numbers are modulo 2³⁸.
    #[must_use]
    pub fn unpack(value: u64) -> Option<(Self, u32)> {
        let number = value >> NUMBER_SHIFT;
        let note = match value >> KIND & 3 {
            0 => Self::Register(number.cast_signed()),
            1 => Self::Known(number),
            2 => Self::Counted,
            _ => Self::Product(number.cast_signed()),
        };
        Some((note, u32::try_from(value & u64::from(MOST_BLOCKS - 1)).ok()?))
    }
}

/// The discriminator of a block's instructions. Those of calls end in other bits.
#[must_use]
pub fn discriminator(block: u32) -> u32 {
    (block + 1) << 3
}

/// The block of a discriminator.
#[must_use]
pub fn block_of(discriminator: u64) -> Option<u32> {
    let block = discriminator.checked_sub(8).filter(|_| discriminator.is_multiple_of(8))? / 8;
    u32::try_from(block).ok().filter(|&block| block < MOST_BLOCKS)
}

/// The name of a function's variable.
#[must_use]
pub fn name(function: FunctionId, first_block: u32, shift: u32) -> String {
    format!("{PREFIX}{}_{first_block}_{shift}", function.0)
}

/// The name of the variable that has the upper half of another one's number.
#[must_use]
pub fn high(name: &str) -> String {
    format!("{name}_high")
}

/// The function, its first block and the shift in the name of a variable.
#[must_use]
pub fn parse(name: &str) -> Option<(FunctionId, u32, u32)> {
    let mut parts = name.strip_prefix(PREFIX)?.split('_');
    let mut next = || parts.next()?.parse().ok();
    let (function, first, shift) = (next()?, next()?, next()?);
    let known = parts.next().is_none() && matches!(shift, NUMBER_SHIFT | ADDRESS_SHIFT | HALVES);
    known.then_some((FunctionId(function), first, shift))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_come_back() {
        for note in [Note::Known(0), Note::Known(MOST_PATHS), Note::Counted, Note::Register(7), Note::Product(9)] {
            for block in [0, 1, MOST_BLOCKS - 1] {
                assert_eq!(Note::unpack(note.pack(block)), Some((note, block)));
                assert_eq!(block_of(discriminator(block).into()), Some(block));
            }
        }
    }

    #[test]
    fn a_register_is_added() {
        let (block, number, less) = (77, 1_000_000u64, -300i64);
        let register = number.wrapping_sub(less.cast_unsigned());
        let value = (register << NUMBER_SHIFT).wrapping_add(Note::Register(less).pack(block));
        assert_eq!(Note::unpack(value), Some((Note::Register(number.cast_signed()), block)));
        let (counters, first) = (0x55_5555_4000_u64, 900u64);
        let address = counters.wrapping_add(first.wrapping_add(register).wrapping_mul(8));
        let plus = Note::Register(less.wrapping_sub(first.cast_signed())).pack(block);
        let value = (address << ADDRESS_SHIFT).wrapping_add(plus).wrapping_sub(counters << ADDRESS_SHIFT);
        assert_eq!(Note::unpack(value), Some((Note::Register(number.cast_signed()), block)));
    }

    #[test]
    fn names_come_back() {
        let text = name(FunctionId(12), 345, ADDRESS_SHIFT);
        assert_eq!(parse(&text), Some((FunctionId(12), 345, ADDRESS_SHIFT)));
        for wrong in ["__cotree_path_of_1_2_5", "__cotree_path_of_1_2_23_1", "__cotree_path_of_x_2_23", REGISTER] {
            assert_eq!(parse(wrong), None);
        }
    }

    #[test]
    fn discriminators_of_calls_are_no_blocks() {
        assert!([0, 7, 15, 9, u64::MAX].into_iter().all(|discriminator| block_of(discriminator).is_none()));
    }
}
