//! Stops the other threads when the process ends, so that they can account for their frames.
//!
//! Thread pools are rarely shut down. At the end of most threaded programs some threads are blocked in a call, and the
//! frames on their stacks die with the process. A signal makes each of them walk its own stack. It is one that libc
//! reserves, which no program can block, and libc no longer needs it then.
//!
//! A stopped thread waits in the handler until all threads are stopped, and only then accounts for itself. Until then
//! it can be resumed, so that it leaves profiled code, enters a call, or releases what another thread needs to stop.
//!
//! Between our handler and the end of the process libc still flushes its streams, and must not wait for a
//! thread that we hold. So threads continue once the profile is complete and increments have no effect. Threads that
//! slept in a call that would now fail with EINTR keep sleeping, so that none reports an error that it would not have
//! seen otherwise.

use crate::arch::context::{Context, SA_RESTORER, restorer};
use crate::arch::system_calls;
use crate::runtime::os::reserved_signals::STOP;
use crate::runtime::os::{own_stack, sys};
use crate::runtime::process::{counting, units};
use crate::runtime::stack::walk::Walk;
use crate::runtime::thread;
use crate::runtime::thread::Thread;
use crate::runtime::unit;
use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize};

/// Values of [`thread::Thread::stop`].
const FREE: u32 = 0;
const ASKED: u32 = 1;
/// Stopped where it can account for itself.
const HELD: u32 = 2;
/// Held in the middle of a call that would fail if it went on.
const ASLEEP: u32 = 3;
/// Held, and asked to account for itself now.
const DUE: u32 = 4;
const COUNTED: u32 = 5;

/// Rounds of asking, of some 100 µs each.
const MOST_ROUNDS: u32 = 4000;
/// How often a thread that is in the middle of profiled code may go on, so as to be stopped in a call: at first, and
/// after so many rounds, for on a busy machine each time takes long.
const CHANCES: u32 = 30;
const LAST_CHANCES: u32 = 3;
const PATIENT_ROUNDS: u32 = 100;
/// After so many in which none was stopped, those that are held go on for a moment: one of them may have a lock of
/// libc's that another one, with all signals blocked, waits for.
const ROUNDS_STUCK: u32 = 200;

/// How many chances threads have now.
static ALLOWED: AtomicU32 = AtomicU32::new(CHANCES);

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
        let before = sys::set_disposition(STOP, &[handler, flags as usize, restorer(), usize::MAX]);
        if before[0] != handler {
            BEFORE.iter().zip(before).for_each(|(place, word)| place.store(word, Relaxed));
        }
        STOPPING.store(true, Release);
    }
    // A thread that was being started when we began forgets that it was asked; it is asked again once it runs.
    let ask = || {
        for record in others().filter(|record| record.stop.load(Acquire) == FREE && thread::runs(record)) {
            record.stop.store(ASKED, Release);
            let _ = sys::signal_thread(record.id.load(Relaxed), STOP);
        }
    };
    let held = |record: &Thread| matches!(record.stop.load(Acquire), HELD | ASLEEP);
    let (mut most, mut stuck) = (0, 0);
    ALLOWED.store(CHANCES, Relaxed);
    ask();
    for round in 1..MOST_ROUNDS {
        if round == PATIENT_ROUNDS {
            ALLOWED.store(LAST_CHANCES, Relaxed);
        }
        if !others().any(|record| !held(record) && thread::is_there(record)) {
            break;
        }
        let now = others().filter(|record| held(record)).count();
        (most, stuck) = if now > most { (now, 0) } else { (most, stuck + 1) };
        if stuck == ROUNDS_STUCK {
            (most, stuck) = (0, 0);
            others().for_each(|record| change(record, HELD, FREE));
        }
        sys::pause_a_little();
        ask();
    }
    for record in others() {
        change(record, HELD, DUE);
        change(record, ASLEEP, DUE);
    }
    let mut patience = MOST_ROUNDS;
    while patience > 0 && others().any(|record| record.stop.load(Acquire) == DUE) {
        patience -= 1;
        sys::pause_a_little();
    }
    others().filter(|record| thread::is_there(record)).count() as u32
}

/// Changes the state of a thread that is in the first one, and wakes it.
fn change(record: &Thread, from: u32, to: u32) {
    if record.stop.compare_exchange(from, to, AcqRel, Relaxed).is_ok() {
        sys::wake(&record.stop);
    }
}

/// Lets them go on.
pub fn release() {
    for (_, record) in thread::all() {
        if record.stop.swap(FREE, Release) == COUNTED {
            sys::wake(&record.stop);
        }
    }
}

/// How libc handled the signal.
static BEFORE: [AtomicUsize; 4] = [const { AtomicUsize::new(0) }; 4];
static STOPPING: AtomicBool = AtomicBool::new(false);

/// A child that came about while its parent stopped threads has no use for that, but libc for its signal.
pub fn after_fork() {
    if STOPPING.swap(false, Acquire) {
        let before = [0, 1, 2, 3].map(|word: usize| BEFORE[word].load(Relaxed));
        // SAFETY: what was there before.
        unsafe { sys::set_disposition(STOP, &before) };
    }
}

unsafe extern "C" fn on_signal(_signal: c_int, _info: *mut c_void, context: *mut libc::ucontext_t) {
    let Some((_, record)) = thread::current() else { return };
    if record.stop.load(Acquire) != ASKED {
        return;
    }
    // SAFETY: the kernel's record of what was interrupted.
    let registers = unsafe { Context::of(context) };
    // What the program would get from its call.
    let sleeping = registers.has_failed_with(libc::EINTR);
    if !sleeping && !can_be_held(registers, record) {
        record.stop.store(FREE, Release);
        return;
    }
    record.stop.store(if sleeping { ASLEEP } else { HELD }, Release);
    loop {
        match record.stop.load(Acquire) {
            DUE => {
                own_stack::run(|| {
                    units::interrupted();
                    counting::count_frames(Walk::interrupted(registers), 1)
                });
                record.stop.store(COUNTED, Release);
            }
            state @ (HELD | ASLEEP | COUNTED) => sys::wait(&record.stop, state),
            state if sleeping => sys::wait(&record.stop, state),
            _ => return,
        }
    }
}

/// Whether the thread can account for itself where it is. While it accounts for frames of its own it can't, and not
/// well in the middle of code of ours, where nothing tells how far it has come: there it is held if it has been let go
/// often enough.
fn can_be_held(registers: &Context, record: &Thread) -> bool {
    // SAFETY: the instruction that comes next.
    let is_call = unsafe { system_calls::is_next(registers.pc()) };
    let mut walk = Walk::interrupted(registers);
    let mut busy = false;
    for frame in walk.by_ref() {
        busy |= !is_call && frame.interrupted && unit::link_address(frame.pc).is_some();
    }
    !walk.is_accounting() && (!busy || record.let_go.fetch_add(1, Relaxed) >= ALLOWED.load(Relaxed))
}
