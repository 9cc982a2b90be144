//! One step up the stack by `.eh_frame`, at two speeds: a cache of the common rules (without it, programs that
//! throw or jump all the time would be intolerably slow), and gimli for everything else.
//!
//! Under most rules the caller's stack pointer is enough to continue. Other saved registers are
//! restored only on request, from the *trail* of the steps since.

use crate::arch::context::{Context, RETURN_FROM_SIGNAL, below_handler};
use crate::arch::jumps::is_jumping;
use crate::arch::registers::{
    AllRegisters, Caller, FRAME_POINTER, FRAME_POINTER_FIELD, FrameRegisters, PRESERVED, RETURN_ADDRESS, STACK_POINTER,
};
use crate::arch::rules::Rule;
use crate::expression;
use crate::runtime::os::{own_stack, sys};
use crate::runtime::stack::{modules, rules};
use crate::runtime::thread;
use crate::runtime::unit;
use core::mem::MaybeUninit;
use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, EndianSlice, FrameDescriptionEntry, LittleEndian, Pointer, Register,
    RegisterRule, UnwindContext, UnwindContextStorage, UnwindExpression, UnwindSection, UnwindTableRow,
};

type Reader = EndianSlice<'static, LittleEndian>;

/// Room for what real frames need; gimli's own would take tens of kilobytes of a stack that may be small.
struct Small;
impl UnwindContextStorage<usize> for Small {
    type Rules = [(Register, RegisterRule<usize>); 20];
    type Stack = [UnwindTableRow<usize, Self>; 4];
}

/// What a step leads to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The caller's frame.
    Caller,
    /// There is none.
    End,
    /// The frame's caller can't be found.
    Lost,
}

/// The last steps, whose saved registers have not been put back yet: rules and CFAs. All that a rule refers to below
/// its CFA is readable.
struct Trail {
    steps: [MaybeUninit<(Rule, u64)>; LONGEST_TRAIL],
    len: usize,
}

/// Longer than the usual search for a frame.
const LONGEST_TRAIL: usize = 16;

impl Trail {
    const fn new() -> Self {
        Self { steps: [const { MaybeUninit::uninit() }; LONGEST_TRAIL], len: 0 }
    }

    /// False if it is full.
    fn push(&mut self, rule: Rule, cfa: u64) -> bool {
        let Some(slot) = self.steps.get_mut(self.len) else { return false };
        slot.write((rule, cfa));
        self.len += 1;
        true
    }
}

/// A place on a stack.
pub struct Cursor {
    /// As they were where the trail begins, but for the stack pointer.
    registers: AllRegisters,
    trail: Trail,
    /// A return address, or the interrupted instruction.
    pub pc: u64,
    /// Whether `pc` was interrupted by a signal, and is not a return address.
    pub interrupted: bool,
    /// Stack known to be readable.
    readable: core::ops::Range<u64>,
}

impl Cursor {
    pub fn new(caller: &Caller) -> Self {
        let registers = caller.registers();
        let page_end = (caller.sp | 0xFFF) + 1;
        let end = thread::stack_top(caller.sp).unwrap_or(page_end).max(page_end);
        // Mostly the registers were saved on the same stack, just below: no page lies between.
        let saved = core::ptr::from_ref(caller) as u64;
        let start = if caller.sp.wrapping_sub(saved) < 0x1000 { saved } else { caller.sp };
        Self { registers, trail: Trail::new(), pc: caller.pc, interrupted: false, readable: start & !0xFFF..end }
    }

    /// A place that a signal interrupted.
    pub fn interrupted(context: &Context) -> Self {
        let registers = context.registers();
        let sp = registers[STACK_POINTER];
        let readable = sp & !0xFFF..(sp | 0xFFF) + 1;
        Self { registers, trail: Trail::new(), pc: context.pc(), interrupted: true, readable }
    }

    /// The frame's stack pointer: the CFA of what it called.
    pub fn sp(&self) -> u64 {
        self.registers[STACK_POINTER]
    }

