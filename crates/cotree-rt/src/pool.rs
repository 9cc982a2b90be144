//! Adds up finished raw profiles of one build: a *pool* is a raw profile of many runs, with one slab.
//!
//! What can be added up are words of slabs and early exits. Profiles with segments (tables of paths, traces) stay by
//! themselves.

use crate::layout::{BodyChecksum, EarlyEntry, Flags, MAGIC, PAGE, RawHeader, State, VERSION, checksum, early_slot};
use crate::zeros;
use core::mem::size_of;

const WORD: usize = size_of::<u64>();
const HEADER: usize = PAGE as usize;

/// The header of the raw profile of these bytes. They are a mapping, or in any case aligned as words are: if not, or if
/// they are less than a header, there is none.
fn header(bytes: &[u8]) -> Option<&RawHeader> {
    let page = bytes.first_chunk::<HEADER>()?.as_ptr().cast::<RawHeader>();
    // SAFETY: a header is as long (`layout` asserts it) and aligned, and any bytes are one: all of its fields are
    // integers.
    page.is_aligned().then(|| unsafe { &*page })
}

/// The header of these bytes, to be changed: see [`header`].
fn header_mut(bytes: &mut [u8]) -> Option<&mut RawHeader> {
    let page = bytes.first_chunk_mut::<HEADER>()?.as_mut_ptr().cast::<RawHeader>();
    // SAFETY: as in `header`, and the bytes are borrowed for writing. No field has padding in front of it, so that they
    // stay initialised.
    page.is_aligned().then(|| unsafe { &mut *page })
}

/// The bytes of a raw profile, checked.
#[derive(Clone, Copy)]
pub struct Profile<'a> {
    header: &'a RawHeader,
    bytes: &'a [u8],
}

impl<'a> Profile<'a> {
    /// A finished profile that can be added to others.
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        let header = header(bytes)?;
        let profile = Self { header, bytes };
        let fits = header.magic == MAGIC
            && header.version == VERSION
            && (header.state == State::FINISHED || header.state == State::ABORTED)
            && !header.flags.has(Flags::THREADS_ALIVE)
            && header.segment_head == 0
            && header.trace_word == 0;
        (fits && profile.sizes_agree() && profile.checksums_agree()).then_some(profile)
    }

    /// How many bytes the sum of it and others takes.
    pub fn sum_size(self) -> usize {
        self.slabs_offset() + self.stride()
    }

    /// Whether it is the sum of others and of this one, which was added last.
    pub fn includes(self, other: Profile<'_>) -> bool {
        (self.process(), self.header.last_started_ns) == (other.process(), other.header.started_ns)
    }

    /// The process.
    pub fn process(self) -> u32 {
        self.header.pid
    }

    fn sizes_agree(self) -> bool {
        let slabs = self.header.slab_count.checked_mul(self.stride() as u64);
        let end = slabs.and_then(|slabs| slabs.checked_add(self.slabs_offset() as u64));
        let early = self.capacity().checked_mul(size_of::<EarlyEntry>()).and_then(|size| size.checked_add(HEADER));
        let counted = self.counters().checked_mul(WORD);
        self.header.early_offset == PAGE
            && self.capacity().is_power_of_two()
            && early.is_some_and(|end| end <= self.slabs_offset())
            && counted.is_some_and(|size| size <= self.stride())
            && self.stride() > 0
            && end == Some(self.bytes.len() as u64)
    }

    fn checksums_agree(self) -> bool {
        /// A copy of the header page.
        #[repr(align(8))]
        struct Page([u8; HEADER]);

        let Some((page, body)) = self.bytes.split_first_chunk::<HEADER>() else { return false };
        let mut page = Page(*page);
        let Some(copy) = header_mut(&mut page.0) else { return false };
        copy.header_checksum = 0;
        let mut sum = BodyChecksum::new(body.len() as u64);
        sum.add(body);
        checksum(&page.0) == self.header.header_checksum && sum.finish() == self.header.body_checksum
    }

    fn counters(self) -> usize {
        self.header.counter_count as usize
    }

    fn stride(self) -> usize {
        self.header.slab_stride as usize
    }

    fn slabs_offset(self) -> usize {
        self.header.slabs_offset as usize
    }

    fn capacity(self) -> usize {
        self.header.early_capacity as usize
    }

    /// How many of its runs finished, and how many aborted.
    fn runs(self) -> [u64; 2] {
        match [self.header.runs_finished, self.header.runs_aborted] {
            [0, 0] if self.header.state == State::ABORTED => [0, 1],
            [0, 0] => [1, 0],
            told => told,
        }
    }
}

