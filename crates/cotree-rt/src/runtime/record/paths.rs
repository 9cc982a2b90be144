//! Tables of paths: functions with more paths than an array should have count them here (Ball & Larus 1996, §5), and path
//! registers of activations that end early are counted here too.
//!
//! Every slab has a table of its own: open addressing in segments that never move and never change a key. A full segment
//! is followed by a larger one, empty at first; what has been counted stays where it is, and readers add up all segments.
//! So nothing is lost or counted twice, whenever the process is killed or a signal handler comes in between.
//!
//! Generated code keeps the way to buckets that it counted lately in words of the slab and calls `__cotree_path` for any other.

use crate::layout::{Flags, PATH_MAGIC, PathBucket, PathSegmentHeader, path_slot};
use crate::runtime::file::profile;
use crate::runtime::{slabs, unit};
use core::arch::{asm, global_asm};
use core::ffi::c_int;
use core::mem::offset_of;
use core::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

/// A bucket as the runtime uses it; [`PathBucket`] to readers.
#[repr(C, align(16))]
pub struct Bucket {
    function: AtomicU64,
    path: AtomicU64,
    count: AtomicU64,
    metric: AtomicU64,
}
const _: () = assert!(size_of::<Bucket>() == size_of::<PathBucket>());

impl Bucket {
    fn clear(&self) {
        self.count.store(0, Relaxed);
        self.metric.store(0, Relaxed);
    }
}

/// In the place of a function: the bucket is being taken. Whoever meets it passes by.
const TAKEN: u64 = u64::MAX;
/// Buckets of a slab's first segment.
const FIRST: u64 = 256;

/// A segment in memory.
#[derive(Clone, Copy)]
struct Segment(*mut PathSegmentHeader);

impl Segment {
    /// The segment whose address the word holds.
    fn at(word: &AtomicU64) -> Option<Self> {
        let address = word.load(Acquire) as *mut PathSegmentHeader;
        (!address.is_null()).then_some(Self(address))
    }

    fn used(self) -> &'static AtomicU64 {
        // SAFETY: segments stay mapped.
        unsafe { &*self.0.cast::<u8>().add(offset_of!(PathSegmentHeader, used)).cast() }
    }

    fn capacity(self) -> u64 {
        // SAFETY: segments stay mapped.
        unsafe { (*self.0).capacity }
    }

    fn buckets(self) -> &'static [Bucket] {
        // SAFETY: so many buckets follow the header. Memory that has been taken away has capacity 0.
        unsafe { core::slice::from_raw_parts(self.0.add(1).cast(), self.capacity() as usize) }
    }

    /// The bucket of a key, taken if need be; None if no more than `fill` buckets may be in use.
    fn find(self, function: u64, path: u64, fill: u64) -> Option<&'static Bucket> {
        let buckets = self.buckets();
        let mask = (buckets.len() as u64).wrapping_sub(1);
        let mut at = if buckets.is_empty() { 0 } else { path_slot(function, path, buckets.len() as u64) };
        for _ in 0..buckets.len() {
            let bucket = &buckets[at as usize];
            at = (at + 1) & mask;
            let mut found = bucket.function.load(Acquire);
            if found == 0 {
                if self.used().load(Relaxed) >= fill {
                    return None;
                }
                match bucket.function.compare_exchange(0, TAKEN, Relaxed, Acquire) {
                    Ok(_) => {
                        self.used().fetch_add(1, Relaxed);
                        bucket.path.store(path, Relaxed);
                        bucket.function.store(function, Release);
                        return Some(bucket);
                    }
                    Err(other) => found = other,
                }
            }
            if found == function && bucket.path.load(Relaxed) == path {
                return Some(bucket);
            }
        }
        None
    }

    /// Adds what is in a bucket of another table; false if no more than `fill` buckets may be in use.
    fn add(self, other: &Bucket, fill: u64) -> bool {
        let found = self.find(other.function.load(Relaxed), other.path.load(Relaxed), fill);
        found.is_some_and(|bucket| {
            bucket.count.fetch_add(other.count.load(Relaxed), Relaxed);
            bucket.metric.fetch_add(other.metric.load(Relaxed), Relaxed);
            true
        })
    }

    /// Half of its buckets.
    fn limit(self) -> u64 {
        self.capacity() / 2
    }
}

