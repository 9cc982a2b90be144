//! Tables of the unit object that say where path registers are while a call is under way.

/// What stands before the first instruction of a machine function whose calls have values in [`RegisterReturn`].
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionPrefix {
    /// [`FUNCTION_MAGIC`].
    pub magic: u64,
    /// The number of the machine function in the code map.
    pub number: u32,
    /// Zero.
    pub reserved: u32,
}

/// First bytes of a [`FunctionPrefix`].
pub const FUNCTION_MAGIC: u64 = 0xC07E_1EA7_0F9A_7495;

/// A call at which path registers can be found.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegisterReturn {
    /// The return address, relative to the function.
    pub offset: u32,
    /// The first value of the call; the next one's ends them.
    pub value: u32,
}

/// Where a value is while a call is under way, as one word: the kind in bits 0–7, a register (by its DWARF number) in
/// bits 8–15, a signed number in bits 32–63.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterValue {
    /// The register is always this constant.
    Constant(i32),
    /// The register is always this element of the table.
    LongConstant(u32),
    /// In a register that callees preserve.
    Register(u8),
    /// In memory, so far from the register's value (the stack pointer's is that after the return).
    Memory(u8, i32),
    /// The number of a word of slab 0, less this table's element after that one; that one says, as such a word, where
    /// the address of that word is.
    Address(u32),
}

impl RegisterValue {
    /// As a word.
    #[must_use]
    pub const fn pack(self) -> u64 {
        let (kind, register, number) = match self {
            Self::Constant(number) => (1, 0, number),
            Self::LongConstant(index) => (2, 0, index.cast_signed()),
            Self::Register(register) => (3, register, 0),
            Self::Memory(register, offset) => (4, register, offset),
            Self::Address(index) => (5, 0, index.cast_signed()),
        };
        kind | (register as u64) << 8 | (number.cast_unsigned() as u64) << 32
    }

    /// From a word.
    #[must_use]
    pub const fn unpack(word: u64) -> Option<Self> {
        let (register, number) = ((word >> 8) as u8, (word >> 32) as i32);
        Some(match word & 0xFF {
            1 => Self::Constant(number),
            2 => Self::LongConstant(number.cast_unsigned()),
            3 => Self::Register(register),
            4 => Self::Memory(register, number),
            5 => Self::Address(number.cast_unsigned()),
            _ => return None,
        })
    }
}
