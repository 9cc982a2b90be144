//! What the recorders of the methods left in a raw profile: in its segments, and in fields of its header.
//!
//! A family says here which kinds of segments are its own, and reads their entries. The file around them is read by
//! [`crate::raw`].

use super::MethodCounts;
use super::path;
use cotree_rt::layout::{RawHeader, SegmentKind, StackEntry, TraceChunk};
use std::mem::size_of;

/// What a segment holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contents {
    /// A hash table of paths.
    Paths,
    /// Pieces of threads' streams, compressed or not ([`super::trace::streams`]).
    Trace,
    /// Chunks of traces in a ring.
    TraceRing,
    /// The stack of the thread that ended the process.
    Stack,
}

impl Contents {
    /// The kind of a number in files.
    pub(crate) fn from_number(number: u32) -> Option<Self> {
        match number {
            SegmentKind::PATHS => Some(Self::Paths),
            SegmentKind::TRACE => Some(Self::Trace),
            SegmentKind::TRACE_RING => Some(Self::TraceRing),
            SegmentKind::STACK => Some(Self::Stack),
            _ => None,
        }
    }

    /// Bytes of an entry: whole words.
    pub(crate) fn entry_size(self) -> u64 {
        match self {
            Self::Paths => path::BUCKET_SIZE,
            Self::Trace => 8,
            Self::TraceRing => TraceChunk::PLACE,
            Self::Stack => size_of::<StackEntry>() as u64,
        }
    }

    /// Whether a segment may have room for so many entries.
    pub(crate) fn allows(self, capacity: u64) -> bool {
        match self {
            Self::Paths => capacity.is_power_of_two(),
            Self::Trace | Self::TraceRing | Self::Stack => true,
        }
    }

    /// Whether its entries are read along with the counters.
    pub(crate) fn is_counted(self) -> bool {
        match self {
            Self::Paths | Self::Stack => true,
            Self::Trace | Self::TraceRing => false,
        }
    }
}

/// Checks the fields of a header that belong to methods.
pub(crate) fn check_header(header: &RawHeader) -> Result<(), &'static str> {
    path::metric(header).map(|_| ())
}

/// Collects what is in the segments of one raw profile.
pub(crate) struct Recorded {
    paths: path::Buckets,
    stack: Vec<StackEntry>,
}

impl Recorded {
    /// Begins what a profile with this header has recorded.
    pub(crate) fn new(header: &RawHeader) -> Result<Self, &'static str> {
        Ok(Self { paths: path::Buckets::new(path::metric(header)?), stack: Vec::new() })
    }

    /// Adds an entry of a segment, as many words as the kind's entries have.
    pub(crate) fn add(&mut self, kind: Contents, entry: &[u64]) -> Result<(), &'static str> {
        match kind {
            Contents::Paths => self.paths.add(entry),
            Contents::Trace | Contents::TraceRing => Ok(()),
            Contents::Stack => {
                let &[address, register, value] = entry else { return Err("its stack has entries of another size") };
                // What was not written is zeros.
                if address != 0 {
                    self.stack.push(StackEntry { address, register, value });
                }
                Ok(())
            }
        }
    }

    /// What they add up to, whether some sum did not fit, and the stack of the thread that ended the process.
    pub(crate) fn finish(self) -> (MethodCounts, bool, Vec<StackEntry>) {
        let (paths, cut) = self.paths.finish();
        (MethodCounts::of_paths(paths), cut, self.stack)
    }
}
