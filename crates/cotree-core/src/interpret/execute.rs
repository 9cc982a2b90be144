//! Executes actions: begins and ends activations, and makes their small steps.

use super::code::Code;
use super::frames;
use super::process::{Action, ActionError, Process, Thread};
use super::state::{Counts, Registers, ThreadState, address};
use super::truth::{Activation, ActivationFacts, EarlyExit, FunctionTruth, Step, Truth};
use super::variables::Values;
use super::walk::{From, GraphWalk, Until};
use crate::facts::EdgeKind;
use crate::ids::{Block, CallId, Edge, FunctionId, IdMap, Site};
use crate::method::trace::stream::{Control, Ending};
use crate::probe::{Place, Probe, Reg};
use std::collections::VecDeque;

/// A small step of an activation.
#[derive(Clone, Copy, Debug)]
enum Micro {
    /// A probe runs; the block is about to leave by the edge.
    Probe(Probe, Option<Edge>),
    /// The program reports events.
    Report,
    /// An access of memory tells its address.
    Access(u32),
    /// A call is made, behind accesses perhaps.
    Call(CallId),
    Take(Edge),
    Enter(Block),
    Return,
}

/// An activation that is under way.
#[derive(Debug)]
pub(super) struct Frame {
    activation: Activation,
    pub function: FunctionId,
    pub block: Block,
    /// The number of the next call that may be made in the block.
    pub next_call: usize,
    /// The call under way.
    pub calling: Option<CallId>,
    /// The probes at the block's end have run: its last call has been reached.
    ended: bool,
    pending: VecDeque<Micro>,
    registers: Registers,
    values: Option<Values>,
    /// How the stretch began, and its edges.
    from: From,
    edges: Vec<Edge>,
    /// Call sites that were passed and may return twice.
    pub set_jumps: Vec<Site>,
    /// The activation handles a signal.
    handles: bool,
}

impl Frame {
    /// The probes before a call of this function, or of code outside of the program.
    fn probes_of_call(&mut self, probes: &[Probe], callee: Option<FunctionId>) {
        let address = address(callee.unwrap_or(FunctionId(u32::MAX)));
        let named = |&probe: &Probe| match probe {
            Probe::NameCallee { word, plus } => {
                let named = address.wrapping_add(plus).wrapping_neg();
                Probe::Write { word, from: Reg::CallNumber, times: 0, plus: named }
            }
            probe => probe,
        };
        self.pending.extend(probes.iter().map(|probe| Micro::Probe(named(probe), None)));
    }

    fn probes(&mut self, probes: &[Probe], next: Option<Edge>) {
        self.pending.extend(probes.iter().map(|&probe| Micro::Probe(probe, next)));
    }

    fn enter(&mut self, code: &Code<'_>, block: Block) {
        self.pending.push_back(Micro::Enter(block));
        self.probes(code.probes(Place::Start(block)), None);
        self.pending.push_back(Micro::Report);
    }

    /// The call under way returns normally, if there is one.
    fn come_back(&mut self, code: &Code<'_>, call: Option<CallId>) {
        if let Some(call) = call {
            self.probes(code.probes(Place::After(call)), None);
        }
    }

    /// The accesses that tell their addresses right before the call; without one, behind the last call of the block.
    fn accesses(&mut self, code: &Code<'_>, before: Option<CallId>) {
        let calls = code.calls_of(self.block);
        let is_here = |at: CallId| before.map_or(calls.is_empty() || at.index() >= calls.end, |call| at == call);
        let all = (0..).zip(&code.function.accesses);
        let here = all.filter(|(_, access)| access.block == self.block && is_here(access.before));
        self.pending.extend(here.map(|(number, _)| Micro::Access(number)));
    }

    /// The block's end is reached, if it was not before.
    fn end(&mut self, code: &Code<'_>, next: Option<Edge>) {
        if !std::mem::replace(&mut self.ended, true) {
            self.pending.push_back(Micro::Report);
            self.probes(code.probes(Place::End(self.block)), next);
        }
    }
}

/// A thread's stack, outermost first, and what its probes have written.
#[derive(Debug)]
pub(super) struct Stack {
    pub frames: Vec<Frame>,
    pub state: ThreadState,
}

impl Stack {
    fn new(codes: &IdMap<FunctionId, Code<'_>>, totals: Option<usize>) -> Self {
        let mut stack = Self { frames: Vec::new(), state: ThreadState { totals, ..ThreadState::default() } };
        stack.reset(codes);
        stack
    }

