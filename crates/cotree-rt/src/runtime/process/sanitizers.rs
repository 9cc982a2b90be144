//! The end of a process by a sanitizer's report: `AddressSanitizer` and its like, `LeakSanitizer` when it has found
//! leaks, `libFuzzer` by these.
//!
//! Sanitizers leave by a system call of their own. But before that they call whoever has registered: first the
//! program's callback, of which there is one (`__sanitizer_set_death_callback`), then their own parts in any number.
//! Where the sanitizer is in the executable, we are one of these parts, and the program keeps its callback. Where it is
//! a library we are the program's callback, until the program sets one itself.

use crate::arch::entries::entry;
use crate::arch::linkage::weak;
use crate::arch::linkage::{in_slot, slot};
use crate::arch::registers::Caller;
use crate::layout::State;
use crate::runtime::os::call::call;
use crate::runtime::process::end;

type Callback = unsafe extern "C" fn();

unsafe extern "C" {
    fn cotree_rt_at_death();
}

// `bool __sanitizer::AddDieCallback(void (*)())`, which sanitizers that are libraries do not show.
slot!("cotree_rt_add_die_callback");
weak!(set_callback = "__sanitizer_set_death_callback");

entry!("cotree_rt_at_death", at_death, 0);

unsafe extern "C" fn at_death(caller: &Caller) {
    end::finish(caller, State::ABORTED);
}

/// Registers for the end by a report, if there is a sanitizer.
pub fn start() {
    let callback = cotree_rt_at_death as Callback;
    let add = in_slot!("cotree_rt_add_die_callback");
    // SAFETY: the functions' own signatures, of sanitizers that have begun, or do not mind that they have not.
    unsafe {
        if !add.is_null() {
            call!(add => fn(callback => Callback) -> bool);
        } else if let Some(set) = set_callback() {
            call!(set => fn(callback => Callback) -> ());
        }
    }
}
