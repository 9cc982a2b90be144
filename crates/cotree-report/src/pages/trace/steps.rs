//! The steps of an execution: blocks, parts of blocks between calls, and activations, in chunks.
//!
//! A chunk has the activations that are under way at its beginning, so that it can be shown without those before it.
//! The outermost ones of a deep stack are listed, and those that the chunk comes back to: with all of them, each chunk
//! of endless recursion would be as large as the stack.
//! Steps are pairs of numbers: what happens (a value times 16, and one of the kinds below), and how many instructions
//! have run since the step before.
//!
//! What runs is told by *segments*: each block has one before its first call and one behind each call. Segments of all
//! functions are numbered through, so that a chunk can list those that ran in it.

use super::slices::DEEPEST;
use super::stack::Stack;
use crate::pages::data::{Add, script};
use cotree_core::facts::Function;
use cotree_core::ids::{Block, FunctionId};
use cotree_profile::method::trace::thread::Survey;
use serde::Serialize;
use std::io;

/// How many blocks a chunk has.
pub(super) const CHUNK: u64 = 1 << 16;
/// How many chunks one script lists the segments of.
pub(super) const GROUP: usize = 32;

/// How many activations are listed below the innermost ones that a chunk comes back to.
const BELOW: usize = 64;

/// The innermost activation enters a block, whose first segment runs.
const BLOCK: u64 = 0;
/// A further segment of the innermost activation's block runs.
const SEGMENT: u64 = 1;
/// An activation of a function begins.
const BEGIN: u64 = 2;
/// The innermost activation returns.
const LEAVE: u64 = 3;
/// The innermost activation ends without a return.
const ABANDON: u64 = 4;
/// An activation comes to life that had begun before.
const REVIVE: u64 = 5;
/// The innermost activation goes on in a block that it had entered before.
const GOES_ON: u64 = 6;
/// Steps from here on are certain (1), or follow only if an interrupted activation got that far (0).
const CERTAIN: u64 = 7;
/// Anything else.
const MARK: u64 = 8;

/// The stack is told anew.
pub(super) const RESTARTED: u64 = 0;
/// The innermost activation catches an exception.
pub(super) const CAUGHT: u64 = 1;
/// A signal ends the innermost activation outside of a call.
pub(super) const INTERRUPTED: u64 = 2;
/// The thread ends.
pub(super) const THREAD_ENDED: u64 = 3;
/// The process ends.
pub(super) const PROCESS_ENDED: u64 = 4;
/// Recording stops.
pub(super) const OFF: u64 = 5;
/// Recording starts.
pub(super) const ON: u64 = 6;

/// Numbers of segments.
pub(super) struct Segments {
    /// By function: the number of the first; and one more, behind all.
    firsts: Vec<u64>,
    /// By function and block: how many segments come before it in the function.
    before: Vec<Vec<u32>>,
}

impl Segments {
    pub(super) fn new(facts: &[&Function]) -> Self {
        let (mut firsts, mut before) = (vec![0], Vec::new());
        for (end, facts) in facts.iter().enumerate() {
            let mut own = 0;
            let blocks = (0..facts.blocks.len()).map(|block| {
                let first = own;
                own += 1 + facts.sites_of(Block::new(block)).count() as u32;
                first
            });
            before.push(blocks.collect());
            firsts.push(firsts[end] + u64::from(own));
        }
        Self { firsts, before }
    }

    pub(super) fn firsts(&self) -> &[u64] {
        &self.firsts
    }

    /// The number of the segment of a block behind so many of its call sites.
    pub(super) fn number(&self, function: FunctionId, block: Block, sites: u32) -> u64 {
        self.firsts[function.index()] + u64::from(self.before[function.index()][block.index()]) + u64::from(sites)
    }

    fn count(&self) -> usize {
        self.firsts.last().map_or(0, |&count| count as usize)
    }
}

/// Steps of one chunk.
#[derive(Default, Serialize)]
struct Chunk {
    /// The number of the first block, and what the clock says there.
    first: u64,
    clock: u64,
    certain: bool,
    /// Activations under way, outermost first, a list per property; a block of -1 is none.
    function: Vec<u32>,
    block: Vec<i64>,
    began: Vec<u64>,
    /// The number of an activation's first block.
    from: Vec<u64>,
    /// How many activations are not listed, and how many of those that are come before them.
    skipped: usize,
    outer: usize,
    steps: Vec<u64>,
}

impl Chunk {
    fn depth(&self) -> usize {
        self.function.len()
    }

    /// Leaves out the activations that are neither among the outermost ones nor near the `lowest` that the chunk comes
    /// back to.
    fn skip(&mut self, lowest: usize) {
        let end = lowest.saturating_sub(BELOW);
        if end <= DEEPEST {
            return;
        }
        (self.outer, self.skipped) = (DEEPEST, end - DEEPEST);
        self.function.drain(DEEPEST..end);
        self.block.drain(DEEPEST..end);
        self.began.drain(DEEPEST..end);
        self.from.drain(DEEPEST..end);
    }
}

/// Makes the chunks of a part.
pub(super) struct Steps<'s> {
    part: usize,
    segments: &'s Segments,
    /// The number of the part's first block.
    first: u64,
    /// The first chunk that is written.
    wanted: u64,
    /// The chunk that is being made, once one is.
    current: Option<u64>,
    chunk: Chunk,
    /// How deep the stack is that the chunk began with, and how deep it was at least. `None`: it has been told anew.
    depth: Option<usize>,
    lowest: usize,
    certain: bool,
    /// What the clock said at the last step.
    last: u64,
    /// What the clock said where each chunk begins.
    clocks: Vec<u64>,
    /// Segments that ran in this chunk.
    ran: Vec<u64>,
    /// By segment: is it among these?
    seen: Vec<bool>,
    /// The segments that ran in each chunk of the group, as differences.
    group: Vec<Vec<u64>>,
    groups: usize,
}