    /// Nothing has been counted. The total of events is what it was.
    fn reset(&mut self, codes: &IdMap<FunctionId, Code<'_>>) {
        let counts = |code: &Code<'_>| Counts { counters: vec![0; code.counters], ..Counts::default() };
        let functions = codes.iter().map(counts).collect();
        let ThreadState { events, totals, ref mut outermost, .. } = self.state;
        let outermost = std::mem::take(outermost);
        self.state = ThreadState { functions, events, totals, outermost, ..ThreadState::default() };
    }
}

impl<'a> Process<'a> {
    /// Makes room for a thread.
    pub(super) fn open(&mut self, thread: Thread) {
        while self.stacks.len() <= thread.index() {
            self.stacks.push(Stack::new(&self.codes, self.totals));
            self.truth.logs.push(Vec::new());
            self.truth.reported.push(0);
        }
    }

    /// Does something that is not a signal, once the thread's small steps are made.
    pub(super) fn perform(&mut self, thread: Thread, action: Action) -> Result<(), ActionError> {
        match action {
            Action::Enter(function) => {
                if self.innermost(thread).is_some_and(|frame| frame.calling.is_none()) {
                    return Err(ActionError::NotCalling);
                }
                self.push(thread, function, None, Registers::default());
            }
            Action::Call { call, callee } => self.call(thread, call, callee)?,
            Action::Take(edge) => self.take(thread, edge)?,
            Action::Signal { handler, .. } => {
                self.stacks[thread].state.suspend();
                self.push(thread, handler, None, Registers::default());
                if let Some(frame) = self.stacks[thread].frames.last_mut() {
                    frame.handles = true;
                    if let Some(facts) = self.truth.activations.get_mut(frame.activation) {
                        facts.handles = true;
                    }
                }
            }
            Action::Jump { depth, site } => self.jump(thread, depth as usize, site)?,
            Action::Throw { depth } => self.throw(thread, depth as usize)?,
            Action::EndThread => {
                self.caller(thread)?;
                self.abandon(thread, 0);
                self.record(thread, Control::Ended(Ending(0)));
            }
            Action::Exit => {
                self.caller(thread)?;
                for index in 0..self.stacks.len() {
                    let other = Thread::new(index);
                    // The others are stopped wherever they are, and nothing is written to their traces.
                    let traced = self.traced;
                    self.traced &= other == thread;
                    self.abandon(other, 0);
                    self.record(other, Control::Ended(Ending(1)));
                    self.traced = traced;
                }
                self.over = true;
            }
            Action::Fork => {
                self.caller(thread)?;
                self.fork(thread);
            }
        }
        Ok(())
    }

    fn innermost(&self, thread: Thread) -> Option<&Frame> {
        self.stacks.get(thread)?.frames.last()
    }

    /// The activation in whose call code outside of the program runs.
    fn caller(&self, thread: Thread) -> Result<&Frame, ActionError> {
        let frame = self.innermost(thread).ok_or(ActionError::NoActivation)?;
        if frame.calling.is_some() { Ok(frame) } else { Err(ActionError::NotCalling) }
    }

    fn log(&mut self, thread: Thread, activation: Activation, step: Step) {
        if self.keeps_log {
            self.truth.logs[thread].push((activation, step));
        }
    }

    /// An activation that has done nothing yet.
    pub(super) fn frame(
        &mut self,
        thread: Thread,
        function: FunctionId,
        caller: Option<(Activation, CallId)>,
        registers: Registers,
    ) -> Frame {
        let code = &self.codes[function];
        let activation = Activation::new(self.truth.activations.len());
        if self.keeps_log {
            self.truth.activations.push(ActivationFacts { function, thread, caller, handles: false });
        }
        Frame {
            activation,
            function,
            block: code.cfg.entry(),
            next_call: code.calls_of(code.cfg.entry()).start,
            calling: None,
            ended: false,
            pending: VecDeque::new(),
            registers,
            values: code.variables.as_ref().map(|variables| variables.begin()),
            from: From::Entry,
            edges: Vec::new(),
            set_jumps: Vec::new(),
            handles: false,
        }
    }

    /// A new activation on top of the stack.
    pub(super) fn push(
        &mut self,
        thread: Thread,
        function: FunctionId,
        caller: Option<(Activation, CallId)>,
        registers: Registers,
    ) {
        let mut frame = self.frame(thread, function, caller, registers);
        self.truth.functions[function.index()].entries += 1;
        self.log(thread, frame.activation, Step::Begin);
        frame.registers.began = self.stacks[thread].state.events;
        let code = &self.codes[function];
        if let (Some(variables), Some(values)) = (&code.variables, &mut frame.values) {
            variables.take(values, code.cfg, code.cfg.exit_edge(), || draw(&mut self.drawn));
        }
        frame.enter(code, code.cfg.entry());
        self.stacks[thread].frames.push(frame);
    }

