//! Paths across functions (Melski & Reps 1998, §5.5 and §6.3): registers, the words that pass paths between functions,
//! and tables.
//!
//! Registers are variables on the stack until the optimiser promotes them. The words are memory of the thread's slab:
//! where a callee is inlined, the optimiser sees who writes what is read, and nothing of them is left.

use super::lowering::MethodLowering;
use super::path::fast_path;
use crate::ir::{Instruction, Value};
use crate::lower::code::Code;
use crate::lower::counters::Counters;
use crate::lower::landing_pad::LandingPad;
use crate::lower::notes_at_calls::{self, HAS_NONE};
use cotree_core::ids::{CallId, FunctionId, Word};
use cotree_core::method::ipath::{ANY, IpathTables, UnitIpathPlan};
use cotree_core::plan::FunctionPlan;
use cotree_core::probe::{Place, PlacedProbe, Probe, Reg};
use cotree_rt::layout::TO_ZEROS;
use llvm_sys::LLVMIntPredicate;
use std::collections::{BTreeMap, BTreeSet};

/// The unit's paths, as one function needs to know them.
#[derive(Clone, Copy)]
pub struct CallPaths<'a> {
    /// The function.
    pub function: FunctionId,
    /// Where paths are counted and passed.
    pub tables: &'a IpathTables,
    /// How many of them have a word of their own.
    pub array: u64,
}

impl<'a> CallPaths<'a> {
    /// Makes the lowering of a function of the unit.
    pub(crate) fn new(unit: &UnitIpathPlan, tables: &'a IpathTables, function: FunctionId) -> Self {
        Self { function, tables, array: unit.array }
    }
}

/// The registers of one function.
pub(super) struct CallPathRegisters<'a, 'm> {
    paths: CallPaths<'a>,
    /// Where each register is.
    places: BTreeMap<Reg, Value<'m>>,
    /// The calls before which a path ends: what its number is above the register.
    ended: BTreeMap<CallId, (Reg, i64)>,
}