const EARLY: u32 = 0;
const OPEN: u32 = 1;
const CLOSED: u32 = 2;
/// Before the profile begins, tables are in memory; after it nothing is counted.
static STATE: AtomicU32 = AtomicU32::new(EARLY);
/// Changes when tables go away.
static EPOCH: AtomicU64 = AtomicU64::new(0);

/// A profile begins.
pub fn open() {
    STATE.store(OPEN, Relaxed);
}

/// Nothing is counted from now on.
pub fn close() {
    EPOCH.fetch_add(1, Relaxed);
    STATE.store(CLOSED, Relaxed);
}

/// In a forked child: the parent's tables are gone.
pub fn detach() {
    EPOCH.fetch_add(1, Relaxed);
    STATE.store(EARLY, Relaxed);
}

const fn bytes_of(capacity: u64) -> usize {
    size_of::<PathSegmentHeader>() + capacity as usize * size_of::<Bucket>()
}

/// Makes room for the first table while the file is open.
pub fn make_first_room(fd: c_int) {
    if unit::counts_paths() {
        // Without it, there may be room later.
        let _ = slabs::make_first_room(fd, bytes_of(FIRST));
    }
}

/// The bucket of a key in this thread's table; None if there is no memory, or nothing is counted any more.
fn bucket(function: u64, path: u64) -> Option<&'static Bucket> {
    let word = unit::table_word(unit::own_slab());
    loop {
        if STATE.load(Relaxed) == CLOSED {
            return None;
        }
        let newest = Segment::at(word);
        if let Some(found) = newest.and_then(|segment| segment.find(function, path, segment.limit())) {
            return Some(found);
        }
        grow(word, newest)?;
    }
}

/// The same, if it is there already: what is asked for nearly always, in few instructions.
#[inline]
fn known(function: u64, path: u64) -> Option<&'static Bucket> {
    let header = unit::table_word(unit::own_slab()).load(Acquire) as *const PathSegmentHeader;
    if header.is_null() || STATE.load(Relaxed) == CLOSED {
        return None;
    }
    // SAFETY: a segment. Memory that has been taken away is zeros: it has no buckets, and the first place is free.
    let (buckets, mask) = unsafe { (header.add(1).cast::<Bucket>(), (*header).capacity.wrapping_sub(1)) };
    if mask == u64::MAX {
        return None;
    }
    let mut at = path_slot(function, path, mask + 1);
    for _ in 0..=mask {
        // SAFETY: within the segment.
        let bucket = unsafe { &*buckets.add(at as usize) };
        let found = bucket.function.load(Acquire);
        if found == function && bucket.path.load(Relaxed) == path {
            return Some(bucket);
        }
        if found == 0 {
            break;
        }
        at = (at + 1) & mask;
    }
    None
}

/// Puts a larger segment in front, unless another thread did.
fn grow(word: &AtomicU64, full: Option<Segment>) -> Option<()> {
    let _held = slabs::lock_to_grow();
    if word.load(Relaxed) != full.map_or(0, |segment| segment.0 as u64) {
        return Some(());
    }
    // Memory that has been taken away begins anew.
    let capacity = full.map_or(FIRST, |segment| (segment.capacity() * 2).max(FIRST));
    let Ok((base, offset)) = slabs::take_room(bytes_of(capacity)) else {
        profile::flag_always(Flags::PATHS_MISSING);
        return None;
    };
    let header = base.cast::<PathSegmentHeader>();
    let next = if offset == 0 { 0 } else { profile::path_head() };
    // SAFETY: fresh zeroed memory, as large as that, ours alone.
    unsafe {
        header.write(PathSegmentHeader { magic: PATH_MAGIC, capacity, next, used: 0, reserved: [0; 4] });
    }
    if offset != 0 {
        profile::set_path_head(offset);
    }
    word.store(header as u64, Release);
    Some(())
}

/// Counts activations that were abandoned, by path register.
pub fn count(function: u64, path: u64, delta: i64) {
    if let Some(bucket) = bucket(function, path) {
        bucket.count.fetch_add(delta as u64, Relaxed);
    }
}

