//! Walks over stacks.

use crate::arch::context::Context;
use crate::arch::jumps::is_jumping;
#[cfg(not(feature = "counters-alone"))]
use crate::arch::registers::AllRegisters;
use crate::arch::registers::{Caller, FrameRegisters};
use crate::arch::stacks::is_accounting;
use crate::layout::INTERRUPTED;
use crate::runtime::stack::unwind::{Cursor, Step};
use crate::runtime::stack::{last_step, marks};
use crate::runtime::{joined, thread, unit};

/// More frames than any stack holds.
const MOST_FRAMES: u64 = 1 << 28;
/// More changes of stack (signal stacks, coroutine runners) than any program makes: more is a loop.
const MOST_SWITCHES: u32 = 10_000;

/// One activation.
#[derive(Clone, Copy)]
pub struct Frame {
    /// Return address of the call it is in, or the instruction at which a signal interrupted it.
    pub pc: u64,
    /// Whether it was interrupted.
    pub interrupted: bool,
    /// The stack pointer of the frame during that call.
    #[cfg_attr(feature = "shared-library", expect(dead_code, reason = "jumps are the executable's"))]
    pub sp: u64,
    /// The CFA of the frame: the stack pointer of its caller. `u64::MAX` if there is none, or it is unknown.
    #[cfg_attr(
        all(feature = "shared-library", feature = "counters-alone"),
        expect(dead_code, reason = "jumps are the executable's")
    )]
    pub cfa: u64,
}

impl Frame {
    /// Where an early exit of this activation is counted.
    pub fn key(&self) -> (u64, u64) {
        if self.interrupted { (self.pc, INTERRUPTED) } else { (self.pc, 0) }
    }
}

/// The innermost frame of a walk.
#[derive(Clone, Copy)]
pub enum Top<'a> {
    /// What has called an entry.
    Caller(&'a Caller),
    /// What a signal or a debugger has stopped at any instruction.
    Interrupted(&'a Context),
}

impl Top<'_> {
    /// A walk that begins there.
    pub fn walk(self) -> Walk {
        match self {
            Self::Caller(caller) => Walk::new(caller),
            Self::Interrupted(context) => Walk::interrupted(context),
        }
    }
}

/// The frames of a stack, innermost first.
pub struct Walk {
    cursor: Cursor,
    /// What the last frame has in registers, if that matters to anybody.
    registers: Option<FrameRegisters>,
    /// All that the last frame has in registers, if a signal has interrupted it.
    #[cfg(not(feature = "counters-alone"))]
    interrupted: Option<AllRegisters>,
    ended: bool,
    complete: bool,
    frames: u64,
    switches: u32,
    /// A signal handler was passed.
    handler: bool,
    /// The last frame was the runtime's, counting a path.
    counting: bool,
    /// A jump was passed that has been accounted for and is under way.
    jumping: bool,
    /// Some of the frames may have been counted by this thread already: it was interrupted while it did that, or
    /// between that and leaving them.
    accounting: bool,
}

impl Walk {
    pub fn new(caller: &Caller) -> Self {
        Self::from(Cursor::new(caller))
    }

    /// From where a signal interrupted the thread.
    pub fn interrupted(context: &Context) -> Self {
        Self::from(Cursor::interrupted(context))
    }

    fn from(cursor: Cursor) -> Self {
        Self {
            cursor,
            registers: (unit::knows_registers() || joined::any()).then_some(FrameRegisters::NONE),
            #[cfg(not(feature = "counters-alone"))]
            interrupted: None,
            ended: false,
            complete: false,
            frames: 0,
            switches: 0,
            handler: false,
            counting: false,
            jumping: false,
            accounting: false,
        }
    }

    /// After the last frame: whether that was the bottom.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// After the last frame: whether the thread was interrupted while it accounted for some of the frames itself.
    pub fn is_accounting(&self) -> bool {
        self.accounting
    }

    /// What the last frame has in registers.
    pub fn registers(&self) -> Option<&FrameRegisters> {
        self.registers.as_ref()
    }

    /// All that the last frame has in registers, if a signal has interrupted it.
    #[cfg(not(feature = "counters-alone"))]
    pub fn interrupted_registers(&self) -> Option<&AllRegisters> {
        self.interrupted.as_ref()
    }

    /// A frame below a signal handler or the like.
    #[cold]
    #[inline(never)]
    fn interrupted_at(&mut self, pc: u64) {
        self.handler = true;
        #[cfg(not(feature = "counters-alone"))]
        {
            self.interrupted = self.cursor.interrupted_registers();
        }
        self.counting = marks::RECORDING.get().is_some_and(|is_recording_at| is_recording_at(pc));
        self.look_for_accounting(pc);
    }

    /// Where a step has led that led to no caller: nowhere, but for the last step into libc.
    #[cold]
    #[inline(never)]
    fn dead_end(&mut self, step: Step, sp: u64) {
        if step == Step::Lost
            && let Some(caller) = last_step::after(sp)
        {
            self.cursor = Cursor::new(&caller);
        } else {
            self.ended = true;
            self.complete = step == Step::End || thread::is_ending();
        }
    }

    fn look_for_accounting(&mut self, pc: u64) {
        if is_jumping(pc) {
            self.jumping = true;
        } else if is_accounting(pc) {
            self.accounting |= !core::mem::take(&mut self.jumping);
        } else {
            self.accounting |= marks::is_unwinder(pc);
        }
    }
}

impl Iterator for Walk {
    type Item = Frame;

    fn next(&mut self) -> Option<Frame> {
        self.advance()
    }
}

impl Walk {
    /// [`Iterator::next`] for those who walk all the time.
    #[inline(always)]
    pub fn advance(&mut self) -> Option<Frame> {
        if self.ended {
            return None;
        }
        if marks::is_bottom(self.cursor.pc) {
            self.ended = true;
            self.complete = true;
            return None;
        }
        let (pc, sp) = (self.cursor.pc, self.cursor.sp());
        if let Some(registers) = &mut self.registers {
            *registers = self.cursor.registers();
        }
        // A path is counted as if it took one instruction of the function: interrupted in there is interrupted here.
        let interrupted = self.cursor.interrupted || self.counting;
        if self.handler || interrupted {
            self.interrupted_at(pc);
        }
        let step = self.cursor.step();
        let mut cfa = self.cursor.sp();
        if step != Step::Caller {
            self.dead_end(step, sp);
            cfa = u64::MAX;
        } else if cfa <= sp {
            self.switches += 1;
            self.ended |= self.switches > MOST_SWITCHES;
        }
        self.frames += 1;
        self.ended |= self.frames > MOST_FRAMES;
        Some(Frame { pc, interrupted, sp, cfa })
    }
}
