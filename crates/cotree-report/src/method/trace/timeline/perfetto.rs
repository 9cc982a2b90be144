//! Perfetto's own format: a message `perfetto.protos.Trace`, of which the fields that we write stand below. They are
//! those of <https://github.com/google/perfetto/blob/main/protos/perfetto/trace/perfetto_trace.proto>.
//!
//! A trace is a row of packets, each written as soon as it is known, so that memory grows with the functions of the
//! program alone. A thread is a track and a sequence of packets. Names and places of functions are interned: the first
//! packet of a thread that uses one says what its number means.

use super::{Happening, Sink};
use crate::method::trace::rows::Rows;
use cotree_core::ids::FunctionId;
use prost::Message;
use std::collections::HashSet;
use std::io::{self, Write};

#[derive(Clone, PartialEq, Message)]
struct TracePacket {
    #[prost(uint64, optional, tag = "8")]
    timestamp: Option<u64>,
    #[prost(uint32, tag = "10")]
    trusted_packet_sequence_id: u32,
    #[prost(message, optional, tag = "11")]
    track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "12")]
    interned_data: Option<InternedData>,
    #[prost(uint32, tag = "13")]
    sequence_flags: u32,
    #[prost(message, optional, tag = "60")]
    track_descriptor: Option<TrackDescriptor>,
}

#[derive(Clone, PartialEq, Message)]
struct TrackDescriptor {
    #[prost(uint64, tag = "1")]
    uuid: u64,
    #[prost(message, optional, tag = "3")]
    process: Option<ProcessDescriptor>,
    #[prost(message, optional, tag = "4")]
    thread: Option<ThreadDescriptor>,
    #[prost(uint64, optional, tag = "5")]
    parent_uuid: Option<u64>,
    #[prost(string, tag = "14")]
    description: String,
}

#[derive(Clone, PartialEq, Message)]
struct ProcessDescriptor {
    #[prost(int32, tag = "1")]
    pid: i32,
    #[prost(string, tag = "6")]
    process_name: String,
}

#[derive(Clone, PartialEq, Message)]
struct ThreadDescriptor {
    #[prost(int32, tag = "1")]
    pid: i32,
    #[prost(int64, tag = "2")]
    tid: i64,
    #[prost(string, tag = "5")]
    thread_name: String,
}

#[derive(Clone, PartialEq, Message)]
struct TrackEvent {
    #[prost(uint64, repeated, packed = "false", tag = "3")]
    category_iids: Vec<u64>,
    #[prost(message, repeated, tag = "4")]
    debug_annotations: Vec<DebugAnnotation>,
    #[prost(int32, tag = "9")]
    r#type: i32,
    #[prost(uint64, optional, tag = "10")]
    name_iid: Option<u64>,
    #[prost(uint64, tag = "11")]
    track_uuid: u64,
    #[prost(string, optional, tag = "23")]
    name: Option<String>,
    #[prost(uint64, optional, tag = "34")]
    source_location_iid: Option<u64>,
}

/// The types of events.
const SLICE_BEGIN: i32 = 1;
const SLICE_END: i32 = 2;
const INSTANT: i32 = 3;

#[derive(Clone, PartialEq, Message)]
struct DebugAnnotation {
    #[prost(bool, optional, tag = "2")]
    bool_value: Option<bool>,
    #[prost(string, optional, tag = "10")]
    name: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct InternedData {
    #[prost(message, repeated, tag = "1")]
    event_categories: Vec<Interned>,
    #[prost(message, repeated, tag = "2")]
    event_names: Vec<Interned>,
    #[prost(message, repeated, tag = "4")]
    source_locations: Vec<SourceLocation>,
}

#[derive(Clone, PartialEq, Message)]
struct Interned {
    #[prost(uint64, tag = "1")]
    iid: u64,
    #[prost(string, tag = "2")]
    name: String,
}

#[derive(Clone, PartialEq, Message)]
struct SourceLocation {
    #[prost(uint64, tag = "1")]
    iid: u64,
    #[prost(string, tag = "2")]
    file_name: String,
    #[prost(string, tag = "3")]
    function_name: String,
    #[prost(uint32, tag = "4")]
    line_number: u32,
}

/// Numbers of a sequence mean nothing yet.
const INCREMENTAL_STATE_CLEARED: u32 = 1;
/// The packet is understood by those before it in its sequence.
const NEEDS_INCREMENTAL_STATE: u32 = 2;

/// The field of packets in a trace: its number, and that a length follows.
const PACKET: u8 = 1 << 3 | 2;

/// The track of the process; that of a thread is its number behind it.
const PROCESS_TRACK: u64 = 1;
/// The number of the only category.
const FUNCTION_CATEGORY: u64 = 1;

/// Writes the format.
pub struct Perfetto<'o> {
    out: &'o mut dyn Write,
    /// The sequence of the thread that is written.
    sequence: u32,
    /// The functions whose names this sequence knows.
    known: HashSet<FunctionId>,
    buffer: Vec<u8>,
}