/// A stub that preserves all but r11 and vector registers (LLVM's `preserve_mostcc`). Walks know it by its range.
macro_rules! stub {
    ($name:literal, $end:literal, $count:path) => {
        global_asm!(
            concat!(".pushsection .text.cotree.", $name, ",\"ax\",@progbits"),
            ".p2align 4",
            concat!(".hidden ", $name),
            concat!(".globl ", $name),
            concat!(".type ", $name, ",@function"),
            concat!($name, ":"),
            ".cfi_startproc",
            "endbr64",
            "push rax",
            ".cfi_adjust_cfa_offset 8",
            "push rcx",
            ".cfi_adjust_cfa_offset 8",
            "push rdx",
            ".cfi_adjust_cfa_offset 8",
            "push rsi",
            ".cfi_adjust_cfa_offset 8",
            "push rdi",
            ".cfi_adjust_cfa_offset 8",
            "push r8",
            ".cfi_adjust_cfa_offset 8",
            "push r9",
            ".cfi_adjust_cfa_offset 8",
            "push r10",
            ".cfi_adjust_cfa_offset 8",
            "sub rsp, 8",
            ".cfi_adjust_cfa_offset 8",
            "call {count}",
            "add rsp, 8",
            ".cfi_adjust_cfa_offset -8",
            "pop r10",
            ".cfi_adjust_cfa_offset -8",
            "pop r9",
            ".cfi_adjust_cfa_offset -8",
            "pop r8",
            ".cfi_adjust_cfa_offset -8",
            "pop rdi",
            ".cfi_adjust_cfa_offset -8",
            "pop rsi",
            ".cfi_adjust_cfa_offset -8",
            "pop rdx",
            ".cfi_adjust_cfa_offset -8",
            "pop rcx",
            ".cfi_adjust_cfa_offset -8",
            "pop rax",
            ".cfi_adjust_cfa_offset -8",
            "ret",
            ".cfi_endproc",
            concat!(".hidden ", $end),
            concat!(".globl ", $end),
            concat!($end, ":"),
            concat!(".size ", $name, ", ", $end, " - ", $name),
            ".popsection",
            count = sym $count,
        );
    };
}
stub!("__cotree_path", "cotree_rt_path_end", count_path);
stub!("__cotree_path_metric", "cotree_rt_path_metric_end", count_path_with);

unsafe extern "C" {
    fn __cotree_path();
    fn __cotree_path_metric();
    static cotree_rt_path_end: u8;
    static cotree_rt_path_metric_end: u8;
}

/// Whether the code address is in a stub: then the frame's caller was interrupted while it counted a path.
pub fn is_counting(pc: u64) -> bool {
    let within = |start: unsafe extern "C" fn(), end: *const u8| (start as usize as u64..end as u64).contains(&pc);
    within(__cotree_path, &raw const cotree_rt_path_end)
        || within(__cotree_path_metric, &raw const cotree_rt_path_metric_end)
}

/// In the place of a function: there is nothing to count.
const NOWHERE: u64 = u64::MAX;

/// `function` is its number in the unit, `path` 1 + the path's number, `cache` that of the slab's word that is to lead to the
/// bucket.
unsafe extern "C" fn count_path(function: u64, path: u64, cache: u64) {
    count_one(function, path, cache);
}

/// The same, and adds to the path's sum.
unsafe extern "C" fn count_path_with(function: u64, path: u64, cache: u64, amount: u64) {
    if let Some(bucket) = count_one(function, path, cache) {
        // SAFETY: a bucket's sum; one instruction, as below.
        unsafe { asm!("add qword ptr [{}], {}", in(reg) bucket.metric.as_ptr(), in(reg) amount, options(nostack)) };
    }
}

#[inline(always)]
fn count_one(function: u64, path: u64, cache: u64) -> Option<&'static Bucket> {
    if function == NOWHERE {
        return None;
    }
    let epoch = EPOCH.load(Relaxed);
    let bucket = known(function + 1, path).or_else(|| bucket(function + 1, path))?;
    // One instruction: a signal handler may count the same.
    // SAFETY: a bucket's count.
    unsafe { asm!("inc qword ptr [{}]", in(reg) bucket.count.as_ptr(), options(nostack)) };
    if EPOCH.load(Relaxed) == epoch {
        let slab = unit::own_slab();
        // SAFETY: a word of the slab.
        unsafe {
            slab.add(cache as usize).write_volatile((bucket as *const Bucket as u64).wrapping_sub(unit::zeros(slab)))
        };
    }
    Some(bucket)
}

