//! Stacks of the runtime's own, for work that needs more room than a thread or an alternate signal stack of the program
//! may have.
//!
//! A stack is used with all signals blocked, so that no handler of the program runs on it. Stacks are kept when they
//! are done with, and handed on to whoever needs one next. Where there is no memory for one, work is done on the
//! program's stack.

use super::sys;
use crate::arch::stacks;
use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr;
use core::sync::atomic::{
    AtomicPtr,
    Ordering::{AcqRel, Relaxed, Release},
};

/// Bytes of a stack. Reading the rarest unwind tables takes about 12 KiB, a pool's checksums 6 KiB.
const SIZE: usize = 64 << 10;

/// Stacks that nobody uses now, by their lowest addresses.
static IDLE: [AtomicPtr<u8>; 16] = [const { AtomicPtr::new(ptr::null_mut()) }; 16];

/// Does some work on a stack of the runtime's, with all signals blocked.
pub fn run<T, F: FnOnce() -> T>(work: F) -> T {
    let signals = sys::set_signal_mask(u64::MAX);
    let result = match take() {
        Some(stack) => {
            let mut job = Job { work: Some(work), result: MaybeUninit::uninit() };
            // SAFETY: a stack that nobody else uses; the job stays where it is until the call returns.
            unsafe {
                let top = stack.add(SIZE).cast();
                stacks::call_on(top, Job::<T, F>::perform, (&raw mut job).cast());
            }
            give_back(stack);
            // SAFETY: `perform` has written it.
            unsafe { job.result.assume_init() }
        }
        None => work(),
    };
    sys::set_signal_mask(signals);
    result
}

struct Job<T, F> {
    work: Option<F>,
    result: MaybeUninit<T>,
}

impl<T, F: FnOnce() -> T> Job<T, F> {
    unsafe extern "C" fn perform(job: *mut c_void) {
        // SAFETY: the job of `run`, which waits.
        let job = unsafe { &mut *job.cast::<Self>() };
        if let Some(work) = job.work.take() {
            job.result.write(work());
        }
    }
}

fn take() -> Option<*mut u8> {
    let idle = |place: &AtomicPtr<u8>| {
        let seen = !place.load(Relaxed).is_null();
        Some(place).filter(|_| seen).map(|place| place.swap(ptr::null_mut(), AcqRel)).filter(|stack| !stack.is_null())
    };
    IDLE.iter().find_map(idle).or_else(|| sys::map_anonymous(SIZE).ok())
}

fn give_back(stack: *mut u8) {
    let keeps = |place: &AtomicPtr<u8>| place.compare_exchange(ptr::null_mut(), stack, Release, Relaxed).is_ok();
    if !IDLE.iter().any(keeps) {
        // SAFETY: mapped by `take`, and nobody else knows of it.
        unsafe { sys::unmap(stack.cast(), SIZE) };
    }
}
