//! The clock of an execution: how many instructions a thread has run, of the program's code before it was optimised
//! further ([`EventKind::Instructions`]).

use cotree_core::facts::Function;
use cotree_core::facts::events::{EventKind, FunctionEvents};
use cotree_core::ids::{Block, CallId, FunctionId};
use cotree_core::method::trace::Event;
use cotree_profile::binary::BinaryMap;
use cotree_profile::method::trace::UnitTables;
use cotree_profile::method::trace::thread::Moment;

/// An activation.
#[derive(Clone, Copy, Debug)]
struct Activation {
    function: FunctionId,
    block: Option<Block>,
    /// How many instructions of the block have run.
    done: u64,
}

/// Instructions that have run in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ran {
    /// The function.
    pub function: FunctionId,
    /// The block.
    pub block: Block,
    /// How many.
    pub instructions: u64,
}

/// Follows the moments of one thread.
#[derive(Clone, Debug)]
pub struct Clock<'a> {
    facts: Vec<&'a Function>,
    events: Vec<FunctionEvents>,
    stack: Vec<Activation>,
    now: u64,
    follows: bool,
}

impl<'a> Clock<'a> {
    /// At 0.
    #[must_use]
    pub fn new(map: &'a BinaryMap) -> Self {
        let facts: Vec<&Function> = map.program.functions().map(|(_, function)| function).collect();
        let events = facts.iter().map(|function| function.events(EventKind::Instructions)).collect();
        Self { facts, events, stack: Vec::new(), now: 0, follows: false }
    }

    /// How many instructions have run.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.now
    }

    /// The functions of the activations that were under way before the first moment that is followed, outermost first.
    pub fn functions(&self) -> impl Iterator<Item = FunctionId> + '_ {
        self.stack.iter().map(|activation| activation.function)
    }

    /// Comes to a moment, the first one of a stretch perhaps. Gives what has run since the one before.
    pub fn advance(&mut self, tables: &UnitTables<'_>, moment: &Moment<'_>) -> Option<Ran> {
        if !std::mem::replace(&mut self.follows, true) {
            self.begin(tables, moment);
        }
        match moment.event {
            Event::Begin(function) | Event::Resumed(function) => {
                self.stack.push(Activation { function, block: None, done: 0 });
                None
            }
            Event::Block { block, .. } => {
                let ran = self.run_to_end();
                if let Some(top) = self.stack.last_mut() {
                    (top.block, top.done) = (Some(block), 0);
                }
                ran
            }
            Event::Call { function, call } => {
                let through = self.events[function.index()].through(call);
                self.run_to(through)
            }
            Event::Leave { .. } => {
                let ran = self.run_to_end();
                self.stack.pop();
                ran
            }
            Event::Abandoned(..) => {
                self.stack.pop();
                None
            }
            // What stands behind the call in its block does not run.
            Event::Catch(..) => {
                if let Some(top) = self.stack.last_mut() {
                    top.block = None;
                }
                None
            }
            Event::Revived(calling) => {
                self.push_calling(calling.function, calling.call);
                None
            }
            Event::Restarted => {
                self.stack.clear();
                None
            }
            Event::Access { .. }
            | Event::Interrupted(_)
            | Event::Ended(_)
            | Event::SwitchedOff
            | Event::SwitchedOn
            | Event::Time(_) => None,
        }
    }

    /// A stretch begins with what was under way before the moment: a block that is entered, or a function that begins,
    /// unless it is the beginning of all.
    fn begin(&mut self, tables: &UnitTables<'_>, moment: &Moment<'_>) {
        let stack: Vec<(FunctionId, Block, Option<CallId>)> = tables.stack(moment.at).collect();
        let (around, innermost) = match moment.event {
            Event::Begin(_) => (stack.len().saturating_sub(1), false),
            Event::Block { .. } => (stack.len().saturating_sub(1), true),
            _ => return,
        };
        for &(function, _, call) in &stack[..around] {
            match call {
                Some(call) => self.push_calling(function, call),
                None => self.stack.push(Activation { function, block: None, done: 0 }),
            }
        }
        if let Some(&(function, ..)) = stack.get(around).filter(|_| innermost) {
            self.stack.push(Activation { function, block: None, done: 0 });
        }
    }

    fn push_calling(&mut self, function: FunctionId, call: CallId) {
        let block = self.facts.get(function.index()).and_then(|facts| facts.calls.get(call)).map(|call| call.block);
        let done = self.events[function.index()].through(call);
        self.stack.push(Activation { function, block, done });
    }

    fn run_to_end(&mut self) -> Option<Ran> {
        let top = self.stack.last()?;
        let all = self.events[top.function.index()].block(top.block?);
        self.run_to(all)
    }

    /// The innermost activation runs so many instructions of its block.
    fn run_to(&mut self, instructions: u64) -> Option<Ran> {
        let top = self.stack.last_mut()?;
        let block = top.block?;
        let more = instructions.saturating_sub(top.done);
        top.done += more;
        self.now += more;
        Some(Ran { function: top.function, block, instructions: more }).filter(|_| more > 0)
    }
}