impl<'s> Steps<'s> {
    /// Chunks of the last `most` blocks at least, and of not much more.
    pub(super) fn new(part: usize, survey: &Survey<'_>, most: u64, segments: &'s Segments) -> Self {
        Self {
            part,
            segments,
            first: survey.first,
            wanted: survey.blocks.saturating_sub(most) / CHUNK,
            current: None,
            chunk: Chunk::default(),
            depth: None,
            lowest: 0,
            certain: true,
            last: 0,
            clocks: Vec::new(),
            ran: Vec::new(),
            seen: vec![false; segments.count()],
            group: Vec::new(),
            groups: 0,
        }
    }

    /// Comes to a block: one of this chunk, or the first of the next.
    pub(super) fn advance(&mut self, block: u64, now: u64, stack: &Stack, add: &mut Add<'_>) -> io::Result<()> {
        let number = block.saturating_sub(self.first) / CHUNK;
        if number < self.wanted || self.current.is_some_and(|current| number <= current) {
            return Ok(());
        }
        self.write(add)?;
        self.current = Some(number);
        self.clocks.push(now);
        self.last = now;
        let mut chunk = Chunk { first: block, clock: now, certain: self.certain, ..Chunk::default() };
        for activation in stack.activations() {
            chunk.function.push(activation.function.0);
            chunk.block.push(activation.block.map_or(-1, |block| block.0.into()));
            chunk.began.push(activation.clock);
            chunk.from.push(activation.first);
        }
        self.depth = Some(chunk.depth());
        self.lowest = chunk.depth();
        self.chunk = chunk;
        Ok(())
    }

    /// The stack grows, or shrinks, by an activation.
    fn deeper(&mut self, more: bool) {
        if let Some(depth) = &mut self.depth {
            *depth = if more { *depth + 1 } else { depth.saturating_sub(1) };
            self.lowest = self.lowest.min(*depth);
        }
    }

    fn step(&mut self, kind: u64, value: u64, now: u64) {
        if self.current.is_some() {
            self.chunk.steps.extend([value * 16 + kind, now - self.last]);
            self.last = now;
        }
    }

    /// What comes is certain, or is not.
    pub(super) fn certain(&mut self, certain: bool, now: u64) {
        if std::mem::replace(&mut self.certain, certain) != certain {
            self.step(CERTAIN, certain.into(), now);
        }
    }

    pub(super) fn block(&mut self, function: FunctionId, block: Block, now: u64) {
        self.runs(function, block, 0);
        self.step(BLOCK, block.0.into(), now);
    }

    pub(super) fn segment(&mut self, function: FunctionId, block: Block, sites: u32, now: u64) {
        self.runs(function, block, sites);
        self.step(SEGMENT, sites.into(), now);
    }

    pub(super) fn begin(&mut self, function: FunctionId, now: u64) {
        self.deeper(true);
        self.step(BEGIN, function.0.into(), now);
    }

    pub(super) fn revive(&mut self, function: FunctionId, now: u64) {
        self.deeper(true);
        self.step(REVIVE, function.0.into(), now);
    }

    pub(super) fn goes_on(&mut self, block: Block, now: u64) {
        self.step(GOES_ON, block.0.into(), now);
    }

    pub(super) fn leave(&mut self, now: u64) {
        self.deeper(false);
        self.step(LEAVE, 0, now);
    }

    pub(super) fn abandon(&mut self, now: u64) {
        self.deeper(false);
        self.step(ABANDON, 0, now);
    }

    pub(super) fn mark(&mut self, mark: u64, now: u64) {
        if mark == RESTARTED {
            self.depth = None;
        }
        self.step(MARK, mark, now);
    }

    /// A segment that may not have run is none that ran.
    fn runs(&mut self, function: FunctionId, block: Block, sites: u32) {
        if self.current.is_none() || !self.certain {
            return;
        }
        let segment = self.segments.number(function, block, sites);
        if !std::mem::replace(&mut self.seen[segment as usize], true) {
            self.ran.push(segment);
        }
    }

    fn write(&mut self, add: &mut Add<'_>) -> io::Result<()> {
        let Some(current) = self.current else { return Ok(()) };
        let name = format!("trace/steps/{}/{current}", self.part);
        self.chunk.skip(self.lowest);
        add(name.clone(), script(&name, &self.chunk)?)?;
        let mut ran = std::mem::take(&mut self.ran);
        ran.sort_unstable();
        for &segment in &ran {
            self.seen[segment as usize] = false;
        }
        // Differences are small numbers.
        let mut last = 0;
        self.group.push(ran.into_iter().map(|segment| segment - std::mem::replace(&mut last, segment)).collect());
        if self.group.len() == GROUP { self.write_group(add) } else { Ok(()) }
    }

    fn write_group(&mut self, add: &mut Add<'_>) -> io::Result<()> {
        let name = format!("trace/ran/{}/{}", self.part, self.groups);
        self.groups += 1;
        let group = std::mem::take(&mut self.group);
        add(name.clone(), script(&name, &group)?)
    }

    /// Writes what is left. Gives the number of the first chunk that was written, and what the clock says where each
    /// begins.
    pub(super) fn finish(mut self, add: &mut Add<'_>) -> io::Result<(u64, Vec<u64>)> {
        self.write(add)?;
        if !self.group.is_empty() {
            self.write_group(add)?;
        }
        Ok((self.wanted, self.clocks))
    }
}
