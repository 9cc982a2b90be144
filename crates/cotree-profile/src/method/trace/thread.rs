//! What each thread did, from any point on.
//!
//! A thread's blocks are numbered from 1 in the order in which they ran, from the first that is kept. A [`Survey`]
//! reads a part of a stream once: it finds how much there is, how it ends, and notes places from which it can be read
//! again. [`Survey::follow`] then yields the moments of any stretch.
//!
//! The memory of both does not depend on the length of a trace. There are at most [`MOST_PLACES`] places, with at most
//! [`MOST_ACTIVATIONS`] activations in all: where they become more, every other one is dropped.

use super::UnitTables;
use super::ending::{Endings, Taken};
use super::streams::{Part, Stream, Streams};
use cotree_core::method::trace::stream::Ending;
use cotree_core::method::trace::{Checkpoint, Event, ReadError};
use std::ops::Range;

const MOST_PLACES: usize = 512;
const MOST_ACTIVATIONS: usize = 1 << 20;
/// How many blocks are between places at first: a power of two.
const FIRST_INTERVAL: u64 = 1 << 10;

/// How what is known of a part ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// As the thread or the process did.
    Ended(Ending),
    /// With the last byte: the thread was cut off, or still ran.
    Open,
    /// The signal handler returned.
    Returned,
    /// There was no room for more.
    NoRoom,
    /// What comes next can't be told: the thread left the activations that are known, or a signal handler did what is
    /// not followed.
    Lost,
    /// The stream can't be read any further.
    Unreadable(ReadError),
    /// Nobody knows where it begins.
    NoEntrance,
}

/// A moment of a thread.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The number of the block that runs, or is entered next.
    pub block: u64,
    /// How many activations are around what happens.
    pub depth: usize,
    /// What happens.
    pub event: Event,
    /// Did it happen for certain? If not, it follows if the program got that far.
    pub certain: bool,
    /// Does it lead to what happened for certain? Between such moments what an interrupted activation may have done
    /// follows from the others.
    pub leads_on: bool,
    /// Is it the last one that did?
    pub last: bool,
    /// The state behind it.
    pub at: &'a Checkpoint,
}

/// A part of a stream that has been read once.
#[derive(Clone, Debug)]
pub struct Survey<'t> {
    part: Part<'t>,
    entrance: u64,
    /// The number of its first block.
    pub first: u64,
    /// How many blocks it has, without those that may not have run.
    pub blocks: u64,
    /// How many may have run after these, if the program got that far.
    pub uncertain: u64,
    /// Bytes that were read, and those before them of which nobody knows what they mean.
    pub bytes: (u64, u64),
    /// Bytes that these take in the file, where they may be compressed.
    pub stored: u64,
    /// How many accesses of memory told their addresses, and in how many bytes.
    pub addresses: (u64, u64),
    /// Did anything of the thread come before it?
    pub starts_late: bool,
    /// How it ends.
    pub stop: Stop,
    /// The instruction at which a signal ended the activations that were under way, or the last of those that it did
    /// end.
    pub interrupted: Option<u64>,
    /// How many frames were interrupted like that.
    pub interruptions: u64,
    /// The state at the end.
    pub end: Checkpoint,
    /// The activations that ended with the thread, innermost first: they were on top of those that are under way in the
    /// end.
    pub taken: Vec<Taken>,
    certain: u64,
    /// Events before that which may not have happened ([`super::Execution::doubts`]).
    doubts: Vec<Range<u64>>,
    /// Places, each with the number of the last block before it and the depth.
    places: Vec<(u64, usize, Checkpoint)>,
}

/// A thread, or a signal handler in one.
#[derive(Clone, Debug)]
pub struct Thread<'t> {
    /// The stream of the thread.
    pub stream: &'t Stream,
    /// The parts of it that are there.
    pub parts: Vec<Survey<'t>>,
}

impl<'t> Thread<'t> {
    /// Reads the stream of a thread.
    #[must_use]
    pub fn new(tables: &UnitTables<'_>, streams: &'t Streams, stream: &'t Stream) -> Self {
        let mut first = 1;
        let survey = |part| {
            let survey = Survey::new(tables, streams, part, part.entrances().next(), first, open_end(stream, part));
            first += survey.blocks + survey.uncertain;
            survey
        };
        Self { stream, parts: stream.parts().map(survey).collect() }
    }

    /// Reads the end of a thread's stream: of its last part not much more than the last `blocks` blocks, if the stream
    /// can be read from so late a point. Blocks are numbered from 1 there.
    #[must_use]
    pub fn tail(tables: &UnitTables<'_>, streams: &'t Streams, stream: &'t Stream, blocks: u64) -> Self {
        let Some(part) = stream.parts().next_back() else { return Self { stream, parts: Vec::new() } };
        let entrances: Vec<u64> = part.entrances().collect();
        let mut tried = 1;
        loop {
            let entrance = entrances.iter().rev().nth(tried - 1).or(entrances.first()).copied();
            let survey = Survey::new(tables, streams, part, entrance, 1, open_end(stream, part));
            // What was not told of a deep stack may be known from an earlier point.
            let stops = matches!(survey.stop, Stop::Lost | Stop::Unreadable(_) | Stop::NoEntrance);
            let suffices = survey.blocks > blocks && !stops && !survey.end.is_open_ended();
            if suffices || tried >= entrances.len() {
                return Self { stream, parts: vec![survey] };
            }
            tried *= 2;
        }
    }