    /// The frame's registers, as far as callees preserve them.
    pub fn registers(&mut self) -> FrameRegisters {
        self.settle();
        FrameRegisters { sp: self.sp(), preserved: PRESERVED.map(|register| self.registers[register]) }
    }

    /// All registers of a frame that a signal has interrupted.
    #[cfg(not(feature = "counters-alone"))]
    pub fn interrupted_registers(&mut self) -> Option<AllRegisters> {
        self.settle();
        self.interrupted.then_some(self.registers)
    }

    /// Goes on to the caller.
    #[inline(always)]
    pub fn step(&mut self) -> Step {
        let key = self.pc.wrapping_add(u64::from(self.interrupted));
        let rule = rules::look_up(key, unit::hash(key));
        if rule.is_common() {
            let base = if rule.is_from_frame_pointer() { self.frame_pointer() } else { self.sp() };
            let cfa = base.wrapping_add(rule.cfa_offset());
            if self.is_readable(rule, cfa) && self.trail.push(rule, cfa) {
                self.registers[STACK_POINTER] = cfa;
                // SAFETY: just below the CFA.
                return self
                    .arrive(unsafe { (cfa.wrapping_sub(Rule::RETURN_BELOW) as *const u64).read_volatile() }, false);
            }
        }
        self.settled_step(key)
    }

    /// Goes up one frame, whatever it takes.
    #[cold]
    #[inline(never)]
    fn settled_step(&mut self, key: u64) -> Step {
        self.settle();
        if self.pc == 0 {
            return if self.interrupted { self.return_from_null() } else { Step::Lost };
        }
        if let Some(rule) = rules::find(key) {
            return self.apply(rule);
        }
        match self.slow_step(key) {
            Some(step) => step,
            None => self.signal_frame_without_tables().unwrap_or(Step::Lost),
        }
    }

    /// The frame pointer: what the last step on the trail that has saved it did, or what it was before.
    fn frame_pointer(&self) -> u64 {
        // SAFETY: as many have been written, and what their rules refer to is readable.
        let steps = self.trail.steps[..self.trail.len].iter().rev().map(|step| unsafe { step.assume_init() });
        let saved =
            steps.map(|(rule, cfa)| (rule.saved_below(FRAME_POINTER_FIELD), cfa)).find(|&(below, _)| below != 0);
        saved.map_or(self.registers[FRAME_POINTER], |(below, cfa)| {
            // SAFETY: the same.
            unsafe { (cfa.wrapping_sub(below) as *const u64).read_volatile() }
        })
    }

    /// Whether all that the rule refers to is known to be.
    fn is_readable(&self, rule: Rule, cfa: u64) -> bool {
        self.readable.start.saturating_add(rule.reach()) <= cfa && cfa <= self.readable.end
    }

    fn apply(&mut self, rule: Rule) -> Step {
        if rule.is_end() {
            return Step::End;
        }
        let cfa = self.registers[if rule.is_from_frame_pointer() { FRAME_POINTER } else { STACK_POINTER }]
            .wrapping_add(rule.cfa_offset());
        let pc = if self.is_readable(rule, cfa) {
            self.restore_readable(rule, cfa);
            // SAFETY: just below the CFA.
            Some(unsafe { (cfa.wrapping_sub(Rule::RETURN_BELOW) as *const u64).read_volatile() })
        } else {
            self.restore(rule, cfa)
        };
        let Some(pc) = pc else { return Step::Lost };
        self.registers[STACK_POINTER] = cfa;
        self.arrive(pc, false)
    }

    /// Puts back the registers of the steps on the trail.
    fn settle(&mut self) {
        for number in 0..core::mem::take(&mut self.trail.len) {
            // SAFETY: as many have been written.
            let (rule, cfa) = unsafe { self.trail.steps[number].assume_init() };
            self.restore_readable(rule, cfa);
        }
    }

    /// What the rule says of the frame below the CFA, all of which is known to be readable.
    fn restore_readable(&mut self, rule: Rule, cfa: u64) {
        for (field, register) in PRESERVED.into_iter().enumerate() {
            let below = rule.saved_below(field);
            let unsaved = &raw const self.registers[register];
            let place = if below == 0 { unsaved } else { cfa.wrapping_sub(below) as *const u64 };
            // SAFETY: ours, or no further below the CFA than what is readable.
            self.registers[register] = unsafe { place.read_volatile() };
        }
    }

