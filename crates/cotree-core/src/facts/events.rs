//! Events: what can be counted of a program besides its control flow, and how many of each kind a block has.
//!
//! An *event* is something that an instruction does whenever it runs, so that the events of a block are known before
//! the program runs (Ball 1994, §2). A block with calls may be left or looked at in the middle, during a call. So its
//! events are known up to each call as well: those of the call instruction itself happen before its callee begins.
//!
//! Instructions are those of the IR before the link-time optimiser ([`InstructionCounts`](super::InstructionCounts)).
//! Allocations and system calls are calls by name, of functions that [`names`] lists; a call through a pointer is not
//! known to be one.

pub mod names;

use super::{Call, EdgeKind, Function, Run};
use crate::ids::{Block, CallId, IdMap};
use serde::{Deserialize, Serialize};

/// A kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum EventKind {
    /// IR instructions.
    Instructions,
    /// Loads from memory.
    Loads,
    /// Stores to memory.
    Stores,
    /// Calls, those of intrinsics excluded.
    Calls,
    /// Conditional branches, switches and computed jumps.
    Branches,
    /// Floating-point arithmetic; a vector operation is one.
    Float,
    /// Calls of functions that allocate memory.
    Allocations,
    /// Calls of functions of libc that are system calls.
    SystemCalls,
    /// What instructions cost by a file of the user's; none without one.
    Cost,
}

impl EventKind {
    /// All kinds, by their numbers in files.
    pub const ALL: [Self; 9] = [
        Self::Instructions,
        Self::Loads,
        Self::Stores,
        Self::Calls,
        Self::Branches,
        Self::Float,
        Self::Allocations,
        Self::SystemCalls,
        Self::Cost,
    ];

    /// The number of the kind in files.
    #[must_use]
    pub const fn number(self) -> u64 {
        self as u64
    }

    /// The kind of a number.
    #[must_use]
    pub fn of_number(number: u64) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// The name of the kind on command lines and in exports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::Loads => "loads",
            Self::Stores => "stores",
            Self::Calls => "calls",
            Self::Branches => "branches",
            Self::Float => "float",
            Self::Allocations => "allocations",
            Self::SystemCalls => "syscalls",
            Self::Cost => "cost",
        }
    }

    /// The kind of a name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// What it counts, for people.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Instructions => "IR instructions",
            Self::Loads => "loads",
            Self::Stores => "stores",
            Self::Calls => "calls",
            Self::Branches => "branches",
            Self::Float => "floating-point operations",
            Self::Allocations => "allocations",
            Self::SystemCalls => "system calls",
            Self::Cost => "cost",
        }
    }

    /// How many events of the kind a run of instructions has of itself: all kinds but branches and calls of certain
    /// names.
    fn of_run(self, run: &Run) -> u64 {
        let counts = run.instructions;
        match self {
            Self::Instructions => counts.total.into(),
            Self::Loads => counts.loads.into(),
            Self::Stores => counts.stores.into(),
            Self::Calls => counts.calls.into(),
            Self::Float => counts.float.into(),
            Self::Cost => run.cost,
            Self::Branches | Self::Allocations | Self::SystemCalls => 0,
        }
    }

    fn of_call(self, call: &Call) -> u32 {
        let name = || call.callee_name().unwrap_or_default();
        match self {
            Self::Allocations => u32::from(names::allocates(name())),
            Self::SystemCalls => u32::from(names::is_system_call(name())),
            _ => 0,
        }
    }
}

/// The events of one kind in a function's blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionEvents {
    blocks: IdMap<Block, u64>,
    calls: IdMap<CallId, u64>,
    runs: IdMap<Block, Vec<u64>>,
}

impl FunctionEvents {
    /// The events of a block that runs to its end.
    #[must_use]
    pub fn block(&self, block: Block) -> u64 {
        self.blocks.get(block).copied().unwrap_or(0)
    }

    /// What has happened in a call's block when the callee begins: from the block's beginning through the call itself.
    #[must_use]
    pub fn through(&self, call: CallId) -> u64 {
        self.calls.get(call).copied().unwrap_or(0)
    }

    /// The events of each run of a block, in order.
    #[must_use]
    pub fn runs(&self, block: Block) -> &[u64] {
        self.runs.get(block).map_or(&[], Vec::as_slice)
    }
}

