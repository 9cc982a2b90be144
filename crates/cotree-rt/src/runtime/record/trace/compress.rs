//! Compresses what was in a window, in LZ4's block format: the tokens of loops repeat themselves.
//!
//! The thread does it itself when its window is full. The compressor's table is too large for stacks of the program, so
//! it is in memory of its own, which threads hand on to each other. Where there is none, bytes stay as they are.

use crate::layout::{TRACE_SLACK, TRACE_WINDOW};
use crate::runtime::os::sys;
use core::ptr;
use core::sync::atomic::{
    AtomicPtr,
    Ordering::{AcqRel, Relaxed, Release},
};
use lz4_flex::block::{CompressTable, compress_into_with_table, get_maximum_output_size};

/// So few bytes are not worth it.
const LEAST: usize = 1 << 10;
/// The most that there can be.
const MOST: usize = (TRACE_WINDOW + TRACE_SLACK) as usize;

/// What the compressor works with.
struct Workspace {
    table: CompressTable,
    output: [u8; get_maximum_output_size(MOST)],
}

/// Workspaces that nobody uses now, by the numbers of streams.
static IDLE: [AtomicPtr<Workspace>; 64] = [const { AtomicPtr::new(ptr::null_mut()) }; 64];

/// A workspace, which no other thread uses.
pub struct Compressor {
    workspace: *mut Workspace,
    home: &'static AtomicPtr<Workspace>,
}

impl Compressor {
    /// For so many bytes of a stream, with signals blocked; `None` if that is not worth it, or there is no memory.
    pub fn take(stream: u64, bytes: usize) -> Option<Self> {
        if !(LEAST..=MOST).contains(&bytes) {
            return None;
        }
        let home = &IDLE[stream as usize % IDLE.len()];
        let mut workspace = home.swap(ptr::null_mut(), AcqRel);
        if workspace.is_null() {
            workspace = sys::map_anonymous(size_of::<Workspace>()).ok()?.cast();
            // SAFETY: fresh memory of its size, on a page boundary; the rest of it is bytes.
            unsafe { (&raw mut (*workspace).table).write(CompressTable::large()) };
        }
        Some(Self { workspace, home })
    }

    /// The bytes compressed, if that makes them fewer.
    pub fn compress(&mut self, bytes: &[u8]) -> Option<&[u8]> {
        // SAFETY: it is ours, and `take` has made it.
        let Workspace { table, output } = unsafe { &mut *self.workspace };
        let length = compress_into_with_table(bytes, output, table).ok()?;
        output.get(..length).filter(|_| length < bytes.len())
    }
}

impl Drop for Compressor {
    fn drop(&mut self) {
        // Another thread of the same place may have made one in the meantime.
        if self.home.compare_exchange(ptr::null_mut(), self.workspace, Release, Relaxed).is_err() {
            // SAFETY: mapped by `take`, and nobody else knows of it.
            unsafe { sys::unmap(self.workspace.cast(), size_of::<Workspace>()) };
        }
    }
}
