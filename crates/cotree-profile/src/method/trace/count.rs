//! Profiles out of traces: how often blocks, edges and calls ran in a stretch of an execution.
//!
//! An activation that was in a call when the stretch began came to life in it, and one that is in a call at the end is
//! abandoned there, as far as counts are concerned: what follows the call runs, or does not, within the stretch
//! ([`FunctionProfile::early`]).

use super::UnitTables;
use super::notes::TraceNote;
use super::streams::Streams;
use super::thread::{Moment, Stop, Thread};
use crate::binary::{BinaryFile, BinaryMap};
use crate::error::ProfileError;
use crate::method::MethodNote;
use crate::note::Note;
use crate::unit_profile::UnitProfile;
use cotree_core::facts::{Doubt, Function};
use cotree_core::ids::{CallId, FunctionId, IdMap};
use cotree_core::method::trace::{Checkpoint, Event};
use cotree_core::profile::{Flaw, FunctionProfile};
use std::convert::Infallible;
use std::path::Path;

/// Counts what moments say.
#[derive(Clone, Debug)]
pub struct Counting<'a> {
    facts: Vec<&'a Function>,
    functions: Vec<Option<FunctionProfile>>,
    recording: bool,
}

impl<'a> Counting<'a> {
    /// Nothing yet.
    #[must_use]
    pub fn new(map: &'a BinaryMap) -> Self {
        let facts: Vec<&Function> = map.program.functions().map(|(_, function)| function).collect();
        let empty = |function: &&Function| {
            let profile = FunctionProfile {
                blocks: IdMap::filled(0, function.blocks.len()),
                edges: Some(IdMap::filled(0, function.edges.len())),
                early: IdMap::filled(0, function.sites().len()),
                ..FunctionProfile::default()
            };
            function.untouched.is_none().then_some(profile)
        };
        let functions = facts.iter().map(empty).collect();
        Self { facts, functions, recording: true }
    }

    fn profile(&mut self, function: FunctionId) -> Option<&mut FunctionProfile> {
        self.functions.get_mut(function.index())?.as_mut()
    }

    /// Adds to the early exits of a call; where it is no call site, or there is no call, the function is flagged.
    fn early(&mut self, tables: &UnitTables<'_>, function: FunctionId, call: Option<CallId>, by: i64) {
        let Some(facts) = self.facts.get(function.index()) else { return };
        let site = call.and_then(|call| facts.calls.site_of(call));
        let Some(profile) = self.profile(function) else { return };
        match site.and_then(|site| profile.early.get_mut(site)) {
            Some(early) => *early += by,
            None => self.doubt(tables, function),
        }
    }

    fn flag(&mut self, function: FunctionId, flaw: Flaw) {
        if let Some(profile) = self.profile(function)
            && !profile.flaws.contains(&flaw)
        {
            profile.flaws.push(flaw);
        }
    }

    /// Nobody knows how far the activation came: what it may have called without a byte is in doubt, too.
    fn doubt(&mut self, tables: &UnitTables<'_>, function: FunctionId) {
        for function in tables.reached_without_tokens(function) {
            self.flag(function, Flaw::LiveFrames);
        }
    }

    fn flag_all(&mut self, flaw: Flaw) {
        (0..self.functions.len()).map(FunctionId::new).for_each(|function| self.flag(function, flaw));
    }

    /// Flags the innermost activation.
    fn flag_innermost(&mut self, tables: &UnitTables<'_>, at: &Checkpoint) {
        if let Some((function, ..)) = tables.stack(at).next_back() {
            self.flag(function, Flaw::LiveFrames);
        }
    }

    /// A stretch begins with these activations under way.
    pub fn begin(&mut self, tables: &UnitTables<'_>, at: &Checkpoint) {
        for (function, _, call) in tables.stack(at) {
            self.early(tables, function, call, -1);
        }
    }

    /// Ends the thread with these activations alive.
    pub fn end(&mut self, tables: &UnitTables<'_>, at: &Checkpoint) {
        if self.recording {
            for (function, _, call) in tables.stack(at) {
                self.early(tables, function, call, 1);
            }
        }
        self.recording = true;
    }

