//! A process that runs a program with its probes, one [`Action`] of one thread after the other.
//!
//! A thread is a stack of activations. The innermost one goes along edges and makes calls. The callee is a function of
//! the program, whose activation comes on top, or code outside of it. While an activation is in a call and nobody is on
//! top of it, code outside of the program runs: it may call functions of the program in turn, `exit`, `longjmp`, throw,
//! `fork`. A call returns when its activation does something else.
//!
//! What an activation does between two actions is a list of small steps, one per probe among them, which are made
//! before the next action. Only a signal comes before that, so a handler can begin between any two.

use super::code::Code;
use super::execute::{Stack, no_truth};
#[cfg(doc)]
use super::frames::Frames;
use super::state::{Counts, Registers, ThreadState};
use super::truth::Truth;
use super::variables::Variables;
use crate::facts::Function;
use crate::graph::cfg::Cfg;
use crate::ids::{Block, CallId, Edge, FunctionId, IdMap, Site, id};
use crate::place::affine::AffineVariable;
use crate::plan::FunctionPlan;
use std::ops::Range;

id!(
    /// A thread of a process; it begins with its first action.
    pub Thread,
    "thread"
);

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Code outside of the program calls a function: the thread's first one, or one that the call under way calls back.
    Enter(FunctionId),
    /// The innermost activation comes to a call, past all that are before it in the block. The callee is a function of
    /// the program or code outside of it.
    Call {
        /// The call.
        call: CallId,
        /// The function of the program that it calls.
        callee: Option<FunctionId>,
    },
    /// The innermost activation comes to the end of its block and goes along the edge. On one to EXIT it returns.
    Take(Edge),
    /// A signal: the handler runs on top of whatever the thread is doing, in the midst of what its last action began.
    Signal {
        /// The function that handles it.
        handler: FunctionId,
        /// After so many small steps, not counting probes.
        steps: u32,
        /// And after so many of the probes that come next.
        probes: u32,
    },
    /// The call under way does a `longjmp`: an activation goes on behind a call site of its own, all on top of it die.
    Jump {
        /// The activation, counted from the outermost.
        depth: u32,
        /// Where it called `setjmp`.
        site: Site,
    },
    /// The call under way throws. An activation whose call ends its block catches that, all on top of it die.
    Throw {
        /// The activation, counted from the outermost.
        depth: u32,
    },
    /// The thread ends in the call under way (`pthread_exit`).
    EndThread,
    /// The process ends in the call under way (`exit`, `abort`), and all threads with it.
    Exit,
    /// The thread finds itself alone in a new process, whose profile begins with nothing: the child of a `fork`. It is
    /// the same if a process without other threads resets its profile.
    Fork,
}

/// Why an action can't be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActionError {
    /// The process has ended.
    #[error("the process has ended")]
    Over,
    /// The program has no such function.
    #[error("there is no function {0}")]
    NoSuchFunction(FunctionId),
    /// Nobody is there to do it.
    #[error("no activation is under way")]
    NoActivation,
    /// Code outside of the program does it, but none is running.
    #[error("no call is under way")]
    NotCalling,
    /// The edge does not leave the block that was reached.
    #[error("{0} does not leave {1}")]
    Detached(Edge, Block),
    /// There is no such call ahead in the block that was reached.
    #[error("{0} is not ahead in {1}")]
    NoSuchCall(CallId, Block),
    /// The activation is not there, or has no such call site.
    #[error("there is nothing to jump to")]
    NoTarget,
    /// The call under way does not end its block.
    #[error("the exception is not caught")]
    NotCaught,
}

/// What a run leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Per thread, what its probes have written.
    pub threads: Vec<ThreadState>,
    /// What really happened.
    pub truth: Truth,
    /// Activations that were under way in the end.
    pub alive: Vec<FunctionId>,
}

impl Outcome {
    /// What the probes of a function have counted in all threads.
    #[must_use]
    pub fn counts(&self, function: FunctionId) -> Counts {
        let mut threads = self.threads.iter().map(|thread| &thread.functions[function.index()]);
        let mut sum = threads.next().cloned().unwrap_or_default();
        threads.for_each(|counts| sum.add(counts));
        sum
    }
}

