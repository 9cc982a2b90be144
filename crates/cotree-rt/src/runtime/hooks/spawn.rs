//! Hooks the beginning and the end of threads: `main`, `pthread_create`, `thrd_create`, and the end by `pthread_exit`
//! or cancellation.
//!
//! Our trampoline calls every start routine. It is the bottom at which walks stop, gives the thread its
//! slabs, and registers a cleanup handler. libc runs this handler when forced unwinding reaches the trampoline, while
//! the dead stack is still in place. So frames without landing pads are counted then, whatever the reason of the
//! exit.

use crate::arch::entries::entry;
use crate::arch::entries::{hook, tail_hook};
use crate::arch::linkage::weak;
use crate::arch::registers::Caller;
use crate::arch::threads::thread_pointer;
use crate::arch::trampolines;
use crate::runtime::file::current;
use crate::runtime::hooks::clone;
use crate::runtime::hooks::interpose::{behind, real};
use crate::runtime::os::call::call;
use crate::runtime::os::lock::Held;
use crate::runtime::os::sys;
use crate::runtime::process::{counting, units};
use crate::runtime::stack::marks;
use crate::runtime::thread;
use crate::runtime::thread::{ENDING, FREE, Thread};
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

unsafe extern "C" {
    fn cotree_rt_unwound(record: *mut c_void);
}

behind!(cleanup_push = "_pthread_cleanup_push");
behind!(cleanup_pop = "_pthread_cleanup_pop");

trampolines::bottoms!(
    Thread,
    thread: [enter, leave],
    main: [enter_main, leave_main],
    child: [clone::begins, "cotree_rt_clone_ends"],
);

type Cleanup = unsafe extern "C" fn(*mut c_void);

fn push_cleanup(buffer: *mut c_void, record: &Thread) {
    let push = cleanup_push();
    if !push.is_null() {
        let record = core::ptr::from_ref(record).cast_mut().cast();
        // SAFETY: libc's function; the buffer lives as long as the trampoline's frame.
        unsafe {
            call!(push => fn(buffer => *mut c_void, cotree_rt_unwound => Cleanup, record => *mut c_void) -> ());
        }
    }
}

fn pop_cleanup(buffer: *mut c_void) {
    let pop = cleanup_pop();
    if !pop.is_null() {
        // SAFETY: pairs with push_cleanup; 0 is "do not run it".
        unsafe { call!(pop => fn(buffer => *mut c_void, 0 => c_int) -> ()) };
    }
}

entry!("cotree_rt_unwound", unwound, 1);

/// The thread is being left for good.
unsafe extern "C" fn unwound(record: *mut c_void, caller: &Caller) {
    // SAFETY: the record that push_cleanup registered.
    let record = unsafe { &*record.cast::<Thread>() };
    if record.state.load(Relaxed) != ENDING {
        marks::accounting(|| {
            counting::count_all(caller, 1);
            units::end_thread(record);
        });
    }
}

unsafe extern "C" fn enter(record: &Thread, buffer: *mut c_void) {
    {
        let _held = thread::lock();
        thread::adopt(record);
        units::thread_starts(thread::index_of(record), thread_pointer());
    }
    sys::set_signal_mask(record.signals.load(Relaxed));
    push_cleanup(buffer, record);
}

unsafe extern "C" fn leave(record: &Thread, buffer: *mut c_void) {
    pop_cleanup(buffer);
    units::end_thread(record);
}

hook!("pthread_create", create, 4);
hook!("thrd_create", create_c11, 3);
real!(real_create = "pthread_create");
real!(real_create_c11 = "thrd_create");

type Start = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

weak!(attribute_signals = "pthread_attr_getsigmask_np");

/// The signal mask that thread attributes ask for (glibc since 2.32).
fn mask_of(attributes: *const c_void) -> Option<u64> {
    let function = attribute_signals().filter(|_| !attributes.is_null())?;
    let mut mask = [0_u64; 16];
    // SAFETY: libc's function; its sigset_t has 128 bytes.
    let result = unsafe { call!(function => fn(attributes => *const c_void, mask.as_mut_ptr() => *mut u64) -> c_int) };
    (result == 0).then_some(mask[0])
}

/// Starts a thread by `create`, through the trampoline if there is a record for it.
fn start(routine: usize, argument: usize, mask: Option<u64>, create: impl FnOnce(usize, usize) -> c_int) -> c_int {
    if !current::active() {
        return create(routine, argument);
    }
    // A signal must not find the new thread before it has its slab; nor may it stop this one between the record and the
    // thread, which would be waited for at the end.
    let signals = sys::set_signal_mask(u64::MAX);
    let Some(record) = reserve() else {
        sys::set_signal_mask(signals);
        return create(routine, argument);
    };
    record.start.store(routine, Relaxed);
    record.argument.store(argument, Relaxed);
    record.signals.store(mask.unwrap_or(signals), Relaxed);
    let result = create(trampolines::thread as Start as usize, core::ptr::from_ref(record) as usize);
    if result != 0 {
        record.state.store(FREE, Relaxed);
    }
    sys::set_signal_mask(signals);
    result
}

fn reserve() -> Option<&'static Thread> {
    let held: Held = thread::lock();
    let record = thread::reserve();
    drop(held);
    record
}

unsafe extern "C" fn create(
    handle: *mut c_void,
    attributes: *const c_void,
    routine: usize,
    argument: usize,
    _caller: &Caller,
) -> c_int {
    start(routine, argument, mask_of(attributes), |routine, argument| {
        // SAFETY: libc's function; routine and argument belong together.
        unsafe {
            call!(real_create() => fn(handle => *mut c_void, attributes => *const c_void, routine => usize,
                argument => usize) -> c_int)
        }
    })
}

unsafe extern "C" fn create_c11(handle: *mut c_void, routine: usize, argument: usize, _caller: &Caller) -> c_int {
    start(routine, argument, None, |routine, argument| {
        // SAFETY: as above; the trampoline returns what the routine does, an int in the same register.
        unsafe { call!(real_create_c11() => fn(handle => *mut c_void, routine => usize, argument => usize) -> c_int) }
    })
}

real!(real_start_main = "__libc_start_main");
static MAIN: AtomicUsize = AtomicUsize::new(0);

trampolines::start_main_hook!(start_main);

/// Remembers `main`.
unsafe extern "C" fn start_main(main: usize) -> *const c_void {
    MAIN.store(main, Relaxed);
    real_start_main()
}

/// Gives `main`'s address.
unsafe extern "C" fn enter_main(buffer: *mut c_void) -> usize {
    if let Some((_, record)) = thread::current() {
        push_cleanup(buffer, record);
    }
    MAIN.load(Relaxed)
}

unsafe extern "C" fn leave_main(buffer: *mut c_void) {
    if let Some((_, record)) = thread::current() {
        pop_cleanup(buffer);
        units::end_thread(record);
    }
}

// glibc only: after a pthread_cleanup_push handler of C code without exceptions. libc jumped to it by itself, unseen.
real!(weak real_unwind_next = "__pthread_unwind_next");
tail_hook!("__pthread_unwind_next", unwind_next);

unsafe extern "C" fn unwind_next(_buffer: *mut c_void) -> *const c_void {
    units::flag(crate::layout::Flags::THREAD_CANCELLED);
    real_unwind_next()
}
