//! The link unit that this copy of the runtime belongs to: its descriptor, its image in memory, and the current
//! thread's slab.

use crate::arch;
use crate::arch::threads::{slab_word_offset, thread_pointer};
#[cfg(not(feature = "counters-alone"))]
use crate::layout::TO_ZEROS;
use crate::layout::{ABI, Access, UnitDescriptor, mixed, slab_sparse_bytes, slab_stride};
use crate::runtime::os::sys;
use core::ffi::CStr;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

unsafe extern "C" {
    static __cotree_unit: UnitDescriptor;
    // Defined by every linker at the start of the first segment.
    static __ehdr_start: u8;
}

/// The descriptor.
pub fn descriptor() -> &'static UnitDescriptor {
    // SAFETY: read-only data of the unit object, there as long as this code is.
    unsafe { &__cotree_unit }
}

/// Whether the program asks for its events while it runs, or may set limits of them.
pub fn is_queried() -> bool {
    descriptor().query_words != 0
}

/// The counters of the unit: slab 0.
pub fn counters() -> *mut u64 {
    descriptor().counters
}

/// How many there are, without the spare one.
pub fn counter_count() -> usize {
    descriptor().counter_count as usize
}

/// Whether walks have to know the registers of frames: generated code notes what is in them, or frames are told apart
/// by where they end.
pub fn knows_registers() -> bool {
    notes_registers() || (!cfg!(feature = "counters-alone") && descriptor().outermost_count != 0)
}

/// Whether anything is known of registers at any return address.
pub fn notes_registers() -> bool {
    !cfg!(feature = "counters-alone") && descriptor().register_functions != 0
}

/// Whether every thread has counters of its own.
pub fn threaded() -> bool {
    descriptor().threaded != Access::DIRECT
}

/// Whether they are reached through the segment register.
#[cfg(not(feature = "shared-library"))]
pub fn by_segment() -> bool {
    descriptor().threaded == Access::SEGMENT
}

/// Code of a shared library reaches them by the TLS word.
#[cfg(feature = "shared-library")]
pub fn by_segment() -> bool {
    false
}

/// The pattern for the names of profiles that was built in.
pub fn file_pattern() -> Option<&'static [u8]> {
    let pattern = descriptor().file_pattern;
    // SAFETY: null, or NUL-terminated.
    (descriptor().abi == ABI && !pattern.is_null()).then(|| unsafe { CStr::from_ptr(pattern) }.to_bytes())
}

/// The counter that means nothing, but in slab 0.
pub fn spare() -> usize {
    (descriptor().counter_count + descriptor().cache_count) as usize
}

/// The counters that are reached by the TLS word, whatever reaches the others.
pub fn thread_word_counters() -> &'static [u64] {
    let descriptor = descriptor();
    // SAFETY: so many words of the unit object's read-only data.
    unsafe {
        core::slice::from_raw_parts(descriptor.thread_word_counters, descriptor.thread_word_counter_count as usize)
    }
}

/// Bytes from one slab to the next.
pub fn stride() -> usize {
    slab_stride(descriptor().counter_count, descriptor().cache_count) as usize
}

/// The bytes of a slab that take room in the file only as they are written to.
pub fn sparse_bytes() -> Range<usize> {
    let descriptor = descriptor();
    if cfg!(feature = "counters-alone") || descriptor.executable == 0 {
        return 0..0; // A handler for want of room could not be taken back when the library is unloaded.
    }
    let sparse = slab_sparse_bytes(descriptor.path_words, descriptor.counter_count, descriptor.cache_count);
    sparse.start as usize..sparse.end as usize
}

/// Whether generated code counts paths.
#[cfg(any(feature = "shared-library", not(feature = "counters-alone")))]
pub fn counts_paths() -> bool {
    !cfg!(feature = "counters-alone") && descriptor().counts_paths != 0
}

/// Whether debug information says which path was under way at a fault.
#[cfg(not(feature = "counters-alone"))]
pub fn tells_faults() -> bool {
    descriptor().counts_paths == 2
}

/// Whether generated code writes a trace.
pub fn is_traced() -> bool {
    !cfg!(feature = "counters-alone") && descriptor().trace_word != 0
}

/// Whether generated code measures calls.
pub fn measures_calls() -> bool {
    !cfg!(feature = "counters-alone") && descriptor().call_sums != 0
}

/// Whether paths pass between functions.
pub fn passes_paths() -> bool {
    !cfg!(feature = "counters-alone") && descriptor().addressee_word != 0
}

/// Whether this build of the runtime is for such a unit.
pub fn fits() -> bool {
    let &UnitDescriptor {
        abi, counts_paths, trace_word, register_functions, query_words, event_limits, call_sums, ..
    } = descriptor();
    let more = counts_paths != 0 || trace_word | register_functions | query_words | event_limits | call_sums != 0;
    abi == ABI && !(cfg!(feature = "counters-alone") && more)
}

/// Whether any function whose address is taken may interrupt any other.
pub fn foresees_handlers() -> bool {
    descriptor().handlers_foreseen != 0
}

