//! One step up the stack by `.eh_frame`, at two speeds: a cache of the common rules (without it, programs that
//! throw or jump all the time would be intolerably slow), and gimli for everything else.
//!
//! Under most rules the caller's stack pointer is enough to continue. Other saved registers are
//! restored only on request, from the *trail* of the steps since.

use crate::expression;
use crate::runtime::hooks::linkage::Caller;
use crate::runtime::os::{own_stack, sys};
use crate::runtime::process::thread;
use crate::runtime::stack::rules::{self, Rule};
use crate::runtime::stack::{marks, modules};
use crate::runtime::unit;
use core::mem::MaybeUninit;
use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, EndianSlice, FrameDescriptionEntry, LittleEndian, Pointer, Register,
    RegisterRule, UnwindContext, UnwindContextStorage, UnwindExpression, UnwindSection, UnwindTableRow, X86_64,
};

type Reader = EndianSlice<'static, LittleEndian>;

/// Registers by DWARF number: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 … r15.
pub type Registers = [u64; 16];
const RBX: usize = 3;
const RBP: usize = 6;
pub const RSP: usize = 7;
/// What a callee preserves, in the order of [`Rule`]'s fields.
pub const PRESERVED: [usize; 6] = [RBX, RBP, 12, 13, 14, 15];
const _: () = assert!(PRESERVED[rules::RBP_FIELD] == RBP);

