//! Reads maps of versions 1 to 9, which have no sections.
//!
//! Their streams follow each other in a fixed order, and each version added some at the end. Some kinds of numbers that
//! have a stream of their own now shared one then.

use super::sections::{SECTIONS, Stream};
use crate::wire::WireError;
use crate::wire::sections::split_stream;
use crate::wire::streams::Slot;

/// The streams of version 9.
const ORDER: [Stream; 50] = [
    Stream::Unit,
    Stream::TextLength,
    Stream::Text,
    Stream::TextRef,
    Stream::Function,
    Stream::Shape,
    Stream::Target,
    Stream::Case,
    Stream::Plain,
    Stream::Loads,
    Stream::Stores,
    Stream::Calls,
    Stream::Float,
    Stream::SpanCount,
    Stream::SpanFlags,
    Stream::Line,
    Stream::Column,
    Stream::SpanContext,
    Stream::SiteFlags,
    Stream::SiteBlock,
    Stream::Callee,
    Stream::Inlined,
    Stream::InlinedName,
    Stream::InlinedCall,
    Stream::PlanForm,
    Stream::ProbeKind,
    Stream::ProbeId,
    Stream::ProbeBits,
    Stream::OddPlan,
    Stream::Code,
    Stream::Return,
    Stream::Chain,
    Stream::Path,
    Stream::Cut,
    Stream::AtCalls,
    Stream::Prefix,
    Stream::Register,
    Stream::Entry,
    Stream::Caller,
    Stream::CallBlock,
    Stream::CallAfter,
    Stream::Window,
    Stream::Metric,
    Stream::Fixed,
    Stream::Apart,
    Stream::CallFlags,
    Stream::CallPlace,
    Stream::CallName,
    Stream::CallLine,
    Stream::CallColumn,
];

/// Streams that are not in [`ORDER`], each with the one that held its content then.
const SHARED: [(Stream, Stream); 4] = [
    (Stream::CodeCount, Stream::Unit),
    (Stream::Plan, Stream::Unit),
    (Stream::PlanCount, Stream::Unit),
    (Stream::PathArray, Stream::Unit),
];

/// The first stream that a version does not have.
fn first_missing(version: u32) -> Option<Stream> {
    match version {
        1 => Some(Stream::Path),
        2 => Some(Stream::Entry),
        3 => Some(Stream::Window),
        4 => Some(Stream::Metric),
        5 => Some(Stream::Fixed),
        6 => Some(Stream::Apart),
        7 | 8 => Some(Stream::CallFlags),
        _ => None,
    }
}

/// The streams of a version, in file order.
pub(super) fn streams_of(version: u32) -> &'static [Stream] {
    let missing = first_missing(version);
    let known = ORDER.iter().position(|&stream| Some(stream) == missing);
    &ORDER[..known.unwrap_or(ORDER.len())]
}

/// The streams of a payload, and per slot which of them it is read from.
pub(super) fn unpack(version: u32, payload: &[u8], unpacked: u64) -> Result<(Vec<Vec<u8>>, Vec<usize>), WireError> {
    let (mut rest, mut left) = (payload, unpacked);
    let mut streams = Vec::with_capacity(ORDER.len());
    for &stream in streams_of(version) {
        let packed = split_stream(&mut rest, &mut left)?;
        streams.push(packed.unpack().ok_or_else(|| WireError::Unpack(SECTIONS.stream_name(stream.into())))?);
    }
    if left != 0 || rest.iter().any(|&byte| byte != 0) {
        return Err(WireError::Invalid("the lengths of its streams do not add up"));
    }
    streams.resize(ORDER.len() + 1, Vec::new());
    Ok((streams, sources()))
}

/// Per slot, where its stream stands. The last one is empty: that of all that is newer.
fn sources() -> Vec<usize> {
    let mut sources = vec![ORDER.len(); SECTIONS.slots()];
    for (at, &stream) in ORDER.iter().enumerate() {
        sources[Slot::from(stream).0] = at;
    }
    for (stream, shared) in SHARED {
        sources[Slot::from(stream).0] = sources[Slot::from(shared).0];
    }
    sources
}
