//! A timeline of calls, in a format of other programs: [`chrome`] or [`perfetto`].
//!
//! The clock of each thread is the instructions that it has run, a nanosecond each. Where functions tell the time when
//! they begin, it is that instead, a tick a nanosecond: what happens between two such moments is put between them by
//! the instructions that have run. Activations begin and end; those that are under way at the end of what is shown end
//! there.

pub mod chrome;
pub mod perfetto;

use super::Traced;
use super::clock::Clock;
use super::rows::Rows;
use super::text::title;
use cotree_core::ids::FunctionId;
use cotree_core::method::trace::Event;
use std::convert::Infallible;
use std::io;

/// What happens in a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// A function begins.
    Begin(FunctionId),
    /// The innermost activation ends.
    End {
        /// Whether it is known to return.
        returned: bool,
    },
    /// Something that takes no time.
    Instant(&'static str),
}

/// Writes a timeline in one format. Calls come thread by thread, in the order of time in each.
pub trait Sink {
    /// Begins: the name of the program, and what the clock counts.
    ///
    /// # Errors
    /// If the output can't be written.
    fn begin(&mut self, program: &str, clock: &str) -> io::Result<()>;

    /// Begins a thread.
    ///
    /// # Errors
    /// If the output can't be written.
    fn thread(&mut self, number: u64, title: &str) -> io::Result<()>;

    /// Adds what happens in a thread at a time, in nanoseconds.
    ///
    /// # Errors
    /// If the output can't be written.
    fn add(&mut self, thread: u64, time: u64, happening: Happening, rows: &Rows<'_>) -> io::Result<()>;

    /// Ends the file.
    ///
    /// # Errors
    /// If the output can't be written.
    fn end(&mut self) -> io::Result<()>;
}

/// Writes all threads, of each the blocks of these numbers.
///
/// # Errors
/// If the output can't be written, and [`io::ErrorKind::Unsupported`] where the map does not say how many instructions
/// blocks have.
pub fn write(traced: &Traced<'_>, rows: &Rows<'_>, (from, to): (u64, u64), sink: &mut dyn Sink) -> io::Result<()> {
    let scale = first_time(traced, (from, to)).map(Scale::new);
    let clock = if scale.is_some() { "ticks" } else { "instructions" };
    let name = traced.binary.path().file_name().map(|name| name.to_string_lossy().into_owned());
    sink.begin(name.as_deref().unwrap_or_default(), clock)?;
    let mut events = Events { sink, rows, thread: 0, scale };
    for thread in &traced.threads {
        events.thread = thread.stream.number;
        events.sink.thread(events.thread, &title(thread))?;
        let mut before = 0;
        for part in &thread.parts {
            let mut clock = Clock::new(traced.binary.map());
            let mut under_way = 0;
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
                    let around: Vec<FunctionId> = clock.functions().collect();
                    for &function in &around[..around.len().saturating_sub(innermost)] {
                        under_way += 1;
                        events.add(at, Happening::Begin(function))?;
                    }
                }
                match moment.event {
                    Event::Begin(function) | Event::Resumed(function) => {
                        under_way += 1;
                        events.add(at, Happening::Begin(function))?;
                    }
                    Event::Revived(calling) => {
                        under_way += 1;
                        events.add(at, Happening::Begin(calling.function))?;
                    }
                    Event::Leave { .. } | Event::Abandoned(..) if under_way > 0 => {
                        under_way -= 1;
                        let returned = !matches!(moment.event, Event::Abandoned(..));
                        events.add(at, Happening::End { returned })?;
                    }
                    Event::Restarted => events.end_all(at, &mut under_way)?,
                    Event::SwitchedOff => events.add(at, Happening::Instant("recording stops"))?,
                    Event::SwitchedOn => events.add(at, Happening::Instant("recording starts"))?,
                    Event::Ended(_) => events.add(at, Happening::Instant("the end"))?,
                    Event::Time(stamp) => events.time(at, stamp)?,
                    _ => {}
                }
                Ok(true)
            })?;
            before += clock.now();
            events.end_all(before, &mut under_way)?;
        }
        events.end_thread()?;
    }
    events.sink.end()
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
    waiting: Vec<(u64, Happening)>,
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

/// Gives what happens in a thread its time.
struct Events<'a> {
    sink: &'a mut dyn Sink,
    rows: &'a Rows<'a>,
    /// The thread.
    thread: u64,
    /// Where times are told.
    scale: Option<Scale>,
}

impl Events<'_> {
    /// Adds what happens when the thread has run so many instructions.
    fn add(&mut self, at: u64, happening: Happening) -> io::Result<()> {
        let Some(scale) = &mut self.scale else {
            return self.sink.add(self.thread, at, happening, self.rows);
        };
        scale.waiting.push((at, happening));
        if scale.waiting.len() < Scale::MOST_WAITING {
            return Ok(());
        }
        let time = scale.last.map_or(0, |(_, time)| time);
        self.put(|_| time)
    }

    /// Ends all activations that are under way: they have not returned, as far as is shown.
    fn end_all(&mut self, at: u64, under_way: &mut u64) -> io::Result<()> {
        (0..std::mem::take(under_way)).try_for_each(|_| self.add(at, Happening::End { returned: false }))
    }

    /// Writes all that waits.
    fn put(&mut self, time: impl Fn(u64) -> u64) -> io::Result<()> {
        let waiting = self.scale.as_mut().map(|scale| std::mem::take(&mut scale.waiting)).unwrap_or_default();
        waiting.into_iter().try_for_each(|(at, what)| self.sink.add(self.thread, time(at), what, self.rows))
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
}
