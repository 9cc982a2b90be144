//! Chunks ([`TraceChunk`]), in segments of the profile file: each thread appends to one of its own, compressed, or all
//! threads share a ring, in which they are as they were.

use super::compress::Compressor;
use super::window::Window;
use crate::layout::{SegmentKind, TraceChunk};
use crate::runtime::file::current;
use crate::runtime::os::sys::{self, Errno};
use crate::runtime::slabs::segments::{self, Segment, SegmentType};
use crate::runtime::{slabs, unit};
use core::ptr;
use core::sync::atomic::{
    AtomicU64,
    Ordering::{AcqRel, Relaxed, Release},
};

/// Segments of words.
const KIND: SegmentType = SegmentType { number: SegmentKind::TRACE, entry_size: 8 };
/// Segments of places for chunks.
const RING: SegmentType = SegmentType { number: SegmentKind::TRACE_RING, entry_size: TraceChunk::PLACE as u32 };

/// Bytes of a thread's first segment, and the most that any has.
const SIZES: [usize; 2] = [1 << 18, 1 << 23];

/// The number of the newest chunk.
static CHUNKS: AtomicU64 = AtomicU64::new(0);
/// The address of the ring; 0: there is none yet.
static RING_AT: AtomicU64 = AtomicU64::new(0);

/// A profile begins.
pub fn begin() {
    CHUNKS.store(0, Relaxed);
    RING_AT.store(0, Relaxed);
}

/// Only the newest part of the trace is kept.
pub fn are_in_ring() -> bool {
    unit::descriptor().trace_ring != 0
}

/// Adds what is in the window, with signals blocked. `interrupted`: see [`TraceChunk::interrupted`].
pub fn add(window: Window, interrupted: bool) -> sys::Result<()> {
    if are_in_ring() { add_to_ring(window, interrupted) } else { append(window, interrupted) }
}

/// Writes a chunk, but for its number. `stored`: the window's bytes, as they are or compressed.
///
/// # Safety
/// There must be room for it at this place, which nobody else writes to.
unsafe fn write(place: *mut TraceChunk, window: Window, stored: &[u8], interrupted: bool) {
    let (inside, inside_at) = window.inside();
    // SAFETY: as the caller promises.
    unsafe {
        (&raw mut (*place).stream).write(window.stream());
        (&raw mut (*place).position).write(window.position());
        (&raw mut (*place).length).write(window.bytes().len() as u32);
        (&raw mut (*place).stored).write(stored.len() as u32);
        (&raw mut (*place).snapshot).write(window.snapshot() as u32);
        (&raw mut (*place).interrupted).write(u32::from(interrupted));
        (&raw mut (*place).inside).write(inside);
        (&raw mut (*place).inside_at).write(inside_at);
        ptr::copy_nonoverlapping(stored.as_ptr(), place.add(1).cast(), stored.len());
    }
}

fn append(window: Window, interrupted: bool) -> sys::Result<()> {
    let bytes = window.bytes();
    let mut compressor = Compressor::take(window.stream(), bytes.len());
    let stored = compressor.as_mut().and_then(|compressor| compressor.compress(bytes)).unwrap_or(bytes);
    let words = TraceChunk::words(stored.len() as u64);
    let has_room = |segment: &Segment| segment.capacity() - segment.used().load(Relaxed) >= words;
    let segment = match Segment::at(window.segment()).filter(has_room) {
        Some(segment) => segment,
        None => grow(window)?,
    };
    let used = segment.used().load(Relaxed);
    // SAFETY: so many words of the segment are free, and nobody else appends to it.
    unsafe {
        let place = segment.first_entry().add(used as usize * 8).cast::<TraceChunk>();
        write(place, window, stored, interrupted);
        (*place).sequence = CHUNKS.fetch_add(1, Relaxed) + 1;
    }
    segment.used().store(used + words, Release);
    Ok(())
}

/// Gives the thread a fresh segment, larger than the one it had.
fn grow(window: Window) -> sys::Result<Segment> {
    let size = Segment::at(window.segment()).map_or(SIZES[0], |full| (KIND.size(full.capacity()) * 2).min(SIZES[1]));
    let _held = slabs::lock_to_grow();
    let segment = add_segment(KIND, size)?;
    window.segment().store(segment.address(), Relaxed);
    Ok(segment)
}

/// The caller holds the lock of the slabs.
fn add_segment(kind: SegmentType, size: usize) -> sys::Result<Segment> {
    if !current::active() || !current::mapped() {
        return Err(Errno(libc::ENODEV));
    }
    segments::add_in_file(kind, kind.capacity(size).max(1) as u64)
}

/// In the place of the oldest chunk. Where that is still being written, by a thread that has waited while all others
/// went round, in the next one's.
fn add_to_ring(window: Window, interrupted: bool) -> sys::Result<()> {
    let ring = match Segment::at(&RING_AT) {
        Some(ring) => ring,
        None => make_ring()?,
    };
    if window.position() == 0 && window.bytes().len() as u64 > window.snapshot() {
        // Before they are there: of a process that is killed in between, one too many is said to be gone.
        ring.streams().fetch_add(1, Relaxed);
    }
    loop {
        let sequence = CHUNKS.fetch_add(1, Relaxed) + 1;
        let index = (sequence - 1) % ring.capacity();
        // SAFETY: a place of the ring, whose first word is the number.
        let (place, number) = unsafe {
            let place = ring.first_entry().add((index * TraceChunk::PLACE) as usize);
            (place.cast::<TraceChunk>(), &*place.cast::<AtomicU64>())
        };
        if number.swap(TraceChunk::BUSY, AcqRel) == TraceChunk::BUSY {
            continue;
        }
        // SAFETY: the place is ours until its number says otherwise.
        unsafe { write(place, window, window.bytes(), interrupted) };
        number.store(sequence, Release);
        return Ok(());
    }
}

#[cold]
fn make_ring() -> sys::Result<Segment> {
    let _held = slabs::lock_to_grow();
    if let Some(ring) = Segment::at(&RING_AT) {
        return Ok(ring);
    }
    let ring = add_segment(RING, unit::descriptor().trace_ring as usize)?;
    RING_AT.store(ring.address(), Release);
    Ok(ring)
}
