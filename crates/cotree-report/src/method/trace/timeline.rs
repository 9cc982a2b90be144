//! A timeline of calls in Chrome's trace-event format, which Perfetto opens.
//!
//! The clock of each thread is the instructions that it has run, a nanosecond each. Where functions tell the time when
//! they begin, it is that instead, a tick a nanosecond: what happens between two such moments is put between them by
//! the instructions that have run. Activations begin (`B`) and end (`E`); those that are under way at the end of what
//! is shown end there.

use super::Traced;
use super::clock::Clock;
use super::rows::Rows;
use super::text::title;
use cotree_core::ids::FunctionId;
use cotree_core::method::trace::Event;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::io::{self, Write};

/// Writes all threads, of each the blocks of these numbers.
///
/// # Errors
/// If the output can't be written, and [`io::ErrorKind::Unsupported`] where the map does not say how many instructions
/// blocks have.
pub fn write(traced: &Traced<'_>, rows: &Rows<'_>, (from, to): (u64, u64), out: &mut dyn Write) -> io::Result<()> {
    let scale = first_time(traced, (from, to)).map(Scale::new);
    let clock = if scale.is_some() { "ticks" } else { "instructions" };
    let mut events = Events { out, any: false, scale };
    let name = traced.binary.path().file_name().map(|name| name.to_string_lossy().into_owned());
    write!(events.out, "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"clock\":\"{clock}\"}},\"traceEvents\":[")?;
    events.add(&json!({ "name": "process_name", "ph": "M", "pid": 1, "tid": 1, "args": { "name": name } }))?;
    for thread in &traced.threads {
        let tid = thread.stream.number;
        let of_thread =
            json!({ "name": "thread_name", "ph": "M", "pid": 1, "tid": tid, "args": { "name": title(thread) } });
        events.add(&of_thread)?;
        let mut before = 0;
        for part in &thread.parts {
            let mut clock = Clock::new(traced.binary.map());
            let mut stack: Vec<FunctionId> = Vec::new();
            let mut begun = false;
            part.follow(traced.tables, traced.streams, from, to, |moment| {
                if !moment.leads_on {
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
                    Event::Time(stamp) => events.time(at, stamp)?,
                    _ => {}
                }
                Ok(true)
            })?;
            before += clock.now();
            stack.iter().try_for_each(|_| events.end(tid, before, true))?;
        }
        events.end_thread()?;
    }
    writeln!(events.out, "]}}")
}

/// Chrome's unit, of nanoseconds.
fn micros(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1000.0
}

/// The earliest time that any thread tells in these blocks, if times are told: then it does so before long.
fn first_time(traced: &Traced<'_>, (from, to): (u64, u64)) -> Option<u64> {
    const SOON: u64 = 1 << 16;
    let mut first = None;
    for part in traced.threads.iter().flat_map(|thread| &thread.parts) {
        let mut moments = 0;
        let Ok(()) = part.follow(traced.tables, traced.streams, from, to, |moment| {
            moments += 1;
            let Event::Time(stamp) = moment.event else { return Ok::<_, Infallible>(moments < SOON) };
            first = Some(first.map_or(stamp, |first: u64| first.min(stamp)));
            Ok(false)
        });
    }
    first
}

/// Puts moments, by the instructions that their thread has run, between the times that it tells.
struct Scale {
    /// The time that is 0 here.
    zero: u64,
    /// How many instructions had run at the last time that was told, and that time.
    last: Option<(u64, u64)>,
    /// What has happened since then.
    waiting: Vec<(u64, Value)>,
}

impl Scale {
    /// At most this many things that happen between two times are put between them; if there are more, all are put
    /// where the first is.
    const MOST_WAITING: usize = 1 << 16;

    fn new(zero: u64) -> Self {
        Self { zero, last: None, waiting: Vec::new() }
    }

    /// The time of a moment before the next time that is told, so many instructions later.
    fn between(last: Option<(u64, u64)>, at: u64, next: (u64, u64)) -> u64 {
        let Some((began, time)) = last else { return next.1.saturating_sub(next.0.saturating_sub(at)) };
        let (ran, all, ticks) = (at.saturating_sub(began), next.0.saturating_sub(began), next.1.saturating_sub(time));
        if all == 0 { time } else { time + (u128::from(ticks) * u128::from(ran) / u128::from(all)) as u64 }
    }
}

struct Events<'o> {
    out: &'o mut dyn Write,
    any: bool,
    /// Where times are told.
    scale: Option<Scale>,
}

impl Events<'_> {
    fn add(&mut self, event: &Value) -> io::Result<()> {
        let comma = if std::mem::replace(&mut self.any, true) { "," } else { "" };
        write!(self.out, "{comma}\n{event}")
    }

    /// Adds what happens when a thread has run so many instructions.
    fn add_at(&mut self, at: u64, mut event: Value) -> io::Result<()> {
        let Some(scale) = &mut self.scale else {
            event["ts"] = micros(at).into();
            return self.add(&event);
        };
        scale.waiting.push((at, event));
        if scale.waiting.len() < Scale::MOST_WAITING {
            return Ok(());
        }
        let time = scale.last.map_or(0, |(_, time)| time);
        self.put(|_| time)
    }

    /// Writes all that waits.
    fn put(&mut self, time: impl Fn(u64) -> u64) -> io::Result<()> {
        let waiting = self.scale.as_mut().map(|scale| std::mem::take(&mut scale.waiting)).unwrap_or_default();
        for (at, mut event) in waiting {
            event["ts"] = micros(time(at)).into();
            self.add(&event)?;
        }
        Ok(())
    }

    /// The thread tells the time.
    fn time(&mut self, at: u64, stamp: u64) -> io::Result<()> {
        let Some(scale) = &mut self.scale else { return Ok(()) };
        let next = (at, stamp.saturating_sub(scale.zero));
        let last = scale.last.replace(next);
        self.put(|at| Scale::between(last, at, next))
    }

    /// No more of this thread follows. An instruction after its last time takes a tick.
    fn end_thread(&mut self) -> io::Result<()> {
        let last = self.scale.as_mut().and_then(|scale| scale.last.take());
        let (began, time) = last.unwrap_or((0, 0));
        self.put(|at| time + at.saturating_sub(began))
    }

    fn instant(&mut self, name: &str, tid: u64, at: u64) -> io::Result<()> {
        self.add_at(at, json!({ "name": name, "ph": "i", "s": "t", "pid": 1, "tid": tid }))
    }

    fn begin(&mut self, rows: &Rows<'_>, function: FunctionId, tid: u64, at: u64) -> io::Result<()> {
        let mut event = json!({
            "name": rows.name(function), "cat": "function", "ph": "B", "pid": 1, "tid": tid,
        });
        if let Some(position) = rows.position(function) {
            event["args"] = json!({ "at": position });
        }
        self.add_at(at, event)
    }

    /// `left`: without a return, as far as is shown.
    fn end(&mut self, tid: u64, at: u64, left: bool) -> io::Result<()> {
        let mut event = json!({ "ph": "E", "pid": 1, "tid": tid });
        if left {
            event["args"] = json!({ "returned": false });
        }
        self.add_at(at, event)
    }
}
