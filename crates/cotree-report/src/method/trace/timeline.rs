//! A timeline of calls in Chrome's trace-event format, which Perfetto opens.
//!
//! The clock of each thread is the instructions that it has run, a nanosecond each. Activations begin (`B`) and end (`E`); those that
//! are under way at the end of what is shown end there.

use super::Traced;
use super::clock::Clock;
use super::rows::Rows;
use super::text::title;
use cotree_core::ids::FunctionId;
use cotree_core::method::trace::Event;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Writes all threads, of each the blocks of these numbers.
///
/// # Errors
/// Those of the output, and [`io::ErrorKind::Unsupported`] where the map does not say how many instructions blocks have.
pub fn write(traced: &Traced<'_>, rows: &Rows<'_>, (from, to): (u64, u64), out: &mut dyn Write) -> io::Result<()> {
    let mut events = Events { out, any: false };
    let name = traced.binary.path().file_name().map(|name| name.to_string_lossy().into_owned());
    write!(events.out, "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"clock\":\"instructions\"}},\"traceEvents\":[")?;
    events.add(&json!({ "name": "process_name", "ph": "M", "pid": 1, "tid": 1, "args": { "name": name } }))?;
    for thread in &traced.threads {
        let tid = thread.stream.number;
        let of_thread =
            json!({ "name": "thread_name", "ph": "M", "pid": 1, "tid": tid, "args": { "name": title(thread) } });
        events.add(&of_thread)?;
        let mut before = 0;
        for part in &thread.parts {
            let mut clock = Clock::new(traced.binary.map()).ok_or(io::ErrorKind::Unsupported)?;
            let mut stack: Vec<FunctionId> = Vec::new();
            let mut begun = false;
            part.follow(traced.tables, traced.streams, from, to, |moment| {
                if !moment.certain {
                    return Ok::<_, io::Error>(false);
                }
                clock.advance(traced.tables, &moment);
                let at = before + clock.now();
                if !std::mem::replace(&mut begun, true) {
                    let innermost =
                        usize::from(matches!(moment.event, Event::Begin(_) | Event::Resumed(_) | Event::Revived(_)));
                    let under_way: Vec<FunctionId> = clock.functions().collect();
                    for &function in &under_way[..under_way.len().saturating_sub(innermost)] {
                        stack.push(function);
                        events.begin(rows, function, tid, at)?;
                    }
                }
                match moment.event {
                    Event::Begin(function) | Event::Resumed(function) => {
                        stack.push(function);
                        events.begin(rows, function, tid, at)?;
                    }
                    Event::Revived(calling) => {
                        stack.push(calling.function);
                        events.begin(rows, calling.function, tid, at)?;
                    }
                    Event::Leave { .. } | Event::Abandoned(..) if stack.pop().is_some() => {
                        let left = matches!(moment.event, Event::Abandoned(..));
                        events.end(tid, at, left)?;
                    }
                    Event::Restarted => stack.drain(..).try_for_each(|_| events.end(tid, at, true))?,
                    Event::SwitchedOff => events.instant("recording stops", tid, at)?,
                    Event::SwitchedOn => events.instant("recording starts", tid, at)?,
                    Event::Ended(_) => events.instant("the end", tid, at)?,
                    _ => {}
                }
                Ok(true)
            })?;
            before += clock.now();
            stack.iter().try_for_each(|_| events.end(tid, before, true))?;
        }
    }
    writeln!(events.out, "]}}")
}

/// Chrome's unit.
fn micros(instructions: u64) -> f64 {
    instructions as f64 / 1000.0
}

struct Events<'o> {
    out: &'o mut dyn Write,
    any: bool,
}

impl Events<'_> {
    fn add(&mut self, event: &Value) -> io::Result<()> {
        let comma = if std::mem::replace(&mut self.any, true) { "," } else { "" };
        write!(self.out, "{comma}\n{event}")
    }

    fn instant(&mut self, name: &str, tid: u64, at: u64) -> io::Result<()> {
        self.add(&json!({ "name": name, "ph": "i", "s": "t", "pid": 1, "tid": tid, "ts": micros(at) }))
    }

    fn begin(&mut self, rows: &Rows<'_>, function: FunctionId, tid: u64, at: u64) -> io::Result<()> {
        let mut event = json!({
            "name": rows.name(function), "cat": "function", "ph": "B", "pid": 1, "tid": tid, "ts": micros(at),
        });
        if let Some(position) = rows.position(function) {
            event["args"] = json!({ "at": position });
        }
        self.add(&event)
    }

    /// `left`: without a return, as far as is shown.
    fn end(&mut self, tid: u64, at: u64, left: bool) -> io::Result<()> {
        let mut event = json!({ "ph": "E", "pid": 1, "tid": tid, "ts": micros(at) });
        if left {
            event["args"] = json!({ "returned": false });
        }
        self.add(&event)
    }
}
