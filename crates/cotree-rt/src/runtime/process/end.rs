//! The ends of a process: return from `main`, `exit`, `quick_exit`, `_exit`, `abort`, a failed assertion.

#[cfg(not(feature = "shared-library"))]
use crate::arch::context::Context;
use crate::arch::entries::entry;
use crate::arch::linkage::weak;
use crate::arch::registers::Caller;
use crate::layout::{Flags, HANDLER, State};
use crate::runtime::file::current;
#[cfg(feature = "shared-library")]
use crate::runtime::file::pool;
use crate::runtime::os::call::call;
use crate::runtime::os::reserved_signals::RESERVED;
use crate::runtime::os::{own_stack, sys};
#[cfg(feature = "shared-library")]
use crate::runtime::process::this_unit::THIS;
use crate::runtime::process::{counting, stop, units, vm_children};
#[cfg(not(feature = "shared-library"))]
use crate::runtime::process::{
    counting::{check_accounting, count_frames},
    dispositions, handlers,
};
use crate::runtime::profile::no_room;
use crate::runtime::record::early;
#[cfg(not(feature = "counters-alone"))]
use crate::runtime::record::last_stack;
#[cfg(not(feature = "counters-alone"))]
use crate::runtime::stack::walk::Top;
use crate::runtime::stack::walk::Walk;
#[cfg(feature = "shared-library")]
use crate::runtime::{joined, record};
use crate::runtime::{slabs, thread, unit};
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicI32, Ordering};

unsafe extern "C" {
    #[cfg(not(feature = "static-executable"))]
    fn __cxa_atexit(function: unsafe extern "C" fn(*mut c_void), argument: *mut c_void, object: *mut c_void) -> c_int;
    fn cotree_rt_at_exit(argument: *mut c_void);
}

weak!(at_quick_exit = "__cxa_at_quick_exit");
weak!(plain_at_quick_exit = "at_quick_exit");

entry!("cotree_rt_at_exit", at_exit, 1);

/// A static executable's destructors are called by a handler that libc registers before anyone else: the last of all is
/// the first of the destructors.
#[cfg(feature = "static-executable")]
#[used]
#[unsafe(link_section = ".fini_array.00000")]
static LAST: unsafe extern "C" fn(*mut c_void) = cotree_rt_at_exit;

/// Registered before everyone else's handlers, so run after all of them.
pub fn register() {
    let object = object_handle();
    // SAFETY: handlers with C linkage; the functions' own signatures.
    unsafe {
        #[cfg(not(feature = "static-executable"))]
        __cxa_atexit(cotree_rt_at_exit, core::ptr::null_mut(), object);
        let handler = cotree_rt_at_exit as unsafe extern "C" fn(*mut c_void);
        if let Some(register) = at_quick_exit() {
            call!(register => fn(handler => unsafe extern "C" fn(*mut c_void), object => *mut c_void) -> c_int);
        } else if let Some(register) = plain_at_quick_exit() {
            call!(register => fn(handler => unsafe extern "C" fn(*mut c_void)) -> c_int);
        }
    }
}

/// An executable's handler belongs to no object, so that nothing but the end of the process calls it.
#[cfg(not(feature = "shared-library"))]
fn object_handle() -> *mut c_void {
    core::ptr::null_mut()
}

/// A library's goes with it.
#[cfg(feature = "shared-library")]
fn object_handle() -> *mut c_void {
    unsafe extern "C" {
        static __dso_handle: u8;
    }
    (&raw const __dso_handle).cast_mut().cast()
}

#[cfg(not(feature = "shared-library"))]
unsafe extern "C" fn at_exit(_argument: *mut c_void, caller: &Caller) {
    finish(caller, State::FINISHED);
}

/// A library ends when it is unloaded, or with the process: then the executable sees to it, after everyone's handlers,
/// if it is profiled.
#[cfg(feature = "shared-library")]
unsafe extern "C" fn at_exit(_argument: *mut c_void, caller: &Caller) {
    if !joined::leave(&THIS) {
        return;
    }
    if is_unloading(caller) {
        // The executable knows the threads, and whether one of them vanished. The one that loaded the library may have
        // ended since.
        complete(State::FINISHED, 0);
        record::close();
        pool::join();
        slabs::let_go();
    } else {
        finish(caller, State::FINISHED);
    }
}

/// Whether the handler was called by the library's own destructor, which stands below all handlers when an object is
/// unloaded, and which has no unwind tables: a walk ends there. No frame of the library dies then.
#[cfg(feature = "shared-library")]
fn is_unloading(caller: &Caller) -> bool {
    let mut walk = Walk::new(caller);
    let last = walk.by_ref().last();
    !walk.is_complete() && last.is_some_and(|frame| unit::link_address(frame.pc).is_some())
}

/// The thread that ends the process; 0: none does.
static ENDING: AtomicI32 = AtomicI32::new(0);

