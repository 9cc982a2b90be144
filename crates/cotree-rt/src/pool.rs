//! Adds up finished raw profiles of one build: a *pool* is a raw profile of many runs, with one slab.
//!
//! What can be added up are words of slabs and early exits. Profiles with segments (tables of paths, traces) stay by
//! themselves.

use crate::layout::{BodyChecksum, EarlyEntry, Flags, MAGIC, PAGE, RawHeader, State, VERSION, checksum, early_slot};
use crate::zeros;
use core::mem::{offset_of, size_of};

const WORD: usize = size_of::<u64>();
const HEADER: usize = PAGE as usize;

/// The bytes of a raw profile, checked.
#[derive(Clone, Copy)]
pub struct Profile<'a>(&'a [u8]);

impl<'a> Profile<'a> {
    /// A finished profile that can be added to others.
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        let profile = Self(bytes);
        let header = bytes.get(..HEADER)?;
        let state = profile.half(offset_of!(RawHeader, state));
        let fits = header.starts_with(&MAGIC)
            && profile.half(offset_of!(RawHeader, version)) == VERSION
            && (state == State::FINISHED || state == State::ABORTED)
            && !profile.flags().has(Flags::THREADS_ALIVE)
            && profile.word(offset_of!(RawHeader, segment_head)) == 0
            && profile.word(offset_of!(RawHeader, trace_word)) == 0;
        (fits && profile.sizes_agree() && profile.checksums_agree()).then_some(profile)
    }

    /// How many bytes the sum of it and others takes.
    pub fn sum_size(self) -> usize {
        self.slabs_offset() + self.stride()
    }

    /// Whether it is the sum of others and of this one, which was added last.
    pub fn includes(self, other: Profile<'_>) -> bool {
        let last = (self.half(offset_of!(RawHeader, pid)), self.word(offset_of!(RawHeader, last_started_ns)));
        last == (other.process(), other.word(offset_of!(RawHeader, started_ns)))
    }

    /// The process.
    pub fn process(self) -> u32 {
        self.half(offset_of!(RawHeader, pid))
    }

    fn flags(self) -> Flags {
        Flags::from_bits(self.word(offset_of!(RawHeader, flags)))
    }

    fn sizes_agree(self) -> bool {
        let slabs = self.word(offset_of!(RawHeader, slab_count)).checked_mul(self.stride() as u64);
        let end = slabs.and_then(|slabs| slabs.checked_add(self.slabs_offset() as u64));
        let early = self.capacity().checked_mul(size_of::<EarlyEntry>()).and_then(|size| size.checked_add(HEADER));
        let counted = self.counters().checked_mul(WORD);
        self.word(offset_of!(RawHeader, early_offset)) == PAGE
            && self.capacity().is_power_of_two()
            && early.is_some_and(|end| end <= self.slabs_offset())
            && counted.is_some_and(|size| size <= self.stride())
            && self.stride() > 0
            && end == Some(self.0.len() as u64)
    }

    fn checksums_agree(self) -> bool {
        let Some((header, body)) = self.0.split_first_chunk::<HEADER>() else { return false };
        let mut page = *header;
        put(&mut page, offset_of!(RawHeader, header_checksum), 0);
        let mut sum = BodyChecksum::new(body.len() as u64);
        sum.add(body);
        checksum(&page) == self.word(offset_of!(RawHeader, header_checksum))
            && sum.finish() == self.word(offset_of!(RawHeader, body_checksum))
    }

    fn word(self, at: usize) -> u64 {
        word(self.0, at)
    }

    fn half(self, at: usize) -> u32 {
        self.word(at & !7).to_le_bytes()[at & 4..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    fn counters(self) -> usize {
        self.word(offset_of!(RawHeader, counter_count)) as usize
    }

    fn stride(self) -> usize {
        self.word(offset_of!(RawHeader, slab_stride)) as usize
    }

    fn slabs_offset(self) -> usize {
        self.word(offset_of!(RawHeader, slabs_offset)) as usize
    }

    fn capacity(self) -> usize {
        self.word(offset_of!(RawHeader, early_capacity)) as usize
    }

    /// How many of its runs finished, and how many aborted.
    fn runs(self) -> [u64; 2] {
        let told = [offset_of!(RawHeader, runs_finished), offset_of!(RawHeader, runs_aborted)].map(|at| self.word(at));
        match told {
            [0, 0] if self.half(offset_of!(RawHeader, state)) == State::ABORTED => [0, 1],
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
        sum.get_mut(..HEADER)?.copy_from_slice(from.0.get(..HEADER)?);
        for at in [offset_of!(RawHeader, runs_finished), offset_of!(RawHeader, runs_aborted)] {
            put(sum, at, 0);
        }
        put(sum, offset_of!(RawHeader, slab_count), 1);
        if from.word(offset_of!(RawHeader, last_started_ns)) == 0 {
            put(sum, offset_of!(RawHeader, last_started_ns), from.word(offset_of!(RawHeader, started_ns)));
        }
    } else {
        const SAME: [usize; 7] = [
            offset_of!(RawHeader, unit),
            offset_of!(RawHeader, unit) + WORD,
            offset_of!(RawHeader, counter_count),
            offset_of!(RawHeader, slabs_offset),
            offset_of!(RawHeader, slab_stride),
            offset_of!(RawHeader, early_capacity),
            offset_of!(RawHeader, path_metric),
        ];
        if SAME.iter().any(|&at| word(sum, at) != from.word(at)) {
            return None;
        }
        join_headers(sum, from);
    }
    let runs = [offset_of!(RawHeader, runs_finished), offset_of!(RawHeader, runs_aborted)];
    for (at, more) in runs.into_iter().zip(from.runs()) {
        let all = word(sum, at).checked_add(more)?;
        put(sum, at, all);
    }
    let wraps = from.flags().has(Flags::CALL_SUMS);
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

/// What the header says of all runs, and of the last one.
fn join_headers(sum: &mut [u8], from: Profile<'_>) {
    let (started, ended) = (offset_of!(RawHeader, started_ns), offset_of!(RawHeader, ended_ns));
    let flags = word(sum, offset_of!(RawHeader, flags)) | from.word(offset_of!(RawHeader, flags));
    put(sum, offset_of!(RawHeader, flags), flags);
    put(sum, offset_of!(RawHeader, last_started_ns), from.word(started));
    let (first, last) = (word(sum, started).min(from.word(started)), word(sum, ended).max(from.word(ended)));
    put(sum, started, first);
    put(sum, ended, last);
    // The process, and beside it no threads.
    put(sum, offset_of!(RawHeader, pid), from.process().into());
}

fn add_counters(sum: &mut [u8], from: Profile<'_>, add: Add) -> Option<()> {
    let counted = from.counters() * WORD;
    let to = sum.get_mut(from.slabs_offset()..)?.get_mut(..counted)?;
    for slab in from.0.get(from.slabs_offset()..)?.chunks_exact(from.stride()) {
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
    for entry in from.0.get(HEADER..)?.get(..slots)?.chunks_exact(size_of::<EarlyEntry>()) {
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
    let aborted = word(sum, offset_of!(RawHeader, runs_finished)) == 0;
    let state = if aborted { State::ABORTED } else { State::FINISHED };
    put(sum, offset_of!(RawHeader, version), u64::from(VERSION) | u64::from(state) << 32);
    let Some((header, body)) = sum.split_first_chunk_mut::<HEADER>() else { return };
    let mut checked = BodyChecksum::new(body.len() as u64);
    checked.add(body);
    put(header, offset_of!(RawHeader, body_checksum), checked.finish());
    put(header, offset_of!(RawHeader, header_checksum), 0);
    let own = checksum(header);
    put(header, offset_of!(RawHeader, header_checksum), own);
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

const _: () = assert!(offset_of!(RawHeader, state) == offset_of!(RawHeader, version) + 4);
const _: () = assert!(offset_of!(RawHeader, version).is_multiple_of(WORD));
const _: () = assert!(offset_of!(RawHeader, threads_alive) == offset_of!(RawHeader, pid) + 4);
const _: () = assert!(offset_of!(RawHeader, pid).is_multiple_of(WORD));
const _: () = assert!(offset_of!(RawHeader, path_metric).is_multiple_of(WORD));

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
        let words = [
            (offset_of!(RawHeader, pid), process.into()),
            (offset_of!(RawHeader, started_ns), 1000 + u64::from(process)),
            (offset_of!(RawHeader, ended_ns), 2000 + u64::from(process)),
            (offset_of!(RawHeader, counter_count), 300),
            (offset_of!(RawHeader, slabs_offset), 2 * PAGE),
            (offset_of!(RawHeader, slab_stride), STRIDE as u64),
            (offset_of!(RawHeader, slab_count), slabs as u64),
            (offset_of!(RawHeader, early_offset), PAGE),
            (offset_of!(RawHeader, early_capacity), 8),
            (offset_of!(RawHeader, runs_finished), 1),
        ];
        words.iter().for_each(|&(at, word)| put(&mut bytes, at, word));
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
        assert_eq!(word(&all, offset_of!(RawHeader, started_ns)), 1001);
        assert_eq!(word(&all, offset_of!(RawHeader, ended_ns)), 2003);
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
        other[offset_of!(RawHeader, unit)] = 1;
        seal(&mut other);
        assert!(sum_of(&[&good, &other]).is_none());
    }
}
