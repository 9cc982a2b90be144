//! Paths across functions (Melski & Reps 1998, §5.5 and §6.3): registers, the words that pass paths between functions,
//! and tables.
//!
//! Registers are variables on the stack until the optimiser promotes them. The words are memory of the thread's slab:
//! where a callee is inlined, the optimiser sees who writes what is read, and nothing of them is left.

mod notes;
mod open;

use super::lowering::MethodLowering;
use super::path::{fast_path, total};
use crate::ir::{Instruction, Value};
use crate::lower::block_notes::BlockNotes;
use crate::lower::code::Code;
use crate::lower::counters::Counters;
use crate::lower::landing_pad::LandingPad;
use crate::lower::notes_at_calls::{self, HAS_NONE};
use cotree_core::ids::{CallId, FunctionId, Word};
use cotree_core::method::ipath::{ANY, AtCall, FunctionKey, IpathPlan, IpathTables, NOTED, SoFar, UnitIpathPlan};
use cotree_core::method::path::PathMetric;
use cotree_core::plan::FunctionPlan;
use cotree_core::probe::{Place, PlacedProbe, Probe, Reg};
use cotree_rt::layout::TO_ZEROS;
use llvm_sys::LLVMIntPredicate;
use open::{Counted, count, count_unless};
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
    /// What is added up along them.
    pub metric: PathMetric,
    /// What recovers the function's counts.
    pub key: &'a FunctionKey,
    /// What registers say of the path, per stretch of the function's blocks.
    pub so_far: &'a [SoFar],
}

impl<'a> CallPaths<'a> {
    /// Makes the lowering of a function of the unit.
    pub(crate) fn new(unit: &'a UnitIpathPlan, tables: &'a IpathTables, function: FunctionId) -> Self {
        let IpathPlan { key, so_far, .. } = &unit.functions[function.index()];
        Self { function, tables, array: unit.array, metric: unit.metric, key, so_far }
    }

    /// Whether paths run on past the call without its callee.
    fn runs_on(&self, call: CallId) -> bool {
        self.key.at(call).is_some_and(AtCall::runs_on)
    }
}

/// The registers of one function.
pub(super) struct CallPathRegisters<'a, 'm> {
    paths: CallPaths<'a>,
    /// Where each register is.
    places: BTreeMap<Reg, Value<'m>>,
    /// The calls that note a path: its number is the register and a constant.
    noted: BTreeMap<CallId, (Reg, i64)>,
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
        let noted = plan.probes.iter().filter_map(|placed| match (placed.place, placed.probe) {
            // The path that ended before the call, or what ends there if the activation does.
            (Place::Call(call), Probe::CountPath(_, register, plus)) => Some((call, (register, plus))),
            (Place::Call(call), Probe::Linear { to: NOTED, .. }) if paths.runs_on(call) => Some((call, (NOTED, 0))),
            _ => None,
        });
        let noted = noted.collect();
        Self { paths, places, noted }
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

    /// Where the path is counted whose number is the sum of a register and a constant.
    fn counted(&self, code: &Code<'_, 'm>, anywhere: bool, register: Reg, plus: i64) -> Counted<'m> {
        let (counters, IpathTables { array, caches, .. }) = (&code.counters, self.paths.tables);
        let amount = self.paths.metric.is_summed().then(|| self.load(counters, Reg::CallAmount));
        if !anywhere {
            let index = self.linear(counters, register, 1, plus.wrapping_add(array.cast_signed()));
            let sum = amount.map(|amount| [counters.int64.constant(self.paths.array), amount]);
            return Counted::Word([index].into_iter().chain(sum.into_iter().flatten()).collect());
        }
        let cache = caches[self.paths.function.index()].expect("functions that count anywhere have a cache");
        let constant = |value: u64| counters.int64.signed(value.cast_signed());
        let words = [
            self.linear(counters, register, 1, plus),
            constant(self.paths.array),
            constant(*array),
            self.linear(counters, register, 1, plus.wrapping_add(1)),
            constant(u64::from(self.paths.function.0)),
            constant(cache),
            constant(code.unit.spare + TO_ZEROS),
        ];
        let sum = amount.map(|amount| [constant(self.paths.array), amount]);
        Counted::Anywhere(words.into_iter().chain(sum.into_iter().flatten()).collect())
    }

    /// Counts the path whose number is the sum of a register and a constant.
    fn count(&self, code: &Code<'_, 'm>, anywhere: bool, register: Reg, plus: i64) {
        let counters = &code.counters;
        count(counters, &self.counted(code, anywhere, register, plus));
    }
}