    /// Restores a register where the rule has to be asked.
    #[cold]
    fn restore(&mut self, rule: Rule, cfa: u64) -> Option<u64> {
        let pc = self.read(cfa.wrapping_sub(Rule::RETURN_BELOW))?;
        for (field, register) in PRESERVED.into_iter().enumerate() {
            let below = rule.saved_below(field);
            if below != 0 {
                self.registers[register] = self.read(cfa.wrapping_sub(below))?;
            }
        }
        Some(pc)
    }

    fn arrive(&mut self, pc: u64, interrupted: bool) -> Step {
        self.pc = pc;
        self.interrupted = interrupted;
        Step::Caller
    }

    /// Out of a call through a null pointer, which got as far as to leave its return address.
    fn return_from_null(&mut self) -> Step {
        let sp = self.sp();
        let Some(pc) = self.read(sp) else { return Step::Lost };
        self.registers[STACK_POINTER] = sp + 8;
        self.arrive(pc, false)
    }

    /// A word of the stack, if it is there.
    fn read(&mut self, address: u64) -> Option<u64> {
        if !(self.readable.start <= address && address <= self.readable.end - 8) {
            if !address.is_multiple_of(8) || !sys::readable(address) {
                return None;
            }
            let page = address & !0xFFF;
            if page == self.readable.end {
                self.readable.end = page + 0x1000;
            } else {
                self.readable = page..page + 0x1000;
            }
        }
        // SAFETY: within a page that the kernel could read.
        Some(unsafe { (address as *const u64).read_volatile() })
    }

    #[cold]
    #[inline(never)]
    fn slow_step(&mut self, key: u64) -> Option<Step> {
        own_stack::run(|| with_row(key, |frames, entry, row| self.step_by(key, frames, entry, row)))
    }

    /// The step that the row of the unwind tables says.
    fn step_by(
        &mut self,
        key: u64,
        frames: &EhFrame<Reader>,
        entry: &FrameDescriptionEntry<Reader>,
        row: &Row,
    ) -> Option<Step> {
        let at = key.wrapping_sub(1);
        if let Some(rule) = rule_of(entry, row, key) {
            rules::keep(key, rule);
            return Some(self.apply(rule));
        }
        let signal = entry.is_signal_trampoline();
        let cfa = match *row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => {
                self.registers.get(usize::from(register.0))?.wrapping_add(offset as u64)
            }
            CfaRule::Expression(expression) => self.evaluate(frames, expression, at, None)?,
        };
        let mut next = self.registers;
        next[STACK_POINTER] = cfa;
        let mut pc = None;
        for number in 0..=RETURN_ADDRESS.0 {
            let value = match row.register(Register(number)) {
                RegisterRule::Offset(offset) => self.read(cfa.wrapping_add(offset as u64))?,
                RegisterRule::ValOffset(offset) => cfa.wrapping_add(offset as u64),
                RegisterRule::Register(other) => *self.registers.get(usize::from(other.0))?,
                RegisterRule::Expression(expression) => {
                    let address = self.evaluate(frames, expression, at, Some(cfa))?;
                    self.read(address)?
                }
                RegisterRule::ValExpression(expression) => self.evaluate(frames, expression, at, Some(cfa))?,
                RegisterRule::Constant(value) => value,
                _ => continue,
            };
            match next.get_mut(usize::from(number)) {
                Some(register) => *register = value,
                None => pc = Some(value),
            }
        }
        self.registers = next;
        Some(self.arrive(pc?, signal))
    }

    fn evaluate(
        &mut self,
        frames: &EhFrame<Reader>,
        expression: UnwindExpression<usize>,
        at: u64,
        initial: Option<u64>,
    ) -> Option<u64> {
        let code = expression.get(frames).ok()?;
        let (registers, pc) = (self.registers, if self.interrupted { at } else { self.pc });
        let register = |number: u64| match number {
            number if number == u64::from(RETURN_ADDRESS.0) => Some(pc),
            number => registers.get(usize::try_from(number).ok()?).copied(),
        };
        expression::evaluate(code.0.slice(), initial, register, |address, size| {
            let word = self.read(address & !7)?;
            let within = address % 8 + u64::from(size) <= 8;
            within.then(|| word >> (address % 8 * 8) & (u64::MAX >> (64 - u32::from(size) * 8)))
        })
    }

    /// The kernel's signal frame, by the code that returns from it: musl gives its trampoline no tables.
    fn signal_frame_without_tables(&mut self) -> Option<Step> {
        for (place, byte) in RETURN_FROM_SIGNAL.into_iter().enumerate() {
            let at = self.pc + place as u64;
            // SAFETY: readable, as the kernel says.
            if !sys::readable(at & !7) || unsafe { (at as *const u8).read_volatile() } != byte {
                return None;
            }
        }
        let (registers, pc) = below_handler(self.sp(), |address| self.read(address))?;
        self.registers = registers;
        Some(self.arrive(pc, true))
    }
}

