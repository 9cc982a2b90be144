//! Counts activations that die without returning, by their return addresses.

#[cfg(not(feature = "shared-library"))]
use crate::arch::jumps::is_jumping;
use crate::arch::registers::{Caller, FrameRegisters};
use crate::layout::Flags;
#[cfg(not(feature = "shared-library"))]
use crate::runtime::os::late::Late;
use crate::runtime::os::own_stack;
#[cfg(not(feature = "shared-library"))]
use crate::runtime::process::handlers;
use crate::runtime::process::units;
use crate::runtime::stack::walk::{Frame, Walk};
#[cfg(not(feature = "shared-library"))]
use core::mem::MaybeUninit;

/// A frame ends that was in the middle of a jump: what that is called with is the frame's stack pointer, and how often
/// it ends.
// SAFETY: a function pointer.
#[cfg(not(feature = "shared-library"))]
pub static PENDING_JUMP_ENDED: Late<fn(u64, i64)> = unsafe { Late::new() };

/// Counts the activation as abandoned (+1) or revived (−1), with what it has in registers.
pub fn count(frame: &Frame, registers: Option<&FrameRegisters>, delta: i64) {
    let (pc, tag) = frame.key();
    units::frame(pc, tag, delta, registers);
    #[cfg(not(feature = "shared-library"))]
    {
        if is_jumping(pc)
            && let Some(ended) = PENDING_JUMP_ENDED.get()
        {
            ended(frame.sp, delta);
        }
        if delta > 0 {
            handlers::ended(pc, frame.sp);
        }
    }
}

/// Says in the profiles if the thread was interrupted while it accounted for some of the frames of the walk itself:
/// they may have been counted twice, or half.
pub fn check_accounting(walk: &Walk) {
    if walk.is_accounting() {
        units::flag(Flags::WALK_INCOMPLETE);
    }
}

/// Counts every frame of the stack. Frames that this thread is in the middle of accounting for are said to be unsure.
pub fn count_all(caller: &Caller, delta: i64) {
    own_stack::run(|| check_accounting(&count_frames(Walk::new(caller), delta)));
}

/// Counts the frames to the end of the walk.
pub fn count_frames(mut walk: Walk, delta: i64) -> Walk {
    while let Some(frame) = walk.next() {
        count(&frame, walk.registers(), delta);
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
    registers: Option<[MaybeUninit<FrameRegisters>; MOST_KEPT]>,
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
                count(frame.assume_init_ref(), registers, delta);
            }
        }
        if self.count > MOST_KEPT {
            let mut walk = Walk::new(caller);
            let mut passed = 0;
            while let Some(frame) = walk.next().filter(|_| passed < self.before + self.count) {
                if passed >= self.before + MOST_KEPT {
                    count(&frame, walk.registers(), delta);
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
            count(&frame, walk.registers(), delta);
        }
    }
}
