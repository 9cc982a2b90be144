//! Jumps of a function by source lines, for callgrind's format: how often a branch was executed, and how often each of
//! its outcomes followed.
//!
//! The code is that before code generation, in which nothing falls through yet. Of a branch with two outcomes we take
//! the true one for the jump: how often it fell through is the difference. Of a switch, each outcome that occurred is a
//! jump, and of jumps without a condition those that go back, as loops do: they are jumps in any order of blocks.

use crate::costs::{FunctionCosts, Line};
use crate::flow::Flow;
use cotree_core::facts::EdgeKind;
use cotree_core::graph::dfs::Dfs;
use cotree_core::ids::{Block, Edge};
use std::collections::BTreeMap;

/// A jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jump {
    /// The line of the branch.
    pub from: Line,
    /// The line that it leads to.
    pub to: Line,
    /// How often it was taken.
    pub taken: u64,
    /// What kind it is.
    pub kind: JumpKind,
}

/// Kinds of jumps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JumpKind {
    /// One that a condition decides on.
    Conditional {
        /// How often the branch was executed.
        executed: u64,
    },
    /// One without a condition.
    Always,
}

/// The jumps of a function.
#[derive(Clone, Debug, Default)]
pub struct FunctionJumps {
    /// The jumps with known counts, by lines; those of branches that never ran are left out.
    pub jumps: Vec<Jump>,
    /// How many are left out since the profile does not tell how often they were taken.
    pub unknown: u64,
}

impl FunctionJumps {
    /// The jumps of a function.
    #[must_use]
    pub fn new(costs: &FunctionCosts<'_>) -> Self {
        let Some(flow) = costs.function.flow() else { return Self::default() };
        let facts = flow.function;
        let dfs = Dfs::new(&flow.cfg);
        // Copies of a branch, and branches of a line that lead to one line, are added up.
        let mut sums: BTreeMap<(Line, Line, bool), (u64, u64)> = BTreeMap::new();
        let mut unknown = 0;
        for block in facts.blocks.numbered().map(|(block, _)| block).filter(|&block| flow.left(block) > 0) {
            let edges = flow.cfg.succs(block);
            for &edge in edges.iter().filter(|&&edge| is_jump(&flow, edge, edges.len(), &dfs)) {
                let Some(taken) = flow.edge(edge) else {
                    unknown += 1;
                    continue;
                };
                let conditional = edges.len() > 1;
                let one_of_two = facts.edges[edge].kind == EdgeKind::True;
                if taken > 0 || one_of_two {
                    let (from, to) = (last_line(&flow, block), first_line(&flow, flow.cfg.dst(edge)));
                    let sum = sums.entry((from, to, conditional)).or_default();
                    sum.0 = sum.0.saturating_add(taken);
                    sum.1 = sum.1.saturating_add(flow.left(block));
                }
            }
        }
        let jump = |((from, to, conditional), (taken, executed))| {
            let kind = if conditional { JumpKind::Conditional { executed } } else { JumpKind::Always };
            Jump { from, to, taken, kind }
        };
        Self { jumps: sums.into_iter().map(jump).collect(), unknown }
    }
}

/// Is an edge a jump? `outcomes`: of so many.
fn is_jump(flow: &Flow<'_>, edge: Edge, outcomes: usize, dfs: &Dfs) -> bool {
    let kind = flow.function.edges[edge].kind;
    match kind {
        EdgeKind::True => outcomes > 1,
        EdgeKind::Case(_) | EdgeKind::Cases(..) | EdgeKind::Default | EdgeKind::IndirectBranch => outcomes > 1,
        EdgeKind::Jump => dfs.is_backedge(edge),
        EdgeKind::False
        | EdgeKind::InvokeNormal
        | EdgeKind::InvokeUnwind
        | EdgeKind::CallBrFallthrough
        | EdgeKind::CallBrIndirect
        | EdgeKind::Return
        | EdgeKind::Resume
        | EdgeKind::Unreachable => false,
    }
}

/// The line that a block ends on.
fn last_line(flow: &Flow<'_>, block: Block) -> Line {
    let span = flow.function.blocks.get(block).and_then(|facts| facts.lines.last());
    span.map_or(Line::default(), |span| Line { inlined: span.inlined, at: Some((span.at.file, span.at.line)) })
}

/// The line that a block begins on.
fn first_line(flow: &Flow<'_>, block: Block) -> Line {
    let span = flow.function.blocks.get(block).and_then(|facts| facts.lines.first());
    span.map_or(Line::default(), |span| Line { inlined: span.inlined, at: Some((span.at.file, span.at.line)) })
}
