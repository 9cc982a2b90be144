//! The state of probes: an activation's registers, and the counts of a thread.

use crate::ids::{Counter, Edge, FunctionId, Table, Word};
use crate::method::events::call_sums::OutermostCounters;
use crate::method::events::counters_of;
use crate::method::ipath::ADDRESSEE;
use crate::method::trace::stream::{self, Control};
use crate::probe::{OutermostStep, Probe, Reg};
use std::collections::{BTreeMap, BTreeSet};

/// The address of a function. Code outside of the program lies behind all of them.
pub(super) fn address(function: FunctionId) -> i64 {
    (i64::from(function.0) + 1) << 24
}

/// The registers of one activation; a register that was never set holds 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registers {
    values: BTreeMap<Reg, i64>,
    /// Words whose outermost activation this is, with the sums of each, and how many kinds of events there are.
    outermost: BTreeMap<Word, (Counter, u8)>,
    /// The thread's events when the path began.
    pub(super) began: i64,
    /// Probes say how far the events have risen along a path.
    pub(super) metered: bool,
}

impl Registers {
    /// The value of a register.
    #[must_use]
    pub fn get(&self, reg: Reg) -> i64 {
        self.values.get(&reg).copied().unwrap_or(0)
    }

    fn set(&mut self, reg: Reg, value: i64) {
        self.values.insert(reg, value);
    }
}

/// What the probes of one function have counted in one thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The counters of the plan.
    pub counters: Vec<u64>,
    /// The path tables: how often each path number was counted.
    pub paths: BTreeMap<(Table, i64), u64>,
    /// The path tables: the events between beginning and end of each path.
    pub sums: BTreeMap<(Table, i64), i64>,
}

impl Counts {
    pub(super) fn bump(&mut self, counter: usize, by: u64) {
        self.counters[counter] = self.counters[counter].wrapping_add(by);
    }

    /// Counts a path, and begins the next one after so many events of the thread.
    fn count_path(&mut self, path: (Table, i64), registers: &mut Registers, events: i64) {
        *self.paths.entry(path).or_insert(0) += 1;
        let sum = self.sums.entry(path).or_insert(0);
        let amount = if registers.metered {
            registers.get(Reg::CallAmount)
        } else {
            events.wrapping_sub(std::mem::replace(&mut registers.began, events))
        };
        *sum = sum.wrapping_add(amount);
    }

    /// Adds what another thread has counted.
    ///
    /// # Panics
    /// If it is another plan's.
    pub fn add(&mut self, other: &Self) {
        assert_eq!(self.counters.len(), other.counters.len(), "counts of different plans");
        for (index, &count) in other.counters.iter().enumerate() {
            self.bump(index, count);
        }
        for (&path, &count) in &other.paths {
            *self.paths.entry(path).or_default() += count;
        }
        for (&path, &sum) in &other.sums {
            let slot = self.sums.entry(path).or_default();
            *slot = slot.wrapping_add(sum);
        }
    }
}

/// Everything that the probes of one thread write to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadState {
    /// Per function, what was counted.
    pub functions: Vec<Counts>,
    /// The bytes of its trace.
    pub trace: Vec<u8>,
    /// The address that was told last in it; 0 behind a record of the runtime.
    pub(super) address: u64,
    /// Where in it the byte is that bits are added to, if there is one; none behind a record of the runtime.
    pub(super) open: Option<usize>,
    /// Traces of handlers that have come to an end, with the length of the trace that each interrupted then.
    pub handled: Vec<(usize, Vec<u8>)>,
    /// Traces that are interrupted by a handler, outermost first.
    pub(super) suspended: Vec<(Vec<u8>, u64)>,
    /// The thread's event counter.
    pub events: i64,
    /// All functions have the counters of the first one, which begin with those of so many kinds of events.
    pub(super) totals: Option<usize>,
    /// The totals where handlers began, outermost first.
    pub(super) suspended_totals: Vec<Vec<u64>>,
    /// Words that have an outermost activation.
    pub(super) outermost: BTreeSet<Word>,
    /// The words that had one where handlers began, outermost handler first.
    pub(super) suspended_outermost: Vec<BTreeSet<Word>>,
    /// For which functions callers had left words where handlers began, outermost first.
    pub(super) suspended_addressees: Vec<i64>,
    /// The words that the method's code uses for itself; one that was never written holds 0.
    pub words: BTreeMap<Word, i64>,
}

impl ThreadState {
    /// The runtime writes to the trace.
    pub(super) fn record(&mut self, record: Control) {
        record.write(&mut self.trace);
        self.address = 0;
        self.open = None;
    }

