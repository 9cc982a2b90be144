//! What `setjmp` has saved, and jumps in whose frames walks see that they are under way.

#[cfg(not(feature = "shared-library"))]
use core::ffi::{c_int, c_void};

/// Stack pointer and return address of the `setjmp` call. Both libcs keep them in the seventh and eighth words; glibc
/// mangles them with the thread's pointer guard; musl does not, and then both look like addresses, which of mangled
/// ones not one pair in ten billion does.
///
/// # Safety
/// The buffer must have been filled by `setjmp`.
#[cfg(not(feature = "shared-library"))]
pub unsafe fn saved_by_setjmp(buffer: *const u64) -> (u64, u64) {
    // SAFETY: the caller vouches.
    let (sp, pc) = unsafe { (buffer.add(6).read(), buffer.add(7).read()) };
    if sp >> 47 == 0 && pc >> 47 == 0 {
        return (sp, pc);
    }
    let guard: u64;
    // SAFETY: glibc's thread control block has the guard there.
    unsafe { core::arch::asm!("mov {}, qword ptr fs:[0x30]", out(reg) guard, options(nostack, pure, readonly)) };
    (sp.rotate_right(17) ^ guard, pc.rotate_right(17) ^ guard)
}

/// Stack pointer and address that `__builtin_setjmp` has saved: behind the frame pointer, the address comes first.
///
/// # Safety
/// The buffer must have been filled by `__builtin_setjmp`.
#[cfg(not(feature = "shared-library"))]
pub unsafe fn saved_by_builtin_setjmp(buffer: *const u64) -> (u64, u64) {
    // SAFETY: the caller vouches; the buffer has three words at least.
    unsafe { (buffer.add(2).read(), buffer.add(1).read()) }
}

#[cfg(not(feature = "shared-library"))]
unsafe extern "C" {
    /// Calls libc's function, which returns only if it fails, with `pending` in the frame that it leaves behind.
    #[link_name = "cotree_rt_jump"]
    pub fn make_jump(place: *const c_void, value: c_int, function: *const c_void, pending: *const c_void) -> c_int;
    static cotree_rt_jumping: u8;
    /// What the compiler makes of `__builtin_longjmp`.
    #[link_name = "cotree_rt_builtin_jump"]
    pub fn builtin_jump(buffer: *const u64);
}

#[cfg(not(feature = "shared-library"))]
core::arch::global_asm!(
    ".pushsection .text.cotree.jump,\"ax\",@progbits",
    ".p2align 4",
    ".hidden cotree_rt_jump, cotree_rt_jumping",
    ".globl cotree_rt_jump, cotree_rt_jumping",
    ".type cotree_rt_jump,@function",
    "cotree_rt_jump:",
    ".cfi_startproc",
    "sub rsp, 8",
    ".cfi_adjust_cfa_offset 8",
    "mov [rsp], rcx",
    "call rdx",
    "cotree_rt_jumping:",
    "add rsp, 8",
    ".cfi_adjust_cfa_offset -8",
    "ret",
    ".cfi_endproc",
    ".size cotree_rt_jump, .-cotree_rt_jump",
    ".hidden cotree_rt_builtin_jump",
    ".globl cotree_rt_builtin_jump",
    ".type cotree_rt_builtin_jump,@function",
    "cotree_rt_builtin_jump:",
    ".cfi_startproc",
    "mov rbp, [rdi]",
    "mov rax, [rdi+8]",
    "mov rsp, [rdi+16]",
    "jmp rax",
    ".cfi_endproc",
    ".size cotree_rt_builtin_jump, .-cotree_rt_builtin_jump",
    ".popsection",
);

/// Whether the frame is that of a jump which has been accounted for: it can be taken back.
#[cfg(not(feature = "shared-library"))]
pub fn is_jumping(pc: u64) -> bool {
    pc == &raw const cotree_rt_jumping as u64
}

/// Jumps are the executable's.
#[cfg(feature = "shared-library")]
pub fn is_jumping(_pc: u64) -> bool {
    false
}

/// The pending jump that [`make_jump`] was given whose frame is at this stack pointer.
///
/// # Safety
/// The frame must be there.
#[cfg(not(feature = "shared-library"))]
pub unsafe fn pending_jump_at(sp: u64) -> *const c_void {
    // SAFETY: the caller vouches; it is the lowest word.
    unsafe { *(sp as *const *const c_void) }
}

// How a library calls the executable's runtime. Where there is none, the jump is made here, and nobody accounts for
// it.
#[cfg(feature = "shared-library")]
core::arch::global_asm!(
    ".pushsection .text.cotree.builtin_longjmp,\"ax\",@progbits",
    ".p2align 4",
    ".weak cotree_builtin_longjmp_v1",
    ".hidden __cotree_builtin_longjmp",
    ".globl __cotree_builtin_longjmp",
    ".type __cotree_builtin_longjmp,@function",
    "__cotree_builtin_longjmp:",
    ".cfi_startproc",
    "endbr64",
    "mov rax, [rip + cotree_builtin_longjmp_v1@GOTPCREL]",
    "test rax, rax",
    "jz 2f",
    "jmp rax",
    "2: mov rbp, [rdi]",
    "mov rax, [rdi+8]",
    "mov rsp, [rdi+16]",
    "jmp rax",
    ".cfi_endproc",
    ".size __cotree_builtin_longjmp, .-__cotree_builtin_longjmp",
    ".popsection",
);