    /// How many blocks ran.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.parts.iter().map(|part| part.blocks).sum()
    }

    /// The number of the last block, be it certain or not.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.parts.last().map_or(0, |part| part.first + part.blocks + part.uncertain - 1)
    }
}

/// How a part of a stream ends that does not say so itself.
fn open_end(stream: &Stream, part: Part<'_>) -> Stop {
    if stream.is_over_with(part) {
        Stop::Returned
    } else if stream.cut {
        Stop::NoRoom
    } else if stream.lost {
        Stop::Lost
    } else {
        Stop::Open
    }
}

/// Is it told by a record, which only something that happened can have left?
const fn is_recorded(event: Event) -> bool {
    match event {
        Event::Begin(_) | Event::Block { .. } | Event::Call { .. } | Event::Leave { .. } => false,
        Event::Access { .. }
        | Event::Abandoned(..)
        | Event::Interrupted(_)
        | Event::Catch(..)
        | Event::Revived(_)
        | Event::Restarted
        | Event::Resumed(_)
        | Event::Ended(_)
        | Event::SwitchedOff
        | Event::SwitchedOn
        | Event::Time(_) => true,
    }
}

/// How deep a thread is in its calls.
#[derive(Clone, Copy, Debug, Default)]
struct Depth(usize);

impl Depth {
    /// How many activations are around what happens.
    fn take(&mut self, event: Event) -> usize {
        match event {
            Event::Begin(_) | Event::Revived(_) | Event::Resumed(_) => {
                self.0 += 1;
                self.0 - 1
            }
            Event::Leave { .. } | Event::Abandoned(..) => {
                self.0 = self.0.saturating_sub(1);
                self.0
            }
            Event::Restarted => {
                self.0 = 0;
                0
            }
            Event::Block { .. }
            | Event::Access { .. }
            | Event::Call { .. }
            | Event::Interrupted(_)
            | Event::Catch(..) => self.0.saturating_sub(1),
            Event::Ended(_) | Event::SwitchedOff | Event::SwitchedOn | Event::Time(_) => self.0,
        }
    }
}

impl<'t> Survey<'t> {
    /// Reads a part from one of its entrances on.
    fn new(
        tables: &UnitTables<'_>,
        streams: &'t Streams,
        part: Part<'t>,
        entrance: Option<u64>,
        first: u64,
        open_end: Stop,
    ) -> Self {
        let mut survey = Self {
            part,
            entrance: part.start(),
            first,
            blocks: 0,
            uncertain: 0,
            bytes: (0, part.end() - part.start()),
            stored: part.stored(),
            addresses: (0, 0),
            starts_late: part.start() > 0,
            stop: Stop::NoEntrance,
            interrupted: None,
            interruptions: 0,
            end: Checkpoint::beginning(),
            taken: Vec::new(),
            certain: 0,
            doubts: Vec::new(),
            places: Vec::new(),
        };
        let Some(entrance) = entrance else { return survey };
        survey.entrance = entrance;
        survey.bytes = (part.end() - entrance, entrance - part.start());
        let mut reader = tables.read(streams, part, entrance);
        let (mut blocks, mut interval, mut depth, mut activations) = (0_u64, FIRST_INTERVAL, Depth::default(), 0);
        let (mut ended, mut thread_ended, mut endings) = (None, None, Endings::default());
        survey.stop = loop {
            // To the next place, but for its block.
            let skipped = reader.skip(interval - 1 - (blocks & (interval - 1)));
            if let Some(certain) = skipped.certain {
                (survey.certain, survey.blocks) = (reader.checkpoint().certain(), blocks + certain);
            }
            if skipped.events > 0 {
                let at = reader.checkpoint();
                survey.addresses.0 += skipped.addresses.0;
                survey.addresses.1 += skipped.addresses.1;
                blocks += skipped.blocks;
                depth.0 = at.depth();
                ended = None;
                endings.clear();
            }
            let (before, position) = (reader.checkpoint().certain(), reader.checkpoint().position());
            let event = match reader.next() {
                Ok(Some(event)) => event,
                Ok(None) if reader.checkpoint().is_lost() => break Stop::Lost,
                Ok(None) => break ended.map_or(open_end, Stop::Ended),
                Err(error) => break Stop::Unreadable(error),
            };
            let at = reader.checkpoint();
            if at.certain() != before {
                (survey.certain, survey.blocks) = (at.certain(), blocks);
            }
            depth.take(event);
            if let Event::Access { .. } = event {
                survey.addresses.0 += 1;
                survey.addresses.1 += at.position() - position;
            }
            let function_at = |address| tables.binary().function_at(address);
            endings.event(event, function_at, |function, call| tables.passes_over(function, call));
            if let Event::Interrupted(address) = event {
                survey.interrupted = Some(address);
                survey.interruptions += 1;
            }
            ended = match event {
                Event::Ended(ending) => Some(ending),
                // What it takes with it.
                Event::Abandoned(..) | Event::Interrupted(_) => ended,
                _ => None,
            };
            if let Event::Ended(ending) = event {
                thread_ended = Some(ending).filter(|ending| ending.0 == 0);
            }
            if is_recorded(event) {
                (survey.certain, survey.blocks) = (at.events(), blocks);
            }
            if let Event::Block { .. } = event {
                blocks += 1;
                if blocks.is_multiple_of(interval) {
                    activations += depth.0;
                    survey.places.push((blocks, depth.0, at.clone()));
                    if survey.places.len() > MOST_PLACES || activations > MOST_ACTIVATIONS {
                        interval *= 2;
                        survey.places.retain(|(blocks, ..)| blocks.is_multiple_of(interval));
                        activations = survey.places.iter().map(|(_, depth, _)| depth).sum();
                    }
                }
            }
        };
        let at = reader.checkpoint();
        if at.certain() > survey.certain {
            (survey.certain, survey.blocks) = (at.certain(), blocks);
        }
        if survey.stop == Stop::Returned {
            if tables.stack(at).len() == 0 {
                // Its last path needs no token.
                (survey.certain, survey.blocks) = (at.events(), blocks);
            } else {
                survey.stop = Stop::Open;
            }
        }
        if let (Stop::Open, Some(ending)) = (&survey.stop, thread_ended)
            && streams.threads_are_over()
            && tables.stack(at).len() == 0
        {
            // Neither does the last path of its last destructor.
            (survey.certain, survey.blocks) = (at.events(), blocks);
            survey.stop = Stop::Ended(ending);
        }
        survey.uncertain = blocks - survey.blocks;
        survey.end = at.clone();
        survey.taken = endings.finish();
        survey.doubts = reader.doubts().to_vec();
        survey
    }

