//! Walks over stacks, which count every activation that dies without returning, by its return address.

use crate::arch::context::Context;
use crate::arch::jumps::is_leaping;
use crate::arch::registers::Caller;
use crate::arch::stacks::is_accounting;
use crate::layout::{Flags, INTERRUPTED};
use crate::runtime::os::own_stack;
use crate::runtime::process::units;
use crate::runtime::record::registers::Registers;
use crate::runtime::stack::unwind::{Cursor, Step};
use crate::runtime::stack::{detour, marks};
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
    /// The stack pointer of the frame during that call.
    #[cfg_attr(feature = "shared-library", expect(dead_code, reason = "jumps are the executable's"))]
    pub sp: u64,
    /// The CFA of the frame: the stack pointer of its caller. `u64::MAX` if there is none, or it is unknown.
    #[cfg_attr(feature = "shared-library", expect(dead_code, reason = "jumps are the executable's"))]
    pub cfa: u64,
}

impl Frame {
    /// Where an early exit of this activation is counted.
    pub fn key(&self) -> (u64, u64) {
        if self.interrupted { (self.pc, INTERRUPTED) } else { (self.pc, 0) }
    }

    /// Counts the activation as abandoned (+1) or revived (−1), with what it has in registers.
    pub fn count(&self, registers: Option<&Registers>, delta: i64) {
        let (pc, tag) = self.key();
        units::frame(pc, tag, delta, registers);
        #[cfg(not(feature = "shared-library"))]
        {
            crate::runtime::hooks::jump::ended(pc, self.sp, delta);
            if delta > 0 {
                crate::runtime::hooks::handlers::ended(pc, self.sp);
            }
        }
    }
}

/// The frames of a stack, innermost first.
pub struct Walk {
    cursor: Cursor,
    /// What the last frame has in registers, if that matters to anybody.
    registers: Option<Registers>,
    ended: bool,
    complete: bool,
    frames: u64,
    switches: u32,
    /// A signal handler was passed.
    handler: bool,
    /// The last frame was the runtime's, counting a path.
    counting: bool,
    /// A jump was passed that has been accounted for and is under way.
    leaping: bool,
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
            registers: units::knows_registers().then_some(Registers::NONE),
            ended: false,
            complete: false,
            frames: 0,
            switches: 0,
            handler: false,
            counting: false,
            leaping: false,
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

    /// Says so in the profiles: some frames may have been counted twice, or half.
    pub fn check_accounting(&self) {
        if self.accounting {
            units::flag(Flags::WALK_INCOMPLETE);
        }
    }

    /// What the last frame has in registers.
    pub fn registers(&self) -> Option<&Registers> {
        self.registers.as_ref()
    }

    /// A frame below a signal handler or the like.
    #[cold]
    #[inline(never)]
    fn interrupted_at(&mut self, pc: u64) {
        self.handler = true;
        self.counting = units::is_recording_at(pc);
        self.look_for_accounting(pc);
    }

    /// Where a step has led that led to no caller: nowhere, but for a detour.
    #[cold]
    #[inline(never)]
    fn dead_end(&mut self, step: Step, sp: u64) {
        if step == Step::Lost
            && let Some(caller) = detour::after(sp)
        {
            self.cursor = Cursor::new(&caller);
        } else {
            self.ended = true;
            self.complete = step == Step::End || detour::is_over();
        }
    }

    fn look_for_accounting(&mut self, pc: u64) {
        if is_leaping(pc) {
            self.leaping = true;
        } else if is_accounting(pc) {
            self.accounting |= !core::mem::take(&mut self.leaping);
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

/// Counts every frame of the stack. Frames that this thread is in the middle of accounting for are said to be unsure.
pub fn count_all(caller: &Caller, delta: i64) {
    own_stack::run(|| count_frames(Walk::new(caller), delta).check_accounting());
}

/// Counts the frames to the end of the walk.
pub fn count_frames(mut walk: Walk, delta: i64) -> Walk {
    while let Some(frame) = walk.next() {
        frame.count(walk.registers(), delta);
    }
    if !walk.is_complete() {
        units::flag(Flags::WALK_INCOMPLETE);
    }
    walk
}

/// More than the usual short search passes.
#[cfg(not(feature = "shared-library"))]
const MOST_KEPT: usize = 12;

/// The frames that a search for some frame has passed: counted once it has been found. The first ones are kept, so that
/// the usual short search walks the stack once.
#[cfg(not(feature = "shared-library"))]
pub struct Passed {
    kept: [MaybeUninit<Frame>; MOST_KEPT],
    /// What they have in registers, if that matters.
    registers: Option<[MaybeUninit<Registers>; MOST_KEPT]>,
    count: usize,
    /// Frames before the first one.
    before: usize,
}

#[cfg(not(feature = "shared-library"))]
impl Passed {
    pub fn new(walk: &Walk) -> Self {
        let registers = walk.registers().map(|_| [const { MaybeUninit::uninit() }; MOST_KEPT]);
        Self { kept: [const { MaybeUninit::uninit() }; MOST_KEPT], registers, count: 0, before: 0 }
    }

    /// A frame does not count; only the first ones may be such.
    #[cfg(not(feature = "shared-library"))]
    pub fn pass_over(&mut self) {
        self.before += 1;
    }

    /// The frame is the last one of the walk.
    pub fn push(&mut self, frame: Frame, walk: &Walk) {
        if let Some(slot) = self.kept.get_mut(self.count) {
            slot.write(frame);
            if let (Some(kept), Some(registers)) = (&mut self.registers, walk.registers()) {
                kept[self.count].write(*registers);
            }
        }
        self.count += 1;
    }

    /// Counts them all.
    pub fn count(&self, caller: &Caller, delta: i64) {
        for (number, frame) in self.kept[..self.count.min(MOST_KEPT)].iter().enumerate() {
            // SAFETY: written by push, with registers if there is room for any: a walk has all or none.
            unsafe {
                let registers = self.registers.as_ref().map(|kept| kept[number].assume_init_ref());
                frame.assume_init_ref().count(registers, delta);
            }
        }
        if self.count > MOST_KEPT {
            let mut walk = Walk::new(caller);
            let mut passed = 0;
            while let Some(frame) = walk.next().filter(|_| passed < self.before + self.count) {
                if passed >= self.before + MOST_KEPT {
                    frame.count(walk.registers(), delta);
                }
                passed += 1;
            }
        }
    }
}

/// Counts the frames whose stack pointers are between these, on a stack where each is higher than the last.
#[cfg(not(feature = "shared-library"))]
#[cold]
#[inline(never)]
pub fn count_between(caller: &Caller, low: u64, high: u64, delta: i64) {
    let mut walk = Walk::new(caller);
    while let Some(frame) = walk.next().filter(|frame| frame.sp < high) {
        if frame.sp > low {
            frame.count(walk.registers(), delta);
        }
    }
}
