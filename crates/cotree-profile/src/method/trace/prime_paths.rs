//! Prime paths that ran, read from traces: each activation is followed block by block.
//!
//! A path has run if the blocks on it were entered one behind the other in one activation; one that ends in EXIT, if
//! the function returned. What may not have happened (the end of a trace that was cut) marks nothing.

use super::UnitTables;
use super::streams::Streams;
use super::thread::{Moment, Thread};
use crate::binary::BinaryMap;
use cotree_core::facts::Function;
use cotree_core::graph::prime_paths::{PrimePath, PrimePaths, Progress};
use cotree_core::ids::{Block, FunctionId, IdMap};
use cotree_core::method::trace::Event;
use std::convert::Infallible;

/// The prime paths of a function, and which of them ran.
#[derive(Clone, Debug)]
pub struct FollowedPaths {
    paths: PrimePaths,
    ran: Vec<bool>,
}

impl FollowedPaths {
    /// Paths of which none has run yet.
    #[must_use]
    pub fn new(paths: PrimePaths) -> Self {
        Self { ran: vec![false; paths.len()], paths }
    }

    /// The paths.
    #[must_use]
    pub const fn paths(&self) -> &PrimePaths {
        &self.paths
    }

    /// How many ran.
    #[must_use]
    pub fn ran(&self) -> usize {
        self.ran.iter().filter(|&&ran| ran).count()
    }

    /// The paths that did not run, in the order of their numbers.
    pub fn missing(&self) -> impl Iterator<Item = PrimePath> {
        self.paths.numbers().zip(&self.ran).filter(|(_, ran)| !**ran).map(|(path, _)| path)
    }

    fn step(&mut self, progress: Progress, block: Block) -> Progress {
        let progress = self.paths.step(progress, block);
        if let Some(path) = self.paths.ran(progress) {
            self.ran[path.0 as usize] = true;
        }
        progress
    }
}

/// The functions of a unit whose prime paths are asked for, by number.
pub type FollowedFunctions = IdMap<FunctionId, Option<FollowedPaths>>;

/// Marks the paths that ran in these threads.
pub fn mark(tables: &UnitTables<'_>, streams: &Streams, threads: &[Thread<'_>], functions: &mut FollowedFunctions) {
    for part in threads.iter().flat_map(|thread| &thread.parts) {
        let mut follower = Follower::new(tables.binary().map(), functions);
        let Ok(()) = part.follow(tables, streams, 0, u64::MAX, |moment| {
            follower.add(&moment);
            Ok::<_, Infallible>(true)
        });
    }
}

/// How far each activation of a thread has come.
struct Follower<'a> {
    facts: Vec<&'a Function>,
    functions: &'a mut FollowedFunctions,
    /// Outermost first.
    activations: Vec<(FunctionId, Progress)>,
}

impl<'a> Follower<'a> {
    fn new(map: &'a BinaryMap, functions: &'a mut FollowedFunctions) -> Self {
        let facts = map.program.functions().map(|(_, function)| function).collect();
        Self { facts, functions, activations: Vec::new() }
    }

    fn add(&mut self, moment: &Moment<'_>) {
        let depth = moment.depth;
        match moment.event {
            Event::Begin(function) | Event::Resumed(function) => self.begin(depth, function),
            Event::Block { function, block, .. } => self.enter(moment, function, block),
            Event::Leave { function, .. } => {
                if let Some(exit) = self.facts.get(function.index()).map(|facts| facts.exit()) {
                    self.enter(moment, function, exit);
                }
                self.activations.truncate(depth);
            }
            Event::Abandoned(..) => self.activations.truncate(depth),
            Event::Revived(calling) => {
                // It goes on in the block of the call; how it came there is another part of its execution.
                self.begin(depth, calling.function);
                let block = self.facts.get(calling.function.index()).and_then(|facts| facts.calls.get(calling.call));
                if let Some(block) = block.map(|call| call.block) {
                    self.enter(moment, calling.function, block);
                }
            }
            Event::Restarted | Event::SwitchedOff | Event::SwitchedOn => self.activations.clear(),
            // The next event says what becomes of the activation.
            Event::Call { .. }
            | Event::Access { .. }
            | Event::Interrupted(_)
            | Event::Catch(..)
            | Event::Ended(_)
            | Event::Time(_) => {}
        }
    }

    fn begin(&mut self, depth: usize, function: FunctionId) {
        self.activations.resize(depth, (FunctionId::default(), Progress::NONE));
        self.activations.push((function, Progress::NONE));
    }

    fn enter(&mut self, moment: &Moment<'_>, function: FunctionId, block: Block) {
        self.activations.truncate(moment.depth + 1);
        if self.activations.len() <= moment.depth || self.activations[moment.depth].0 != function {
            self.activations.truncate(moment.depth);
            self.begin(moment.depth, function);
        }
        let progress = &mut self.activations[moment.depth].1;
        *progress = match self.functions.get_mut(function) {
            Some(Some(followed)) if moment.certain => followed.step(*progress, block),
            _ => Progress::NONE,
        };
    }
}
