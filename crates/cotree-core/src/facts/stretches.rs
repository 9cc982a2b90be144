//! Stretches: the parts of blocks between calls. While one runs, a path across functions does not change.
//!
//! A block has one before its first call and one behind each call. Those of a function are numbered, block by block.

use super::Function;
use crate::ids::{Block, CallId};

/// A part of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The block.
    pub block: Block,
    /// The call behind which it begins; `None` where the block does.
    pub behind: Option<CallId>,
    /// How many calls of the block come before it.
    pub after_calls: u32,
}

/// The stretches of a function, in order.
pub fn stretches(function: &Function) -> impl Iterator<Item = Stretch> {
    let mut calls = function.calls.numbered().peekable();
    (0..function.blocks.len()).map(Block::new).flat_map(move |block| {
        let mut own = Vec::new();
        while let Some((call, _)) = calls.next_if(|(_, facts)| facts.block <= block) {
            if function.calls[call].block == block {
                own.push(call);
            }
        }
        let first = Stretch { block, behind: None, after_calls: 0 };
        let others = (1..).zip(own).map(move |(after_calls, call)| Stretch { block, behind: Some(call), after_calls });
        std::iter::once(first).chain(others)
    })
}

/// How many stretches a function has.
#[must_use]
pub fn count(function: &Function) -> usize {
    function.blocks.len() + function.calls.len()
}