    /// Counts what happens.
    pub fn add(&mut self, tables: &UnitTables<'_>, moment: &Moment<'_>) {
        match moment.event {
            Event::Begin(function) => {
                if let Some(profile) = self.profile(function) {
                    profile.entries += 1;
                }
            }
            Event::Block { function, block, edge } => {
                let Some(profile) = self.profile(function) else { return };
                if let Some(count) = profile.blocks.get_mut(block) {
                    *count += 1;
                }
                if let Some(edge) = edge {
                    Self::take(profile, edge);
                }
            }
            Event::Leave { function, edge } => {
                if let Some(profile) = self.profile(function) {
                    Self::take(profile, edge);
                }
            }
            Event::Abandoned(function, call) => self.early(tables, function, call, 1),
            Event::Revived(calling) => self.early(tables, calling.function, Some(calling.call), -1),
            // Its block, which nobody saw it enter, goes on.
            Event::Resumed(function) => self.doubt(tables, function),
            Event::SwitchedOff => {
                self.end(tables, moment.at);
                self.recording = false;
            }
            Event::SwitchedOn => self.recording = true,
            Event::Interrupted(address) => match tables.binary().function_at(address) {
                Some(function) => self.doubt(tables, function),
                None => self.flag_all(Flaw::UnknownExit),
            },
            Event::Call { .. }
            | Event::Access { .. }
            | Event::Catch(..)
            | Event::Restarted
            | Event::Ended(_)
            | Event::Time(_) => {}
        }
    }

    fn take(profile: &mut FunctionProfile, edge: cotree_core::ids::Edge) {
        if let Some(count) = profile.edges.as_mut().and_then(|edges| edges.get_mut(edge)) {
            *count += 1;
        }
    }

    /// The profile.
    #[must_use]
    pub fn finish(mut self) -> Vec<Option<FunctionProfile>> {
        for profile in self.functions.iter_mut().flatten() {
            if profile.early.iter().all(|&early| early == 0) {
                profile.early = IdMap::default();
            }
        }
        self.functions
    }
}

/// What a thread did not record, between two blocks.
#[derive(Default)]
struct Pauses {
    /// A block has been counted.
    counted: bool,
    /// The thread does not record, since that block.
    is_off: bool,
}

impl Pauses {
    /// Has something been missed between a block and this one?
    fn are_within(&mut self, event: Event) -> bool {
        match event {
            Event::SwitchedOff => self.is_off = self.counted,
            Event::Block { .. } => {
                self.counted = true;
                return std::mem::take(&mut self.is_off);
            }
            _ => {}
        }
        false
    }
}

/// The numbers of all blocks.
pub const WHOLE: (u64, u64) = (0, u64::MAX);

