//! Chrome's trace-event format, as JSON, which Perfetto and chrome://tracing open. Activations begin (`B`) and end
//! (`E`).

use super::{Happening, Sink};
use crate::method::trace::rows::Rows;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Writes the format.
pub struct Chrome<'o> {
    out: &'o mut dyn Write,
    any: bool,
}

impl<'o> Chrome<'o> {
    /// Writes to a stream.
    pub fn new(out: &'o mut dyn Write) -> Self {
        Self { out, any: false }
    }

    fn event(&mut self, event: &Value) -> io::Result<()> {
        let comma = if std::mem::replace(&mut self.any, true) { "," } else { "" };
        write!(self.out, "{comma}\n{event}")
    }
}

/// Chrome's unit, of nanoseconds.
fn micros(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1000.0
}

impl Sink for Chrome<'_> {
    fn begin(&mut self, program: &str, clock: &str) -> io::Result<()> {
        write!(self.out, "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"clock\":\"{clock}\"}},\"traceEvents\":[")?;
        self.event(&json!({ "name": "process_name", "ph": "M", "pid": 1, "tid": 1, "args": { "name": program } }))
    }

    fn thread(&mut self, number: u64, title: &str) -> io::Result<()> {
        self.event(&json!({ "name": "thread_name", "ph": "M", "pid": 1, "tid": number, "args": { "name": title } }))
    }

    fn add(&mut self, thread: u64, time: u64, happening: Happening, rows: &Rows<'_>) -> io::Result<()> {
        let mut event = json!({ "pid": 1, "tid": thread, "ts": micros(time) });
        match happening {
            Happening::Begin(function) => {
                event["ph"] = "B".into();
                event["cat"] = "function".into();
                event["name"] = rows.name(function).into();
                if let Some(position) = rows.position(function) {
                    event["args"] = json!({ "at": position });
                }
            }
            Happening::End { returned } => {
                event["ph"] = "E".into();
                if !returned {
                    event["args"] = json!({ "returned": false });
                }
            }
            Happening::Instant(name) => {
                (event["ph"], event["s"], event["name"]) = ("i".into(), "t".into(), name.into());
            }
        }
        self.event(&event)
    }

    fn end(&mut self) -> io::Result<()> {
        writeln!(self.out, "]}}")
    }
}
