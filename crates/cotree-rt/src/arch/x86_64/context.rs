//! What a signal has interrupted, as the kernel tells its handler.

use super::registers::{AllRegisters, RBP, RBX, STACK_POINTER};

/// The order of the kernel's context: r8 … r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp; then rip.
const ORDER: [usize; 16] = [8, 9, 10, 11, 12, 13, 14, 15, 5, 4, RBP, RBX, 1, 0, 2, STACK_POINTER];
/// The place of the instruction that comes next.
const PC: usize = 16;

/// The registers as the kernel stores them.
#[repr(transparent)]
pub struct Context([i64; 23]);

impl Context {
    /// The registers by DWARF number, and the address of the instruction that comes next.
    pub fn new(registers: &AllRegisters, pc: u64) -> Self {
        let mut words = [0; 23];
        for (place, register) in ORDER.into_iter().enumerate() {
            words[place] = registers[register] as i64;
        }
        words[PC] = pc as i64;
        Self(words)
    }

    /// The registers in a context of a signal handler, or of `getcontext` and its like.
    ///
    /// # Safety
    /// The context must have been filled.
    pub unsafe fn of<'a>(context: *const libc::ucontext_t) -> &'a Self {
        // SAFETY: the caller vouches; the newtype has the array's layout.
        unsafe { &*(&raw const (*context).uc_mcontext.gregs).cast() }
    }

    /// By DWARF number.
    pub fn registers(&self) -> AllRegisters {
        let mut registers = [0; 16];
        for (place, register) in ORDER.into_iter().enumerate() {
            registers[register] = self.0[place] as u64;
        }
        registers
    }

    /// The address of the instruction that comes next.
    pub fn pc(&self) -> u64 {
        self.0[PC] as u64
    }

    /// The stack pointer.
    #[cfg(not(feature = "shared-library"))]
    pub fn sp(&self) -> u64 {
        self.0[libc::REG_RSP as usize] as u64
    }

    /// Whether a system call has just ended with this error.
    pub fn has_failed_with(&self, error: i32) -> bool {
        self.0[libc::REG_RAX as usize] == -i64::from(error)
    }
}

/// The instructions by which a handler returns to the kernel: `mov $__NR_rt_sigreturn, %rax; syscall`. Walks know the
/// end of a handler by them.
pub const RETURN_FROM_SIGNAL: [u8; 9] = [0x48, 0xC7, 0xC0, 0x0F, 0, 0, 0, 0x0F, 0x05];

unsafe extern "C" {
    /// Where handlers of ours return to.
    fn cotree_rt_return_from_signal();
}

// Behind a byte more, since what is at a return address is looked for from the byte before on.
core::arch::global_asm!(
    ".pushsection .text.cotree.return_from_signal,\"ax\",@progbits",
    ".hidden cotree_rt_return_from_signal",
    ".globl cotree_rt_return_from_signal",
    "nop",
    "cotree_rt_return_from_signal:",
    ".byte 0x48, 0xC7, 0xC0, 0x0F, 0, 0, 0",
    "syscall",
    ".popsection",
);

/// The flag of a disposition that says where its handler returns to.
pub const SA_RESTORER: i32 = 0x0400_0000;

/// The address at which handlers of ours return to the kernel.
pub fn restorer() -> usize {
    cotree_rt_return_from_signal as unsafe extern "C" fn() as usize
}

/// The registers that a signal has interrupted, and the address of the instruction that comes next, by what the kernel
/// has put at the stack pointer of the handler's caller. `read` gives a word of the stack, if it is there.
pub fn below_handler(sp: u64, mut read: impl FnMut(u64) -> Option<u64>) -> Option<(AllRegisters, u64)> {
    // struct ucontext: flags, link, stack (3 words), then the registers.
    let context = sp + 40;
    let mut registers = [0; 16];
    for (place, register) in ORDER.into_iter().enumerate() {
        registers[register] = read(context + place as u64 * 8)?;
    }
    Some((registers, read(context + PC as u64 * 8)?))
}
