//! Path registers and path tables (Ball & Larus 1996, §3.4 and §5).
//!
//! A register is a variable on the stack until the optimiser promotes it. Array entries are counters like any other;
//! where their addresses are constants, the register holds the address of the entry instead of its number, so that
//! counting takes one instruction: position-independent code would have to load the array's address first.
//!
//! - [`hashed`]: counting in hash tables.
//! - [`unwinding`]: what edges into a landing pad do to the registers, as one step.
//! - [`meter`]: what is added up along paths.

mod hashed;
mod meter;
mod unwinding;

use super::MethodLowering;
use crate::ir::{Instruction, Type, Value};
use crate::lower::code::Code;
use crate::lower::counters::Counters;
use crate::lower::edges::LandingPad;
use crate::lower::notes_at_calls::{self, HAS_NONE, IS_ADDRESS};
use cotree_core::ids::FunctionId;
use cotree_core::method::path::{AtCalls, PathMetric, PathPlan, PathTable, Window};
use cotree_core::probe::{PlacedProbe, Probe, Reg};
use cotree_rt::layout::TO_ZEROS;
pub(super) use hashed::fast_path;
use meter::Meter;
use std::collections::{BTreeMap, BTreeSet};

/// The plan of one function's paths, and where they are counted.
#[derive(Clone, Copy)]
pub struct Paths<'a> {
    /// The plan; its probes are those of the layer.
    pub plan: &'a PathPlan,
    /// The table.
    pub table: PathTable,
    /// The function.
    pub function: FunctionId,
    /// What is added up along them.
    pub metric: PathMetric,
}

/// The path registers of one function.
pub(super) struct PathRegisters<'a, 'm> {
    paths: Paths<'a>,
    /// Where each register is; empty if the function needs none.
    places: BTreeMap<Reg, Value<'m>>,
    /// If a metric is added up.
    meter: Option<Meter<'m>>,
    /// The array's first word, if the path register holds not a number but the address of the word with that number.
    array: Option<i64>,
}