impl<'o> Perfetto<'o> {
    /// Writes to a stream.
    pub fn new(out: &'o mut dyn Write) -> Self {
        Self { out, sequence: 1, known: HashSet::new(), buffer: Vec::new() }
    }

    fn packet(&mut self, packet: TracePacket) -> io::Result<()> {
        self.buffer.clear();
        self.buffer.push(PACKET);
        let packet = TracePacket { trusted_packet_sequence_id: self.sequence, ..packet };
        packet.encode_length_delimited(&mut self.buffer)?;
        self.out.write_all(&self.buffer)
    }

    /// What the sequence does not know yet of a function.
    fn intern(&mut self, function: FunctionId, rows: &Rows<'_>) -> Option<InternedData> {
        let iid = iid(function);
        self.known.insert(function).then(|| {
            let (name, place) = (rows.name(function), rows.place(function));
            let location = place.map(|(file, line)| SourceLocation {
                iid,
                file_name: file.to_owned(),
                function_name: name.clone(),
                line_number: line,
            });
            InternedData {
                event_categories: Vec::new(),
                event_names: vec![Interned { iid, name }],
                source_locations: location.into_iter().collect(),
            }
        })
    }
}

/// The number of a function in a sequence; 0 is none.
fn iid(function: FunctionId) -> u64 {
    function.index() as u64 + 1
}

impl Sink for Perfetto<'_> {
    fn begin(&mut self, program: &str, clock: &str) -> io::Result<()> {
        self.packet(TracePacket {
            track_descriptor: Some(TrackDescriptor {
                uuid: PROCESS_TRACK,
                process: Some(ProcessDescriptor { pid: 1, process_name: program.to_owned() }),
                description: format!("A nanosecond is one of the {clock} of a thread."),
                ..TrackDescriptor::default()
            }),
            ..TracePacket::default()
        })
    }

    fn thread(&mut self, number: u64, title: &str) -> io::Result<()> {
        let more = || io::Error::other("Perfetto's format numbers sequences in 32 bits");
        self.sequence = self.sequence.checked_add(1).ok_or_else(more)?;
        self.known.clear();
        let tid = i64::try_from(number).map_err(io::Error::other)?;
        self.packet(TracePacket {
            sequence_flags: INCREMENTAL_STATE_CLEARED,
            interned_data: Some(InternedData {
                event_categories: vec![Interned { iid: FUNCTION_CATEGORY, name: "function".to_owned() }],
                ..InternedData::default()
            }),
            track_descriptor: Some(TrackDescriptor {
                uuid: PROCESS_TRACK + number,
                parent_uuid: Some(PROCESS_TRACK),
                thread: Some(ThreadDescriptor { pid: 1, tid, thread_name: title.to_owned() }),
                ..TrackDescriptor::default()
            }),
            ..TracePacket::default()
        })
    }

    fn add(&mut self, thread: u64, time: u64, happening: Happening, rows: &Rows<'_>) -> io::Result<()> {
        let mut event = TrackEvent { track_uuid: PROCESS_TRACK + thread, ..TrackEvent::default() };
        let mut interned_data = None;
        match happening {
            Happening::Begin(function) => {
                interned_data = self.intern(function, rows);
                event.r#type = SLICE_BEGIN;
                event.name_iid = Some(iid(function));
                event.category_iids = vec![FUNCTION_CATEGORY];
                event.source_location_iid = rows.place(function).map(|_| iid(function));
            }
            Happening::End { returned } => {
                event.r#type = SLICE_END;
                if !returned {
                    let name = Some("returned".to_owned());
                    event.debug_annotations = vec![DebugAnnotation { bool_value: Some(false), name }];
                }
            }
            Happening::Instant(name) => {
                event.r#type = INSTANT;
                event.name = Some(name.to_owned());
            }
        }
        self.packet(TracePacket {
            timestamp: Some(time),
            sequence_flags: NEEDS_INCREMENTAL_STATE,
            track_event: Some(event),
            interned_data,
            ..TracePacket::default()
        })
    }

    fn end(&mut self) -> io::Result<()> {
        Ok(())
    }
}
