//! Quick walks: over the calls of code whose unwind rules are known and common, up to a frame whose stack pointer is known.
//!
//! Programs that throw or jump all the time go by here. Frames are counted as they are passed. Whatever is out of the ordinary
//! ends the walk, and what it has counted is taken back: [`super::walk::Walk`] knows all kinds of frames, and passes these in the
//! same way.

use super::early::{self, Slot};
use super::linkage::Caller;
use super::rules::{self, Rule};
use super::unit::Image;
use super::{process, sys, thread, unwind, walk};

/// Counts calls in a process of one unit, which knows nothing of registers.
#[derive(Clone, Copy)]
struct Counts {
    image: Image,
    table: &'static [Slot],
}

impl Counts {
    /// None if that is not so.
    #[inline(always)]
    fn get() -> Option<Self> {
        let counts = Self { image: Image::get(), table: early::table() };
        (!process::knows_registers() && !counts.table.is_empty()).then_some(counts)
    }

    #[inline(always)]
    fn add(self, pc: u64, tag: u64, delta: i64) {
        if let Some(address) = self.image.link_address(pc) {
            early::count_at(self.table, address | tag, delta);
        }
    }
}

/// Why a walk goes no further.
enum Stop {
    /// The stack pointer that it is to find seems to lie within the frame, whose CFA this is.
    Within(u64),
    /// The frame is not of the usual kind.
    Unusual,
}

/// A frame that is in a call.
struct Place {
    pc: u64,
    sp: u64,
    rbp: u64,
}

impl Place {
    /// Goes on to the caller, whose stack pointer is higher, but no higher than that, after an act for this frame. All
    /// between is readable.
    #[inline(always)]
    fn step(&mut self, highest: u64, hash: u64, act: impl FnOnce(u64)) -> Result<(), Stop> {
        let mut rule = rules::look_up(self.pc, hash);
        let cfa = loop {
            if rule.is_plain() {
                break self.sp.wrapping_add(rule.cfa_offset());
            } else if rule.is_plain_from_rbp() {
                let cfa = self.rbp.wrapping_add(rule.cfa_offset());
                break if cfa > self.sp { cfa } else { return Err(Stop::Unusual) };
            }
            rule = learn(self.pc, rule).ok_or(Stop::Unusual)?;
        };
        if cfa > highest {
            return Err(Stop::Within(cfa));
        }
        act(self.pc);
        let below = rule.saved_below(rules::RBP_FIELD);
        // SAFETY: between two stack pointers, or no further below the first of them than its caller's record is.
        unsafe {
            if below != 0 {
                self.rbp = (cfa.wrapping_sub(below) as *const u64).read_volatile();
            }
            self.pc = (cfa.wrapping_sub(8) as *const u64).read_volatile();
        }
        self.sp = cfa;
        Ok(())
    }
}

/// The rule of a frame if it is common, but not known yet.
#[cold]
#[inline(never)]
fn learn(pc: u64, found: Rule) -> Option<Rule> {
    if found.is_known() || process::is_bottom(pc) {
        return None;
    }
    unwind::learn(pc).filter(|rule| rule.is_common())
}

/// A landing that has been counted, but for the frame itself.
pub struct Landing {
    counts: Counts,
    /// The return address of the frame.
    pub pc: u64,
    /// Its stack pointer.
    pub sp: u64,
    uncounted: u64,
}

impl Landing {
    /// Counts the calls of the frames below the one with that stack pointer, or within which it seems to lie, but for those with
    /// stack pointers up to the other one. None: there is something else on the way, and nothing is counted.
    #[inline(always)]
    pub fn count(sp: u64, uncounted: u64, delta: i64, caller: &Caller) -> Option<Self> {
        let counts = Counts::get().filter(|_| is_readable(caller, sp))?;
        let mut place = Place { pc: caller.pc, sp: caller.sp, rbp: caller.rbp };
        while place.sp <= uncounted {
            place.step(sp, counts.image.hash(place.pc), |_| ()).ok()?;
        }
        let mut usual = true;
        while place.sp != sp {
            if let Err(stop) = place.step(sp, counts.image.hash(place.pc), |pc| counts.add(pc, 0, delta)) {
                usual = matches!(stop, Stop::Within(cfa) if is_readable(caller, cfa));
                break;
            }
        }
        let landing = Self { counts, pc: place.pc, sp: place.sp, uncounted };
        if usual && !process::is_bottom(place.pc) && !walk::is_leaping(place.pc) {
            return Some(landing);
        }
        landing.take_back(delta, caller);
        None
    }

    /// Nothing is counted.
    #[cold]
    #[inline(never)]
    pub fn take_back(&self, delta: i64, caller: &Caller) {
        walk::count_between(caller, self.uncounted, self.sp, -delta);
    }

    /// Counts one more call.
    #[inline(always)]
    pub fn add(&self, pc: u64, tag: u64, delta: i64) {
        self.counts.add(pc, tag, delta);
    }
}

/// Whether the stack is readable from where the caller's registers were saved up to that stack pointer, and all that common
/// rules refer to is in there.
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