/// The counts of all that happened for certain in the blocks of these numbers. Where something of a thread is missing,
/// all functions are flagged; what may have happened besides flags those that it is of.
#[must_use]
pub fn count(
    tables: &UnitTables<'_>,
    streams: &Streams,
    threads: &[Thread<'_>],
    (from, to): (u64, u64),
) -> Vec<Option<FunctionProfile>> {
    let mut counting = Counting::new(tables.binary().map());
    if (streams.are_paused() || streams.ring().overwritten) && (from, to) == WHOLE {
        counting.flag_all(Flaw::Damaged);
    }
    for thread in threads {
        let stream = thread.stream;
        let mut missing = thread.parts.is_empty() && (stream.gone || stream.cut || stream.lost);
        for part in thread.parts.iter().filter(|part| part.last() >= from && part.first <= to) {
            let mut before = None;
            let mut ended = false;
            let mut pauses = Pauses::default();
            if from > part.first {
                let Ok(()) = part.follow(tables, streams, from - 1, from - 1, |moment| {
                    before = Some(moment.at.clone());
                    Ok::<_, Infallible>(true)
                });
            }
            if let Some(at) = before.take() {
                counting.begin(tables, &at);
            }
            let Ok(()) = part.follow(tables, streams, from, to, |moment| {
                if pauses.are_within(moment.event) {
                    counting.flag_all(Flaw::Damaged);
                }
                match moment.event {
                    _ if moment.certain => counting.add(tables, &moment),
                    Event::Begin(function) | Event::Block { function, .. } | Event::Leave { function, .. } => {
                        counting.flag(function, Flaw::LiveFrames);
                        // Whoever called it may go on in its block, unless what comes later says where it ended.
                        if !moment.leads_on {
                            counting.flag_innermost(tables, moment.at);
                        }
                    }
                    _ => {}
                }
                if moment.last || (to != u64::MAX && moment.block == to) {
                    before = Some(moment.at.clone()).filter(|_| !ended);
                    ended |= moment.last;
                }
                Ok::<_, Infallible>(true)
            });
            if let Some(at) = before {
                // It was cut off: that call may be over, and others of the block may have been made.
                if matches!(part.stop, Stop::Open) && to == u64::MAX {
                    counting.flag_innermost(tables, &at);
                }
                counting.end(tables, &at);
            }
            missing |= to == u64::MAX && pauses.is_off;
            missing |= match part.stop {
                Stop::Ended(_) | Stop::Open | Stop::Returned => part.starts_late && from <= part.first,
                Stop::NoRoom | Stop::Lost | Stop::Unreadable(_) | Stop::NoEntrance => to > part.last(),
            };
        }
        if missing {
            counting.flag_all(Flaw::Damaged);
        }
    }
    counting.finish()
}

/// Counts the traces of a raw profile, for the profile of its unit.
pub(crate) fn add_counts(path: &Path, binary: &BinaryFile, profile: &mut UnitProfile) -> Result<(), ProfileError> {
    let Ok(tables) = UnitTables::new(binary) else { return Ok(()) };
    let streams = Streams::open(path)?;
    let threads: Vec<Thread<'_>> = streams.iter().map(|stream| Thread::new(&tables, &streams, stream)).collect();
    profile.functions = count(&tables, &streams, &threads, WHOLE);
    if streams.ring().overwritten {
        let gone = streams.ring().streams_gone;
        profile.notes.push(Note::Method(MethodNote::Trace(TraceNote::NewestOnly { gone })));
    }
    if profile.notes.contains(&Note::Method(MethodNote::Trace(TraceNote::Lost))) {
        // Nobody knows of whom.
        for function in profile.functions.iter_mut().flatten() {
            function.flaws.push(Flaw::Damaged);
            function.flaws.sort_unstable();
            function.flaws.dedup();
        }
    }
    let facts = binary.map().program.functions().map(|(_, function)| function);
    for (function, facts) in profile.functions.iter_mut().zip(facts) {
        let Some(function) = function else { continue };
        // A stream is of one stack.
        if facts.doubts.contains(&Doubt::SwitchesStacks) {
            function.flaws.push(Flaw::SuspendedStacks);
        }
        let ran = function.blocks.iter().any(|&count| count > 0);
        if ran && facts.doubts.contains(&Doubt::OptimisedBefore) {
            function.flaws.push(Flaw::OptimisedBefore);
        }
    }
    // An activation that was interrupted outside of calls is followed to where it would have written something next,
    // and so is one in a call that the trace passes over. How others ended is in the trace itself.
    let interrupted: u64 = threads.iter().flat_map(|thread| &thread.parts).map(|part| part.interruptions).sum();
    let told = |note: &Note| match note {
        Note::CutOff(_) | Note::Method(_) => true,
        Note::UnknownExits(exits) => *exits <= interrupted,
        note => !note.doubtful(),
    };
    let flaws: Vec<Flaw> = profile.notes.iter().filter(|note| !told(note)).map(flaw_of).collect();
    for function in
        profile.functions.iter_mut().flatten().filter(|function| function.blocks.iter().any(|&count| count > 0))
    {
        function.flaws.extend(&flaws);
        function.flaws.sort_unstable();
        function.flaws.dedup();
    }
    Ok(())
}

fn flaw_of(note: &Note) -> Flaw {
    match note {
        Note::UnknownExits(_) => Flaw::UnknownExit,
        Note::WalkIncomplete | Note::ForeignJump | Note::ThreadCancelled => Flaw::WalkIncomplete,
        Note::ThreadsUnexpected | Note::ThreadUnregistered | Note::SlabShared | Note::HandlerUnforeseen => {
            Flaw::Threads
        }
        Note::ThreadsAlive(_) => Flaw::LiveFrames,
        _ => Flaw::Damaged,
    }
}