    /// Makes so many steps, besides probes, and then so many of the probes that come next.
    pub(super) fn advance(&mut self, thread: Thread, mut steps: u32, mut probes: u32) {
        while let Some(next) = self.innermost(thread).and_then(|frame| frame.pending.front()) {
            let is_probe = matches!(next, Micro::Probe(..));
            if steps == 0 && (probes == 0 || !is_probe) {
                return;
            }
            if steps == 0 {
                probes -= 1;
            } else if !is_probe {
                steps -= 1;
            }
            self.step(thread);
        }
    }

    /// Makes the next small step of a thread; false if there is none.
    pub(super) fn step(&mut self, thread: Thread) -> bool {
        let Some(stack) = self.stacks.get_mut(thread) else { return false };
        let Some(frame) = stack.frames.last_mut() else { return false };
        let Some(micro) = frame.pending.pop_front() else { return false };
        let code = &self.codes[frame.function];
        let truth = &mut self.truth.functions[frame.function.index()];
        let mut logged = None;
        match micro {
            Micro::Probe(probe, next) => {
                if let (Some(variables), Some(values)) = (&code.variables, &frame.values)
                    && let Some((counter, by)) = variables.closes(values, code.cfg, probe)
                {
                    stack.state.counts_of(frame.function.index()).bump(counter, by);
                }
                stack.state.apply(frame.function.index(), probe, next, &mut frame.registers);
            }
            Micro::Report => {
                let more = self.events.as_mut().map_or(0, |next| next());
                stack.state.events = stack.state.events.wrapping_add(more);
                self.truth.reported[thread] = self.truth.reported[thread].wrapping_add(more);
                logged = self.events.is_some().then_some((frame.activation, Step::Report(more)));
            }
            Micro::Access(number) => {
                let address = draw(&mut self.drawn) >> (draw(&mut self.drawn) % 64);
                let told = draw(&mut self.drawn) >> 40;
                let access = code.function.accesses[number as usize];
                stack.state.tell(address, access.length.is_none().then_some(told));
                logged = Some((frame.activation, Step::Access(number, address, access.length.unwrap_or(told))));
            }
            Micro::Call(call) => logged = Some((frame.activation, Step::Call(call))),
            Micro::Take(edge) => {
                truth.edges[edge] += 1;
                if let (Some(variables), Some(values)) = (&code.variables, &mut frame.values) {
                    variables.take(values, code.cfg, edge, || draw(&mut self.drawn));
                }
                if self.keeps_log {
                    frame.edges.push(edge);
                }
                frame.block = code.cfg.dst(edge);
                frame.next_call = code.calls_of(frame.block).start;
                frame.ended = false;
                logged = Some((frame.activation, Step::Take(edge)));
            }
            Micro::Enter(block) => {
                truth.blocks[block] += 1;
                logged = Some((frame.activation, Step::Enter(block)));
            }
            Micro::Return => {
                if self.keeps_log {
                    let edges = std::mem::take(&mut frame.edges);
                    truth.walks.push(GraphWalk { from: frame.from, edges, until: Until::Exit });
                }
                let frame = stack.frames.pop();
                if frame.as_ref().is_some_and(|frame| frame.handles) {
                    stack.state.resume(false);
                }
                self.last_registers = frame.map(|frame| frame.registers).unwrap_or_default();
            }
        }
        if let Some((activation, step)) = logged {
            self.log(thread, activation, step);
        }
        true
    }

    /// The calls before this number are made; `next` is the edge that comes after them, if that is known.
    ///
    /// The last one enters this function; all others enter code outside of the program.
    fn pass(&mut self, thread: Thread, until: usize, next: Option<Edge>, callee: Option<FunctionId>) {
        let Some(frame) = self.stacks[thread].frames.last_mut() else { return };
        let code = &self.codes[frame.function];
        let (activation, calls) = (frame.activation, frame.next_call..until);
        frame.next_call = until.max(frame.next_call);
        let mut returning = frame.calling.take();
        for number in calls {
            let call = CallId::new(number);
            let facts = &code.function.calls[call];
            frame.come_back(code, returning.replace(call));
            frame.accesses(code, Some(call));
            if facts.terminator || code.tail_edge(call).is_some() {
                frame.end(code, next.or(code.tail_edge(call)));
            }
            frame.probes_of_call(code.probes(Place::Call(call)), callee.filter(|_| number + 1 == until));
            if facts.returns_twice && !facts.terminator {
                frame.set_jumps.extend(code.function.calls.site_of(call));
            }
            self.truth.functions[frame.function.index()].calls[call] += 1;
            if !code.function.accesses.is_empty() || self.events.is_some() {
                frame.pending.push_back(Micro::Call(call));
            } else if self.keeps_log {
                self.truth.logs[thread].push((activation, Step::Call(call)));
            }
        }
        frame.calling = returning;
    }

