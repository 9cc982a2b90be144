//! Code addresses with a meaning for walks: the bottom of the stack, a jump that is under way, a
//! thread that is accounting for its frames.

#[cfg(not(feature = "shared-library"))]
use crate::runtime::hooks::{jump, landing, spawn};
use core::ffi::c_void;
use core::mem::{ManuallyDrop, MaybeUninit};

/// Whether a jump that has been accounted for is under way in this frame: it can be taken back.
#[cfg(not(feature = "shared-library"))]
pub fn is_leaping(pc: u64) -> bool {
    jump::is_leaping(pc)
}

/// Whether the code is the unwinder's, which leaves frames some time after they have been accounted for.
#[cfg(not(feature = "shared-library"))]
pub fn is_unwinder(pc: u64) -> bool {
    landing::is_unwinder(pc)
}

/// Jumps are the executable's.
#[cfg(feature = "shared-library")]
pub fn is_leaping(_pc: u64) -> bool {
    false
}

/// So are exceptions.
#[cfg(feature = "shared-library")]
pub fn is_unwinder(_pc: u64) -> bool {
    false
}

/// Whether walks end at the code address: below are only frames of libc.
#[cfg(not(feature = "shared-library"))]
#[inline(always)]
pub fn is_bottom(pc: u64) -> bool {
    spawn::is_bottom(pc)
}

/// Trampolines are the executable's.
#[cfg(feature = "shared-library")]
pub fn is_bottom(_pc: u64) -> bool {
    false
}

/// Whether the frame at the code address accounts for frames of its thread.
pub fn is_accounting(pc: u64) -> bool {
    pc == &raw const cotree_rt_accounting_end as u64
}

unsafe extern "C" {
    fn cotree_rt_accounting(act: unsafe extern "C" fn(*mut c_void), data: *mut c_void);
    static cotree_rt_accounting_end: u8;
}
core::arch::global_asm!(
    ".pushsection .text.cotree.accounting,\"ax\",@progbits",
    ".p2align 4",
    ".hidden cotree_rt_accounting, cotree_rt_accounting_end",
    ".globl cotree_rt_accounting, cotree_rt_accounting_end",
    ".type cotree_rt_accounting,@function",
    "cotree_rt_accounting:",
    ".cfi_startproc",
    "sub rsp, 8",
    ".cfi_adjust_cfa_offset 8",
    "mov rax, rdi",
    "mov rdi, rsi",
    "call rax",
    "cotree_rt_accounting_end:",
    "add rsp, 8",
    ".cfi_adjust_cfa_offset -8",
    "ret",
    ".cfi_endproc",
    ".size cotree_rt_accounting, .-cotree_rt_accounting",
    ".popsection",
);

/// Accounts for frames of this thread in such a way that whoever interrupts that, and walks the same stack, sees it:
/// [`super::walk::Walk::is_accounting`].
#[inline(always)]
pub fn accounting<T>(act: impl FnOnce() -> T) -> T {
    struct Slots<F, T>(ManuallyDrop<F>, MaybeUninit<T>);
    unsafe extern "C" fn run<T, F: FnOnce() -> T>(data: *mut c_void) {
        // SAFETY: the slots below, for the time of the call, which is the only one.
        unsafe {
            let slots = &mut *data.cast::<Slots<F, T>>();
            slots.1.write(ManuallyDrop::take(&mut slots.0)());
        }
    }
    fn runner<T, F: FnOnce() -> T>(_: &F) -> unsafe extern "C" fn(*mut c_void) {
        run::<T, F>
    }
    let run = runner(&act);
    let mut slots = Slots(ManuallyDrop::new(act), MaybeUninit::uninit());
    // SAFETY: a function for that type of data, which writes the result.
    unsafe {
        cotree_rt_accounting(run, (&raw mut slots).cast());
        slots.1.assume_init()
    }
}
