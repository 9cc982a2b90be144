//! What unwind edges into one landing pad do to the path registers.
//!
//! The edges share the pad's instructions, and which of them was taken is known by phis only. So what each does is
//! summed up as one step, an [`Effect`], and the pad does the steps of all: what differs comes from phis. There are no
//! jumps.

use super::hashed::{ask_runtime, cache_word};
use super::registers::PathRegisters;
use crate::ir::Value;
use crate::lower::code::Code;
use crate::lower::landing_pad::LandingPad;
use cotree_core::method::path::PathTable;
use cotree_core::probe::{Probe, Reg};
use std::collections::{BTreeMap, BTreeSet};

/// A function number by which the runtime knows that there is nothing to count.
const NOWHERE: u64 = u64::MAX;

/// `from * times + plus`, of a register before some probes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Linear {
    from: Reg,
    times: i64,
    plus: i64,
}

impl Linear {
    const fn constant(k: i64) -> Self {
        Self { from: Reg::PathSum, times: 0, plus: k }
    }

    const fn of(register: Reg) -> Self {
        Self { from: register, times: 1, plus: 0 }
    }

    const fn times(self, k: i64) -> Self {
        Self { times: self.times.wrapping_mul(k), plus: self.plus.wrapping_mul(k), ..self }
    }

    const fn plus(self, k: i64) -> Self {
        Self { plus: self.plus.wrapping_add(k), ..self }
    }
}

/// What a traversal does to the path registers, as one step: all is said in terms of the registers before.
#[derive(Clone, Default)]
pub(super) struct Effect {
    /// What registers hold after it. The others keep their values.
    registers: BTreeMap<Reg, Linear>,
    /// The numbers of the paths that are counted by it.
    counted: Vec<Linear>,
}

impl Effect {
    /// What the register holds after it.
    fn of(&self, register: Reg) -> Linear {
        self.registers.get(&register).copied().unwrap_or(Linear::of(register))
    }

    /// Adds a probe.
    fn probe(&mut self, probe: Probe) -> Result<(), Probe> {
        let (register, value) = match probe {
            Probe::Set(register, k) => (register, Linear::constant(k)),
            Probe::Add(register, k) => (register, self.of(register).plus(k)),
            Probe::Linear { to, from, times, plus } => (to, self.of(from).times(times).plus(plus)),
            Probe::CountPath(_, register, k) => {
                self.counted.push(self.of(register).plus(k));
                return Ok(());
            }
            other => return Err(other),
        };
        self.registers.insert(register, value);
        Ok(())
    }
}

/// The effects of edges with these probes.
pub(super) fn effects(probes: &[Option<Vec<Probe>>]) -> Result<Vec<Option<Effect>>, Probe> {
    let effect = |probes: &Vec<Probe>| {
        let mut effect = Effect::default();
        probes.iter().try_for_each(|&probe| effect.probe(probe)).map(|()| effect)
    };
    probes.iter().map(|probes| probes.as_ref().map(effect).transpose()).collect()
}

impl<'m> PathRegisters<'_, 'm> {
    /// Does what each of the edges into a landing pad asks for behind it; `effects` are those of its predecessors.
    pub(super) fn join(&self, code: &Code<'_, 'm>, pad: &LandingPad<'m>, effects: &[Option<Effect>]) {
        let joined = Joined { registers: self, code, pad, effects };
        code.counters.builder.move_before(pad.behind);
        for layer in 0..effects.iter().flatten().map(|effect| effect.counted.len()).max().unwrap_or(0) {
            joined.count(|effect| effect.and_then(|effect| effect.counted.get(layer).copied()));
        }
        joined.set_registers();
    }
}

/// A landing pad with what comes together there. The builder stands behind the pad between any two steps.
struct Joined<'a, 'm> {
    registers: &'a PathRegisters<'a, 'm>,
    code: &'a Code<'a, 'm>,
    pad: &'a LandingPad<'m>,
    /// One per predecessor.
    effects: &'a [Option<Effect>],
}

