//! What each thread did: a timeline of calls, and the steps of its execution.
//!
//! A part of a thread is walked once, and three things are written as it goes, none of which needs memory that grows
//! with the length of the trace:
//!
//! - [`slices`]: activations for timelines, at several resolutions, each in tiles of a fixed span.
//! - [`steps`]: blocks and calls in chunks of [`steps::CHUNK`] blocks, each readable by itself.
//! - an index of what ran in each chunk, by which the page finds when a line ran.
//!
//! Positions are block numbers, as in `cotree trace`; the clock counts instructions ([`Clock`]).

mod slices;
mod stack;
mod steps;
mod times;

use super::content::{Pages, TraceContent};
use super::data::{Add, script};
use super::numbering::Numbering;
use crate::method::trace::clock::Clock;
use crate::method::trace::rows::sites_before;
use crate::method::trace::text::{stop, title};
use cotree_core::facts::Function;
use cotree_core::ids::{Block, FunctionId};
use cotree_core::method::trace::Event;
use cotree_profile::method::trace::thread::{Moment, Stop, Survey};
use serde::Serialize;
use slices::{LevelData, Slices};
use stack::Stack;
use std::collections::BTreeMap;
use std::io;
use steps::{Segments, Steps};
use times::Times;

/// What the page knows of a trace from the beginning.
#[derive(Serialize)]
struct TraceIndex {
    threads: Vec<ThreadData>,
    /// What only the newest part was kept of.
    lost: Option<String>,
    /// By body, as the trace names them: the function's number, and which of its bodies it is.
    bodies: Vec<Option<(usize, usize)>>,
    /// By body: the number of its first segment; and behind the last body, that of none.
    segments: Vec<u64>,
    /// How many blocks a chunk of steps has.
    chunk: u64,
    /// The resolution of the finest timeline, in instructions, and how much coarser each further one is.
    resolution: u64,
    coarser: u64,
    /// How many times its resolution a tile spans.
    tile: u64,
    /// How many chunks an entry of the index of lines is of.
    group: usize,
}

#[derive(Serialize)]
struct ThreadData {
    title: String,
    handler: bool,
    parts: Vec<PartData>,
}

/// A part of a thread that can be followed from its beginning to its end.
#[derive(Serialize)]
struct PartData {
    /// The number of the part, in the names of its scripts.
    number: usize,
    /// The first block, how many ran, and how many more may have.
    first: u64,
    blocks: u64,
    uncertain: u64,
    /// The part is not the beginning of its thread.
    late: bool,
    /// How it ends, and with what was under way innermost.
    end: String,
    /// A signal ended what was under way, outside of calls; and where that was.
    signal: bool,
    place: Option<(usize, u32)>,
    /// How many instructions ran.
    clock: u64,
    /// The first chunk that has steps, and what the clock says where it and each later one begins.
    chunks: (u64, Vec<u64>),
    levels: Vec<LevelData>,
    /// Activations were deeper than timelines show.
    deeper: bool,
    /// What the clock said when the time was told: some of these moments.
    times: Vec<(u64, u64)>,
}

/// How a thread ended.
#[derive(Serialize)]
pub(super) struct ThreadEnd {
    title: String,
    /// The last part of the thread.
    part: usize,
    end: String,
    /// A signal ended what was under way.
    signal: bool,
    /// Where that was.
    place: Option<(usize, u32)>,
}

/// How threads ended.
#[derive(Serialize)]
pub(super) struct Ends {
    /// The threads, those that a signal ended first, and not more than [`MOST_ENDS`].
    threads: Vec<ThreadEnd>,
    more: usize,
}

impl Ends {
    fn new(mut threads: Vec<ThreadEnd>) -> Self {
        threads.sort_by_key(|end| !end.signal);
        let more = threads.len().saturating_sub(MOST_ENDS);
        threads.truncate(MOST_ENDS);
        Self { threads, more }
    }
}

/// The most threads that the overview tells the end of.
const MOST_ENDS: usize = 20;