impl<'a, 'm> PathRegisters<'a, 'm> {
    /// Makes the registers, all 0: a new activation finds 0 in its path register.
    pub(super) fn new(code: &Code<'_, 'm>, paths: Paths<'a>, [first, entry]: [Instruction<'m>; 2]) -> Self {
        let probes = || paths.plan.probes.iter().map(|placed| placed.probe);
        let mut used: BTreeSet<Reg> = probes().flat_map(|probe| probe.registers()).collect();
        if paths.plan.key.calls.iter().any(|call| matches!(call.1, AtCalls::Query(_))) {
            used.insert(Reg::PathSum);
        }
        let counters = &code.counters;
        let linear = |probe| matches!(probe, Probe::Linear { .. });
        let plain = paths.metric == PathMetric::Count && !probes().any(linear);
        let array = match paths.table {
            PathTable::Array { base } if counters.are_fixed() && plain => Some(base.cast_signed()),
            _ => None,
        };
        let mut registers = Self { paths, places: BTreeMap::new(), meter: None, array };
        let ty = registers.register_type(counters);
        counters.builder.move_before(first);
        registers.places = used.into_iter().map(|register| (register, counters.builder.variable(ty))).collect();
        counters.builder.move_before(entry);
        for &place in registers.places.values() {
            counters.builder.store(registers.initial(counters, 0), place);
        }
        registers.meter = Meter::new(code, paths.metric, [first, entry]);
        registers
    }

    fn register_type(&self, counters: &Counters<'m>) -> Type<'m> {
        if self.array.is_some() { counters.address_type() } else { counters.int64 }
    }

    /// What the register holds for a number.
    fn initial(&self, counters: &Counters<'m>, k: i64) -> Value<'m> {
        self.array.map_or_else(|| counters.int64.signed(k), |first| counters.fixed(first.wrapping_add(k)))
    }

    fn place(&self, register: Reg) -> Value<'m> {
        self.places[&register]
    }

    fn load(&self, counters: &Counters<'m>, register: Reg) -> Value<'m> {
        counters.builder.load(self.register_type(counters), self.place(register)).into()
    }

    /// The register as an integer, whatever it holds.
    fn load_integer(&self, counters: &Counters<'m>, register: Reg) -> Value<'m> {
        let value = self.load(counters, register);
        if self.array.is_some() { counters.builder.address_to_int(value, counters.int64) } else { value }
    }

    /// The sum of what a register holds and a number. An address may leave the array on the way, so nothing is
    /// promised.
    fn plus(&self, counters: &Counters<'m>, value: Value<'m>, constant: i64) -> Value<'m> {
        let number = counters.int64.signed(constant);
        match self.array {
            _ if constant == 0 => value,
            Some(_) => counters.builder.element(counters.int64, value, number, false),
            None => counters.builder.add(value, number),
        }
    }

    /// Counts the path whose number is the sum of a register and a constant.
    fn count_path(&self, code: &Code<'_, 'm>, window: Option<(usize, Window)>, register: Reg, k: i64) -> bool {
        let counters = &code.counters;
        let path = self.load(counters, register);
        let amount = self.meter.as_ref().map(|meter| meter.read(counters));
        match self.paths.table {
            PathTable::None => return false,
            PathTable::Array { .. } if self.array.is_some() => {
                counters.increment_at(self.plus(counters, path, k));
            }
            PathTable::Array { base } => {
                let index = self.plus(counters, path, k.wrapping_add(base.cast_signed()));
                counters.add(index, counters.int64.signed(1));
                if let Some(amount) = amount {
                    counters.add(self.plus(counters, index, self.paths.plan.key.paths.cast_signed()), amount);
                }
            }
            PathTable::Hashed { function, cache, windows } => {
                self.count_hashed(code, [function, cache, windows], (path, k, amount), window);
            }
        }
        true
    }

    /// Counts the path whose number is the sum of both: in the window if it is one of its paths, else in the hash
    /// table.
    fn count_hashed(
        &self,
        code: &Code<'_, 'm>,
        [function, cache, windows]: [u64; 3],
        (register, plus, amount): (Value<'m>, i64, Option<Value<'m>>),
        window: Option<(usize, Window)>,
    ) {
        let counters = &code.counters;
        let (place, window) = window.map_or((0, Window { first: 0, len: 0 }), |(index, window)| {
            let before: u64 = self.paths.plan.key.windows[..index].iter().map(|window| window.len).sum();
            (windows + before, window)
        });
        let constant = |value: u64| counters.int64.signed(value.cast_signed());
        let above = self.plus(counters, register, plus.wrapping_sub(window.first.cast_signed()));
        let key = self.plus(counters, register, plus.wrapping_add(1));
        let [slab, in_assembly] = counters.pointers();
        let (fast, ty) = fast_path(counters, amount.is_some());
        let mut arguments = vec![
            slab,
            in_assembly,
            above,
            constant(window.len),
            constant(place),
            key,
            constant(function),
            constant(cache),
            constant(code.unit.spare + TO_ZEROS),
        ];
        if let Some(amount) = amount {
            arguments.extend([constant(self.paths.plan.key.words_of_windows()), amount]);
        }
        counters.builder.call(ty, fast, &arguments);
    }
}

impl<'m> MethodLowering<'m> for PathRegisters<'_, 'm> {
    fn probe(&self, code: &Code<'_, 'm>, _base: u64, placed: PlacedProbe) -> bool {
        let counters = &code.counters;
        let builder = &counters.builder;
        match placed.probe {
            Probe::Set(register, k) => {
                builder.store(self.initial(counters, k), self.place(register));
            }
            Probe::Add(register, k) => {
                let sum = self.plus(counters, self.load(counters, register), k);
                builder.store(sum, self.place(register));
            }
            Probe::Linear { to, from, times, plus } => {
                let mut value = self.load(counters, from);
                if times != 1 {
                    value = builder.mul(value, counters.int64.signed(times));
                }
                builder.store(self.plus(counters, value, plus), self.place(to));
            }
            Probe::CountPath(table, register, k) => {
                return self.count_path(code, Window::of(&self.paths.plan.key.windows, table), register, k);
            }
            _ => return false,
        }
        true
    }

    fn on_unwind_edges(
        &self,
        code: &Code<'_, 'm>,
        _base: u64,
        pad: &LandingPad<'m>,
        probes: &[Option<Vec<Probe>>],
    ) -> Result<(), Probe> {
        self.join(code, pad, &unwinding::effects(probes)?);
        Ok(())
    }

    /// The function's calls carry their registers.
    fn at_calls(&self, code: &Code<'_, 'm>) {
        if !code.unit.registers_at_calls || !notes_at_calls::can_carry(code.ir.function) {
            return;
        }
        let (module, counters) = (code.module, &code.counters);
        for (site, (facts, &call)) in code.facts.sites().zip(code.calls).enumerate() {
            let link = |flag| notes_at_calls::link(module, self.paths.function.0 | flag, site);
            let Some(AtCalls::Query(_)) = self.paths.plan.key.at_calls(facts.block) else {
                notes_at_calls::carry(module, call, &link(HAS_NONE));
                continue;
            };
            counters.builder.move_before(*call);
            let mut values = link(if self.array.is_some() { IS_ADDRESS } else { 0 }).to_vec();
            values.extend(self.array.map(|first| counters.int64.signed(first)));
            values.push(self.load_integer(counters, Reg::PathSum));
            notes_at_calls::carry(module, call, &values);
        }
    }
}
