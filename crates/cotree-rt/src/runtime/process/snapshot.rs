//! The public interface (`cotree.h`): a profile of the counts so far, and a fresh start.

use crate::layout::{ABANDONED, Flags, PAGE, RawHeader, State, VALUE_SHIFT};
use crate::runtime::file::naming::Path;
use crate::runtime::file::profile;
use crate::runtime::hooks::linkage::{Caller, entry};
use crate::runtime::os::say::decimal;
use crate::runtime::os::sys::{self, Errno};
use crate::runtime::process::{thread, units};
use crate::runtime::record::early::{self, Slot};
use crate::runtime::record::{paths, registers};
use crate::runtime::stack::walk::{self, Walk};
use crate::runtime::{slabs, unit};
use core::ffi::{CStr, c_char, c_int};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

// Each link unit has its own: a library that calls them speaks of itself, whatever the executable has.
entry!("cotree_dump", dump, "rsi");
entry!("cotree_reset", reset, "rdi");

/// Written; no profile is being made; an error, as `errno` says.
const WRITTEN: c_int = 0;
const NO_PROFILE: c_int = 1;
const FAILED: c_int = -1;

unsafe extern "C" fn dump(path: *const c_char, caller: &Caller) -> c_int {
    if !profile::active() {
        return NO_PROFILE;
    }
    // SAFETY: null or a C string, as the interface says.
    let path = (!path.is_null()).then(|| unsafe { CStr::from_ptr(path) });
    match write(path, caller) {
        Ok(()) => WRITTEN,
        Err(error) => {
            // SAFETY: this thread's errno.
            unsafe { *libc::__errno_location() = error.0 };
            FAILED
        }
    }
}

/// `NAME.snapshot-N.cotree` beside `NAME.cotree`.
fn default_name(name: &mut Path) {
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    let base = profile::final_name();
    name.push(base.strip_suffix(b".cotree").unwrap_or(base));
    name.push(b".snapshot-");
    name.push(decimal(NUMBER.fetch_add(1, Relaxed), &mut [0; 20]));
    name.push(b".cotree");
}

fn write(path: Option<&CStr>, caller: &Caller) -> sys::Result<()> {
    let too_long = Errno(libc::ENAMETOOLONG);
    // Not on the stack: this may run in a signal handler.
    let scratch = sys::map_anonymous(2 * size_of::<Path>())?;
    // SAFETY: fresh zeros, which are empty texts.
    let (name, temporary) = unsafe { (&mut *scratch.cast::<Path>(), &mut *scratch.cast::<Path>().add(1)) };
    match path {
        Some(path) => name.push(path.to_bytes()),
        None => default_name(name),
    }
    temporary.push(name.bytes());
    temporary.push(b".");
    temporary.push(decimal(profile::process() as u64, &mut [0; 20]));
    temporary.push(b".tmp");
    let result = write_named(name.c_str().ok_or(too_long), temporary.c_str().ok_or(too_long), caller);
    // SAFETY: mapped above, used no more.
    unsafe { sys::unmap(scratch, 2 * size_of::<Path>()) };
    result
}

fn write_named(name: sys::Result<&CStr>, temporary: sys::Result<&CStr>, caller: &Caller) -> sys::Result<()> {
    let (name, temporary) = (name?, temporary?);
    let fd = sys::open(temporary, libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC, 0o666)?;
    let result = fill(fd, caller);
    sys::close(fd);
    result.and_then(|()| sys::rename(temporary, name)).inspect_err(|_| sys::unlink(temporary))
}

