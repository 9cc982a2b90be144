//! The raw profile of this process: its file, from creation to publication. See [`crate::layout`] for what is in it.

use crate::layout::{ABI, BodyChecksum, Flags, MAGIC, PAGE, RawHeader, State, VERSION, checksum};
use crate::runtime::file::naming::{Facts, Path, Place};
use crate::runtime::file::{identity, no_room};
use crate::runtime::os::say;
use crate::runtime::os::sys::{self, Errno};
use crate::runtime::record::{early, paths};
use crate::runtime::{slabs, unit};
use core::cell::UnsafeCell;
use core::ffi::c_int;
use core::mem::offset_of;
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU64, Ordering::Relaxed};

/// Names and identity of the file; written only by start and fork, when no other thread uses them.
struct Names {
    place: Place,
    name: Path,
    live: Path,
    identity: Option<(u64, u64)>,
}

struct Shared<T>(UnsafeCell<T>);
// SAFETY: see Names.
unsafe impl<T> Sync for Shared<T> {}

static NAMES: Shared<Names> =
    Shared(UnsafeCell::new(Names { place: Place::new(), name: Path::new(), live: Path::new(), identity: None }));
/// Null: no profile is being made.
static HEADER: AtomicPtr<RawHeader> = AtomicPtr::new(core::ptr::null_mut());
static MAPPED: AtomicBool = AtomicBool::new(false);
/// Flags that every profile begins with.
static STANDING: AtomicU64 = AtomicU64::new(0);
static PROCESS: AtomicI32 = AtomicI32::new(0);

#[allow(clippy::mut_from_ref)]
fn names() -> &'static mut Names {
    // SAFETY: start and fork run alone; everyone else only reads.
    unsafe { &mut *NAMES.0.get() }
}

/// Whether a profile is being made.
pub fn active() -> bool {
    !HEADER.load(Relaxed).is_null()
}

/// Whether the counters are in a file.
pub fn mapped() -> bool {
    MAPPED.load(Relaxed)
}

/// The process whose profile this is; another one may run on our memory after `vfork`.
pub fn process() -> i32 {
    PROCESS.load(Relaxed)
}

/// Slots of the table of early exits: what the unit suggests, but room for code that is not profiled.
pub fn early_capacity() -> u64 {
    unit::descriptor().early_capacity.next_power_of_two().max(512)
}

/// File offset of slab 0.
pub fn slabs_offset() -> u64 {
    (PAGE + early_capacity() * 16).next_multiple_of(PAGE)
}

/// The header, if a profile is being made.
pub fn header() -> Option<*mut RawHeader> {
    let header = HEADER.load(Relaxed);
    (!header.is_null()).then_some(header)
}

/// A 64-bit field of the header as an atomic.
fn word(header: *mut RawHeader, offset: usize) -> &'static AtomicU64 {
    // SAFETY: the header stays mapped; the offsets below are of aligned u64 fields.
    unsafe { &*header.cast::<u8>().add(offset).cast::<AtomicU64>() }
}

/// Records what recovery must know.
pub fn flag(bits: u64) {
    if let Some(header) = header() {
        word(header, offset_of!(RawHeader, flags)).fetch_or(bits, Relaxed);
    }
}

/// Records what holds for the profiles of forked children too.
pub fn flag_always(bits: u64) {
    STANDING.fetch_or(bits, Relaxed);
    flag(bits);
}

/// All flags, to go back to with [`set_flags`].
pub fn flags() -> u64 {
    header().map_or(0, |header| word(header, offset_of!(RawHeader, flags)).load(Relaxed))
}

/// Replaces the flags.
pub fn set_flags(bits: u64) {
    if let Some(header) = header() {
        word(header, offset_of!(RawHeader, flags)).store(bits, Relaxed);
    }
}

/// Slabs in the file.
pub fn set_slab_count(count: u64) {
    if let Some(header) = header() {
        word(header, offset_of!(RawHeader, slab_count)).store(count, Relaxed);
    }
}

