//! The public interface of event counts of the whole program (`cotree.h`): totals, and limits of them.
//!
//! The counters of all slabs are read as they are, without a lock: a signal handler may ask. A limit is shared out
//! among the slabs (`record::change_shares`). Whoever has used up a share adds up all counters. If the limit is not
//! reached, what is left is shared out anew: from the very counts that were added up, so that all shares together end
//! at the limit. The executable keeps the limits for all units that have joined it.

use super::units;
use crate::arch::entries::entry;
use crate::arch::registers::Caller;
use core::ffi::c_int;
#[cfg(not(feature = "counters-alone"))]
pub use limits::{forget, register};

entry!("cotree_event_count_total", total, 1);

unsafe extern "C" fn total(kind: c_int, _caller: &Caller) -> u64 {
    units::event_total(kind)
}

/// Limits of all threads together.
#[cfg(not(feature = "counters-alone"))]
mod limits {
    use crate::arch::entries::entry;
    use crate::arch::registers::Caller;
    #[cfg(not(feature = "shared-library"))]
    use crate::runtime::joined;
    #[cfg(feature = "shared-library")]
    use crate::runtime::joined::executable;
    use crate::runtime::joined::{NO_SHARES, USED_UP};
    use crate::runtime::os::lock::Lock;
    use crate::runtime::process::units;
    use crate::runtime::record;
    use core::ffi::c_int;
    use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

    entry!("cotree_event_limit_total", limit_total, 3);

    unsafe extern "C" fn limit_total(kind: c_int, events: u64, callback: usize, _caller: &Caller) -> c_int {
        let answer = record::may_be_limited(kind);
        if answer == 0 {
            #[cfg(feature = "shared-library")]
            if let Some(process) = executable() {
                (process.event_limit)(kind, events, callback);
                return 0;
            }
            set(kind, events, callback);
        }
        answer
    }

    /// The limit of one kind.
    struct Limit {
        /// At how many events it is reached.
        at: AtomicU64,
        /// Whom to call; 0: there is no limit.
        callback: AtomicUsize,
    }

    /// By the numbers of kinds.
    static LIMITS: [Limit; 64] = [const { Limit { at: AtomicU64::new(0), callback: AtomicUsize::new(0) } }; 64];
    static LOCK: Lock = Lock::new();

    fn of(kind: c_int) -> Option<&'static Limit> {
        LIMITS.get(usize::try_from(kind).ok()?)
    }

    /// Sets the limit of a kind, or removes it.
    fn set(kind: c_int, events: u64, callback: usize) {
        let _held = LOCK.take();
        let Some(limit) = of(kind) else { return };
        if callback == 0 || events >= record::NEVER {
            remove(kind, limit);
            return;
        }
        limit.at.store(events, Relaxed);
        limit.callback.store(callback, Relaxed);
        share_out(kind, events);
    }

    fn remove(kind: c_int, limit: &Limit) {
        limit.callback.store(0, Relaxed);
        units::event_shares(kind, NO_SHARES, &mut 0);
    }

    /// Shares out what is left; false if nothing is, and all shares are used up.
    fn share_out(kind: c_int, events: u64) -> bool {
        let mut shares = 0;
        let total = units::event_shares(kind, USED_UP, &mut shares);
        let left = events.saturating_sub(total);
        if left > 0 && shares > 0 {
            units::event_shares(kind, left / shares, &mut 0);
        }
        left > 0
    }

    /// A share of a kind is used up. Gives whom to call if the limit is reached, which is gone then.
    fn used_up(kind: c_int) -> usize {
        #[cfg(feature = "shared-library")]
        if let Some(process) = executable() {
            return (process.share_used_up)(kind);
        }
        let _held = LOCK.take();
        let Some(limit) = of(kind) else { return 0 };
        let callback = limit.callback.load(Relaxed);
        if callback == 0 || share_out(kind, limit.at.load(Relaxed)) {
            return 0;
        }
        remove(kind, limit);
        callback
    }

    /// In a forked child: nothing is limited.
    pub fn forget() {
        LOCK.break_open();
        LIMITS.iter().for_each(|limit| limit.callback.store(0, Relaxed));
    }

    /// Tells lower floors what they call of this.
    pub fn register() {
        record::SHARE_USED_UP.set(used_up);
        #[cfg(not(feature = "shared-library"))]
        {
            joined::SHARE_USED_UP.set(used_up);
            joined::EVENT_LIMIT.set(set);
        }
    }
}