impl<'a, 'm> CallPathRegisters<'a, 'm> {
    /// Makes the registers that the probes use, all 0.
    pub(super) fn new(
        code: &Code<'_, 'm>,
        paths: CallPaths<'a>,
        plan: FunctionPlan<'_>,
        [first, entry]: [Instruction<'m>; 2],
    ) -> Self {
        let used: BTreeSet<Reg> = plan.probes.iter().flat_map(|placed| placed.probe.registers()).collect();
        let (builder, int64) = (&code.counters.builder, code.counters.int64);
        builder.move_before(first);
        let places: BTreeMap<Reg, Value<'m>> = used.into_iter().map(|reg| (reg, builder.variable(int64))).collect();
        builder.move_before(entry);
        for &place in places.values() {
            builder.store(int64.constant(0), place);
        }
        let ended = plan.probes.iter().filter_map(|placed| match (placed.place, placed.probe) {
            (Place::Call(call), Probe::CountPath(_, register, plus)) => Some((call, (register, plus))),
            _ => None,
        });
        Self { paths, places, ended: ended.collect() }
    }

    fn load(&self, counters: &Counters<'m>, register: Reg) -> Value<'m> {
        counters.builder.load(counters.int64, self.places[&register]).into()
    }

    fn store(&self, counters: &Counters<'m>, register: Reg, value: Value<'m>) {
        counters.builder.store(value, self.places[&register]);
    }

    /// `from * times + plus`.
    fn linear(&self, counters: &Counters<'m>, from: Reg, times: i64, plus: i64) -> Value<'m> {
        let (builder, int64) = (&counters.builder, counters.int64);
        let value = match times {
            0 => return int64.signed(plus),
            1 => self.load(counters, from),
            _ => builder.mul(self.load(counters, from), int64.signed(times)),
        };
        if plus == 0 { value } else { builder.add(value, int64.signed(plus)) }
    }

    fn word(&self, counters: &Counters<'m>, word: Word) -> Value<'m> {
        counters.int64.constant(self.paths.tables.words + u64::from(word.0))
    }

    /// One value where the register is 0, else another.
    fn unless(&self, counters: &Counters<'m>, flag: Reg, then: Value<'m>, otherwise: Value<'m>) -> Value<'m> {
        let (builder, int64) = (&counters.builder, counters.int64);
        let none = builder.compare(LLVMIntPredicate::LLVMIntEQ, self.load(counters, flag), int64.constant(0));
        builder.select(none, then, otherwise)
    }

    /// Counts the path whose number is the sum of a register and a constant.
    fn count(&self, code: &Code<'_, 'm>, anywhere: bool, register: Reg, plus: i64) {
        let (counters, IpathTables { array, caches, .. }) = (&code.counters, self.paths.tables);
        let cache = caches[self.paths.function.index()].filter(|_| anywhere);
        let Some(cache) = cache else {
            let index = self.linear(counters, register, 1, plus.wrapping_add(array.cast_signed()));
            counters.add(index, counters.int64.constant(1));
            return;
        };
        let constant = |value: u64| counters.int64.signed(value.cast_signed());
        let number = self.linear(counters, register, 1, plus);
        let key = self.linear(counters, register, 1, plus.wrapping_add(1));
        let [slab, in_assembly] = counters.pointers();
        let (fast, ty) = fast_path(counters, false);
        let arguments = [
            slab,
            in_assembly,
            number,
            constant(self.paths.array),
            constant(*array),
            key,
            constant(u64::from(self.paths.function.0)),
            constant(cache),
            constant(code.unit.spare + TO_ZEROS),
        ];
        counters.builder.call(ty, fast, &arguments);
    }
}

impl<'m> MethodLowering<'m> for CallPathRegisters<'_, 'm> {
    fn probe(&self, code: &Code<'_, 'm>, _base: u64, placed: PlacedProbe) -> bool {
        let counters = &code.counters;
        let (builder, int64) = (&counters.builder, counters.int64);
        match placed.probe {
            Probe::Add(register, k) => self.store(counters, register, self.linear(counters, register, 1, k)),
            Probe::Linear { to, from, times, plus } => {
                self.store(counters, to, self.linear(counters, from, times, plus));
            }
            Probe::AddProduct { to, factor, times } => {
                let product = builder.mul(self.load(counters, factor), self.load(counters, times));
                self.store(counters, to, builder.add(self.load(counters, to), product));
            }
            Probe::Read(register, word) => {
                let value = counters.load(self.word(counters, word), int64);
                self.store(counters, register, value);
            }
            Probe::Write { word, from, times, plus } => {
                counters.store(self.word(counters, word), self.linear(counters, from, times, plus));
            }
            Probe::SetUnless(register, flag, k) => {
                let value = self.unless(counters, flag, int64.signed(k), self.load(counters, register));
                self.store(counters, register, value);
            }
            Probe::AddUnless(register, flag, k) => {
                let more = self.unless(counters, flag, int64.signed(k), int64.constant(0));
                self.store(counters, register, builder.add(self.load(counters, register), more));
            }
            Probe::CountPath(table, register, k) => self.count(code, table == ANY, register, k),
            _ => return false,
        }
        true
    }

    /// A path begins on each unwind edge: registers are set to constants, or to what another one holds and a constant.
    /// Which, phis say.
    fn on_unwind_edges(
        &self,
        code: &Code<'_, 'm>,
        _base: u64,
        pad: &LandingPad<'m>,
        probes: &[Option<Vec<Probe>>],
    ) -> Result<(), Probe> {
        let counters = &code.counters;
        let (builder, int64) = (&counters.builder, counters.int64);
        // Per register, what it is a copy of, and what is added on each edge.
        let mut set: BTreeMap<Reg, (Option<Reg>, Vec<i64>)> = BTreeMap::new();
        for (edge, probes) in probes.iter().enumerate() {
            for &probe in probes.iter().flatten() {
                let Probe::Linear { to, from, times: times @ (0 | 1), plus } = probe else { return Err(probe) };
                let of = (times == 1).then_some(from);
                let (source, added) = set.entry(to).or_insert((of, Vec::new()));
                if *source != of {
                    return Err(probe);
                }
                added.resize(pad.predecessors.len(), 0);
                added[edge] = plus;
            }
        }
        for (register, (source, added)) in set {
            builder.move_before(pad.first);
            let phi = builder.phi(int64);
            for (&block, plus) in pad.predecessors.iter().zip(added) {
                phi.add_incoming(int64.signed(plus), block);
            }
            builder.move_before(pad.behind);
            let value = match source {
                None => phi.into(),
                Some(source) => builder.add(self.load(counters, source), phi),
            };
            self.store(counters, register, value);
        }
        Ok(())
    }

    /// The function's calls carry the numbers of the paths that end before them.
    fn at_calls(&self, code: &Code<'_, 'm>) {
        if !code.unit.registers_at_calls || !notes_at_calls::can_carry(code.ir.function) {
            return;
        }
        let (module, counters) = (code.module, &code.counters);
        let sites = code.facts.calls.numbered().filter(|(_, facts)| facts.is_site);
        for (site, ((id, _), &call)) in sites.zip(code.calls).enumerate() {
            let link = |flag| notes_at_calls::link(module, self.paths.function.0 | flag, site);
            let Some(&(register, plus)) = self.ended.get(&id) else {
                notes_at_calls::carry(module, call, &link(HAS_NONE));
                continue;
            };
            counters.builder.move_before(*call);
            let mut values = link(0).to_vec();
            values.push(self.linear(counters, register, 1, plus));
            notes_at_calls::carry(module, call, &values);
        }
    }
}
