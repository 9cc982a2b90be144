//! Which activations are the outermost ones of their function, or their call: events count once for all that are under
//! way ([`crate::layout::OUTERMOST`]).
//!
//! Generated code knows by a word of the thread's slab whether a function is under way already. The activation that is
//! the outermost one takes the counters of events away from its sums where it begins, and adds them where it ends. If
//! it ends early, that is done here: the word has the address of its frame. While a signal handler runs, nothing is
//! under way ([`HiddenWord`]). In a forked child everything is that was under way in the parent.

use super::Activation;
use super::handler_stack::HandlerStack;
use super::slab_words::SlabWords;
use crate::arch::registers::Caller;
use crate::arch::threads::thread_pointer;
use crate::layout::{AT_LANDING_PAD, Flags, HiddenWord, INTERRUPTED, OUTERMOST};
use crate::runtime::file::current;
use crate::runtime::os::sys;
use crate::runtime::slabs::copy::ProfileCopy;
use crate::runtime::stack::unwind::{Cursor, Step};
use crate::runtime::unit;
use core::sync::atomic::{
    AtomicPtr,
    Ordering::{AcqRel, Acquire, Release},
};

/// The words of a thread.
#[derive(Clone, Copy)]
pub struct Outermost {
    words: SlabWords,
}

impl Outermost {
    /// The words of a thread in its slab.
    pub fn of(words: SlabWords) -> Self {
        Self { words }
    }

    fn count() -> u64 {
        unit::descriptor().outermost_count
    }

    fn get(self, number: u64) -> u64 {
        self.words.read(unit::descriptor().outermost_words + number)
    }

    fn set(self, number: u64, value: u64) {
        self.words.write(unit::descriptor().outermost_words + number, value);
    }

    /// The place of a [`HiddenWord`].
    fn hidden(word: u64) -> u64 {
        unit::descriptor().outermost_words + Self::count() + word
    }

    /// The sums of a word, with what each counter of events is now.
    fn sums(self, number: u64) -> impl Iterator<Item = (u64, u64)> {
        let descriptor = unit::descriptor();
        let kinds = u64::from(descriptor.event_kinds.count_ones());
        (0..kinds).map(move |kind| {
            (descriptor.outermost_sums + number * kinds + kind, self.words.read(descriptor.event_words + 2 * kind))
        })
    }

    /// How many events of a kind there have been in the outermost activations of a word so far, since the thread began.
    ///
    /// What is under way counts up to now, or to where a signal handler has interrupted it.
    pub fn events_so_far(self, number: u64, kind: u64) -> u64 {
        let descriptor = unit::descriptor();
        let kinds = u64::from(descriptor.event_kinds.count_ones());
        let now = self.words.read(descriptor.event_words + 2 * kind);
        let sum = self.words.read(descriptor.outermost_sums + number * kinds + kind);
        let mut events = sum.wrapping_sub(self.words.read(descriptor.outermost_bases + number * kinds + kind));
        for hidden in 0..self.words.read(Self::hidden(HiddenWord::COUNT)).min(descriptor.most_hidden) {
            let word = self.words.read(Self::hidden(HiddenWord::FIRST + 2 * hidden));
            if word & 0xFFFF_FFFF == number {
                let kept = HandlerStack::new(self.words, kinds).kept_of(word >> 32);
                events = events.wrapping_add(self.words.read(kept + kind));
            }
        }
        // A handler may come between the instructions that take the counter away, or add it, and the one that says so.
        let is_open = self.get(number) & OUTERMOST != 0 || events.cast_signed() < 0;
        if is_open { events.wrapping_add(now) } else { events }
    }

    /// The slab's thread begins: what its sums are now is not its own.
    pub fn begin_sums(self) {
        let descriptor = unit::descriptor();
        if descriptor.outermost_bases != 0 {
            for sum in 0..Self::count() * u64::from(descriptor.event_kinds.count_ones()) {
                self.words.write(descriptor.outermost_bases + sum, self.words.read(descriptor.outermost_sums + sum));
            }
        }
    }

    /// The words whose outermost activation has, or had, the frame.
    fn of_frame(self, frame: &Activation) -> impl Iterator<Item = (u64, u64)> {
        // A landing pad belongs to the activation that goes on.
        let registers = frame.registers.filter(|_| frame.tag != AT_LANDING_PAD);
        let mut end = None;
        (0..Self::count()).filter_map(move |number| {
            let value = self.get(number);
            let at = value & !OUTERMOST;
            let registers = registers.filter(|registers| at >= registers.sp)?;
            let end = *end.get_or_insert_with(|| {
                let [rbx, rbp, r12, r13, r14, r15] = registers.preserved;
                let caller = Caller { rbx, rbp, r12, r13, r14, r15, sp: registers.sp, pc: frame.pc };
                let mut cursor = Cursor::new(&caller);
                cursor.interrupted = frame.tag == INTERRUPTED;
                if cursor.step() == Step::Caller { cursor.sp() } else { 0 }
            });
            (at + size_of::<u64>() as u64 == end).then_some((number, value))
        })
    }

    /// An activation ends early, or such an end is taken back. Where a jump leads to, generated code itself begins
    /// anew.
    pub fn frame(self, frame: &Activation) {
        if Self::count() == 0 {
            return;
        }
        for (number, value) in self.of_frame(frame) {
            let is_open = value & OUTERMOST != 0;
            match (is_open, frame.delta > 0) {
                (true, true) => {
                    self.sums(number)
                        .for_each(|(sum, now)| self.words.write(sum, self.words.read(sum).wrapping_add(now)));
                    self.set(number, value & !OUTERMOST);
                }
                // An activation of long ago had its frame there.
                (false, true) => self.set(number, 0),
                (false, false) => {
                    self.sums(number)
                        .for_each(|(sum, now)| self.words.write(sum, self.words.read(sum).wrapping_sub(now)));
                    self.set(number, value | OUTERMOST);
                }
                (true, false) => {}
            }
        }
    }

