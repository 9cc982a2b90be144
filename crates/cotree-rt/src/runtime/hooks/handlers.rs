//! Stands between the kernel and the program's signal handlers where it has to know that they begin:
//!
//! - where a unit is traced: what a handler does is a stream of its own, for it may interrupt code that is about to
//!   write to its thread's;
//! - where the kernel goes back to the default as it calls the handler (`SA_RESETHAND`): then the next signal ends the
//!   process, and ours has to stand there.
//!
//! The functions that install handlers ([`super::signals`]) put an entry of ours in the place of such a handler.

use crate::runtime::process::{signals, units};
use core::ffi::c_int;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The program's handlers, by signal.
static HANDLERS: [AtomicUsize; 65] = [const { AtomicUsize::new(0) }; 65];

/// Smaller numbers are no handlers but dispositions.
const LEAST: usize = 16;

unsafe extern "C" {
    fn cotree_rt_handler();
    fn cotree_rt_handler_once();
    static cotree_rt_handling: u8;
}
// The second one leaves no frame: nothing is to be done when the handler has returned.
core::arch::global_asm!(
    ".pushsection .text.cotree.handler,\"ax\",@progbits",
    ".p2align 4",
    ".hidden cotree_rt_handler, cotree_rt_handling",
    ".globl cotree_rt_handler, cotree_rt_handling",
    ".type cotree_rt_handler,@function",
    "cotree_rt_handler:",
    ".cfi_startproc",
    "endbr64",
    "sub rsp, 40",
    ".cfi_adjust_cfa_offset 40",
    "mov [rsp], rdi",
    "mov [rsp+8], rsi",
    "mov [rsp+16], rdx",
    "mov rsi, rsp",
    "call {begin}",
    "mov rdi, [rsp]",
    "mov rsi, [rsp+8]",
    "mov rdx, [rsp+16]",
    "call rax",
    "cotree_rt_handling:",
    "mov rdi, rsp",
    "call {end}",
    "add rsp, 40",
    ".cfi_adjust_cfa_offset -40",
    "ret",
    ".cfi_endproc",
    ".size cotree_rt_handler, .-cotree_rt_handler",
    ".p2align 4",
    ".hidden cotree_rt_handler_once",
    ".globl cotree_rt_handler_once",
    ".type cotree_rt_handler_once,@function",
    "cotree_rt_handler_once:",
    ".cfi_startproc",
    "endbr64",
    "sub rsp, 24",
    ".cfi_adjust_cfa_offset 24",
    "mov [rsp], rdi",
    "mov [rsp+8], rsi",
    "mov [rsp+16], rdx",
    "call {begin_once}",
    "mov rdi, [rsp]",
    "mov rsi, [rsp+8]",
    "mov rdx, [rsp+16]",
    "add rsp, 24",
    ".cfi_adjust_cfa_offset -24",
    "jmp rax",
    ".cfi_endproc",
    ".size cotree_rt_handler_once, .-cotree_rt_handler_once",
    ".popsection",
    begin = sym begin,
    begin_once = sym begin_once,
    end = sym end,
);

/// Gives the program's handler.
unsafe extern "C" fn begin(signal: c_int, frame: u64) -> usize {
    let handler = of(signal).load(Relaxed);
    signals::settle(signal);
    units::handler_begins(frame);
    handler
}

/// Begins a handler where only the default has to be stood in for.
unsafe extern "C" fn begin_once(signal: c_int) -> usize {
    let handler = of(signal).load(Relaxed);
    signals::settle(signal);
    handler
}

unsafe extern "C" fn end(frame: u64) {
    units::handler_ends(frame, false);
}

fn of(signal: c_int) -> &'static AtomicUsize {
    usize::try_from(signal).ok().and_then(|signal| HANDLERS.get(signal)).unwrap_or(&HANDLERS[0])
}

fn entry() -> usize {
    cotree_rt_handler as unsafe extern "C" fn() as usize
}

fn entry_once() -> usize {
    cotree_rt_handler_once as unsafe extern "C" fn() as usize
}

fn is_ours(handler: usize) -> bool {
    handler == entry() || handler == entry_once()
}

/// What to install in the place of a handler that the program installs, with these flags of `sigaction`.
pub fn in_place_of(signal: c_int, handler: usize, flags: c_int) -> usize {
    // Of a static executable, functions of libc that call each other come here twice.
    if handler < LEAST || handler == libc::SIG_ERR || is_ours(handler) {
        return handler;
    }
    let entry = if units::are_traced() {
        entry()
    } else if flags & libc::SA_RESETHAND != 0 && signals::stands_by(signal) {
        entry_once()
    } else {
        return handler;
    };
    of(signal).store(handler, Relaxed);
    entry
}

/// The program's handler for a signal, if ours is in its place.
pub fn known(signal: c_int) -> usize {
    of(signal).load(Relaxed)
}

/// None was installed: what was known before holds.
pub fn put_back(signal: c_int, handler: usize) {
    of(signal).store(handler, Relaxed);
}

/// The program's handler: the `known` one where ours is in its place.
pub fn behind(known: usize, handler: usize) -> usize {
    if is_ours(handler) { known } else { handler }
}

/// Whether what the kernel calls is an entry of ours that knows when the handler begins and ends.
pub fn is_seen(handler: usize) -> bool {
    handler == entry()
}

/// A frame ends that stood at this code address with this stack pointer: it may be that of a handler.
pub fn ended(pc: u64, sp: u64) {
    if pc == &raw const cotree_rt_handling as u64 {
        units::handler_ends(sp, true);
    }
}