/// Writes the scripts of a trace. Gives how its threads ended.
///
/// # Errors
/// If one can't be written.
pub(super) fn write(
    pages: &Pages<'_>,
    content: &TraceContent<'_>,
    numbering: &Numbering<'_>,
    add: &mut Add<'_>,
) -> io::Result<Ends> {
    let program = &content.traced.binary.map().program;
    let facts: Vec<&Function> = program.functions().map(|(_, function)| function).collect();
    let segments = Segments::new(&facts);
    write_lines(pages, numbering, &facts, &segments, add)?;
    let mut number = 0;
    let (mut threads, mut ends) = (Vec::new(), Vec::new());
    for thread in &content.traced.threads {
        let mut parts = Vec::new();
        for part in &thread.parts {
            parts.push(write_part(content, numbering, (&facts, &segments), (number, part), add)?);
            number += 1;
        }
        let title = title(thread);
        ends.extend(parts.last().map(|last: &PartData| ThreadEnd {
            title: title.clone(),
            part: last.number,
            end: last.end.clone(),
            signal: last.signal,
            place: last.place,
        }));
        threads.push(ThreadData { title, handler: thread.stream.inside.is_some(), parts });
    }
    let bodies = (0..facts.len()).map(|body| {
        let body = FunctionId::new(body);
        let function = numbering.of_body(UNIT, body)?;
        let place = numbering.functions[function].summary.bodies.iter().position(|&other| other == body)?;
        Some((function, place))
    });
    let index = TraceIndex {
        threads,
        lost: content.traced.lost(),
        bodies: bodies.collect(),
        segments: segments.firsts().to_vec(),
        chunk: steps::CHUNK,
        resolution: slices::FINEST,
        coarser: slices::COARSER,
        tile: slices::TILE,
        group: steps::GROUP,
    };
    add("trace/index".to_owned(), script("trace/index", &index)?)?;
    Ok(Ends::new(ends))
}

/// Traces are of one link unit.
const UNIT: usize = 0;

fn write_part(
    content: &TraceContent<'_>,
    numbering: &Numbering<'_>,
    (facts, segments): (&[&Function], &Segments),
    (number, part): (usize, &Survey<'_>),
    add: &mut Add<'_>,
) -> io::Result<PartData> {
    let traced = content.traced;
    let mut clock = Clock::new(traced.binary.map());
    let mut recorder = Recorder {
        facts,
        stack: Stack::default(),
        slices: Slices::new(number),
        steps: Steps::new(number, part, content.steps, segments),
        times: Times::default(),
        interrupted: None,
    };
    let mut begun = false;
    part.follow(traced.tables, traced.streams, 0, u64::MAX, |moment| {
        if !moment.leads_on {
            return Ok::<_, io::Error>(false);
        }
        clock.advance(traced.tables, &moment);
        if !std::mem::replace(&mut begun, true) {
            let innermost = matches!(moment.event, Event::Begin(_) | Event::Resumed(_) | Event::Revived(_));
            let under_way: Vec<FunctionId> = clock.functions().collect();
            let around = under_way.len().saturating_sub(usize::from(innermost));
            let blocks = traced.tables.stack(moment.at).map(|(_, block, _)| block);
            for (&function, block) in under_way[..around].iter().zip(blocks) {
                recorder.begin(function, clock.now(), BEFORE);
                recorder.stack.enter(block);
            }
        }
        recorder.moment(&moment, clock.now(), add)?;
        Ok(true)
    })?;
    let now = clock.now();
    while recorder.stack.depth() > 0 {
        recorder.end(now);
    }
    let innermost = content.rows.under_way(traced.tables, part).into_iter().next();
    let innermost = innermost.filter(|_| part.stop != Stop::Returned);
    let end = stop(content.rows, &part.stop);
    let place = recorder.interrupted.and_then(|address| content.rows.place_at(address));
    Ok(PartData {
        number,
        first: part.first,
        blocks: part.blocks,
        uncertain: part.uncertain,
        late: part.starts_late,
        end: innermost.map_or_else(|| end.clone(), |frame| format!("{end}, in {frame}")),
        signal: recorder.interrupted.is_some(),
        place: place.and_then(|(path, line)| Some((numbering.of_path(&path)?, line))),
        clock: now,
        chunks: recorder.steps.finish(add)?,
        deeper: recorder.slices.deeper(),
        levels: recorder.slices.finish(add)?,
        times: recorder.times.finish(),
    })
}

/// Follows a part, and hands on what happens.
struct Recorder<'s> {
    facts: &'s [&'s Function],
    stack: Stack,
    slices: Slices,
    steps: Steps<'s>,
    times: Times,
    /// The instruction at which a signal ended what was under way, if nothing came after that.
    interrupted: Option<u64>,
}

/// The first block of what began before the part does.
const BEFORE: u64 = 0;