impl Function {
    /// How many events of a kind its blocks have.
    #[must_use]
    pub fn events(&self, kind: EventKind) -> FunctionEvents {
        let branching = self.branching();
        let mut events = FunctionEvents::default();
        let mut calls = self.calls.iter().peekable();
        for (block, facts) in self.blocks.numbered() {
            let (mut sum, mut begun) = (0, 0);
            let mut of_runs = Vec::with_capacity(facts.runs.len());
            for (at, run) in facts.runs.iter().enumerate() {
                // A safe point has no run of its own.
                while begun < run.after_calls
                    && let Some(_) = calls.next_if(|call| call.block == block)
                {
                    events.calls.push(sum);
                    begun += 1;
                }
                let before = sum;
                sum += kind.of_run(run);
                let last = at + 1 == facts.runs.len();
                let ends = facts.runs.get(at + 1).map_or(u32::MAX, |next: &Run| next.after_calls);
                while begun < ends
                    && let Some(call) = calls.next_if(|call| call.block == block)
                {
                    sum += u64::from(kind.of_call(call));
                    events.calls.push(sum);
                    begun += 1;
                }
                // A branch ends its block: after all calls, unless it is one itself.
                sum += u64::from(last && kind == EventKind::Branches && branching[block]);
                of_runs.push(sum - before);
            }
            while calls.next_if(|call| call.block == block).is_some() {
                events.calls.push(sum);
            }
            events.blocks.push(sum);
            events.runs.push(of_runs);
        }
        events
    }

    /// Which blocks end in a branch?
    fn branching(&self) -> IdMap<Block, bool> {
        let mut branching = IdMap::filled(false, self.blocks.len());
        for edge in &self.edges {
            let branches = match edge.kind {
                EdgeKind::True
                | EdgeKind::False
                | EdgeKind::Case(_)
                | EdgeKind::Cases(..)
                | EdgeKind::Default
                | EdgeKind::IndirectBranch => true,
                EdgeKind::Jump
                | EdgeKind::InvokeNormal
                | EdgeKind::InvokeUnwind
                | EdgeKind::CallBrFallthrough
                | EdgeKind::CallBrIndirect
                | EdgeKind::Return
                | EdgeKind::Resume
                | EdgeKind::Unreachable => false,
            };
            if let Some(block) = branching.get_mut(edge.src) {
                *block |= branches;
            }
        }
        branching
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{BlockFacts, Callee, EdgeFacts, InstructionCounts};

    /// Loads a value, calls two functions, stores, and branches to itself or returns.
    fn function() -> Function {
        let run = |after_calls, total, loads, stores, calls| Run {
            span: None,
            after_calls,
            instructions: InstructionCounts { total, loads, stores, calls, float: 0 },
            cost: 3 * u64::from(total),
        };
        let runs = vec![run(0, 2, 1, 0, 1), run(1, 1, 0, 0, 1), run(2, 3, 0, 2, 0)];
        let instructions = InstructionCounts { total: 6, loads: 1, stores: 2, calls: 2, float: 0 };
        let edge = |dst, kind, successor| EdgeFacts { src: Block(0), dst: Block(dst), kind, successor };
        let calls = ["malloc", "write"].map(|name| Call::site(Block(0), Callee::Symbol(name.into())));
        Function {
            blocks: vec![BlockFacts { instructions, runs, ..BlockFacts::default() }].into(),
            edges: vec![edge(0, EdgeKind::True, 0), edge(1, EdgeKind::False, 1)].into(),
            calls: calls.into_iter().collect(),
            ..Function::default()
        }
    }

    #[test]
    fn events_are_known_up_to_each_call() {
        let function = function();
        let of = |kind| {
            let events = function.events(kind);
            let calls = [0, 1].map(|call| events.through(CallId(call)));
            (calls, events.block(Block(0)), events.runs(Block(0)).to_vec())
        };
        assert_eq!(of(EventKind::Instructions), ([2, 3], 6, vec![2, 1, 3]));
        assert_eq!(of(EventKind::Loads), ([1, 1], 1, vec![1, 0, 0]));
        assert_eq!(of(EventKind::Stores), ([0, 0], 2, vec![0, 0, 2]));
        assert_eq!(of(EventKind::Calls), ([1, 2], 2, vec![1, 1, 0]));
        assert_eq!(of(EventKind::Branches), ([0, 0], 1, vec![0, 0, 1]));
        assert_eq!(of(EventKind::Allocations), ([1, 1], 1, vec![1, 0, 0]));
        assert_eq!(of(EventKind::SystemCalls), ([0, 1], 1, vec![0, 1, 0]));
        assert_eq!(of(EventKind::Cost), ([6, 9], 18, vec![6, 3, 9]));
    }

    #[test]
    fn kinds_have_names_and_numbers() {
        for kind in EventKind::ALL {
            assert_eq!(EventKind::of_name(kind.name()), Some(kind));
            assert_eq!(EventKind::of_number(kind.number()), Some(kind));
        }
        assert_eq!(EventKind::of_number(9), None);
        assert_eq!(EventKind::of_name("seconds"), None);
    }
}
