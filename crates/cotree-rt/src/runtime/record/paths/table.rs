//! The hash tables of paths (Ball & Larus 1996, §5): open addressing in segments that never move and never change a
//! key.
//!
//! Every slab has a table of its own. After a full segment comes a larger, empty one. Earlier counts
//! stay where they are, and readers add up all segments. So nothing is lost or counted twice, whenever the process is
//! killed or interrupted by a signal handler.

use crate::layout::{Flags, PathBucket, SegmentKind, path_slot};
use crate::runtime::file::current;
use crate::runtime::slabs::copy::ProfileCopy;
use crate::runtime::slabs::segments::{self, Segment, SegmentType};
use crate::runtime::slabs::{self, Storage};
use crate::runtime::unit;
use core::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

/// A bucket as the runtime uses it; [`PathBucket`] to readers.
#[repr(C, align(16))]
pub struct Bucket {
    function: AtomicU64,
    path: AtomicU64,
    pub count: AtomicU64,
    pub metric: AtomicU64,
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

/// Segments of buckets.
const KIND: SegmentType = SegmentType { number: SegmentKind::PATHS, entry_size: size_of::<Bucket>() as u32 };

/// A segment of the table.
#[derive(Clone, Copy)]
struct Table(Segment);

impl Table {
    fn buckets(self) -> &'static [Bucket] {
        // SAFETY: all segments of the kind hold buckets.
        unsafe { self.0.entries() }
    }

    fn used(self) -> &'static AtomicU64 {
        self.0.used()
    }

    fn capacity(self) -> u64 {
        self.0.capacity()
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

/// Where this has not changed, buckets that were found are still there.
pub fn epoch() -> u64 {
    EPOCH.load(Relaxed)
}

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

/// Bytes of the first segment of a slab.
pub const FIRST_SIZE: usize = KIND.size(FIRST);

/// The bucket of a key in this thread's table; None if there is no memory, or nothing is counted any more.
pub fn bucket(function: u64, path: u64) -> Option<&'static Bucket> {
    let word = unit::table_word(unit::own_slab());
    loop {
        if STATE.load(Relaxed) == CLOSED {
            return None;
        }
        let newest = Segment::at(word).map(Table);
        if let Some(found) = newest.and_then(|table| table.find(function, path, table.limit())) {
            return Some(found);
        }
        grow(word, newest)?;
    }
}

/// The bucket of a path, if it is there already: what is asked for nearly always, in few instructions.
#[inline]
pub fn known(function: u64, path: u64) -> Option<&'static Bucket> {
    let table = Segment::at(unit::table_word(unit::own_slab()))?;
    if STATE.load(Relaxed) == CLOSED {
        return None;
    }
    let buckets = Table(table).buckets();
    let mask = (buckets.len() as u64).wrapping_sub(1);
    if mask == u64::MAX {
        return None;
    }
    let mut at = path_slot(function, path, mask + 1);
    for _ in 0..=mask {
        // SAFETY: the mask keeps it within the segment.
        let bucket = unsafe { buckets.get_unchecked(at as usize) };
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
fn grow(word: &AtomicU64, full: Option<Table>) -> Option<()> {
    let _held = slabs::lock_to_grow();
    if word.load(Relaxed) != full.map_or(0, |table| table.0.address()) {
        return Some(());
    }
    // Memory that has been taken away begins anew.
    let capacity = full.map_or(FIRST, |table| (table.capacity() * 2).max(FIRST));
    let Ok(segment) = segments::add(KIND, capacity, unit::own_slab()) else {
        current::flag_always(Flags::PATHS_MISSING);
        return None;
    };
    word.store(segment.address(), Release);
    Some(())
}

/// Counts activations that were abandoned, by path register.
pub fn count(function: u64, path: u64, delta: i64) {
    if let Some(bucket) = bucket(function, path) {
        bucket.count.fetch_add(delta as u64, Relaxed);
    }
}

/// All counts and sums zero.
pub fn clear() {
    clear_in(Storage::Anywhere);
}

fn clear_in(storage: Storage) {
    segments::for_each(KIND, storage, &mut |segment| Table(segment).buckets().iter().for_each(Bucket::clear));
}

/// What stands in segments that are not in the file.
fn for_each_in_memory(act: &mut dyn FnMut(&Bucket)) {
    segments::for_each(KIND, Storage::InMemory, &mut |segment| {
        let buckets = Table(segment).buckets().iter();
        buckets.filter(|bucket| bucket.count.load(Relaxed) != 0).for_each(&mut *act);
    });
}

/// Moves what is in segments that are not in the file to those that are.
pub fn move_into_file() {
    let keys = keys_in_memory();
    if keys == 0 {
        return;
    }
    let held = slabs::lock();
    let segment = segments::add_in_file(KIND, capacity_for(keys));
    drop(held);
    if let Ok(segment) = segment {
        add_from_memory(Table(segment));
    } else {
        for_each_in_memory(&mut |bucket| {
            if !add_anywhere(bucket) {
                current::flag(Flags::PATHS_MISSING);
            }
        });
    }
    clear_in(Storage::InMemory);
}

fn add_from_memory(to: Table) {
    for_each_in_memory(&mut |bucket| {
        if !to.add(bucket, to.capacity()) {
            current::flag(Flags::PATHS_MISSING);
        }
    });
}

/// Adds to a bucket in the file, whoever's table it is in; false if all are full.
fn add_anywhere(bucket: &Bucket) -> bool {
    let mut done = false;
    segments::for_each(KIND, Storage::InFile, &mut |segment| {
        let table = Table(segment);
        done = done || table.add(bucket, table.capacity());
    });
    done
}

/// Keys in segments that are not in the file.
pub fn keys_in_memory() -> u64 {
    let mut keys = 0;
    for_each_in_memory(&mut |_| keys += 1);
    keys
}

/// Buckets of a segment for so many keys.
fn capacity_for(keys: u64) -> u64 {
    (keys * 2).next_power_of_two().max(16)
}

/// Bytes that a copy of the profile needs for so many keys besides what is in the file.
pub fn room_in_copy(keys: u64) -> usize {
    if keys == 0 { 0 } else { KIND.size(capacity_for(keys)) }
}

/// Adds a segment to a copy of the profile, in room that it has for that, and puts in what is not in the file.
pub fn fill_copy(copy: &mut ProfileCopy, room: usize) {
    if let Some(capacity) = KIND.capacity(room).checked_ilog2() {
        add_from_memory(Table(copy.add_segment(KIND, 1 << capacity)));
    }
}

/// Counts in a copy of the profile; false if there is no room.
pub fn count_in_copy(copy: &mut ProfileCopy, function: u64, path: u64, delta: i64) -> bool {
    let table = copy.newest_segment(KIND).map(Table);
    let found = table.and_then(|table| table.find(function, path, table.capacity()));
    found.map(|bucket| bucket.count.fetch_add(delta as u64, Relaxed)).is_some()
}
