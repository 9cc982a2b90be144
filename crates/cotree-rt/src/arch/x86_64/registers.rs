//! Registers, and the frame of a caller.

use gimli::Register;

/// Registers by DWARF number: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 … r15.
pub type AllRegisters = [u64; 16];

pub const RBX: usize = 3;
pub const RBP: usize = 6;
/// The DWARF number of the stack pointer.
pub const STACK_POINTER: usize = 7;
/// The DWARF number of the frame pointer.
pub const FRAME_POINTER: usize = RBP;
/// The column of unwind tables for the return address, one more than the last register.
pub const RETURN_ADDRESS: Register = gimli::X86_64::RA;

/// What a callee preserves.
pub const PRESERVED: [usize; 6] = [RBX, RBP, 12, 13, 14, 15];
/// The place of the frame pointer in there.
pub const FRAME_POINTER_FIELD: usize = 1;
const _: () = assert!(PRESERVED[FRAME_POINTER_FIELD] == FRAME_POINTER);

/// The caller's frame at an entry point: what a walk of its stack starts from.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Caller {
    pub rbx: u64,
    pub rbp: u64,
    pub r12: u64,
    pub r13: u64,
    pub r14: u64,
    pub r15: u64,
    /// The stack pointer after the return.
    pub sp: u64,
    /// The return address.
    pub pc: u64,
}

impl Caller {
    /// How many words it has.
    pub const WORDS: usize = 8;

    /// All that it has, the return address last.
    #[cfg(not(feature = "shared-library"))]
    pub fn words(&self) -> [u64; Self::WORDS] {
        let Self { rbx, rbp, r12, r13, r14, r15, sp, pc } = *self;
        [rbx, rbp, r12, r13, r14, r15, sp, pc]
    }

    /// The caller's frame of such words.
    pub fn from_words([rbx, rbp, r12, r13, r14, r15, sp, pc]: [u64; Self::WORDS]) -> Self {
        Self { rbx, rbp, r12, r13, r14, r15, sp, pc }
    }

    /// All registers, zero but for those that callees preserve and the stack pointer.
    pub fn registers(&self) -> AllRegisters {
        let mut registers = [0; 16];
        for (register, value) in PRESERVED.into_iter().zip(self.preserved()) {
            registers[register] = value;
        }
        registers[STACK_POINTER] = self.sp;
        registers
    }

    /// The registers that callees preserve.
    pub fn preserved(&self) -> [u64; PRESERVED.len()] {
        [self.rbx, self.rbp, self.r12, self.r13, self.r14, self.r15]
    }
}

/// What a frame's code has in registers while a call is under way.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FrameRegisters {
    /// The stack pointer after the return.
    pub sp: u64,
    /// By [`PRESERVED`].
    pub preserved: [u64; PRESERVED.len()],
}

impl FrameRegisters {
    /// The registers of no frame.
    pub const NONE: Self = Self { sp: 0, preserved: [0; PRESERVED.len()] };

    pub fn of(caller: &Caller) -> Self {
        Self { sp: caller.sp, preserved: caller.preserved() }
    }

    /// By its DWARF number.
    #[cfg(not(feature = "counters-alone"))]
    pub fn get(&self, register: u8) -> Option<u64> {
        if usize::from(register) == STACK_POINTER {
            return Some(self.sp);
        }
        let place = PRESERVED.iter().position(|&preserved| preserved == usize::from(register))?;
        Some(self.preserved[place])
    }
}
