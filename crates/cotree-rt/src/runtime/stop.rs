//! Stops the other threads when the process ends, so that they can account for their frames.
//!
//! Thread pools are never shut down: at the end of most threaded programs some threads are blocked in a call, and what
//! they have on their stacks dies with the process. A signal makes each of them walk its own stack. It is one that libc
//! keeps for itself, which no program can block, and libc has no more use for it now.
//!
//! Between our handler and the death of the process libc still flushes its streams, and must not wait there for a
//! thread that we hold: once the profile is complete and the counters lead nowhere, threads go on. Those that slept in a
//! call that would now fail with EINTR sleep on, so that none reports an error that it would never have seen.

use super::thread;
use super::walk::Walk;
use super::{process, sys};
use crate::layout::Flags;
use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// glibc: SIGSETXID; musl: SIGCANCEL, its SIGSETXID being 34.
const SIGNAL: c_int = 33;

/// Values of [`thread::Thread::stop`].
const FREE: u32 = 0;
const ASKED: u32 = 1;
const COUNTED: u32 = 2;

unsafe extern "C" {
    fn cotree_rt_return_from_signal();
}

// The bytes by which walks know the end of a handler.
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

/// Stops all other threads. Gives how many did not answer: their frames are not accounted for.
pub fn others() -> u32 {
    let others = || thread::others().filter(|record| record.stop.load(Acquire) != COUNTED);
    if others().next().is_none() {
        return 0;
    }
    // SAFETY: a handler that preserves what it interrupts; the kernel's structure is handler, flags, restorer, mask.
    unsafe {
        // On the thread's own stack: a walk takes more than the alternate stacks that Rust's threads have.
        let flags = libc::SA_SIGINFO | libc::SA_RESTART | SA_RESTORER;
        let handler = on_signal as unsafe extern "C" fn(c_int, *mut c_void, *mut libc::ucontext_t) as usize;
        let restorer = cotree_rt_return_from_signal as unsafe extern "C" fn() as usize;
        sys::set_disposition(SIGNAL, &[handler, flags as usize, restorer, usize::MAX]);
    }
    // A thread that was being started when we began forgets that it was asked; it is asked again once it runs.
    let ask = || {
        for record in others().filter(|record| record.stop.load(Acquire) == FREE && thread::runs(record)) {
            record.stop.store(ASKED, Release);
            let _ = sys::signal_thread(record.id.load(Relaxed), SIGNAL);
        }
    };
    let mut patience = 4000;
    ask();
    while patience > 0 && others().any(thread::is_there) {
        patience -= 1;
        sys::pause_a_little();
        ask();
    }
    others().filter(|record| thread::is_there(record)).count() as u32
}

/// Lets them go on.
pub fn release() {
    for (_, record) in thread::all() {
        if record.stop.swap(FREE, Release) == COUNTED {
            sys::wake(&record.stop);
        }
    }
}

const SA_RESTORER: c_int = 0x0400_0000;

unsafe extern "C" fn on_signal(_signal: c_int, _info: *mut c_void, context: *mut libc::ucontext_t) {
    let Some((_, record)) = thread::current() else { return };
    if record.stop.load(Acquire) != ASKED {
        return;
    }
    // SAFETY: the kernel's record of what was interrupted.
    let registers = unsafe { &(*context).uc_mcontext.gregs };
    let mut walk = Walk::interrupted(registers);
    for frame in walk.by_ref() {
        frame.count(1);
    }
    if !walk.is_complete() {
        process::flag(Flags::WALK_INCOMPLETE);
    }
    record.stop.store(COUNTED, Release);
    // What the program would get from its call.
    let sleeping = registers[libc::REG_RAX as usize] == -i64::from(libc::EINTR);
    while sleeping || record.stop.load(Acquire) == COUNTED {
        sys::wait(&record.stop, if sleeping { record.stop.load(Relaxed) } else { COUNTED });
    }
}