    /// An activation counts in a copy as if it ended: in slab 0, to which all others are added.
    pub fn frame_in_copy(self, copy: &mut ProfileCopy, frame: &Activation) {
        if Self::count() == 0 {
            return;
        }
        if self.words.read(Self::hidden(HiddenWord::COUNT)) != 0 {
            copy.flag(Flags::HANDLERS_MIXED);
        }
        for (number, _) in self.of_frame(frame).filter(|&(_, value)| value & OUTERMOST != 0) {
            for (sum, now) in self.sums(number) {
                // SAFETY: a counter of the copy's slab.
                unsafe {
                    let sum = copy.slab_zero().add(sum as usize);
                    sum.write_volatile(sum.read_volatile().wrapping_add(now));
                }
            }
        }
    }

    /// The slab's thread begins.
    pub fn forget_all(self) {
        if Self::count() != 0 {
            (0..Self::count()).filter(|&number| self.get(number) != 0).for_each(|number| self.set(number, 0));
            self.words.write(Self::hidden(HiddenWord::COUNT), 0);
        }
    }

    /// Forgets where activations ended early.
    pub fn forget_dead(self) {
        let dead = |&number: &u64| self.get(number) != 0 && self.get(number) & OUTERMOST == 0;
        (0..Self::count()).filter(dead).for_each(|number| self.set(number, 0));
    }

    /// A signal handler begins, and so many run already: nothing is under way in it. False if not all can be kept.
    pub fn hide(self, depth: u64) -> bool {
        let mut complete = true;
        for number in (0..Self::count()).filter(|&number| self.get(number) & OUTERMOST != 0) {
            let kept = self.words.read(Self::hidden(HiddenWord::COUNT));
            if kept >= unit::descriptor().most_hidden {
                complete = false;
                continue;
            }
            let pair = Self::hidden(HiddenWord::FIRST + 2 * kept);
            self.words.write(pair, number | depth << 32);
            self.words.write(pair + 1, self.get(number));
            self.words.write(Self::hidden(HiddenWord::COUNT), kept + 1);
            self.set(number, 0);
        }
        complete
    }

    /// The handler around which so many run is over, and all that have interrupted it.
    pub fn show(self, depth: u64) {
        if Self::count() == 0 {
            return;
        }
        let mut kept = self.words.read(Self::hidden(HiddenWord::COUNT)).min(unit::descriptor().most_hidden);
        while kept > 0 {
            let pair = Self::hidden(HiddenWord::FIRST + 2 * (kept - 1));
            let word = self.words.read(pair);
            if word >> 32 < depth {
                break;
            }
            self.set(word & 0xFFFF_FFFF, self.words.read(pair + 1));
            kept -= 1;
        }
        self.words.write(Self::hidden(HiddenWord::COUNT), kept);
    }
}

/// What threads that are about to fork have under way: memory of this process alone, since the child's copy of the
/// slab may be the parent's, which goes on. The first word is the thread.
static FORKING: [AtomicPtr<u64>; 16] = [const { AtomicPtr::new(core::ptr::null_mut()) }; 16];

fn kept_bytes() -> usize {
    (1 + Outermost::count() as usize) * size_of::<u64>()
}

/// This thread is about to fork.
pub fn before_fork() {
    let count = Outermost::count();
    if count == 0 || !current::active() {
        return;
    }
    let Ok(memory) = sys::map_anonymous(kept_bytes()) else { return };
    let (memory, own) = (memory.cast::<u64>(), Outermost::of(SlabWords::new(unit::own_slab())));
    // SAFETY: fresh memory of that size.
    unsafe {
        memory.write(thread_pointer());
        (0..count).for_each(|number| memory.add(1 + number as usize).write(own.get(number)));
    }
    let free = |slot: &&AtomicPtr<u64>| slot.compare_exchange(core::ptr::null_mut(), memory, AcqRel, Acquire).is_ok();
    if FORKING.iter().find(free).is_none() {
        // SAFETY: mapped above, and nobody knows it.
        unsafe { sys::unmap(memory.cast(), kept_bytes()) };
    }
}

/// Takes what this thread has kept before it forked.
fn take() -> Option<*mut u64> {
    FORKING.iter().find_map(|slot| {
        let memory = slot.load(Acquire);
        // SAFETY: what is in a slot is mapped until its thread takes it out.
        let own = !memory.is_null() && unsafe { memory.read() } == thread_pointer();
        own.then(|| slot.swap(core::ptr::null_mut(), AcqRel))
    })
}

/// This thread has forked, and goes on in the parent.
pub fn after_fork_in_parent() {
    if let Some(memory) = take() {
        // SAFETY: mapped by `before_fork`, used no more.
        unsafe { sys::unmap(memory.cast(), kept_bytes()) };
    }
}

/// This is the child, whose slab is a new one. False if it is not known what is under way.
pub fn after_fork_in_child() -> bool {
    if Outermost::count() == 0 {
        return true;
    }
    let Some(memory) = take() else { return false };
    let own = Outermost::of(SlabWords::new(unit::own_slab()));
    for number in 0..Outermost::count() {
        // SAFETY: written before the fork.
        let value = unsafe { memory.add(1 + number as usize).read() };
        own.set(number, if value & OUTERMOST == 0 { 0 } else { value });
    }
    // SAFETY: as above.
    unsafe { sys::unmap(memory.cast(), kept_bytes()) };
    // No other thread is here.
    FORKING.iter().for_each(|slot| slot.store(core::ptr::null_mut(), Release));
    true
}
