//! How a profile ends: it is summed up, sealed with checksums, and gets its name. All of this can be undone.

use crate::layout::{BodyChecksum, Checksum, PAGE, RawHeader, State, VERSION};
use crate::runtime::file::{current, names, pool};
use crate::runtime::os::{say, sys};
use crate::runtime::profile::no_room;
use crate::runtime::{record, slabs, unit};
use core::ffi::c_int;

/// Completes the file and publishes it under its name. Frames and threads have been accounted for.
pub fn publish(state: u32, threads_alive: u32) {
    let Some(header) = current::header().filter(|_| current::is_written()) else { return };
    if threads_alive > 0 {
        // Others may be counting at this moment.
        slabs::stop_growing();
    }
    record::complete(threads_alive == 0);
    no_room::settle();
    slabs::forget_caches();
    seal(header, state, threads_alive, slabs::for_each);
    if !current::mapped() {
        write_from_memory(header);
    } else if let Err(error) = names::finish() {
        let remedy = "a file that is still there is whole, whatever its name";
        say::trouble("can't give its name to the finished profile", names::live_name(), error, remedy);
    }
}

/// The profile is complete; what threads and late handlers still count must not reach it.
pub fn detach() {
    if current::active() {
        record::close();
        current::set_header(core::ptr::null_mut());
        slabs::replace_by_memory();
        pool::join();
        slabs::go_on_growing();
    }
}

/// Takes [`publish`] back: the program goes on.
pub fn unpublish() {
    let Some(header) = current::header().filter(|_| current::is_written()) else { return };
    no_room::go_on();
    slabs::go_on_growing();
    // SAFETY: the process is about to go on in this one thread; the fields are the header's.
    unsafe {
        (*header).state = State::RUNNING;
        (*header).threads_alive = 0;
        (*header).ended_ns = 0;
        (*header).body_checksum = 0;
        (*header).header_checksum = 0;
    }
    names::take_back(!current::mapped());
}

/// Completes a header that is mapped with the table of early exits behind it, given a walk over the slabs in file
/// order, with how many zeros are behind each.
pub fn seal(
    header: *mut RawHeader,
    state: u32,
    threads_alive: u32,
    for_each_slab: impl FnOnce(&mut dyn FnMut(&[u8], usize)),
) {
    let early_bytes = (current::slabs_offset() - PAGE) as usize;
    // SAFETY: the header page is followed by the table, padded up to `slabs_offset`.
    let early = unsafe { core::slice::from_raw_parts(header.cast::<u8>().add(PAGE as usize), early_bytes) };
    // SAFETY: a header page that only the ending thread writes now.
    let fields = unsafe { &mut *header };
    let mut sum = BodyChecksum::new(early_bytes as u64 + fields.slab_count * fields.slab_stride);
    sum.add(early);
    for_each_slab(&mut |slab, zeros| {
        sum.add(slab);
        sum.add_zeros(zeros as u64);
    });
    fields.threads_alive = threads_alive;
    fields.ended_ns = sys::now();
    fields.body_checksum = sum.finish();
    fields.header_checksum = 0;
    // SAFETY: the header is one page of plain bytes.
    let page = unsafe { core::slice::from_raw_parts(header.cast::<u8>(), PAGE as usize) };
    let mut sum = Checksum::new(PAGE);
    let (before, after) = page.split_at(STATE);
    sum.add(before);
    sum.add(&(u64::from(VERSION) | u64::from(state) << 32).to_le_bytes());
    sum.add(&after[size_of::<u64>()..]);
    let sum = sum.finish();
    // The state comes last: who is killed here has not finished.
    // SAFETY: fields of the header.
    unsafe {
        (&raw mut (*header).header_checksum).write_volatile(sum);
        (&raw mut (*header).state).write_volatile(state);
    }
}

/// The version is in the same word, before it. The header page is in the mapping, and one word of it is other than in
/// the sum: so the word is named by its offset, and no page is copied to the stack of a program that ends.
const STATE: usize = core::mem::offset_of!(RawHeader, version);
const _: () = assert!(core::mem::offset_of!(RawHeader, state) == STATE + 4 && STATE.is_multiple_of(8));

/// Writes what was kept in memory, at the end.
fn write_from_memory(header: *mut RawHeader) {
    let written = names::create_again().and_then(|fd| {
        let result = write_all(fd, header);
        sys::close(fd);
        result.and_then(|()| names::finish()).inspect_err(|_| names::unlink())
    });
    if let Err(error) = written {
        say::trouble("the profile is lost: can't write", names::live_name(), error, super::begin::REMEDY);
    }
}

fn write_all(fd: c_int, header: *mut RawHeader) -> sys::Result<()> {
    let front = current::slabs_offset();
    let mut result = sys::resize(fd, front + slabs::count() * unit::stride() as u64);
    let mut at = 0;
    let mut write = |bytes: &[u8], zeros: usize| {
        if result.is_ok() {
            // SAFETY: a slice.
            result = unsafe { sys::write_at(fd, bytes.as_ptr(), bytes.len(), at) };
            at += (bytes.len() + zeros) as u64;
        }
    };
    // SAFETY: header and table are one mapping of that length.
    write(unsafe { core::slice::from_raw_parts(header.cast::<u8>(), front as usize) }, 0);
    slabs::for_each(&mut write);
    result
}