/// Where an activation is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position<'p> {
    /// The function.
    pub function: FunctionId,
    /// The block.
    pub block: Block,
    /// The call under way.
    pub calling: Option<CallId>,
    /// The numbers of the block's calls that may be made yet.
    pub calls_ahead: Range<usize>,
    /// Call sites that it has passed and that may return twice.
    pub set_jumps: &'p [Site],
}

/// A running program.
pub struct Process<'a> {
    pub(super) codes: IdMap<FunctionId, Code<'a>>,
    pub(super) stacks: IdMap<Thread, Stack>,
    pub(super) truth: Truth,
    /// How many events come next.
    pub(super) events: Option<&'a mut dyn FnMut() -> i64>,
    /// The runtime writes records to traces.
    pub(super) traced: bool,
    /// Lists are kept of all that happens, and not just its numbers.
    pub(super) keeps_log: bool,
    pub(super) over: bool,
    /// How many kinds of events are counted for all functions together.
    pub(super) totals: Option<usize>,
    /// What variables are when their loops are entered is drawn from this.
    pub(super) drawn: u64,
    /// The registers of the activation that ended last.
    pub(super) last_registers: Registers,
}

impl<'a> Process<'a> {
    /// A process of a program without probes.
    #[must_use]
    pub fn new(functions: impl IntoIterator<Item = (&'a Function, &'a Cfg)>) -> Self {
        let codes: IdMap<FunctionId, _> =
            functions.into_iter().map(|(function, cfg)| Code::new(function, cfg)).collect();
        let truth = Truth { functions: no_truth(&codes), ..Truth::default() };
        Self {
            codes,
            stacks: IdMap::default(),
            truth,
            events: None,
            traced: false,
            keeps_log: true,
            over: false,
            totals: None,
            drawn: 0,
            last_registers: Registers::default(),
        }
    }