    fn call(&mut self, thread: Thread, call: CallId, callee: Option<FunctionId>) -> Result<(), ActionError> {
        let frame = self.innermost(thread).ok_or(ActionError::NoActivation)?;
        let code = &self.codes[frame.function];
        let calls = code.calls_of(frame.block);
        if !calls.contains(&call.index()) || call.index() < frame.next_call {
            return Err(ActionError::NoSuchCall(call, frame.block));
        }
        let (function, mut caller) = (frame.function, Some((frame.activation, call)));
        let tail = code.tail_edge(call);
        self.pass(thread, call.index() + 1, None, callee);
        self.settle(thread);
        if let Some(edge) = tail {
            // The frame is gone before the callee runs, which returns to the caller's caller.
            self.take(thread, edge)?;
            self.settle(thread);
            caller = caller.filter(|_| callee.is_some());
        }
        if let Some(callee) = callee {
            *self.truth.callees.entry((function, call, callee)).or_default() += 1;
            self.push(thread, callee, caller, Registers::default());
        }
        Ok(())
    }

    fn take(&mut self, thread: Thread, edge: Edge) -> Result<(), ActionError> {
        let frame = self.innermost(thread).ok_or(ActionError::NoActivation)?;
        let code = &self.codes[frame.function];
        if !code.leads(frame.block, edge) {
            return Err(ActionError::Detached(edge, frame.block));
        }
        let calls = code.calls_of(frame.block).end;
        self.pass(thread, calls, Some(edge), None);
        let Some(frame) = self.stacks[thread].frames.last_mut() else { return Ok(()) };
        let code = &self.codes[frame.function];
        let returning = frame.calling.take();
        let last = code.last_call(frame.block);
        frame.come_back(code, returning.filter(|_| returning != last));
        frame.accesses(code, None);
        frame.end(code, Some(edge));
        if code.ends_in_site(frame.block) {
            frame.pending.push_back(Micro::Report);
        }
        frame.pending.push_back(Micro::Take(edge));
        if code.function.edges[edge].kind != EdgeKind::InvokeUnwind {
            frame.come_back(code, returning.filter(|_| returning == last));
        }
        frame.probes(code.probes(Place::Edge(edge)), None);
        match code.cfg.dst(edge) {
            exit if exit == code.cfg.exit() => frame.pending.push_back(Micro::Return),
            block => frame.enter(code, block),
        }
        Ok(())
    }

    fn jump(&mut self, thread: Thread, depth: usize, site: Site) -> Result<(), ActionError> {
        self.caller(thread)?;
        let frame = self.stacks[thread].frames.get(depth).ok_or(ActionError::NoTarget)?;
        self.codes[frame.function].function.calls.site(site).ok_or(ActionError::NoTarget)?;
        self.abandon(thread, depth + 1);
        let Some(mut frame) = self.stacks[thread].frames.pop() else { return Ok(()) };
        self.note_early(thread, &mut frame, 1);
        self.return_to(&mut frame, site);
        self.note_early(thread, &mut frame, -1);
        if let Some(call) = frame.calling {
            self.record(thread, Control::Revived(frames::frame(frame.function, call)));
        }
        // As the back end has it: a path that begins with the block of a `setjmp` begins when that returns, too.
        let code = &self.codes[frame.function];
        let facts = &code.function.calls[site];
        if facts.returns_twice && !facts.terminator {
            let starts = code.probes(Place::Start(facts.block));
            let sets: Vec<Probe> = starts.iter().copied().filter(|probe| matches!(probe, Probe::Set(..))).collect();
            frame.probes(&sets, None);
        }
        self.stacks[thread].frames.push(frame);
        self.settle(thread);
        Ok(())
    }

    fn throw(&mut self, thread: Thread, depth: usize) -> Result<(), ActionError> {
        self.caller(thread)?;
        let frame = self.stacks[thread].frames.get(depth).ok_or(ActionError::NoTarget)?;
        let (activation, function) = (frame.activation, frame.function);
        let calls = &self.codes[function].function.calls;
        if !frame.calling.is_some_and(|call| calls[call].terminator) {
            return Err(ActionError::NotCaught);
        }
        self.abandon(thread, depth + 1);
        let caught = self.stacks[thread].frames.last_mut().and_then(|frame| frame.calling.take());
        if let Some(call) = caught {
            self.record(thread, Control::Unwound(frames::at_landing_pad(function, call)));
        }
        self.log(thread, activation, Step::Catch);
        Ok(())
    }