    /// Is it an event that an interrupted activation may not have come to?
    fn is_in_doubt(&self, event: u64) -> bool {
        let next = self.doubts.partition_point(|doubt| doubt.end <= event);
        self.doubts.get(next).is_some_and(|doubt| doubt.contains(&event))
    }

    /// The number of the last block, be it certain or not; that before the first if there is none.
    #[must_use]
    pub const fn last(&self) -> u64 {
        self.first + self.blocks + self.uncertain - 1
    }

    /// Shows the moments of the blocks of these numbers, in order, as long as `show` asks for more. What comes before
    /// the first block belongs to it.
    ///
    /// # Errors
    /// The errors of `show`.
    pub fn follow<E>(
        &self,
        tables: &UnitTables<'_>,
        streams: &'t Streams,
        from: u64,
        to: u64,
        mut show: impl FnMut(Moment<'_>) -> Result<bool, E>,
    ) -> Result<(), E> {
        if self.stop == Stop::NoEntrance {
            return Ok(());
        }
        let number = |blocks: u64| self.first - 1 + blocks;
        // The moment in which a block is entered is its first one, so a place where it just was comes too late.
        let found = self.places.partition_point(|&(blocks, ..)| number(blocks) < from);
        let (mut blocks, mut depth, mut reader) = match found.checked_sub(1).map(|place| &self.places[place]) {
            Some((blocks, depth, at)) => {
                (*blocks, Depth(*depth), tables.resume(streams, self.part, self.entrance, at.clone()))
            }
            None => (0, Depth::default(), tables.read(streams, self.part, self.entrance)),
        };
        // What can't be read is told by `stop`.
        loop {
            if blocks > 0 {
                // What is shown begins with the first event behind the block before `from`.
                let skipped = reader.skip(from.saturating_sub(number(blocks) + 1));
                if skipped.events > 0 {
                    blocks += skipped.blocks;
                    depth.0 = reader.checkpoint().depth();
                }
            }
            let Ok(Some(event)) = reader.next() else { return Ok(()) };
            blocks += u64::from(matches!(event, Event::Block { .. }));
            let next = matches!(event, Event::Begin(_)) || blocks == 0;
            let block = number(blocks) + u64::from(next);
            let around = depth.take(event);
            if block > to {
                return Ok(());
            }
            let at = reader.checkpoint();
            let (certain, last) = (at.events() <= self.certain, at.events() == self.certain);
            let leads_on = certain;
            let certain = certain && (is_recorded(event) || !self.is_in_doubt(at.events() - 1));
            if block >= from && !show(Moment { block, depth: around, event, certain, leads_on, last, at })? {
                return Ok(());
            }
        }
    }
}