impl<'m> Joined<'_, 'm> {
    /// What `value` says of the effect of the edge that was taken.
    fn choose_value(&self, value: impl Fn(Option<&Effect>) -> Value<'m>) -> Value<'m> {
        let counters = &self.code.counters;
        counters.builder.move_before(self.pad.first);
        let phi = counters.builder.phi(counters.int64);
        for (&block, effect) in self.pad.predecessors.iter().zip(self.effects) {
            phi.add_incoming(value(effect.as_ref()), block);
        }
        counters.builder.move_before(self.pad.behind);
        phi.into()
    }

    fn choose(&self, number: impl Fn(Option<&Effect>) -> i64) -> Value<'m> {
        self.choose_value(|effect| self.code.counters.int64.signed(number(effect)))
    }

    /// What is added to a register that is kept, or takes the place of one that is not.
    fn constant(&self, linear: Linear) -> Value<'m> {
        let counters = &self.code.counters;
        match self.registers.array {
            Some(_) if linear.times == 0 => {
                self.registers.initial(counters, linear.plus).constant_address_as(counters.int64)
            }
            Some(_) => counters.int64.signed(linear.plus.wrapping_mul(8)),
            None => counters.int64.signed(linear.plus),
        }
    }

    /// The value of the linear function of the edge that was taken.
    fn value(&self, linear: impl Fn(Option<&Effect>) -> Linear) -> Value<'m> {
        let counters = &self.code.counters;
        let all = || self.effects.iter().map(|effect| linear(effect.as_ref()));
        let sources: BTreeSet<Reg> = all().filter(|linear| linear.times != 0).map(|linear| linear.from).collect();
        let mut sum = self.choose_value(|effect| self.constant(linear(effect)));
        for source in sources {
            let times = |effect: Option<&Effect>| {
                let linear = linear(effect);
                if linear.from == source { linear.times } else { 0 }
            };
            let before = self.registers.load_integer(counters, source);
            let part = if self.effects.iter().all(|effect| matches!(times(effect.as_ref()), 0 | 1)) {
                counters.builder.and(before, self.choose(|effect| -times(effect)))
            } else {
                counters.builder.mul(before, self.choose(times))
            };
            sum = counters.builder.add(part, sum);
        }
        sum
    }

    /// An integer as the address that a register holds.
    fn address(&self, value: Value<'m>) -> Value<'m> {
        let counters = &self.code.counters;
        counters.builder.int_to_address(value, counters.address_type())
    }

    /// Counts the path that `counted` says of the edge that was taken, if it says one.
    fn count(&self, counted: impl Fn(Option<&Effect>) -> Option<Linear>) {
        let (counters, spare) = (&self.code.counters, self.code.unit.spare);
        let (int64, paths) = (counters.int64, &self.registers.paths);
        // The index of a word of the slab that is `above` the one of the path; the spare one where none is counted.
        let word = |above: u64| {
            let nowhere = Linear::constant(spare.cast_signed());
            self.value(|effect| counted(effect).map_or(nowhere, |path| path.plus(above.cast_signed())))
        };
        let amount = self.registers.meter.as_ref().map(|meter| {
            let counts = self.choose(|effect| if counted(effect).is_some() { -1 } else { 0 });
            meter.read_if(counters, counts)
        });
        match paths.table {
            PathTable::None => {}
            PathTable::Array { base } if self.registers.array.is_some() => {
                // Registers hold the addresses of words, numbered from the array's first one.
                let nowhere = Linear::constant(spare.wrapping_sub(base).cast_signed());
                counters.increment_at(self.address(self.value(|effect| counted(effect).unwrap_or(nowhere))));
            }
            PathTable::Array { base } => {
                counters.add(word(base), int64.signed(1));
                if let Some(amount) = amount {
                    counters.add(word(base.wrapping_add(paths.plan.key.paths)), amount);
                }
            }
            PathTable::Hashed { function, cache, .. } => {
                let owner = |path: Option<Linear>| path.map_or(NOWHERE, |_| function).cast_signed();
                let owner = self.choose(|effect| owner(counted(effect)));
                let key = self.value(|effect| counted(effect).map_or(Linear::constant(0), |path| path.plus(1)));
                let cache = cache_word(counters, int64.signed(cache.cast_signed()), key);
                ask_runtime(&counters.builder, [owner, key, cache], amount);
            }
        }
    }

    /// Gives registers the values that they have after the edge that was taken. All values are made before any is set.
    fn set_registers(&self) {
        let counters = &self.code.counters;
        let effects = self.effects.iter().flatten();
        let targets: BTreeSet<Reg> = effects.flat_map(|effect| effect.registers.keys().copied()).collect();
        let after = |register| self.value(|effect| effect.map_or(Linear::of(register), |effect| effect.of(register)));
        let values: Vec<_> = targets.iter().map(|&register| after(register)).collect();
        for (&register, value) in targets.iter().zip(values) {
            let value = if self.registers.array.is_some() { self.address(value) } else { value };
            counters.builder.store(value, self.registers.place(register));
        }
    }
}