    /// With probes: one plan per function.
    ///
    /// # Panics
    /// If a plan is not for its function's graph.
    #[must_use]
    pub fn with_plans<'p>(mut self, plans: impl IntoIterator<Item: Into<FunctionPlan<'p>>>) -> Self {
        for (code, plan) in self.codes.iter_mut().zip(plans) {
            code.place(plan.into());
        }
        self
    }

    /// With affine variables in a function. They enter their loops with all kinds of values.
    #[must_use]
    pub fn with_variables(mut self, function: FunctionId, variables: &'a [AffineVariable]) -> Self {
        let code = &mut self.codes[function];
        code.variables = Some(Variables::new(code.cfg, variables));
        self
    }

    /// With a program that reports events: in each block after the probes at its start, before those at its end, and
    /// where it ends in a call that may not return, after that.
    #[must_use]
    pub fn with_events(mut self, events: &'a mut dyn FnMut() -> i64) -> Self {
        self.events = Some(events);
        self
    }

    /// With a runtime that writes to traces what the program's code can't ([`crate::method::trace::stream`]);
    /// [`Frames`] reads it.
    #[must_use]
    pub fn with_trace(mut self) -> Self {
        self.traced = true;
        self
    }

    /// With counters that all functions share: the outcome has them as those of the first function. So many kinds of
    /// events come first ([`counters_of`](crate::method::events::counters_of)). What handlers do does not count for
    /// calls that they interrupt.
    #[must_use]
    pub fn with_shared_counters(mut self, kinds: usize) -> Self {
        self.totals = Some(kinds);
        self
    }

    /// Keeps no list of all that has happened, but its numbers.
    #[must_use]
    pub fn without_log(mut self) -> Self {
        self.keeps_log = false;
        self
    }

    /// Runs a script.
    ///
    /// # Errors
    /// Where it says what can't be.
    ///
    /// # Panics
    /// If a plan uses counters that it does not have.
    pub fn run(mut self, script: &[(Thread, Action)]) -> Result<Outcome, ActionError> {
        for &(thread, action) in script {
            self.act(thread, action)?;
        }
        Ok(self.finish())
    }

    /// Ends the run where it is.
    #[must_use]
    pub fn finish(mut self) -> Outcome {
        self.open(Thread(0));
        (0..self.stacks.len()).for_each(|thread| self.settle(Thread::new(thread)));
        let alive = self.stacks.iter().flat_map(|stack| stack.frames.iter().map(|frame| frame.function)).collect();
        let threads = self.stacks.into_iter().map(|stack| stack.state).collect();
        Outcome { threads, truth: self.truth, alive }
    }

    /// How many functions there are.
    #[must_use]
    pub fn function_count(&self) -> usize {
        self.codes.len()
    }

    /// A function.
    #[must_use]
    pub fn function(&self, function: FunctionId) -> &'a Function {
        self.codes[function].function
    }

    /// The graph of a function.
    #[must_use]
    pub fn cfg(&self, function: FunctionId) -> &'a Cfg {
        self.codes[function].cfg
    }

    /// Has it ended?
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Where the activations of a thread are, outermost first.
    pub fn positions(&self, thread: Thread) -> impl DoubleEndedIterator<Item = Position<'_>> + ExactSizeIterator {
        let frames = self.stacks.get(thread).map_or(&[][..], |stack| &stack.frames);
        frames.iter().map(|frame| Position {
            function: frame.function,
            block: frame.block,
            calling: frame.calling,
            calls_ahead: frame.next_call..self.codes[frame.function].calls_of(frame.block).end,
            set_jumps: &frame.set_jumps,
        })
    }

    /// Makes the small steps that a thread has before it.
    pub fn settle(&mut self, thread: Thread) {
        while self.step(thread) {}
    }

    /// The block of the innermost activation.
    pub(super) fn block(&self, thread: Thread) -> Option<Block> {
        self.positions(thread).next_back().map(|position| position.block)
    }

    /// What the probes of a thread have written.
    pub(super) fn state(&self, thread: Thread) -> Option<&ThreadState> {
        self.stacks.get(thread).map(|stack| &stack.state)
    }

    /// A thread does something.
    ///
    /// # Errors
    /// If it can't.
    ///
    /// # Panics
    /// If a plan uses counters that it does not have.
    pub fn act(&mut self, thread: Thread, action: Action) -> Result<(), ActionError> {
        if self.over {
            return Err(ActionError::Over);
        }
        if let Action::Enter(function)
        | Action::Signal { handler: function, .. }
        | Action::Call { callee: Some(function), .. } = action
            && function.index() >= self.codes.len()
        {
            return Err(ActionError::NoSuchFunction(function));
        }
        self.open(thread);
        let interrupted = matches!(action, Action::Signal { .. }).then_some(thread);
        for other in (0..self.stacks.len()).map(Thread::new).filter(|&other| Some(other) != interrupted) {
            self.settle(other);
        }
        if let Action::Signal { steps, probes, .. } = action {
            self.advance(thread, steps, probes);
        }
        self.perform(thread, action)
    }

    /// A function is entered, with these registers.
    pub(super) fn enter(&mut self, thread: Thread, function: FunctionId, registers: Registers) {
        self.open(thread);
        self.push(thread, function, None, registers);
        self.settle(thread);
    }

    /// An activation of the function comes to life at a call site; `None` if there is no such site.
    pub(super) fn revive(
        &mut self,
        thread: Thread,
        function: FunctionId,
        site: Site,
        registers: Registers,
    ) -> Option<()> {
        self.codes[function].function.calls.site(site)?;
        self.open(thread);
        let mut frame = self.frame(thread, function, None, registers);
        self.return_to(&mut frame, site);
        self.note_early(thread, &mut frame, -1);
        self.stacks[thread].frames.push(frame);
        Some(())
    }

    /// Forgets all activations of a thread; gives the registers of the last one.
    pub(super) fn drop_frames(&mut self, thread: Thread) -> Registers {
        if let Some(stack) = self.stacks.get_mut(thread) {
            stack.frames.clear();
        }
        std::mem::take(&mut self.last_registers)
    }
}
