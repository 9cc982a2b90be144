//! The part of a run that is counted, where the run asks for a part ([`crate::layout::until`]): it begins and ends
//! where functions are entered, and is known exactly.
//!
//! The first instructions of a function make place for a call of ours. When it has come, the function gets them back
//! and goes on, or the process ends.

use crate::arch::breaks::{Bytes, LENGTH, call_from, entered_stub};
use crate::arch::registers::Caller;
use crate::layout::until::{MOST, SMALLEST, STATUS, Until};
use crate::layout::{PAGE, State};
use crate::runtime::os::lock::Lock;
use crate::runtime::os::{say, sys};
use crate::runtime::process::{end, snapshot};
use crate::runtime::unit;
use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};

const _: () = assert!(LENGTH as u64 == SMALLEST);

entered_stub!(entered);

static LOCK: Lock = Lock::new();
/// Addresses of the functions.
static FUNCTIONS: [AtomicU64; MOST] = [const { AtomicU64::new(0) }; MOST];
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// After how many of them counts begin; 0: with the process.
static BEGIN: AtomicUsize = AtomicUsize::new(0);
/// Whether the process ends at the last one.
static ENDS: AtomicBool = AtomicBool::new(false);
/// Which of them has the call; as many as there can be: none.
static NEXT: AtomicUsize = AtomicUsize::new(0);
/// What it had before, in the lower bytes.
static BEFORE: AtomicU64 = AtomicU64::new(0);

/// Reads the variable's value, before the program runs.
pub fn start(value: &[u8]) {
    let Some(until) = Until::parse(value) else { return trouble(sys::Errno(libc::EINVAL)) };
    if until.unit != u128::from_be_bytes(unit::descriptor().id) {
        return;
    }
    for (function, &address) in FUNCTIONS.iter().zip(&until.functions) {
        function.store(unit::loaded_address(address), Relaxed);
    }
    COUNT.store(until.count, Relaxed);
    BEGIN.store(until.begin, Relaxed);
    ENDS.store(until.ends, Relaxed);
    arm(0);
}

/// Puts the call into a function, whose code may be written to from then on.
fn arm(number: usize) {
    let address = FUNCTIONS[number].load(Relaxed);
    let Some(call) = call_from(address) else { return trouble(sys::Errno(libc::ERANGE)) };
    let first = address & !(PAGE - 1);
    let length = (address + LENGTH as u64).next_multiple_of(PAGE) - first;
    if let Err(error) = sys::protect(first, length, libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC) {
        return trouble(error);
    }
    NEXT.store(number, Relaxed);
    let mut word = [0; 8];
    // SAFETY: code, as the kernel has said, which may be written to now.
    unsafe {
        word[..LENGTH].copy_from_slice(&(address as *const Bytes).read_unaligned());
        BEFORE.store(u64::from_le_bytes(word), Relaxed);
        (address as *mut Bytes).write_unaligned(call);
    }
}

/// A function with the call, or one that had it a moment ago, was called.
unsafe extern "C" fn entered(caller: &Caller, function: u64) -> u64 {
    let (number, ends) = {
        let _held = LOCK.take();
        let at = NEXT.load(Relaxed);
        // Another thread may have come here first.
        if FUNCTIONS.get(at).is_none_or(|next| next.load(Relaxed) != function) {
            return function;
        }
        let (number, count) = (at + 1, COUNT.load(Relaxed));
        let ends = number == count && ENDS.load(Relaxed);
        if !ends {
            let [first, second, third, fourth, fifth, ..] = BEFORE.load(Relaxed).to_le_bytes();
            // SAFETY: what was there, where the call was put.
            unsafe { (function as *mut Bytes).write_unaligned([first, second, third, fourth, fifth]) };
            NEXT.store(MOST, Relaxed);
            if number < count {
                arm(number);
            }
        }
        (number, ends)
    };
    if ends {
        end::finish(caller, State::FINISHED);
        sys::exit_group(STATUS);
    }
    if number == BEGIN.load(Relaxed) {
        // SAFETY: the caller of the function is that of the entry.
        unsafe { snapshot::reset(caller) };
    }
    function
}

fn trouble(error: sys::Errno) {
    say::trouble("cannot heed", b"COTREE_UNTIL", error, "run the program without it");
}