/// File offset of the newest table of paths.
pub fn path_head() -> u64 {
    header().map_or(0, |header| word(header, offset_of!(RawHeader, path_head)).load(Relaxed))
}

/// There is a newer one.
pub fn set_path_head(offset: u64) {
    if let Some(header) = header() {
        word(header, offset_of!(RawHeader, path_head)).store(offset, core::sync::atomic::Ordering::Release);
    }
}

/// Chooses where profiles go and starts this process's.
pub fn start(pattern: &[u8]) {
    if unit::descriptor().abi != ABI {
        say::trouble(
            "no profile of",
            b"this program",
            Errno(0),
            "its objects and its runtime are of different versions",
        );
        return;
    }
    names().place.set(pattern);
    begin(false);
}

/// Starts the profile of a forked child: a file of its own, all counters zero.
///
/// The thread is the one, by its index, that called `fork`; `interrupted` if it did so in a signal handler.
pub fn start_child(this_thread: Option<usize>, interrupted: bool) {
    HEADER.store(core::ptr::null_mut(), Relaxed);
    // The table is the parent's file; if ours can't be created, nothing of ours may go there.
    // SAFETY: an empty table is a valid one, and the child has one thread.
    unsafe { early::set_table(core::ptr::null_mut(), 0) };
    paths::detach();
    slabs::detach(this_thread, interrupted);
    no_room::after_fork();
    begin(true);
}

fn begin(child: bool) {
    PROCESS.store(sys::process_id(), Relaxed);
    match create(child) {
        Ok(()) => {}
        Err(Errno(libc::ENOSPC | libc::EDQUOT | libc::EFBIG | libc::ENODEV | libc::EINVAL)) => {
            // Room may come back before the end, and some file systems can be written but not mapped.
            let _ = keep_in_memory();
        }
        Err(error @ Errno(libc::EISDIR)) => {
            say::trouble("no profile: COTREE_FILE names", names().name.bytes(), error, REMEDY_FOLDER);
        }
        Err(error) => say::trouble("no profile: can't create", names().live.bytes(), error, REMEDY),
    }
    if !active() {
        paths::close();
    }
}

const REMEDY: &str = "set COTREE_FILE to a file name in a folder that can be written, or to nothing for no profile";

const REMEDY_FOLDER: &str = "add the name of a file in it, such as /%n.%p.cotree, or set it to nothing for no profile";

fn create(child: bool) -> sys::Result<()> {
    let names = names();
    let fd = open_new(names, child)?;
    let result = map_file(fd);
    names.identity = sys::identity(fd);
    sys::close(fd);
    if result.is_err() {
        let _ = names.live.c_str().map(sys::unlink);
    }
    result
}

/// Finds a free name and creates the file.
fn open_new(names: &mut Names, child: bool) -> sys::Result<c_int> {
    let mut facts = Facts { process: process(), attempt: 1, child };
    loop {
        names.place.expand(&facts, &mut names.name, &mut names.live);
        let own_name = names.place.tells_processes_apart(&facts);
        let name = names.name.c_str().ok_or(Errno(libc::ENAMETOOLONG))?;
        // The profile takes its name in the end by renaming: what is no file must not be replaced by one.
        match sys::file_type(name) {
            None | Some(libc::S_IFREG) => {}
            Some(libc::S_IFDIR) => return Err(Errno(libc::EISDIR)),
            Some(_) => return Err(Errno(libc::EEXIST)),
        }
        if !(own_name && facts.attempt < 1000 && sys::exists(name)) {
            let mut opened = open_exclusive(&names.live);
            if opened == Err(Errno(libc::ENOENT)) {
                names.live.make_parents();
                opened = open_exclusive(&names.live);
            }
            match opened {
                Err(Errno(libc::EEXIST)) if facts.attempt < 1000 => {}
                _ => return opened,
            }
        }
        facts.attempt += 1;
    }
}

