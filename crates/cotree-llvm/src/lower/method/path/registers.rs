//! The path registers of one function, and counting by them.

use super::hashed::fast_path;
use super::meter::Meter;
use crate::ir::{Instruction, Type, Value};
use crate::lower::code::Code;
use crate::lower::counters::Counters;
use cotree_core::ids::FunctionId;
use cotree_core::method::path::{AtCalls, PathMetric, PathPlan, PathTable, Window};
use cotree_core::probe::{Probe, Reg};
use cotree_rt::layout::TO_ZEROS;
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
pub(in crate::lower::method) struct PathRegisters<'a, 'm> {
    pub(super) paths: Paths<'a>,
    /// Where each register is; empty if the function needs none.
    pub(super) places: BTreeMap<Reg, Value<'m>>,
    /// If a metric is added up.
    pub(super) meter: Option<Meter<'m>>,
    /// The array's first word, if the path register holds not a number but the address of the word with that number.
    pub(super) array: Option<i64>,
}

impl<'a, 'm> PathRegisters<'a, 'm> {
    /// Makes the registers, all 0: a new activation finds 0 in its path register.
    pub(in crate::lower::method) fn new(
        code: &Code<'_, 'm>,
        paths: Paths<'a>,
        [first, entry]: [Instruction<'m>; 2],
    ) -> Self {
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

    pub(super) fn register_type(&self, counters: &Counters<'m>) -> Type<'m> {
        if self.array.is_some() { counters.address_type() } else { counters.int64 }
    }

    /// What the register holds for a number.
    pub(super) fn initial(&self, counters: &Counters<'m>, k: i64) -> Value<'m> {
        self.array.map_or_else(|| counters.int64.signed(k), |first| counters.fixed(first.wrapping_add(k)))
    }

    pub(super) fn place(&self, register: Reg) -> Value<'m> {
        self.places[&register]
    }

    pub(super) fn load(&self, counters: &Counters<'m>, register: Reg) -> Value<'m> {
        counters.builder.load(self.register_type(counters), self.place(register)).into()
    }

    /// The register as an integer, whatever it holds.
    pub(super) fn load_integer(&self, counters: &Counters<'m>, register: Reg) -> Value<'m> {
        let value = self.load(counters, register);
        if self.array.is_some() { counters.builder.address_to_int(value, counters.int64) } else { value }
    }

    /// The sum of what a register holds and a number. An address may leave the array in between, so nothing is
    /// promised.
    pub(super) fn plus(&self, counters: &Counters<'m>, value: Value<'m>, constant: i64) -> Value<'m> {
        let number = counters.int64.signed(constant);
        match self.array {
            _ if constant == 0 => value,
            Some(_) => counters.builder.element(counters.int64, value, number, false),
            None => counters.builder.add(value, number),
        }
    }

    /// Counts the path whose number is the sum of a register and a constant.
    pub(super) fn count_path(
        &self,
        code: &Code<'_, 'm>,
        window: Option<(usize, Window)>,
        register: Reg,
        k: i64,
    ) -> bool {
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
    pub(super) fn count_hashed(
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