/// Whether this thread may end the profile: the first to try. Others wait for the end of the process, except a signal
/// handler on top of the thread that is at it.
fn take_the_end() -> bool {
    let me = sys::thread_id();
    match ENDING.compare_exchange(0, me, Ordering::Acquire, Ordering::Relaxed) {
        Ok(_) => true,
        Err(other) if other == me => false,
        Err(_) => loop {
            sys::pause_a_little();
            if ENDING.load(Ordering::Relaxed) == 0 {
                return take_the_end();
            }
        },
    }
}

/// A forked child has not ended, whatever its parent was doing.
pub fn after_fork() {
    ENDING.store(0, Ordering::Relaxed);
}

/// Accounts for what is alive, this thread's frames and those of the others, and completes the profiles for good.
///
/// In a child that runs in our memory, only what it leaves behind there is accounted for.
pub fn finish(caller: &Caller, state: u32) {
    if !current::active() || vm_children::ended(caller, 1) || !take_the_end() {
        return;
    }
    end_with(state, || {
        #[cfg(not(feature = "counters-alone"))]
        last_stack::write(state, Top::Caller(caller));
        counting::count_all(caller, 1);
    });
}

/// Finishes from a signal handler, in a process with a profile of its own. `registers` are what it interrupted.
#[cfg(not(feature = "shared-library"))]
pub fn finish_interrupted(registers: &Context, state: u32) {
    let me = sys::thread_id();
    while let Err(other) = ENDING.compare_exchange(0, me, Ordering::Acquire, Ordering::Relaxed) {
        // Whoever is at it may wait for this very thread once the profile is complete.
        if other == me || !current::active() {
            return;
        }
        sys::pause_a_little();
    }
    end_with(state, || {
        #[cfg(not(feature = "counters-alone"))]
        last_stack::write(state, Top::Interrupted(registers));
        units::interrupted();
        check_accounting(&count_frames(Walk::interrupted(registers), 1));
    });
}

/// Stops the other threads, accounts for this one, and completes the profiles for good.
fn end_with(state: u32, account: impl FnOnce()) {
    let unanswered = stop::others();
    // What a handler counted after the sum was made would make the file look damaged.
    own_stack::run(|| {
        account();
        complete(state, unanswered + thread::vanished());
        units::detach();
    });
    stop::release();
}

/// Notes where signals are handled by code of this image, if the link saw nobody who would install a handler: a reader
/// knows whether it is code that counts. A trace, and sums of calls, may be wrong if handlers were installed that we
/// did not see.
fn note_unforeseen_handlers() {
    // Those that libc keeps for itself are ours when others are stopped.
    for signal in (1..=64).filter(|signal| !RESERVED.contains(signal)) {
        let handler = sys::disposition(signal);
        if stands_for_default(handler) {
            continue;
        }
        let (handler, seen) = program_handler(signal, handler);
        let Some(address) = unit::link_address(handler as u64 + 1) else { continue };
        if !seen && unit::is_traced() {
            current::flag(Flags::TRACE_LOST);
        }
        if !seen && (unit::measures_calls() || unit::passes_paths()) {
            current::flag(Flags::HANDLERS_MIXED);
        }
        if !unit::foresees_handlers() {
            units::flag(Flags::HANDLER_UNFORESEEN);
            early::count((address - 1) | HANDLER, 1);
        }
    }
}

/// The program's handler for a signal with that disposition, and whether we see it begin and end.
fn program_handler(_signal: c_int, handler: usize) -> (usize, bool) {
    #[cfg(not(feature = "shared-library"))]
    {
        (handlers::behind(_signal, handlers::known(_signal), handler), handlers::is_seen(_signal, handler))
    }
    // The executable stands there, for all units.
    #[cfg(feature = "shared-library")]
    (handler, true)
}

/// Whether the handler is one of the runtime's.
fn stands_for_default(handler: usize) -> bool {
    #[cfg(not(feature = "shared-library"))]
    return dispositions::stands_for_default(handler);
    #[cfg(feature = "shared-library")]
    return no_room::is_handler(handler);
}

/// Accounts for this thread and completes the profiles, but the program may go on: [`resume`]. False if the process is
/// ending already.
#[cfg(not(feature = "shared-library"))]
pub fn suspend(caller: &Caller) -> bool {
    if !current::active() || !take_the_end() {
        return false;
    }
    own_stack::run(|| {
        counting::count_all(caller, 1);
        complete(State::FINISHED, thread::others().count() as u32 + thread::vanished());
    });
    true
}

/// Completes the profiles. The frames of so many threads are not accounted for.
fn complete(state: u32, threads: u32) {
    note_unforeseen_handlers();
    if vm_children::has_lost_one() {
        units::flag(Flags::FOREIGN_PROCESS);
    }
    if threads > 0 {
        units::flag(Flags::THREADS_ALIVE);
    }
    slabs::verify_own();
    no_room::with_handler(|| {
        if slabs::slab_zero_in_use() {
            units::flag(Flags::THREAD_UNREGISTERED);
        }
        units::publish(state, threads);
    });
}

/// Takes [`suspend`] back, after an `exec` that failed.
#[cfg(not(feature = "shared-library"))]
pub fn resume(caller: &Caller, flags: &units::SavedFlags) {
    units::unpublish();
    counting::count_all(caller, -1);
    flags.put_back();
    ENDING.store(0, Ordering::Release);
}
