//! A copy of the profile in another file: what `cotree_dump` writes while the program goes on.

use crate::layout::{Flags, State};
use crate::runtime::file::current;
use crate::runtime::os::sys::{self, Errno};
use crate::runtime::profile::finish::seal;
#[cfg(not(feature = "counters-alone"))]
use crate::runtime::record::last_stack;
use crate::runtime::record::{self, Activation, Rooms};
use crate::runtime::slabs;
use crate::runtime::slabs::copy::ProfileCopy;
use crate::runtime::stack::walk::Top;
use crate::runtime::thread;
use crate::runtime::unit::{self, Image};
use core::ffi::c_int;

/// Copies the profile into the file, with the frames of this thread accounted for in the copy, and its stack written
/// down there.
pub fn write(fd: c_int, top: Top<'_>) -> sys::Result<()> {
    let header = current::header().ok_or(Errno(libc::EINVAL))?;
    let front = current::slabs_offset() as usize;
    let stride = unit::stride();
    let (slabs_end, segment_head) = {
        let _held = slabs::lock();
        (front + slabs::count() as usize * stride, current::segment_head())
    };
    let rooms = Rooms::wanted(top);
    let room_of_stack = room_of_stack(top);
    let slab_count = (slabs_end - front) / stride + (rooms.total() + room_of_stack).div_ceil(stride);
    let len = front + slab_count * stride;
    sys::allocate(fd, 0, front as u64)?;
    if len > slabs_end {
        sys::allocate(fd, slabs_end as u64, (len - slabs_end) as u64)?;
    }
    if slabs::any_in_memory() {
        sys::allocate(fd, front as u64, stride as u64)?;
    }
    sys::resize(fd, len as u64)?;
    let (prot, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
    // SAFETY: a new range.
    let base = unsafe { sys::map(core::ptr::null_mut(), len, prot, flags, fd, 0) }?;
    let mut copy = ProfileCopy {
        base,
        len,
        #[cfg(not(feature = "counters-alone"))]
        room: slabs_end,
    };
    // SAFETY: header and table of early exits are one mapping of `front` bytes, and the copy is larger.
    unsafe { core::ptr::copy_nonoverlapping(header.cast::<u8>(), base, front) };
    copy.header().slab_count = slab_count as u64;
    copy.header().segment_head = segment_head;
    copy_slabs(&copy, fd, front, slabs_end)?;
    rooms.fill(&mut copy);
    #[cfg(not(feature = "counters-alone"))]
    last_stack::write_to_copy(&mut copy, room_of_stack, top);
    account_for_stack(&mut copy, top);
    let others = thread::others().count() as u32;
    if others > 0 {
        copy.flag(Flags::THREADS_ALIVE);
    }
    if slabs::slab_zero_in_use() {
        copy.flag(Flags::THREAD_UNREGISTERED);
    }
    seal(copy.header(), State::SNAPSHOT, others, |act| {
        // SAFETY: the slabs of the copy.
        act(unsafe { core::slice::from_raw_parts(base.add(front), len - front) }, 0);
    });
    Ok(())
}

/// The bytes that the stack takes in the copy.
fn room_of_stack(_top: Top<'_>) -> usize {
    #[cfg(not(feature = "counters-alone"))]
    return last_stack::room_in_copy(_top);
    #[cfg(feature = "counters-alone")]
    0
}

/// Copies what is between these offsets. Parts of slabs that nobody touched stay holes.
fn copy_slabs(copy: &ProfileCopy, fd: c_int, start: usize, end: usize) -> sys::Result<()> {
    let (mut at, mut result) = (start, Ok(()));
    slabs::for_each(&mut |slabs, zeros| {
        let length = slabs.len().min(end - at);
        if length > 0 && result.is_ok() {
            result = sys::allocate(fd, at as u64, length as u64);
        }
        if result.is_err() {
            return;
        }
        // SAFETY: `at` stays within the copy.
        unsafe { core::ptr::copy_nonoverlapping(slabs.as_ptr(), copy.base.add(at), length) };
        at = end.min(at + length + zeros);
    });
    result
}

/// The activations on this thread's stack count in the copy as if they ended here.
fn account_for_stack(copy: &mut ProfileCopy, top: Top<'_>) {
    let mut walk = top.walk();
    while let Some(frame) = walk.next() {
        let (pc, tag) = frame.key();
        if let Some(frame) = Activation::new(Image::get(), pc, tag, 1, walk.registers()) {
            record::frame_in_copy(copy, &frame);
        }
    }
    if !walk.is_complete() || walk.is_accounting() {
        copy.flag(Flags::WALK_INCOMPLETE);
    }
}