    /// The activations from this one on die, the innermost first.
    fn abandon(&mut self, thread: Thread, from: usize) {
        while self.stacks[thread].frames.len() > from {
            let Some(mut frame) = self.stacks[thread].frames.pop() else { return };
            self.note_early(thread, &mut frame, 1);
            if frame.handles {
                self.stacks[thread].state.resume(true);
            }
            self.last_registers = frame.registers;
        }
    }

    /// The runtime writes to a thread's trace.
    fn record(&mut self, thread: Thread, record: Control) {
        if self.traced {
            self.stacks[thread].state.record(record);
        }
    }

    /// The activation is where the call at the site returns.
    pub(super) fn return_to(&self, frame: &mut Frame, site: Site) {
        let calls = &self.codes[frame.function].function.calls;
        let (call, facts) = (calls.call_of(site), &calls[site]);
        frame.block = facts.block;
        frame.calling = call;
        frame.next_call = call.map_or(0, |call| call.index() + 1);
        frame.ended = facts.terminator;
        frame.pending.clear();
    }

    /// Notes that an activation is abandoned where it is (1), or comes to life there (−1).
    pub(super) fn note_early(&mut self, thread: Thread, frame: &mut Frame, count: i64) {
        let function = frame.function;
        if count > 0 {
            self.stacks[thread].state.abandon(&frame.registers);
        }
        let calls = &self.codes[function].function.calls;
        let site = frame.calling.filter(|_| frame.pending.is_empty()).and_then(|call| calls.site_of(call));
        let edges = std::mem::take(&mut frame.edges);
        if let (Some(call), Some(_), true) = (frame.calling, site, count > 0) {
            self.record(thread, Control::Unwound(frames::frame(function, call)));
        }
        let truth = &mut self.truth.functions[function.index()];
        if let Some(site) = site {
            truth.at_site[site] += count;
            if self.keeps_log {
                if count > 0 {
                    truth.walks.push(GraphWalk { from: frame.from, edges, until: Until::Site(site) });
                } else {
                    frame.from = From::Site(site);
                }
                let registers = frame.registers.clone();
                let totals = self.stacks[thread].state.totals();
                self.truth.early.push(EarlyExit { thread, function, site, registers, totals, count });
            }
        } else {
            self.truth.interrupted.push((function, frame.block));
        }
        let step = if count > 0 { Step::Abandoned(site) } else { Step::Revived(site) };
        self.log(thread, frame.activation, step);
    }

    /// Nothing has happened yet but that the thread's activations come to life.
    fn fork(&mut self, thread: Thread) {
        let (logs, reported) = (IdMap::filled(Vec::new(), self.stacks.len()), std::mem::take(&mut self.truth.reported));
        let lived = std::mem::take(&mut self.truth.activations);
        self.truth = Truth { functions: no_truth(&self.codes), logs, reported, ..Truth::default() };
        for (index, stack) in self.stacks.iter_mut().enumerate() {
            stack.reset(&self.codes);
            if index != thread.index() {
                stack.frames.clear();
                stack.state.outermost.clear();
            }
        }
        let mut frames = std::mem::take(&mut self.stacks[thread].frames);
        let before: Vec<Activation> = frames.iter().map(|frame| frame.activation).collect();
        for frame in &mut frames {
            let now = Activation::new(self.truth.activations.len());
            if let Some(facts) = lived.get(frame.activation) {
                let number = |caller| before.iter().position(|&activation| activation == caller).map(Activation::new);
                let caller = facts.caller.and_then(|(caller, call)| Some((number(caller)?, call)));
                self.truth.activations.push(ActivationFacts { caller, ..*facts });
            }
            frame.activation = now;
            self.note_early(thread, frame, -1);
        }
        for frame in frames.iter().rev() {
            if let Some(call) = frame.calling {
                self.record(thread, Control::Revived(frames::frame(frame.function, call)));
            }
        }
        self.stacks[thread].frames = frames;
    }
}

/// The truth before anything happens.
pub(super) fn no_truth(codes: &IdMap<FunctionId, Code<'_>>) -> Vec<FunctionTruth> {
    codes.iter().map(|code| FunctionTruth::new(code.function)).collect()
}

fn draw(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(0x7F4A_7C15_F39C_C060);
    *state ^ *state >> 29
}