/// All counts and sums zero.
pub fn clear() {
    slabs::for_each_room(&mut |room| {
        each_segment(room, |segment| {
            segment.buckets().iter().for_each(Bucket::clear);
        });
    });
}

/// The segments in some room: they lie one after the other, on page boundaries.
fn each_segment(room: &[u8], mut act: impl FnMut(Segment)) {
    let mut at = 0;
    while at + size_of::<PathSegmentHeader>() <= room.len() {
        let segment = Segment(room[at..].as_ptr().cast::<PathSegmentHeader>().cast_mut());
        // SAFETY: page-aligned and within the room.
        if unsafe { (*segment.0).magic } != PATH_MAGIC {
            return;
        }
        act(segment);
        at += bytes_of(segment.capacity()).next_multiple_of(crate::layout::PAGE as usize);
    }
}

/// What stands in tables that are not in the file.
fn for_each_orphan(act: &mut dyn FnMut(&Bucket)) {
    slabs::for_each_orphan_room(&mut |room| {
        each_segment(room, |segment| {
            for bucket in segment.buckets() {
                if bucket.count.load(Relaxed) != 0 {
                    act(bucket);
                }
            }
        });
    });
}

/// Moves what is in tables that are not in the file to those that are.
pub fn fold_orphans() {
    let keys = orphans();
    if keys == 0 {
        return;
    }
    let (bytes, capacity) = room_for(keys);
    let held = slabs::lock();
    let room = slabs::take_room_in_file(bytes);
    drop(held);
    if let Ok((base, offset)) = room {
        // SAFETY: fresh zeroed memory of that size.
        unsafe { fill_segment(base, capacity, profile::path_head()) };
        profile::set_path_head(offset);
    } else {
        for_each_orphan(&mut |orphan| {
            if !add_anywhere(orphan) {
                profile::flag(Flags::PATHS_MISSING);
            }
        });
    }
    slabs::for_each_orphan_room(&mut |room| {
        each_segment(room, |segment| {
            segment.buckets().iter().for_each(Bucket::clear);
        });
    });
}

/// Adds to a bucket in the file, whoever's table it is in; false if all are full.
fn add_anywhere(orphan: &Bucket) -> bool {
    let mut done = false;
    slabs::for_each_room_in_file(&mut |room| {
        each_segment(room, |segment| {
            done = done || segment.add(orphan, segment.capacity());
        });
    });
    done
}

/// Keys in tables that are not in the file.
pub fn orphans() -> u64 {
    let mut keys = 0;
    for_each_orphan(&mut |_| keys += 1);
    keys
}

/// Makes a segment of zeroed memory, and puts in what is in tables that are not in the file.
///
/// # Safety
/// Room for a segment of that capacity, which no one uses.
pub unsafe fn fill_segment(base: *mut u8, capacity: u64, next: u64) {
    let header = base.cast::<PathSegmentHeader>();
    // SAFETY: the caller's promise.
    unsafe { header.write(PathSegmentHeader { magic: PATH_MAGIC, capacity, next, used: 0, reserved: [0; 4] }) };
    let segment = Segment(header);
    for_each_orphan(&mut |orphan| {
        if !segment.add(orphan, capacity) {
            profile::flag(Flags::PATHS_MISSING);
        }
    });
}

/// Counts in a segment that [`fill_segment`] made; false if it is full.
///
/// # Safety
/// The segment is still there.
pub unsafe fn count_in(base: *mut u8, function: u64, path: u64, delta: i64) -> bool {
    let segment = Segment(base.cast());
    let found = segment.find(function, path, segment.capacity());
    found.map(|bucket| bucket.count.fetch_add(delta as u64, Relaxed)).is_some()
}

/// Bytes of a segment for so many keys, and its capacity.
pub fn room_for(keys: u64) -> (usize, u64) {
    let capacity = (keys * 2).next_power_of_two().max(16);
    (bytes_of(capacity), capacity)
}