    /// A handler begins, with a trace of its own.
    pub(super) fn suspend(&mut self) {
        self.suspended_totals.push(self.totals());
        self.suspended_outermost.push(std::mem::take(&mut self.outermost));
        self.open = None;
        self.suspended_addressees.push(self.words.insert(ADDRESSEE, 0).unwrap_or(0));
        self.suspended.push((std::mem::take(&mut self.trace), std::mem::take(&mut self.address)));
    }

    /// A handler has come to an end, or is `left` for good with all that it interrupted.
    pub(super) fn resume(&mut self, left: bool) {
        if let Some((interrupted, address)) = self.suspended.pop() {
            self.address = address;
            self.open = None;
            let trace = std::mem::replace(&mut self.trace, interrupted);
            self.handled.push((self.trace.len(), trace));
        }
        self.outermost = self.suspended_outermost.pop().unwrap_or_default();
        if let Some(addressee) = self.suspended_addressees.pop() {
            self.words.insert(ADDRESSEE, if left { 0 } else { addressee });
        }
        // Its events are not those of the calls that it interrupted.
        for (kind, before) in self.suspended_totals.pop().unwrap_or_default().into_iter().enumerate() {
            let [up, down] = counters_of(kind).map(Counter::index);
            let counters = &mut self.functions[0].counters;
            let events = counters[up].wrapping_sub(before);
            counters[up] = before;
            counters[down] = counters[down].wrapping_sub(events);
        }
    }

    /// What is counted for a function.
    pub(super) fn counts_of(&mut self, function: usize) -> &mut Counts {
        let function = if self.totals.is_some() { 0 } else { function };
        &mut self.functions[function]
    }

    /// How many events of a kind there have been so far in the outermost activations of a word, as the runtime answers:
    /// these add up to the sum, but for what is under way.
    #[must_use]
    pub fn events_so_far(&self, counters: OutermostCounters, kind: usize) -> u64 {
        let sum = self.functions[0].counters[counters.sum(kind).index()];
        let interrupted = self.suspended_outermost.iter().zip(&self.suspended_totals);
        let interrupted =
            interrupted.filter(|(words, _)| words.contains(&counters.word)).map(|(_, totals)| totals[kind]);
        let now = self.outermost.contains(&counters.word).then(|| self.totals()[kind]);
        interrupted.chain(now).fold(sum, u64::wrapping_add)
    }

    /// The events of each kind, as far as they count for the calls under way.
    pub(super) fn totals(&self) -> Vec<u64> {
        let kinds = self.totals.unwrap_or(0);
        let counters = self.functions.first().map_or(&[][..], |counts| &counts.counters);
        counters.iter().step_by(2).take(kinds).copied().collect()
    }

    /// Adds the events of each kind to sums, or takes them away.
    fn sum_up(&mut self, (sums, kinds): (Counter, u8), minus: bool) {
        let totals = self.totals();
        for (kind, &total) in totals.iter().enumerate().take(kinds.into()) {
            let by = if minus { total.wrapping_neg() } else { total };
            self.functions[0].bump(sums.index() + kind, by);
        }
    }

    /// The activation with these registers dies where it is: it is the outermost one of nothing any more.
    pub(super) fn abandon(&mut self, registers: &Registers) {
        for (word, &sums) in &registers.outermost {
            if self.outermost.remove(word) {
                self.sum_up(sums, false);
            }
        }
    }

    fn outermost(&mut self, step: OutermostStep, word: Word, sums: (Counter, u8), registers: &mut Registers) {
        match step {
            OutermostStep::Begin => {
                registers.outermost.remove(&word);
                if self.outermost.insert(word) {
                    registers.outermost.insert(word, sums);
                    self.sum_up(sums, true);
                }
            }
            OutermostStep::End => {
                if registers.outermost.remove(&word).is_some() {
                    self.outermost.remove(&word);
                    self.sum_up(sums, false);
                }
            }
            OutermostStep::Again => {
                if registers.outermost.contains_key(&word) && self.outermost.insert(word) {
                    self.sum_up(sums, true);
                }
            }
        }
    }

    /// An access tells its address, and before that its length if only the program knows it.
    pub(super) fn tell(&mut self, address: u64, length: Option<u64>) {
        length.into_iter().for_each(|length| stream::put_number(length, &mut self.trace));
        let step = address.wrapping_sub(std::mem::replace(&mut self.address, address));
        stream::put_number(stream::number_of_step(step), &mut self.trace);
    }

    fn emit_bits(&mut self, value: u8, bits: u8) {
        // No byte stays open for long: as if the bytes were moved out of a window each time that it has this many.
        const WINDOW: usize = 16;
        let begun = self.trace.len() / WINDOW * WINDOW;
        match self.open.filter(|&at| at >= begun).map(|at| &mut self.trace[at]) {
            Some(byte) if *byte >> (8 - bits) == 0 => *byte = *byte << bits | value,
            _ => {
                self.open = Some(self.trace.len());
                self.trace.push(1 << bits | value);
            }
        }
    }