/// The slab that this thread counts in.
#[cfg(not(feature = "counters-alone"))]
pub fn own_slab() -> *mut u64 {
    if threaded() { slab_word() } else { descriptor().counters }
}

/// The runtime's own word of a slab: the address of the table of paths in use.
#[cfg(not(feature = "counters-alone"))]
pub fn table_word(slab: *mut u64) -> &'static AtomicU64 {
    let index = descriptor().counter_count + descriptor().cache_count + 1;
    // SAFETY: behind the caches; slabs stay mapped.
    unsafe { &*slab.add(index as usize).cast() }
}

/// The address of a slab's bucket of zeros, which is the last in it.
#[cfg(not(feature = "counters-alone"))]
pub fn zeros(slab: *mut u64) -> u64 {
    slab as u64 + (spare() as u64 + TO_ZEROS) * 8
}

static BIAS: AtomicU64 = AtomicU64::new(0);
static START: AtomicU64 = AtomicU64::new(0);
static END: AtomicU64 = AtomicU64::new(0);

/// Reads the program headers; once, at start.
pub fn find_image() {
    let start = &raw const __ehdr_start as u64;
    // SAFETY: the ELF header and the program headers are mapped at the start of the first segment: that is what the
    // linker's symbol means.
    let headers = unsafe {
        let header = &*(start as *const libc::Elf64_Ehdr);
        core::slice::from_raw_parts((start + header.e_phoff) as *const libc::Elf64_Phdr, header.e_phnum as usize)
    };
    let loads = || headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
    let bias = start.wrapping_sub(loads().find(|header| header.p_offset == 0).map_or(start, |header| header.p_vaddr));
    BIAS.store(bias, Relaxed);
    START.store(start, Relaxed);
    END.store(loads().map(|header| bias.wrapping_add(header.p_vaddr + header.p_memsz)).max().unwrap_or(start), Relaxed);
}

/// What it takes to tell the unit's code addresses.
#[derive(Clone, Copy)]
pub struct Image {
    start: u64,
    length: u64,
    bias: u64,
}

impl Image {
    /// Where it is.
    pub fn get() -> Self {
        let (start, end) = image();
        Self { start, length: end - start, bias: BIAS.load(Relaxed) }
    }

    /// [`hash`]
    #[cfg(not(feature = "shared-library"))]
    pub fn hash(self, pc: u64) -> u64 {
        mixed(pc.wrapping_sub(self.bias))
    }

    /// [`link_address`]
    pub fn link_address(self, pc: u64) -> Option<u64> {
        (pc.wrapping_sub(self.start).wrapping_sub(1) < self.length).then(|| pc.wrapping_sub(self.bias))
    }
}

/// A hash of a code address of any unit; the table of early exits uses a part of it.
pub fn hash(pc: u64) -> u64 {
    mixed(pc.wrapping_sub(BIAS.load(Relaxed)))
}

/// First and last-but-one address of the image.
pub fn image() -> (u64, u64) {
    (START.load(Relaxed), END.load(Relaxed))
}

/// The link-time address, if the code there is ours. Of a return address the byte before decides: a call that never
/// returns may be the last thing in a section.
pub fn link_address(pc: u64) -> Option<u64> {
    Image::get().link_address(pc)
}

/// Where that is which was linked at an address.
#[cfg(not(any(feature = "shared-library", feature = "counters-alone")))]
pub fn loaded_address(linked: u64) -> u64 {
    linked.wrapping_add(BIAS.load(Relaxed))
}

/// Sets the slab of the thread with that thread pointer.
///
/// # Safety
/// The thread must exist, and be this one or not run code of this unit yet.
pub unsafe fn set_slab(thread_pointer: u64, slab: *mut u64) {
    // SAFETY: the unit's TLS word lies in every thread's static TLS block.
    unsafe { word_of(thread_pointer).write_volatile(slab) };
}

/// What this thread's TLS word says.
pub fn slab_word() -> *mut u64 {
    // SAFETY: as above.
    unsafe { word_of(thread_pointer()).read_volatile() }
}

/// What the TLS word of the thread with that thread pointer says.
#[cfg(not(feature = "counters-alone"))]
pub fn slab_of(thread_pointer: u64) -> *mut u64 {
    // SAFETY: as above; the thread is there.
    unsafe { word_of(thread_pointer).read_volatile() }
}

fn word_of(thread_pointer: u64) -> *mut *mut u64 {
    (thread_pointer as isize + slab_word_offset()) as *mut *mut u64
}

/// Leads this thread's increments to the slab: the segment base is the slab's distance from slab 0, which is therefore
/// where they go without any base.
pub fn set_segment(slab: *mut u64) -> sys::Result<()> {
    // SAFETY: a program that uses the register itself is linked for the TLS word, and says so if the linker can't see
    // it.
    unsafe { sys::set_segment_base((slab as u64).wrapping_sub(descriptor().counters as u64)) }
}

/// Where this thread's increments go, if that is where the segment register leads.
pub fn segment() -> *mut u64 {
    (descriptor().counters as u64).wrapping_add(arch::segment::base()) as *mut u64
}