fn open_exclusive(live: &Path) -> sys::Result<c_int> {
    let path = live.c_str().ok_or(Errno(libc::ENAMETOOLONG))?;
    sys::open(path, libc::O_RDWR | libc::O_CREAT | libc::O_EXCL, 0o666)
}

/// Allocates and maps the file. Nothing of the program is touched unless all of it works.
fn map_file(fd: c_int) -> sys::Result<()> {
    let slab_count = slabs::initial_count();
    sys::allocate(fd, 0, slabs_offset())?;
    slabs::allocate(fd, slabs_offset(), slab_count as usize)?;
    no_room::prepare();
    let prot = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new range.
    let front = unsafe { sys::map(core::ptr::null_mut(), slabs_offset() as usize, prot, libc::MAP_SHARED, fd, 0) }?;
    if let Err(error) = slabs::map_initial(fd) {
        // SAFETY: mapped just now and known to nobody.
        unsafe { sys::unmap(front, slabs_offset() as usize) };
        return Err(error);
    }
    MAPPED.store(true, Relaxed);
    paths::make_first_room(fd);
    adopt(front, slabs::count(), 0);
    Ok(())
}

fn keep_in_memory() -> sys::Result<()> {
    let front = sys::map_anonymous(slabs_offset() as usize)?;
    MAPPED.store(false, Relaxed);
    slabs::keep_in_memory()?;
    adopt(front, slabs::count(), Flags::NOT_MAPPED);
    Ok(())
}

/// Fills the header and publishes it.
fn adopt(front: *mut u8, slab_count: u64, flags: u64) {
    let header = front.cast::<RawHeader>();
    let descriptor = unit::descriptor();
    // SAFETY: `front` is slabs_offset() zeroed bytes, page-aligned, ours alone until HEADER is stored.
    unsafe {
        let fields = &mut *header;
        fields.version = VERSION;
        fields.state = State::RUNNING;
        fields.unit = descriptor.id;
        fields.pid = process() as u32;
        fields.started_ns = sys::now();
        fields.flags = flags | STANDING.load(Relaxed);
        fields.counter_count = descriptor.counter_count;
        fields.slabs_offset = slabs_offset();
        fields.slab_stride = unit::stride() as u64;
        fields.slab_count = slab_count;
        fields.path_metric = descriptor.path_metric;
        fields.early_offset = PAGE;
        fields.early_capacity = early_capacity();
        fields.binary_len = identity::binary(&mut fields.binary) as u32;
        fields.command_len = identity::command(&mut fields.command) as u32;
        fields.magic = MAGIC;
        early::set_table(front.add(PAGE as usize).cast(), early_capacity());
    }
    HEADER.store(header, Relaxed);
    paths::open();
}

