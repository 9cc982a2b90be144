//! Quick walks: over the calls of code whose unwind rules are known and common, up to a frame whose stack pointer is
//! known.
//!
//! Programs that throw or jump all the time use these walks. Frames are counted as they are passed. Any unusual
//! frame ends the walk, and its counts are taken back. Then a
//! [`Walk`](crate::runtime::stack::walk::Walk), which handles all kinds of frames, goes over the same frames again.

use crate::arch::jumps::is_jumping;
use crate::arch::registers::FrameRegisters;
use crate::arch::registers::{Caller, FRAME_POINTER_FIELD, PRESERVED};
use crate::arch::rules::Rule;
use crate::runtime::joined;
use crate::runtime::os::sys;
use crate::runtime::process::counting;
use crate::runtime::record::Frames;
use crate::runtime::stack::{marks, rules, unwind};
use crate::runtime::thread;
use crate::runtime::unit::{self, Image};

/// Whether registers of frames are to be counted, too; None in a process of several units, whose frames are not counted
/// here.
#[inline(always)]
pub fn with_registers() -> Option<bool> {
    (!joined::any()).then(unit::knows_registers)
}

/// Why a walk goes no further.
enum Stop {
    /// The stack pointer that it is to find seems to lie within the frame, whose CFA this is.
    Within(u64),
    /// The frame is not of the usual kind.
    Unusual,
}

/// A frame that is in a call; of its registers only the frame pointer is right, unless they are to be counted.
struct QuickFrame<const REGISTERS: bool> {
    pc: u64,
    registers: FrameRegisters,
}

impl<const REGISTERS: bool> QuickFrame<REGISTERS> {
    fn new(caller: &Caller) -> Self {
        Self { pc: caller.pc, registers: FrameRegisters::of(caller) }
    }

    fn sp(&self) -> u64 {
        self.registers.sp
    }

    fn registers(&self) -> Option<&FrameRegisters> {
        REGISTERS.then_some(&self.registers)
    }

    /// Goes on to the caller, whose stack pointer is higher, but no higher than that, after an act for this frame. All
    /// between is readable.
    #[inline(always)]
    fn step(&mut self, highest: u64, image: Image, act: impl FnOnce(&Self)) -> Result<(), Stop> {
        let FrameRegisters { sp, ref preserved } = self.registers;
        let mut rule = rules::look_up(self.pc, image.hash(self.pc));
        let cfa = loop {
            if rule.is_plain() {
                break sp.wrapping_add(rule.cfa_offset());
            } else if rule.is_plain_from_frame_pointer() {
                let cfa = preserved[FRAME_POINTER_FIELD].wrapping_add(rule.cfa_offset());
                break if cfa > sp { cfa } else { return Err(Stop::Unusual) };
            }
            rule = learn(self.pc, rule).ok_or(Stop::Unusual)?;
        };
        if cfa > highest {
            return Err(Stop::Within(cfa));
        }
        act(self);
        // SAFETY: between two stack pointers, or no further below the first of them than its caller's record is.
        let read = |below: u64| unsafe { (cfa.wrapping_sub(below) as *const u64).read_volatile() };
        // What is not wanted costs nothing, however the loop is compiled.
        let fields = if REGISTERS { 0..PRESERVED.len() } else { FRAME_POINTER_FIELD..FRAME_POINTER_FIELD + 1 };
        for field in fields {
            let below = rule.saved_below(field);
            if below != 0 {
                self.registers.preserved[field] = read(below);
            }
        }
        self.pc = read(Rule::RETURN_BELOW);
        self.registers.sp = cfa;
        Ok(())
    }
}

/// The rule of a frame if it is common, but not known yet.
#[cold]
#[inline(never)]
fn learn(pc: u64, found: Rule) -> Option<Rule> {
    if found.is_known() || marks::is_bottom(pc) {
        return None;
    }
    unwind::learn(pc).filter(|rule| rule.is_common())
}

/// The frame to which a jump or an exception leads. Those below it have been counted, it has not.
pub struct TargetFrame<const REGISTERS: bool> {
    frames: Frames,
    frame: QuickFrame<REGISTERS>,
    uncounted: u64,
}

impl<const REGISTERS: bool> TargetFrame<REGISTERS> {
    /// Counts the calls of the frames below the one with that stack pointer, or within which it seems to lie, but for
    /// those with stack pointers up to the other one. None: there is something else among them, and nothing is counted.
    #[inline(always)]
    pub fn count(sp: u64, uncounted: u64, delta: i64, caller: &Caller) -> Option<Self> {
        let frames = Frames::get().filter(|_| is_readable(caller, sp))?;
        let mut frame = QuickFrame::new(caller);
        while frame.sp() <= uncounted {
            frame.step(sp, frames.image(), |_| ()).ok()?;
        }
        let mut usual = true;
        while frame.sp() != sp {
            let step = frame.step(sp, frames.image(), |frame| frames.record(frame.pc, 0, delta, frame.registers()));
            if let Err(stop) = step {
                usual = matches!(stop, Stop::Within(cfa) if is_readable(caller, cfa));
                break;
            }
        }
        usual &= !marks::is_bottom(frame.pc) && !is_jumping(frame.pc);
        let target = Self { frames, frame, uncounted };
        if !usual {
            target.take_back(delta, caller);
        }
        usual.then_some(target)
    }

    /// The return address of the frame.
    pub fn pc(&self) -> u64 {
        self.frame.pc
    }

    /// The stack pointer of the frame.
    pub fn sp(&self) -> u64 {
        self.frame.sp()
    }

    /// Nothing is counted.
    pub fn take_back(&self, delta: i64, caller: &Caller) {
        counting::count_between(caller, self.uncounted, self.sp(), -delta);
    }

    /// Counts the frame, too.
    #[inline(always)]
    pub fn add(&self, tag: u64, delta: i64) {
        self.frames.record(self.pc(), tag, delta, self.frame.registers());
    }

    /// Counts a call of which no registers are known.
    #[inline(always)]
    pub fn add_call(&self, pc: u64, delta: i64) {
        self.frames.record(pc, 0, delta, None);
    }
}

/// Whether the stack is readable from where the caller's registers were saved up to that stack pointer, and all that
/// common rules refer to is in there.
#[inline(always)]
fn is_readable(caller: &Caller, sp: u64) -> bool {
    // No page lies between.
    let saved = caller.sp.wrapping_sub(core::ptr::from_ref(caller) as u64);
    (Rule::NEAR..0x1000).contains(&saved) && (thread::is_first_stack(caller.sp, sp) || is_page_by_page(caller.sp, sp))
}

/// More than most frames take up.
const MOST_PAGES: u64 = 16;

#[cold]
#[inline(never)]
fn is_page_by_page(from: u64, to: u64) -> bool {
    let pages = (from >> 12) + 1..(to.saturating_sub(1) >> 12) + 1;
    from < to && pages.end - pages.start <= MOST_PAGES && pages.into_iter().all(|page| sys::readable(page << 12))
}
