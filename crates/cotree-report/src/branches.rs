//! Outcomes of branches: how often each edge out of a block was taken.

use crate::flow::Flow;
use crate::terminal::{grouped, mark};
use crate::{checks, unwinding};
use cotree_core::facts::EdgeKind;
use cotree_core::ids::{Block, Edge};
use std::collections::HashMap;

/// One branch of the program: a block with several edges out of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The line of the branch.
    pub line: u32,
    /// The column of the branch, or 0.
    pub column: u32,
    /// Branches of the same position and shape within one function or inlined copy, numbered.
    pub ordinal: u32,
    /// The outcomes, in order, with how often each was taken (`None`: not known).
    pub outcomes: Vec<(EdgeKind, Option<u64>)>,
    /// Per outcome, the line that it leads to, where that is another one of the branch's file.
    pub leads_to: Vec<Option<u32>>,
    /// Was it reached at all?
    pub reached: bool,
    /// The compiler has put it in, to panic if something is wrong ([`checks`]).
    pub check: bool,
    /// The branch is in code that runs only while an exception passes ([`unwinding`]).
    pub unwinding: bool,
}

impl Branch {
    /// The outcomes of the branch, for people; marked if they are in doubt.
    #[must_use]
    pub fn text(&self, doubtful: bool) -> String {
        let doubt = mark(doubtful);
        let column = if self.column > 0 { format!(" at column {}", self.column) } else { String::new() };
        if !self.reached {
            return format!("branch{column}: {doubt}never reached");
        }
        // Where outcomes lead to lines of their own says which is which, also where the compiler has turned the
        // condition round.
        let to_lines = self.leads_to.iter().any(|line| *line != self.leads_to[0]);
        let outcomes = self.outcomes.iter().zip(&self.leads_to).map(|((kind, count), line)| {
            let count = count.map_or_else(|| "?".into(), |c| grouped(u128::from(c)));
            // Without the colon, `case 7 12` would leave open which number is the count.
            let colon = if matches!(kind, EdgeKind::Case(_) | EdgeKind::Cases(..)) { ":" } else { "" };
            let line = line.filter(|_| to_lines).map_or_else(String::new, |line| format!(" (to line {line})"));
            format!("{}{colon} {doubt}{count}{line}", outcome_name(*kind))
        });
        format!("branch{column}: {}", outcomes.collect::<Vec<_>>().join(", "))
    }

    /// Do its outcomes only say whether a call threw?
    #[must_use]
    pub fn exceptional(&self) -> bool {
        self.outcomes.iter().all(|(kind, _)| matches!(kind, EdgeKind::InvokeNormal | EdgeKind::InvokeUnwind))
    }

    /// Is `other` the same branch in another copy of the code?
    fn same(&self, other: &Self) -> bool {
        (self.line, self.column, self.ordinal) == (other.line, other.column, other.ordinal)
            && self.outcomes.iter().map(|w| w.0).eq(other.outcomes.iter().map(|w| w.0))
    }

    fn add(&mut self, other: &Self) {
        for ((_, sum), (_, count)) in self.outcomes.iter_mut().zip(&other.outcomes) {
            *sum = sum.zip(*count).map(|(a, b)| a.saturating_add(b));
        }
        self.reached |= other.reached;
    }
}

/// Calls `each` with file and branch for every branch of a function whose position is known.
pub fn of_function(flow: &Flow<'_>, file: Option<u32>, mut each: impl FnMut(u32, Branch)) {
    let mut ordinals: HashMap<(u32, u32, u32, Option<u32>, usize), u32> = HashMap::new();
    let failing = checks::failing_blocks(flow.function);
    let unwinding = unwinding::blocks(flow.function, &flow.cfg);
    for (index, facts) in flow.function.blocks.iter().enumerate() {
        let block = Block::new(index);
        let edges = flow.cfg.succs(block);
        let Some(at) = facts.lines.last() else { continue };
        if edges.len() < 2 || file.is_some_and(|f| f != at.at.file) {
            continue;
        }
        let outcome = |&edge: &Edge| (flow.function.edges[edge].kind, flow.edge(edge));
        let outcomes: Vec<_> = edges.iter().map(outcome).collect();
        let ordinal = ordinals.entry((at.at.file, at.at.line, at.at.column, at.inlined, outcomes.len())).or_default();
        let targets = || edges.iter().map(|&edge| flow.cfg.dst(edge));
        let line = |target: Block| {
            let span = flow.function.blocks.get(target)?.lines.first()?;
            let here = span.at.file == at.at.file && span.inlined == at.inlined && span.at.line != at.at.line;
            here.then_some(span.at.line)
        };
        let branch = Branch {
            line: at.at.line,
            column: at.at.column,
            ordinal: *ordinal,
            outcomes,
            leads_to: targets().map(line).collect(),
            reached: flow.left(block) > 0,
            check: checks::is_check(&failing, targets()),
            unwinding: unwinding[index],
        };
        *ordinal += 1;
        each(at.at.file, branch);
    }
}

/// Branches of one source line, those of several copies of the code added up.
#[derive(Clone, Debug, Default)]
pub struct LineBranches {
    branches: Vec<Branch>,
}

impl LineBranches {
    /// Adds a branch, or its counts where the same branch is there already.
    pub fn add(&mut self, branch: Branch) {
        match self.branches.iter_mut().find(|b| b.same(&branch)) {
            Some(known) => known.add(&branch),
            None => self.branches.push(branch),
        }
    }

    /// The branches, in the order of their columns.
    #[must_use]
    pub fn sorted(mut self) -> Vec<Branch> {
        self.branches.sort_by_key(|b| (b.column, b.ordinal));
        self.branches
    }
}

/// The name of a branch outcome, for people.
#[must_use]
pub fn outcome_name(kind: EdgeKind) -> String {
    match kind {
        EdgeKind::Jump => "jump".into(),
        EdgeKind::True => "true".into(),
        EdgeKind::False => "false".into(),
        EdgeKind::Case(value) => format!("case {value}"),
        EdgeKind::Cases(count, first) => format!("case {first} and {} more", count.saturating_sub(1)),
        EdgeKind::Default => "default".into(),
        EdgeKind::InvokeNormal => "returned".into(),
        EdgeKind::InvokeUnwind => "threw".into(),
        EdgeKind::IndirectBranch => "indirect".into(),
        EdgeKind::CallBrFallthrough => "fell through".into(),
        EdgeKind::CallBrIndirect => "jumped".into(),
        EdgeKind::Return => "return".into(),
        EdgeKind::Resume => "resume".into(),
        EdgeKind::Unreachable => "unreachable".into(),
    }
}
