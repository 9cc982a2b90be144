//! Walks over stacks, and what they count: every activation that dies without returning, by its return address.

use super::linkage::Caller;
use super::registers::Registers;
use super::unwind::{Cursor, Step};
use super::{detour, process};
use crate::layout::{Flags, INTERRUPTED};
#[cfg(not(feature = "shared-library"))]
use core::mem::MaybeUninit;

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
    /// Its stack pointer during that call.
    #[cfg_attr(feature = "shared-library", expect(dead_code, reason = "jumps are the executable's"))]
    pub sp: u64,
    /// What it has in registers.
    pub registers: Registers,
    /// Its CFA: the stack pointer of its caller. `u64::MAX` if there is none, or it is unknown.
    #[cfg_attr(feature = "shared-library", expect(dead_code, reason = "jumps are the executable's"))]
    pub cfa: u64,
}

impl Frame {
    /// Where an early exit of this activation is counted.
    pub fn key(&self) -> (u64, u64) {
        if self.interrupted { (self.pc, INTERRUPTED) } else { (self.pc, 0) }
    }

    /// Counts the activation as abandoned (+1) or revived (−1).
    pub fn count(&self, delta: i64) {
        let (pc, tag) = self.key();
        process::count(pc, tag, delta, Some(&self.registers));
        #[cfg(not(feature = "shared-library"))]
        super::jump::ended(pc, self.sp, delta);
    }
}

/// The frames of a stack, innermost first.
pub struct Walk {
    cursor: Cursor,
    ended: bool,
    complete: bool,
    frames: u64,
    switches: u32,
    /// A signal handler was passed.
    handler: bool,
    /// The last frame was the runtime's, counting a path.
    counting: bool,
}

impl Walk {
    pub fn new(caller: &Caller) -> Self {
        Self::from(Cursor::new(caller))
    }

    /// From where a signal interrupted the thread.
    pub fn interrupted(context: &[i64; 23]) -> Self {
        Self::from(Cursor::interrupted(context))
    }

    fn from(cursor: Cursor) -> Self {
        Self { cursor, ended: false, complete: false, frames: 0, switches: 0, handler: false, counting: false }
    }

    /// After the last frame: whether that was the bottom.
    pub fn is_complete(&self) -> bool {
        self.complete
    }
}

impl Iterator for Walk {
    type Item = Frame;

    fn next(&mut self) -> Option<Frame> {
        if self.ended {
            return None;
        }
        if process::is_bottom(self.cursor.pc) {
            self.ended = true;
            self.complete = true;
            return None;
        }
        let (pc, sp, registers) = (self.cursor.pc, self.cursor.sp(), self.cursor.registers());
        // A path is counted as if it took one instruction of the function: interrupted in there is interrupted here.
        let interrupted = self.cursor.interrupted || self.counting;
        self.handler |= interrupted;
        self.counting = self.handler && process::is_counting(pc);
        let step = self.cursor.step();
        let mut cfa = self.cursor.sp();
        if step == Step::Lost
            && let Some(caller) = detour::after(sp)
        {
            self.cursor = Cursor::new(&caller);
            cfa = u64::MAX;
        } else if step != Step::Caller {
            self.ended = true;
            self.complete = step == Step::End || detour::is_over();
            cfa = u64::MAX;
        } else if cfa <= sp {
            self.switches += 1;
        }
        self.frames += 1;
        if self.switches > MOST_SWITCHES || self.frames > MOST_FRAMES {
            self.ended = true;
        }
        Some(Frame { pc, interrupted, sp, registers, cfa })
    }
}

/// Counts every frame of the stack.
pub fn count_all(caller: &Caller, delta: i64) {
    let mut walk = Walk::new(caller);
    for frame in walk.by_ref() {
        frame.count(delta);
    }
    if !walk.is_complete() {
        process::flag(Flags::WALK_INCOMPLETE);
    }
}

/// The frames that a search for some frame has passed: counted once it has been found. The first ones are kept, so that
/// the usual short search walks the stack once.
#[cfg(not(feature = "shared-library"))]
pub struct Passed {
    kept: [MaybeUninit<Frame>; 12],
    count: usize,
    /// Frames before the first one.
    before: usize,
}

#[cfg(not(feature = "shared-library"))]
impl Passed {
    pub fn new() -> Self {
        Self { kept: [const { MaybeUninit::uninit() }; 12], count: 0, before: 0 }
    }

    /// A frame does not count; only the first ones may be such.
    #[cfg(not(feature = "shared-library"))]
    pub fn pass_over(&mut self) {
        self.before += 1;
    }

    pub fn push(&mut self, frame: Frame) {
        if let Some(slot) = self.kept.get_mut(self.count) {
            slot.write(frame);
        }
        self.count += 1;
    }

    /// Counts them all.
    pub fn count(&self, caller: &Caller, delta: i64) {
        for frame in &self.kept[..self.count.min(self.kept.len())] {
            // SAFETY: written by push.
            unsafe { frame.assume_init_ref() }.count(delta);
        }
        if self.count > self.kept.len() {
            for frame in Walk::new(caller).skip(self.before).take(self.count).skip(self.kept.len()) {
                frame.count(delta);
            }
        }
    }
}