impl Recorder<'_> {
    fn begin(&mut self, function: FunctionId, now: u64, block: u64) {
        self.stack.begin(function, now, block);
        self.slices.begin(function, now);
    }

    fn end(&mut self, now: u64) {
        self.stack.end();
        self.slices.end(now);
    }

    fn moment(&mut self, moment: &Moment<'_>, now: u64, add: &mut Add<'_>) -> io::Result<()> {
        self.slices.advance(now, add)?;
        self.steps.advance(moment.block, now, &self.stack, add)?;
        self.steps.certain(moment.certain, now);
        match moment.event {
            Event::Interrupted(address) => self.interrupted = Some(address),
            Event::Abandoned(..) | Event::Ended(_) => {}
            _ => self.interrupted = None,
        }
        match moment.event {
            Event::Begin(function) | Event::Resumed(function) => {
                self.begin(function, now, moment.block);
                self.steps.begin(function, now);
            }
            Event::Revived(calling) => {
                self.begin(calling.function, now, moment.block);
                let call = self.facts.get(calling.function.index()).and_then(|facts| facts.calls.get(calling.call));
                self.steps.revive(calling.function, now);
                if let Some(call) = call {
                    self.stack.enter(call.block);
                    self.steps.goes_on(call.block, now);
                }
            }
            Event::Block { function, block, edge } => {
                self.rest(function, edge, now);
                self.stack.enter(block);
                self.steps.block(function, block, now);
            }
            Event::Call { function, call } => {
                let Some(facts) = self.facts.get(function.index()) else { return Ok(()) };
                let Some(block) = facts.calls.get(call).map(|call| call.block) else { return Ok(()) };
                let before = sites_before(facts, block, call);
                if before > 0 {
                    self.steps.segment(function, block, before, now);
                }
            }
            Event::Leave { function, edge } => {
                self.rest(function, Some(edge), now);
                self.end(now);
                self.steps.leave(now);
            }
            Event::Abandoned(..) => {
                self.end(now);
                self.steps.abandon(now);
            }
            Event::Restarted => {
                while self.stack.depth() > 0 {
                    self.end(now);
                }
                self.steps.mark(steps::RESTARTED, now);
            }
            Event::Catch(..) => self.steps.mark(steps::CAUGHT, now),
            Event::Interrupted(_) => self.steps.mark(steps::INTERRUPTED, now),
            Event::Ended(ending) => {
                self.steps.mark(if ending.0 == 0 { steps::THREAD_ENDED } else { steps::PROCESS_ENDED }, now);
            }
            Event::SwitchedOff => self.steps.mark(steps::OFF, now),
            Event::SwitchedOn => self.steps.mark(steps::ON, now),
            Event::Time(stamp) => self.times.tell(now, stamp),
            Event::Access { .. } => {}
        }
        Ok(())
    }

    /// What stands behind the last call of the block that is left has run.
    fn rest(&mut self, function: FunctionId, edge: Option<cotree_core::ids::Edge>, now: u64) {
        let Some(facts) = self.facts.get(function.index()) else { return };
        let Some(block) = edge.and_then(|edge| facts.edges.get(edge)).map(|edge| edge.src) else { return };
        let sites = facts.sites_of(block).count() as u32;
        if sites > 0 {
            self.steps.segment(function, block, sites, now);
        }
    }
}

/// Lines with the segments that are theirs.
#[derive(Serialize)]
struct LineSegments {
    line: u32,
    segments: Vec<u64>,
}

/// Writes which segments each line of a file has.
fn write_lines(
    pages: &Pages<'_>,
    numbering: &Numbering<'_>,
    facts: &[&Function],
    segments: &Segments,
    add: &mut Add<'_>,
) -> io::Result<()> {
    let unit = &pages.units()[UNIT];
    let mut files: BTreeMap<usize, BTreeMap<u32, Vec<u64>>> = BTreeMap::new();
    for (index, facts) in facts.iter().enumerate() {
        for (block, facts) in facts.blocks.iter().enumerate() {
            for span in &facts.lines {
                let Some(file) = numbering.of_path(unit.file(span.at.file)) else { continue };
                let of_line = files.entry(file).or_default().entry(span.at.line).or_default();
                of_line.push(segments.number(FunctionId::new(index), Block::new(block), span.after_sites));
            }
        }
    }
    for (file, lines) in files {
        let lines: Vec<LineSegments> = (lines.into_iter())
            .map(|(line, mut segments)| {
                segments.sort_unstable();
                segments.dedup();
                LineSegments { line, segments }
            })
            .collect();
        let name = format!("trace/lines/{file}");
        add(name.clone(), script(&name, &lines)?)?;
    }
    Ok(())
}