/// Copies the profile into the file, with the frames of this thread accounted for in the copy.
fn fill(fd: c_int, caller: &Caller) -> sys::Result<()> {
    let front = profile::slabs_offset() as usize;
    let stride = unit::stride();
    let (slabs_end, path_head) = {
        let _held = slabs::lock();
        (front + slabs::count() as usize * stride, profile::path_head())
    };
    // One more table of paths for what is not in the file, and for the registers of frames.
    let keys = if unit::counts_paths() { paths::orphans() + registers_on_stack(caller) } else { 0 };
    let (table_bytes, capacity) = if keys == 0 { (0, 0) } else { paths::room_for(keys) };
    let slab_count = ((slabs_end - front) / stride + table_bytes.div_ceil(stride)) as u64;
    let total = front + slab_count as usize * stride;
    sys::allocate(fd, 0, front as u64)?;
    if total > slabs_end {
        sys::allocate(fd, slabs_end as u64, (total - slabs_end) as u64)?;
    }
    if slabs::are_orphaned() {
        sys::allocate(fd, front as u64, stride as u64)?;
    }
    sys::resize(fd, total as u64)?;
    // SAFETY: a new range.
    let copy =
        unsafe { sys::map(core::ptr::null_mut(), total, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED, fd, 0) }?;
    let header = profile::header().ok_or(Errno(libc::EINVAL))?;
    // SAFETY: header and table are one mapping of `front` bytes; the copy has `total`.
    let (copied, table) = unsafe {
        core::ptr::copy_nonoverlapping(header.cast::<u8>(), copy, front);
        let table = copy.add(PAGE as usize).cast::<Slot>();
        (&mut *copy.cast::<RawHeader>(), core::slice::from_raw_parts(table, early::table().len()))
    };
    copied.slab_count = slab_count;
    copied.path_head = path_head;
    let (mut at, mut allocated) = (front, Ok(()));
    slabs::for_each(&mut |slabs, zeros| {
        let length = slabs.len().min(slabs_end - at);
        if length > 0 && allocated.is_ok() {
            allocated = sys::allocate(fd, at as u64, length as u64);
        }
        if allocated.is_err() {
            return;
        }
        // SAFETY: `at` stays within the copy.
        unsafe { core::ptr::copy_nonoverlapping(slabs.as_ptr(), copy.add(at), length) };
        at = slabs_end.min(at + length + zeros);
    });
    if let Err(error) = allocated {
        // SAFETY: mapped above, used no more.
        unsafe { sys::unmap(copy, total) };
        return Err(error);
    }
    // SAFETY: slab 0 of the copy.
    slabs::add_orphans(unsafe { copy.add(front) }.cast());
    // SAFETY: behind the slabs, as large as asked for.
    let paths_of_copy = (keys > 0).then(|| unsafe {
        let base = copy.add(slabs_end);
        paths::fill_segment(base, capacity, copied.path_head);
        copied.path_head = slabs_end as u64;
        base
    });
    let mut walk = Walk::new(caller);
    while let Some(frame) = walk.next() {
        let (pc, tag) = frame.key();
        let Some(address) = unit::link_address(pc) else { continue };
        if !early::count_in(table, address | tag, 1) {
            copied.flags |= Flags::EARLY_TABLE_FULL;
        }
        if let (Some(base), false, Some(registers)) = (paths_of_copy, frame.interrupted, walk.registers()) {
            registers::for_each(pc, registers, |number, value| {
                // SAFETY: made above.
                if !unsafe { paths::count_in(base, ABANDONED | number << VALUE_SHIFT | address, value, 1) } {
                    copied.flags |= Flags::PATHS_MISSING;
                }
            });
        }
    }
    if !walk.is_complete() {
        copied.flags |= Flags::WALK_INCOMPLETE;
    }
    let others = thread::others().count() as u32;
    if others > 0 {
        copied.flags |= Flags::THREADS_ALIVE;
    }
    if slabs::slab_zero_in_use() {
        copied.flags |= Flags::THREAD_UNREGISTERED;
    }
    profile::seal(copied, State::SNAPSHOT, others, table, |act| {
        // SAFETY: the slabs of the copy.
        act(unsafe { core::slice::from_raw_parts(copy.add(front), total - front) }, 0);
    });
    // SAFETY: mapped above, used no more.
    unsafe { sys::unmap(copy, total) };
    Ok(())
}

/// How many path registers the frames of this stack have.
fn registers_on_stack(caller: &Caller) -> u64 {
    let mut count = 0;
    let mut walk = Walk::new(caller);
    while let Some(frame) = walk.next() {
        if let (Some(_), Some(registers)) = (unit::link_address(frame.pc), walk.registers()) {
            registers::for_each(frame.pc, registers, |_, _| count += 1);
        }
    }
    count
}

/// The counts begin here: the frames of this stack come to life without a call.
unsafe extern "C" fn reset(caller: &Caller) {
    if profile::active() {
        units::clear();
        walk::count_all(caller, -1);
    }
}
