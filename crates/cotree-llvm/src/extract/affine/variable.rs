//! Affine variables in the code.

use crate::ir;
use cotree_core::ids::Block;
use std::collections::{BTreeMap, HashMap, HashSet};

/// LLVM's objects behind one [`cotree_core::place::affine::AffineVariable`].
pub struct Value<'m> {
    /// The phi of the header.
    pub(crate) phi: ir::Phi<'m>,
    /// The width of the variable in bits.
    pub(crate) bits: u32,
    /// The latches: the other predecessors of the header are where the loop is entered.
    pub(crate) latches: Vec<ir::Block<'m>>,
    /// For each block from which the loop is left, the value that is read there.
    pub(crate) read: HashMap<Block, ir::Value<'m>>,
    /// Blocks from which the loop is left with none of the variable's values.
    pub(crate) settled: HashSet<Block>,
    /// Initial values may be undefined, so they must be frozen: otherwise they could differ from use to use.
    pub(crate) freeze: bool,
    /// Increments whose no-wrap flags must be removed, since only our own use would notice a poisoned value.
    pub(crate) flagged: Vec<ir::Instruction<'m>>,
    /// How the number is read from it.
    pub(crate) reading: Reading,
    /// The variable begins with the result of another loop.
    pub(crate) goes_on: bool,
    /// The conditions of the loop's branches that stay as they are while it runs.
    pub(crate) conditions: BTreeMap<Block, ir::Value<'m>>,
}

/// How a value is read.
pub(crate) enum Reading {
    /// The variable is the number.
    Itself,
    /// The position of its highest bit is the number.
    HighestBit {
        /// The variable always has such a bit.
        never_zero: bool,
        /// How far that goes down with each circuit.
        by: u64,
        /// Blocks from which the loop is left because it can't go down once more.
        ends: HashSet<Block>,
    },
}
