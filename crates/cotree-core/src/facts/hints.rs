//! Hints about the likely outcomes of branches, from code and not from the shape of the graph.
//!
//! Hints only influence where counters go. So they are used while a plan is made, and no map stores them.

use crate::ids::{Block, Edge};

/// The test of a conditional branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// Two pointers are equal, or one is null.
    SamePointer,
    /// An integer is below zero.
    Negative,
    /// An integer is above zero.
    Positive,
    /// All bits of a mask are clear.
    BitsClear,
    /// An integer is below a constant other than zero, signed or not.
    BelowConstant,
    /// An integer is below another one, or equal to it.
    Below,
    /// Two floating-point numbers are equal.
    SameFloat,
    /// A variable that a loop moves by constant steps, or a number next to it, is below something, signed or not, or
    /// equal to it.
    StepBelow,
    /// Floating-point numbers can't be compared, since one is none.
    Unordered,
}

/// A conditional branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The block that ends in it.
    pub block: Block,
    /// What is tested.
    pub test: Test,
    /// Does the test hold on the edge that is taken if the condition is true? Otherwise it holds on the other edge.
    pub on_true: bool,
}

/// What one function's code says about its branches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hints {
    /// What conditional branches test, in block order.
    pub branches: Vec<Branch>,
    /// How often, in proportion, the compiler was told that edges are taken: by `__builtin_expect`, `[[likely]]` and
    /// the like, or by another profile.
    pub weights: Vec<(Edge, f64)>,
    /// Blocks that call a function marked as cold.
    pub cold: Vec<Block>,
    /// Edges out of branches that lead straight to a `return` of a constant, null being 0.
    pub returns: Vec<(Edge, i64)>,
}