/// The rule of a frame by the unwind tables, which is remembered.
#[cfg(not(feature = "shared-library"))]
pub fn learn(key: u64) -> Option<Rule> {
    let rule = own_stack::run(|| with_row(key, |_, entry, row| rule_of(entry, row, key)))?;
    rules::keep(key, rule);
    Some(rule)
}

/// Does something with what the unwind tables say of the frame.
fn with_row<T>(
    key: u64,
    act: impl FnOnce(&EhFrame<Reader>, &FrameDescriptionEntry<Reader>, &Row) -> Option<T>,
) -> Option<T> {
    let at = key.checked_sub(1)?;
    let (frames, bases, entry) = find_entry(modules::tables_for(at)?, at)?;
    let mut context = UnwindContext::new_in();
    act(&frames, &entry, entry.unwind_info_for_address(&frames, &bases, &mut context, at).ok()?)
}

/// The row of a frame as a rule to remember.
fn rule_of(entry: &FrameDescriptionEntry<Reader>, row: &Row, key: u64) -> Option<Rule> {
    if row.register(RETURN_ADDRESS) == RegisterRule::Undefined {
        Some(Rule::END)
    } else if entry.is_signal_trampoline() {
        None
    } else {
        Rule::of(row).map(|rule| if is_jumping(key) { rule.uncommon() } else { rule })
    }
}

/// First and last-but-one address of the function (or part of one) that holds the code address.
pub fn function_range(at: u64) -> Option<(u64, u64)> {
    let (_, _, entry) = find_entry(modules::tables_for(at)?, at)?;
    Some((entry.initial_address(), entry.end_address()))
}

/// What is to be put back where.
type Row = UnwindTableRow<usize, Small>;

type Found = (EhFrame<Reader>, BaseAddresses, FrameDescriptionEntry<Reader>);

fn find_entry(tables: u64, at: u64) -> Option<Found> {
    let bases = BaseAddresses::default().set_eh_frame_hdr(tables);
    let header = EhFrameHdr::new(section(tables)?, LittleEndian).parse(&bases, 8).ok()?;
    let Pointer::Direct(start) = header.eh_frame_ptr() else { return None };
    let bases = bases.set_eh_frame(start);
    let frames = EhFrame::new(section(start)?, LittleEndian);
    let table = header.table()?;
    let offset = table.pointer_to_offset(table.lookup(at, &bases).ok()?).ok()?;
    let entry = frames.fde_from_offset(&bases, offset, EhFrame::cie_from_offset).ok()?;
    entry.contains(at).then_some((frames, bases, entry))
}

/// A section whose length no program header tells: entries carry their own, so the slice only has to be long enough.
fn section(start: u64) -> Option<&'static [u8]> {
    // SAFETY: unwind tables of a loaded object, which only entries that the tables name are read from.
    (start != 0).then(|| unsafe { core::slice::from_raw_parts(start as *const u8, 1 << 30) })
}