/// Opens the file again to let it grow, if one of its names still leads there.
pub fn reopen() -> sys::Result<c_int> {
    let mut failed = Errno(libc::ENOENT);
    // It has its final name while an `exec` is under way that may yet fail.
    for name in [&names().live, &names().name].into_iter().filter_map(Path::c_str) {
        match sys::open(name, libc::O_RDWR, 0) {
            Ok(fd) if sys::identity(fd) == names().identity => return Ok(fd),
            Ok(fd) => sys::close(fd),
            Err(Errno(libc::ENOENT)) => {}
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

/// Completes the file and publishes it under its name. Frames and threads have been accounted for.
pub fn publish(state: u32, threads_alive: u32) {
    let Some(header) = header() else { return };
    if threads_alive == 0 {
        slabs::fold_orphans();
        paths::fold_orphans();
    } else {
        // Others may be counting there at this moment.
        slabs::stop_growing();
        let slabs = if slabs::are_orphaned() { Flags::SLAB_SHARED } else { 0 };
        let tables = if paths::orphans() > 0 { Flags::PATHS_MISSING } else { 0 };
        flag(slabs | tables);
    }
    no_room::settle();
    slabs::forget_caches();
    seal(header, state, threads_alive, early::table(), slabs::for_each);
    if mapped() {
        if let (Some(live), Some(name)) = (names().live.c_str(), names().name.c_str())
            && let Err(error) = sys::rename(live, name)
        {
            let remedy = "a file that is still there is whole, whatever its name";
            say::trouble("can't give its name to the finished profile", names().live.bytes(), error, remedy);
        }
    } else {
        write_from_memory(header);
    }
}

/// The profile is complete; what threads and late handlers still count must not reach it.
pub fn detach() {
    if active() {
        paths::close();
        HEADER.store(core::ptr::null_mut(), Relaxed);
        slabs::lead_nowhere();
        slabs::go_on_growing();
        // SAFETY: an empty table.
        unsafe { early::set_table(core::ptr::null_mut(), 0) };
    }
}

/// Takes [`publish`] back: the program goes on.
pub fn unpublish() {
    let Some(header) = header() else { return };
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
    if let (Some(live), Some(name)) = (names().live.c_str(), names().name.c_str()) {
        if mapped() {
            let _ = sys::rename(name, live);
        } else {
            sys::unlink(name);
        }
    }
}

/// Completes a header, given the table and a walk over the slabs in file order, with how many zeros are behind each.
pub fn seal(
    header: *mut RawHeader,
    state: u32,
    threads_alive: u32,
    early: &[early::Slot],
    for_each_slab: impl FnOnce(&mut dyn FnMut(&[u8], usize)),
) {
    let early_bytes = (slabs_offset() - PAGE) as usize;
    // SAFETY: the table is followed by its padding up to slabs_offset.
    let early = unsafe { core::slice::from_raw_parts(early.as_ptr().cast::<u8>(), early_bytes) };
    // SAFETY: a header page that only the ending thread writes now.
    let fields = unsafe { &mut *header };
    let mut sum = BodyChecksum::new(VERSION, early_bytes as u64 + fields.slab_count * fields.slab_stride);
    sum.add(early);
    for_each_slab(&mut |slab, zeros| {
        sum.add(slab);
        sum.add_zeros(zeros as u64);
    });
    fields.threads_alive = threads_alive;
    fields.ended_ns = sys::now();
    fields.body_checksum = sum.finish();
    fields.state = state;
    fields.header_checksum = 0;
    // SAFETY: the header is one page of plain bytes.
    fields.header_checksum = checksum(unsafe { core::slice::from_raw_parts(header.cast::<u8>(), PAGE as usize) });
}

/// Writes what was kept in memory, at the end.
fn write_from_memory(header: *mut RawHeader) {
    let names = names();
    let result = (|| {
        let _ = names.live.c_str().map(sys::unlink);
        let fd = open_exclusive(&names.live)?;
        let total = slabs_offset() + slabs::count() * unit::stride() as u64;
        let mut result = sys::resize(fd, total);
        let mut at = 0;
        let mut write = |bytes: &[u8], zeros: usize| {
            if result.is_ok() {
                // SAFETY: a slice.
                result = unsafe { sys::write_at(fd, bytes.as_ptr(), bytes.len(), at) };
                at += (bytes.len() + zeros) as u64;
            }
        };
        // SAFETY: header and table are one mapping of that length.
        write(unsafe { core::slice::from_raw_parts(header.cast::<u8>(), slabs_offset() as usize) }, 0);
        slabs::for_each(&mut write);
        sys::close(fd);
        let live = names.live.c_str().ok_or(Errno(libc::ENAMETOOLONG))?;
        let name = names.name.c_str().ok_or(Errno(libc::ENAMETOOLONG))?;
        result.and_then(|()| sys::rename(live, name)).inspect_err(|_| sys::unlink(live))
    })();
    if let Err(error) = result {
        say::trouble("the profile is lost: can't write", names.live.bytes(), error, REMEDY);
    }
}

/// The final name, for snapshots beside it.
pub fn final_name() -> &'static [u8] {
    names().name.bytes()
}