/// The name of a function by its address.
fn named<'m>(counters: &Counters<'m>, address: Value<'m>, plus: i64) -> Value<'m> {
    let (builder, int64) = (&counters.builder, counters.int64);
    builder.sub(int64.signed(plus.wrapping_neg()), builder.address_to_int(address, int64))
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
            Probe::CountPathUnless { table, reg, flag } => {
                let counted = self.counted(code, table == ANY, reg, 0);
                count_unless(counters, self.load(counters, flag), &counted);
            }
            Probe::NameCallee { word, plus } => {
                let Place::Call(call) = placed.place else { return false };
                let Some(call) = code.ir.calls.get(call.index()).and_then(|call| call.as_call()) else { return false };
                counters.store(self.word(counters, word), named(counters, code.present(call.called()), plus));
            }
            Probe::ClaimByAddress { to, word, plus } => {
                let word = self.word(counters, word);
                let found = counters.load(word, int64);
                let name = named(counters, code.ir.function.into(), plus);
                let is_named = builder.compare(LLVMIntPredicate::LLVMIntEQ, found, name);
                counters.store(word, builder.select(is_named, int64.constant(0), found));
                self.store(counters, to, builder.select(is_named, int64.constant(0), int64.constant(1)));
            }
            Probe::Meter { amount, since } => {
                let now = total(counters, self.paths.metric);
                let risen = builder.sub(now, self.load(counters, since));
                self.store(counters, amount, risen);
                self.store(counters, since, now);
            }
            Probe::CopyUnless { to, flag, from } => {
                let value = self.unless(counters, flag, self.load(counters, from), self.load(counters, to));
                self.store(counters, to, value);
            }
            Probe::Claim { to, word, mark } => {
                let word = self.word(counters, word);
                let found = counters.load(word, int64);
                let named = builder.compare(LLVMIntPredicate::LLVMIntEQ, found, int64.signed(mark));
                counters.store(word, builder.select(named, int64.constant(0), found));
                self.store(counters, to, builder.select(named, int64.constant(1), int64.constant(0)));
            }
            _ => return false,
        }
        true
    }

    /// On each unwind edge registers are set to constants, or to what one of them holds and a constant. Phis say which.
    /// The metric is read on some of them.
    fn on_unwind_edges(
        &self,
        code: &Code<'_, 'm>,
        _base: u64,
        pad: &LandingPad<'m>,
        probes: &[Option<Vec<Probe>>],
    ) -> Result<(), Probe> {
        let counters = &code.counters;
        let (builder, int64) = (&counters.builder, counters.int64);
        // Per register and edge, what it is a copy of, and what is added.
        let mut set: BTreeMap<Reg, Vec<(Option<Reg>, i64)>> = BTreeMap::new();
        let mut read: BTreeMap<Reg, Vec<bool>> = BTreeMap::new();
        for (edge, probes) in probes.iter().enumerate() {
            for &probe in probes.iter().flatten() {
                let (to, value) = match probe {
                    Probe::Meter { since, .. } => {
                        read.entry(since).or_insert_with(|| vec![false; pad.predecessors.len()])[edge] = true;
                        continue;
                    }
                    Probe::Linear { to, from, times: times @ (0 | 1), plus } => {
                        (to, ((times == 1).then_some(from), plus))
                    }
                    Probe::Add(to, plus) => (to, (Some(to), plus)),
                    _ => return Err(probe),
                };
                // Where nothing is said it keeps its value.
                set.entry(to).or_insert_with(|| vec![(Some(to), 0); pad.predecessors.len()])[edge] = value;
            }
        }
        let chosen = |values: &mut dyn Iterator<Item = i64>| {
            let values: Vec<i64> = values.collect();
            builder.move_before(pad.first);
            let phi = builder.phi(int64);
            for (&block, value) in pad.predecessors.iter().zip(values) {
                phi.add_incoming(int64.signed(value), block);
            }
            builder.move_before(pad.behind);
            phi.into()
        };
        // What registers hold is read before any is set.
        let mut values: Vec<(Reg, Value<'m>)> = Vec::new();
        for (&register, edges) in &set {
            let sources: BTreeSet<Reg> = edges.iter().filter_map(|edge| edge.0).collect();
            let added: Value<'m> = chosen(&mut edges.iter().map(|edge| edge.1));
            let value = match &sources.into_iter().collect::<Vec<_>>()[..] {
                [] => added,
                &[source] => {
                    let mut value = self.load(counters, source);
                    if edges.iter().any(|edge| edge.0.is_none()) {
                        let times: Value<'m> = chosen(&mut edges.iter().map(|edge| i64::from(edge.0.is_some())));
                        value = builder.mul(value, times);
                    }
                    builder.add(value, added)
                }
                _ => return Err(Probe::constant(register, 0)),
            };
            values.push((register, value));
        }
        for (since, edges) in read {
            let now = total(counters, self.paths.metric);
            let before = self.load(counters, since);
            let times = chosen(&mut edges.iter().map(|&read| i64::from(read)));
            values.push((since, builder.add(before, builder.mul(builder.sub(now, before), times))));
        }
        for (register, value) in values {
            self.store(counters, register, value);
        }
        Ok(())
    }

    fn changes_paths_in_calls(&self) -> bool {
        true
    }

    fn note_paths(&self, code: &Code<'_, 'm>, notes: &BlockNotes<'m>) {
        self.note_in_debug_info(code, notes);
    }

    /// The function's calls carry the numbers of the paths that end before or in them.
    fn at_calls(&self, code: &Code<'_, 'm>) {
        if !code.unit.registers_at_calls || !notes_at_calls::can_carry(code.ir.function) {
            return;
        }
        let (module, counters) = (code.module, &code.counters);
        let sites = code.facts.calls.numbered().filter(|(_, facts)| facts.is_site);
        for (site, ((id, _), &call)) in sites.zip(code.calls).enumerate() {
            let link = |flag| notes_at_calls::link(module, self.paths.function.0 | flag, site);
            let Some(&(register, plus)) = self.noted.get(&id) else {
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
