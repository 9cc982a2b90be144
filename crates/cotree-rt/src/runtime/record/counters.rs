//! The recorder of counters. Every method counts in slabs, of which each thread has one ([`crate::runtime::slabs`]).

use super::{Child, Recorder};
use crate::layout::Flags;
use crate::runtime::file::current;
use crate::runtime::slabs::copy::ProfileCopy;
use crate::runtime::{slabs, unit};

/// The first thread of the process. A library is told of it when it is loaded.
const FIRST: usize = 0;

/// The recorder.
pub struct Counters;

impl Recorder for Counters {
    type Destination = ();

    #[inline(always)]
    fn walk_begins() -> Option<()> {
        Some(())
    }

    fn thread_starts(thread: usize, thread_pointer: u64) {
        if unit::threaded() {
            slabs::assign(thread, thread_pointer);
        } else if thread != FIRST {
            current::flag(Flags::THREADS_UNEXPECTED);
        }
    }

    fn thread_ends() {
        slabs::verify_own();
    }

    fn forked(child: &Child) {
        slabs::detach(child.thread, child.interrupted);
    }

    fn complete(alone: bool) {
        if alone {
            slabs::move_into_file();
        } else if slabs::any_in_memory() {
            current::flag(Flags::SLAB_SHARED);
        }
    }

    fn loss(flags: Flags) -> Option<&'static str> {
        flags.has(Flags::SLAB_SHARED).then_some("counts of threads may be missing in")
    }

    fn clear() {
        slabs::clear();
    }

    fn copy(copy: &mut ProfileCopy, _room: usize) {
        slabs::add_from_memory(copy.slab_zero());
    }
}