    fn emit(&mut self, value: i64, bytes: u8) {
        self.trace.extend(value.to_le_bytes().iter().take(usize::from(bytes)));
    }

    /// Runs a probe of a function. `next` is the edge that the block is about to leave by; variables are not registers,
    /// so closings are left to whoever has them.
    pub(super) fn apply(&mut self, function: usize, probe: Probe, next: Option<Edge>, registers: &mut Registers) {
        if let Probe::Outermost { step, word, sums, kinds } = probe {
            return self.outermost(step, word, (sums, kinds), registers);
        }
        let function = if self.totals.is_some() { 0 } else { function };
        let counts = &mut self.functions[function];
        match probe {
            Probe::Count(counter) => counts.bump(counter.index(), 1),
            Probe::CountIfTaken(counter, edge) if next == Some(edge) => counts.bump(counter.index(), 1),
            Probe::CountBy(counter, by) => counts.bump(counter.index(), by),
            Probe::AddCounter { to, from, minus } => {
                let by = counts.counters[from.index()];
                counts.bump(to.index(), if minus { by.wrapping_neg() } else { by });
            }
            Probe::CountIfTaken(..) | Probe::Close(..) | Probe::CloseIf(..) | Probe::CloseBy { .. } => {}
            Probe::Set(reg, constant) => registers.set(reg, constant),
            Probe::Add(reg, constant) => registers.set(reg, registers.get(reg).wrapping_add(constant)),
            Probe::Linear { to, from, times, plus } => {
                registers.set(to, registers.get(from).wrapping_mul(times).wrapping_add(plus));
            }
            Probe::CountPath(table, reg, constant) => {
                counts.count_path((table, registers.get(reg).wrapping_add(constant)), registers, self.events)
            }
            Probe::CountPathUnless { table, reg, flag } if registers.get(flag) == 0 => {
                counts.count_path((table, registers.get(reg)), registers, self.events);
            }
            Probe::AddTo(counter, reg, constant) => {
                counts.bump(counter.index(), registers.get(reg).wrapping_add(constant).cast_unsigned());
            }
            Probe::Emit { reg, plus, bytes } => {
                self.emit(reg.map_or(0, |reg| registers.get(reg)).wrapping_add(plus), bytes);
            }
            Probe::EmitBits { value, bits } => self.emit_bits(value, bits),
            Probe::EmitFull { reg, limit, bytes } => {
                let value = registers.get(reg);
                if value.cast_unsigned() >= limit {
                    self.emit(value, bytes);
                    registers.set(reg, 1);
                }
            }
            Probe::RecordEntry => {
                let (bytes, length) = stream::entered(FunctionId::new(function));
                self.trace.extend(&bytes[..length]);
            }
            Probe::AddProduct { to, factor, times } => {
                let product = registers.get(factor).wrapping_mul(registers.get(times));
                registers.set(to, registers.get(to).wrapping_add(product));
            }
            Probe::Read(reg, word) => registers.set(reg, self.words.get(&word).copied().unwrap_or(0)),
            Probe::Write { word, from, times, plus } => {
                self.words.insert(word, registers.get(from).wrapping_mul(times).wrapping_add(plus));
            }
            Probe::SetUnless(reg, flag, constant) if registers.get(flag) == 0 => registers.set(reg, constant),
            Probe::AddUnless(reg, flag, constant) if registers.get(flag) == 0 => {
                registers.set(reg, registers.get(reg).wrapping_add(constant));
            }
            Probe::CopyUnless { to, flag, from } if registers.get(flag) == 0 => registers.set(to, registers.get(from)),
            Probe::Meter { amount, since } => {
                registers.set(amount, self.events.wrapping_sub(registers.get(since)));
                registers.set(since, self.events);
                registers.metered = true;
            }
            Probe::SetUnless(..)
            | Probe::AddUnless(..)
            | Probe::CopyUnless { .. }
            | Probe::CountPathUnless { .. }
            | Probe::NameCallee { .. }
            | Probe::Outermost { .. } => {}
            Probe::ClaimByAddress { to, word, plus } => {
                let named = address(FunctionId::new(function)).wrapping_add(plus).wrapping_neg();
                let claimed = self.words.get(&word) == Some(&named);
                registers.set(to, i64::from(!claimed));
                if claimed {
                    self.words.insert(word, 0);
                }
            }
            Probe::Claim { to, word, mark } => {
                let claimed = self.words.get(&word) == Some(&mark);
                registers.set(to, i64::from(claimed));
                if claimed {
                    self.words.insert(word, 0);
                }
            }
        }
    }
}