/// Adds a profile to a sum of its [`Profile::sum_size`], which is all zeros at first. `None`, and the sum is useless:
/// they don't fit together, or there is no room for a number.
pub fn add(sum: &mut [u8], from: Profile<'_>) -> Option<()> {
    if sum.len() != from.sum_size() {
        return None;
    }
    let first = !sum.starts_with(&MAGIC);
    if first {
        sum.get_mut(..HEADER)?.copy_from_slice(from.bytes.get(..HEADER)?);
    }
    let all = header_mut(sum)?;
    if first {
        (all.runs_finished, all.runs_aborted, all.slab_count) = (0, 0, 1);
        if all.last_started_ns == 0 {
            all.last_started_ns = all.started_ns;
        }
    } else if are_alike(all, from.header) {
        join_headers(all, from.header);
    } else {
        return None;
    }
    let [finished, aborted] = from.runs();
    all.runs_finished = all.runs_finished.checked_add(finished)?;
    all.runs_aborted = all.runs_aborted.checked_add(aborted)?;
    let wraps = from.header.flags.has(Flags::CALL_SUMS);
    add_counters(sum, from, if wraps { wrapping } else { u64::checked_add })?;
    add_exits(sum, from, if wraps { wrapping } else { checked_signed })
}

/// How two words are added; `None`: there is no room for the sum.
type Add = fn(u64, u64) -> Option<u64>;

/// Modulo 2⁶⁴.
fn wrapping(a: u64, b: u64) -> Option<u64> {
    Some(a.wrapping_add(b))
}

/// As signed numbers.
fn checked_signed(a: u64, b: u64) -> Option<u64> {
    a.cast_signed().checked_add(b.cast_signed()).map(i64::cast_unsigned)
}

/// Are they profiles of one build, with tables of one size?
fn are_alike(a: &RawHeader, b: &RawHeader) -> bool {
    a.unit == b.unit
        && a.counter_count == b.counter_count
        && a.slabs_offset == b.slabs_offset
        && a.slab_stride == b.slab_stride
        && a.early_capacity == b.early_capacity
        && a.path_metric == b.path_metric
}

/// What the header says of all runs, and of the last one.
fn join_headers(all: &mut RawHeader, from: &RawHeader) {
    all.flags |= from.flags;
    all.last_started_ns = from.started_ns;
    all.started_ns = all.started_ns.min(from.started_ns);
    all.ended_ns = all.ended_ns.max(from.ended_ns);
    (all.pid, all.threads_alive) = (from.pid, 0);
}

fn add_counters(sum: &mut [u8], from: Profile<'_>, add: Add) -> Option<()> {
    let counted = from.counters() * WORD;
    let to = sum.get_mut(from.slabs_offset()..)?.get_mut(..counted)?;
    for slab in from.bytes.get(from.slabs_offset()..)?.chunks_exact(from.stride()) {
        let slab = slab.get(..counted)?;
        let mut start = 0;
        while let Some(block) = slab.get(start..).and_then(zeros::first_block) {
            let block = start + block.start..start + block.end;
            start = block.end;
            let pairs =
                to.get_mut(block.clone())?.as_chunks_mut::<WORD>().0.iter_mut().zip(slab.get(block)?.as_chunks().0);
            for (sum, more) in pairs {
                *sum = add(u64::from_le_bytes(*sum), u64::from_le_bytes(*more))?.to_le_bytes();
            }
        }
    }
    Some(())
}

fn add_exits(sum: &mut [u8], from: Profile<'_>, add: Add) -> Option<()> {
    let capacity = from.capacity();
    let slots = capacity * size_of::<EarlyEntry>();
    let table = sum.get_mut(HEADER..)?.get_mut(..slots)?;
    for entry in from.bytes.get(HEADER..)?.get(..slots)?.chunks_exact(size_of::<EarlyEntry>()) {
        let (address, count) = (word(entry, 0), word(entry, WORD));
        if address == 0 {
            continue;
        }
        let first = early_slot(address, capacity as u64) as usize;
        let mut probes = (0..capacity).map(|step| ((first + step) & (capacity - 1)) * size_of::<EarlyEntry>());
        let at = probes.find(|&at| word(table, at) == address || word(table, at) == 0)?;
        let all = add(word(table, at + WORD), count)?;
        put(table, at, address);
        put(table, at + WORD, all);
    }
    Some(())
}

/// Completes a sum.
pub fn seal(sum: &mut [u8]) {
    let Some((page, body)) = sum.split_first_chunk_mut::<HEADER>() else { return };
    let mut checked = BodyChecksum::new(body.len() as u64);
    checked.add(body);
    let Some(all) = header_mut(page) else { return };
    all.version = VERSION;
    all.state = if all.runs_finished == 0 { State::ABORTED } else { State::FINISHED };
    all.body_checksum = checked.finish();
    all.header_checksum = 0;
    let own = checksum(page);
    let Some(all) = header_mut(page) else { return };
    all.header_checksum = own;
}

/// The word at an offset; 0 where there is none.
fn word(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |word| u64::from_le_bytes(*word))
}