/// The order of the kernel's context: r8 … r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp; then rip.
const CONTEXT_ORDER: [usize; 16] = [8, 9, 10, 11, 12, 13, 14, 15, 5, 4, RBP, RBX, 1, 0, 2, RSP];

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
    registers: Registers,
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
        let mut registers = [0; 16];
        let preserved = [caller.rbx, caller.rbp, caller.r12, caller.r13, caller.r14, caller.r15];
        for (register, value) in PRESERVED.into_iter().zip(preserved) {
            registers[register] = value;
        }
        registers[RSP] = caller.sp;
        let page_end = (caller.sp | 0xFFF) + 1;
        let end = thread::stack_top(caller.sp).unwrap_or(page_end).max(page_end);
        // Mostly the registers were saved on the same stack, just below: no page lies between.
        let saved = core::ptr::from_ref(caller) as u64;
        let start = if caller.sp.wrapping_sub(saved) < 0x1000 { saved } else { caller.sp };
        Self { registers, trail: Trail::new(), pc: caller.pc, interrupted: false, readable: start & !0xFFF..end }
    }

    /// A place that a signal interrupted, by the registers as the kernel stores them.
    pub fn interrupted(context: &[i64; 23]) -> Self {
        let mut registers = [0; 16];
        for (place, register) in CONTEXT_ORDER.into_iter().enumerate() {
            registers[register] = context[place] as u64;
        }
        let sp = registers[RSP];
        let readable = sp & !0xFFF..(sp | 0xFFF) + 1;
        Self { registers, trail: Trail::new(), pc: context[16] as u64, interrupted: true, readable }
    }

    /// The frame's stack pointer: the CFA of what it called.
    pub fn sp(&self) -> u64 {
        self.registers[RSP]
    }

    /// The frame's registers, as far as callees preserve them.
    pub fn registers(&mut self) -> crate::runtime::record::registers::Registers {
        self.settle();
        crate::runtime::record::registers::Registers {
            sp: self.sp(),
            preserved: PRESERVED.map(|register| self.registers[register]),
        }
    }

    /// Goes on to the caller.
    #[inline(always)]
    pub fn step(&mut self) -> Step {
        let key = self.pc.wrapping_add(u64::from(self.interrupted));
        let rule = rules::look_up(key, unit::hash(key));
        if rule.is_common() {
            let base = if rule.is_from_rbp() { self.rbp() } else { self.sp() };
            let cfa = base.wrapping_add(rule.cfa_offset());
            if self.is_readable(rule, cfa) && self.trail.push(rule, cfa) {
                self.registers[RSP] = cfa;
                // SAFETY: just below the CFA.
                return self.arrive(unsafe { (cfa.wrapping_sub(8) as *const u64).read_volatile() }, false);
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
            return if self.interrupted { self.return_from_nowhere() } else { Step::Lost };
        }
        if let Some(rule) = rules::find(key) {
            return self.apply(rule);
        }
        match self.slow_step(key) {
            Some(step) => step,
            None => self.signal_frame_without_tables().unwrap_or(Step::Lost),
        }
    }

    /// The frame's rbp: what the last step on the trail that has saved it did, or what it was before.
    fn rbp(&self) -> u64 {
        // SAFETY: as many have been written, and what their rules refer to is readable.
        let steps = self.trail.steps[..self.trail.len].iter().rev().map(|step| unsafe { step.assume_init() });
        let saved = steps.map(|(rule, cfa)| (rule.saved_below(rules::RBP_FIELD), cfa)).find(|&(below, _)| below != 0);
        saved.map_or(self.registers[RBP], |(below, cfa)| {
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
        let cfa = self.registers[if rule.is_from_rbp() { RBP } else { RSP }].wrapping_add(rule.cfa_offset());
        let pc = if self.is_readable(rule, cfa) {
            self.restore_readable(rule, cfa);
            // SAFETY: just below the CFA.
            Some(unsafe { (cfa.wrapping_sub(8) as *const u64).read_volatile() })
        } else {
            self.restore(rule, cfa)
        };
        let Some(pc) = pc else { return Step::Lost };
        self.registers[RSP] = cfa;
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
        let pc = self.read(cfa.wrapping_sub(8))?;
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
    fn return_from_nowhere(&mut self) -> Step {
        let sp = self.sp();
        let Some(pc) = self.read(sp) else { return Step::Lost };
        self.registers[RSP] = sp + 8;
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
        next[RSP] = cfa;
        let mut pc = None;
        for number in 0..=16 {
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
            16 => Some(pc),
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
        const RETURN: [u8; 9] = [0x48, 0xC7, 0xC0, 0x0F, 0, 0, 0, 0x0F, 0x05]; // mov $__NR_rt_sigreturn, %rax; syscall
        for (place, byte) in RETURN.into_iter().enumerate() {
            let at = self.pc + place as u64;
            // SAFETY: readable, as the kernel says.
            if !sys::readable(at & !7) || unsafe { (at as *const u8).read_volatile() } != byte {
                return None;
            }
        }
        // struct ucontext: flags, link, stack (3 words), then the registers.
        let context = self.sp() + 40;
        let mut next = self.registers;
        for (place, register) in CONTEXT_ORDER.into_iter().enumerate() {
            next[register] = self.read(context + place as u64 * 8)?;
        }
        let pc = self.read(context + 128)?;
        self.registers = next;
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
    if row.register(X86_64::RA) == RegisterRule::Undefined {
        Some(Rule::END)
    } else if entry.is_signal_trampoline() {
        None
    } else {
        Rule::of(row).map(|rule| if marks::is_leaping(key) { rule.uncommon() } else { rule })
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

impl Rule {
    /// The row as a cacheable rule, if it is of the common kind.
    fn of(row: &Row) -> Option<Self> {
        let CfaRule::RegisterAndOffset { register, offset } = *row.cfa() else { return None };
        let from_rbp = usize::from(register.0) == RBP;
        if !from_rbp && usize::from(register.0) != RSP {
            return None;
        }
        let mut saved = [0; 6];
        for &(register, ref rule) in row.registers() {
            let offset = match *rule {
                RegisterRule::Offset(offset) => offset,
                RegisterRule::SameValue | RegisterRule::Undefined => continue,
                _ => return None,
            };
            if register == X86_64::RA {
                if offset != -8 {
                    return None;
                }
            } else if let Some(field) = PRESERVED.iter().position(|&r| r == usize::from(register.0)) {
                saved[field] = u64::try_from(-offset).ok()?;
            }
            // Unwinders save more than callees preserve, for themselves: no rule of a caller refers to it.
        }
        Self::pack(from_rbp, u64::try_from(offset).ok()?, saved)
    }
}
