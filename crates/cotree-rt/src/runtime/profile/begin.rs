//! How a profile begins: at the start of the program, and in a forked child.

use crate::layout::{Flags, MAGIC, PAGE, RawHeader, State, VERSION};
use crate::runtime::file::{current, identity, names, test_name};
use crate::runtime::os::say;
use crate::runtime::os::sys::{self, Errno};
use crate::runtime::profile::no_room;
use crate::runtime::record::{self, Child};
use crate::runtime::{slabs, unit};
use core::ffi::c_int;

/// Chooses where profiles go and starts this process's.
pub fn start(pattern: &[u8]) {
    if !unit::fits() {
        say::mismatch();
        return;
    }
    names::set_pattern(pattern);
    begin(false);
}

/// Starts a profile that is never written, for a program that asks for its own events.
pub fn start_unwritten() {
    if unit::fits() {
        current::set_unwritten();
        begin(false);
    } else {
        say::mismatch();
    }
}

/// Starts the profile of a forked child: a file of its own, all counters zero.
pub fn start_child(child: &Child) {
    current::set_header(core::ptr::null_mut());
    record::forked(child);
    no_room::after_fork();
    begin(true);
}

fn begin(child: bool) {
    current::set_process(sys::process_id());
    let created = if current::is_written() { create(child) } else { keep_in_memory() };
    match created {
        Ok(()) => {}
        Err(Errno(libc::ENOSPC | libc::EDQUOT | libc::EFBIG | libc::ENODEV | libc::EINVAL)) => {
            // Room may come back before the end, and some file systems can be written but not mapped.
            let _ = keep_in_memory();
        }
        Err(error @ Errno(libc::EISDIR)) => {
            say::trouble("no profile: COTREE_FILE names", names::final_name(), error, REMEDY_FOLDER);
        }
        Err(error) => say::trouble("no profile: can't create", names::live_name(), error, REMEDY),
    }
    if !current::active() && unit::is_queried() && current::is_written() {
        current::set_unwritten();
        let _ = keep_in_memory();
    }
    if !current::active() {
        record::close();
    }
}

pub(super) const REMEDY: &str =
    "set COTREE_FILE to a file name in a folder that can be written, or to nothing for no profile";

const REMEDY_FOLDER: &str = "add the name of a file in it, such as /%n.%p.cotree, or set it to nothing for no profile";

fn create(child: bool) -> sys::Result<()> {
    let fd = names::create(child)?;
    let result = map_file(fd);
    sys::close(fd);
    if result.is_err() {
        names::unlink();
    }
    result
}

/// Allocates and maps the file. Nothing of the program is touched unless all of it works.
fn map_file(fd: c_int) -> sys::Result<()> {
    let slab_count = slabs::initial_count();
    sys::allocate(fd, 0, current::slabs_offset())?;
    slabs::allocate(fd, current::slabs_offset(), slab_count as usize)?;
    no_room::prepare();
    let prot = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new range.
    let front =
        unsafe { sys::map(core::ptr::null_mut(), current::slabs_offset() as usize, prot, libc::MAP_SHARED, fd, 0) }?;
    if let Err(error) = slabs::map_initial(fd) {
        // SAFETY: mapped just now and known to nobody.
        unsafe { sys::unmap(front, current::slabs_offset() as usize) };
        return Err(error);
    }
    current::set_mapped(true);
    record::make_room(fd);
    adopt(front, slabs::count(), Flags::NONE);
    Ok(())
}

fn keep_in_memory() -> sys::Result<()> {
    let front = sys::map_anonymous(current::slabs_offset() as usize)?;
    current::set_mapped(false);
    slabs::keep_in_memory()?;
    adopt(front, slabs::count(), Flags::NOT_MAPPED);
    Ok(())
}

/// Fills the header and publishes it.
fn adopt(front: *mut u8, slab_count: u64, flags: Flags) {
    let header = front.cast::<RawHeader>();
    let descriptor = unit::descriptor();
    // SAFETY: `front` is slabs_offset() zeroed bytes, page-aligned, ours alone until it is published.
    unsafe {
        let fields = &mut *header;
        fields.version = VERSION;
        fields.state = State::RUNNING;
        fields.unit = descriptor.id;
        fields.pid = current::process() as u32;
        fields.started_ns = sys::now();
        fields.flags = flags | current::standing_flags();
        fields.counter_count = descriptor.counter_count;
        fields.slabs_offset = current::slabs_offset();
        fields.slab_stride = unit::stride() as u64;
        fields.slab_count = slab_count;
        fields.early_offset = PAGE;
        fields.early_capacity = current::early_capacity();
        fields.binary_len = identity::binary(&mut fields.binary) as u32;
        fields.command_len = identity::command(&mut fields.command) as u32;
        fields.test_len = test_name::copy(&mut fields.test) as u32;
        fields.magic = MAGIC;
    }
    record::begin(front);
    current::set_header(header);
}