fn put(bytes: &mut [u8], at: usize, word: u64) {
    if let Some(to) = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
        *to = word.to_le_bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;
    use std::vec::Vec;

    const STRIDE: usize = 4096;

    /// A finished profile of 300 counters in some slabs, with these values and early exits.
    fn profile(process: u32, slabs: usize, counts: &[(usize, u64)], exits: &[(u64, i64)]) -> Vec<u8> {
        let mut bytes = vec![0; 2 * HEADER + slabs * STRIDE];
        bytes[..8].copy_from_slice(&MAGIC);
        let header = header_mut(&mut bytes).expect("it is aligned");
        (header.pid, header.counter_count) = (process, 300);
        (header.started_ns, header.ended_ns) = (1000 + u64::from(process), 2000 + u64::from(process));
        (header.slabs_offset, header.slab_stride, header.slab_count) = (2 * PAGE, STRIDE as u64, slabs as u64);
        (header.early_offset, header.early_capacity) = (PAGE, 8);
        header.runs_finished = 1;
        for (number, &(counter, count)) in counts.iter().enumerate() {
            put(&mut bytes, 2 * HEADER + number % slabs * STRIDE + counter * WORD, count);
        }
        for (slot, &(address, count)) in exits.iter().enumerate() {
            put(&mut bytes, HEADER + 16 * slot, address);
            put(&mut bytes, HEADER + 16 * slot + WORD, count.cast_unsigned());
        }
        seal(&mut bytes);
        bytes
    }

    fn sum_of(profiles: &[&[u8]]) -> Option<Vec<u8>> {
        let first = Profile::new(profiles[0])?;
        let mut sum = vec![0; first.sum_size()];
        for profile in profiles {
            add(&mut sum, Profile::new(profile)?)?;
        }
        seal(&mut sum);
        Some(sum)
    }

    fn counter(bytes: &[u8], number: usize) -> u64 {
        word(bytes, 2 * HEADER + number * WORD)
    }

    fn exit(bytes: &[u8], address: u64) -> i64 {
        let slots = (0..8).map(|slot| HEADER + 16 * slot);
        slots.filter(|&at| word(bytes, at) == address).map(|at| word(bytes, at + WORD).cast_signed()).sum()
    }

    #[test]
    fn slabs_exits_and_runs_are_added_up() {
        let one = profile(1, 1, &[(0, 3), (299, 4)], &[(64, 1), (72, -1)]);
        let two = profile(2, 3, &[(0, 5), (150, 7), (0, 1)], &[(72, 5)]);
        let both = sum_of(&[&one, &two]).expect("a sum");
        assert_eq!([0, 1, 150, 299].map(|number| counter(&both, number)), [9, 0, 7, 4]);
        assert_eq!([64, 72, 80].map(|address| exit(&both, address)), [1, 4, 0]);
        let sum = Profile::new(&both).expect("a profile");
        assert_eq!(sum.runs(), [2, 0]);
        let three = profile(3, 2, &[(299, 1), (1, 1)], &[]);
        let all = sum_of(&[&both, &three]).expect("a sum");
        assert_eq!([0, 1, 150, 299].map(|number| counter(&all, number)), [9, 1, 7, 5]);
        assert_eq!(Profile::new(&all).expect("a profile").runs(), [3, 0]);
        let header = header(&all).expect("it is aligned");
        assert_eq!((header.started_ns, header.ended_ns), (1001, 2003));
    }

    #[test]
    fn the_last_one_that_was_added_is_known() {
        let [one, two] = [1, 2].map(|process| profile(process, 1, &[(0, 1)], &[]));
        let both = sum_of(&[&one, &two]).expect("a sum");
        let included = [&one, &two]
            .map(|own| Profile::new(&both).expect("a profile").includes(Profile::new(own).expect("a profile")));
        assert_eq!(included, [false, true]);
        let alone = sum_of(&[&one]).expect("a sum");
        assert!(Profile::new(&alone).expect("a profile").includes(Profile::new(&one).expect("a profile")));
        // A sum alone stays what it was.
        assert_eq!(sum_of(&[&both]).expect("a sum"), both);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let good = profile(1, 1, &[(0, 3)], &[(64, 1)]);
        for at in 0..good.len() {
            if at % 97 == 0 {
                let mut bad = good.clone();
                bad[at] ^= 1;
                assert!(Profile::new(&bad).is_none(), "byte {at}");
            }
        }
        assert!(Profile::new(&good[..good.len() - 1]).is_none());
        let most = profile(2, 1, &[(0, u64::MAX)], &[]);
        assert!(sum_of(&[&most, &good]).is_none());
        let exits: Vec<_> = (1..=8).map(|number| (number * 1024, 1)).collect();
        let full = profile(2, 1, &[], &exits);
        assert!(sum_of(&[&full, &good]).is_none());
        assert!(sum_of(&[&full, &full]).is_some());
        let mut other = good.clone();
        header_mut(&mut other).expect("it is aligned").unit[0] = 1;
        seal(&mut other);
        assert!(sum_of(&[&good, &other]).is_none());
    }
}
