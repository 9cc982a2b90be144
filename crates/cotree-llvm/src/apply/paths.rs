//! Path registers and path tables (Ball & Larus 1996, §3.4 and §5).
//!
//! A register is a variable on the stack until the optimiser promotes it. Array entries are counters like any other; where
//! their addresses are constants, the register holds the address of the entry instead of its number, so that counting takes
//! one instruction: position-independent code would have to load the array's address first.
//!
//! Hash tables: [`super::hashed`].

use super::bundles::{self, HAS_NONE, IS_ADDRESS};
use super::counters::Counters;
use super::hashed::{ask_runtime, cache_word, fast_path};
use super::meter::Meter;
use crate::ffi::*;
use crate::module::Module;
use cotree_core::facts::Function;
use cotree_core::method::path::{AtCalls, PathMetric, PathPlan, PathTable, Window};
use cotree_core::probe::{Probe, Reg};
use cotree_rt::layout::TO_ZEROS;
use llvm_sys::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A function number by which the runtime knows that there is nothing to count.
const NOWHERE: u64 = u64::MAX;

/// The plan of one function's paths, and where they are counted.
#[derive(Clone, Copy)]
pub struct Paths<'a> {
    /// The plan; its probes are those of the layer.
    pub plan: &'a PathPlan,
    /// The table.
    pub table: PathTable,
    /// The function's number in the unit.
    pub function: u32,
    /// What is added up along them.
    pub metric: PathMetric,
}

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

/// What a traversal does to the path registers, as one step, for edges that have to share their instructions: all is said
/// in terms of the registers before.
#[derive(Clone, Default)]
pub(super) struct Effect {
    /// What registers hold after it. The others keep their values.
    registers: BTreeMap<Reg, Linear>,
    /// The numbers of the paths that are counted on the way.
    counted: Vec<Linear>,
}

impl Effect {
    /// What the register holds after it.
    fn of(&self, register: Reg) -> Linear {
        self.registers.get(&register).copied().unwrap_or(Linear::of(register))
    }

    /// Adds a probe; false if it has nothing to do with paths.
    pub(super) fn probe(&mut self, probe: Probe) -> bool {
        let (register, value) = match probe {
            Probe::Set(register, k) => (register, Linear::constant(k)),
            Probe::Add(register, k) => (register, self.of(register).plus(k)),
            Probe::Linear { to, from, times, plus } => (to, self.of(from).times(times).plus(plus)),
            Probe::CountPath(_, register, k) => {
                self.counted.push(self.of(register).plus(k));
                return true;
            }
            _ => return false,
        };
        self.registers.insert(register, value);
        true
    }
}

/// The path registers of one function.
pub(super) struct PathRegisters<'a> {
    module: &'a Module,
    paths: Paths<'a>,
    /// The word of the slab that nobody reads.
    spare: u64,
    /// Where each register is; empty if the function needs none.
    places: BTreeMap<Reg, LLVMValueRef>,
    /// If a metric is added up.
    meter: Option<Meter>,
    /// The array's first word, if the path register holds not a number but the address of the word with that number.
    array: Option<i64>,
}

impl<'a> PathRegisters<'a> {
    /// Makes the registers, all 0: a new activation finds 0 in its path register.
    ///
    /// # Safety
    /// `first` must be the entry block's first instruction, and `entry` where its code begins.
    pub(super) unsafe fn new(
        module: &'a Module,
        counters: &Counters,
        paths: Paths<'a>,
        spare: u64,
        function: &Function,
        [first, entry]: [LLVMValueRef; 2],
    ) -> Self {
        let probes = || paths.plan.probes.iter().map(|placed| placed.probe);
        let mut used: BTreeSet<Reg> = probes().flat_map(|probe| probe.registers()).collect();
        if paths.plan.key.calls.iter().any(|call| matches!(call.1, AtCalls::Query(_))) {
            used.insert(Reg::PathSum);
        }
        let linear = |probe| matches!(probe, Probe::Linear { .. });
        let plain = paths.metric == PathMetric::Count && !probes().any(linear);
        let array = match paths.table {
            PathTable::Array { base } if counters.are_fixed() && plain => Some(base.cast_signed()),
            _ => None,
        };
        let mut registers = Self { module, paths, spare, places: BTreeMap::new(), meter: None, array };
        // SAFETY: as the caller promises.
        unsafe {
            let ty = if array.is_some() { counters.address_type() } else { counters.int64 };
            counters.position_before(first);
            let place = |register| (register, LLVMBuildAlloca(counters.builder, ty, c"".as_ptr()));
            registers.places = used.into_iter().map(place).collect();
            counters.position_before(entry);
            for &place in registers.places.values() {
                LLVMBuildStore(counters.builder, registers.initial(counters, 0), place);
            }
            registers.meter = Meter::new(module, counters, paths.metric, function, first, entry);
        }
        registers
    }

    /// What the register holds for a number.
    fn initial(&self, counters: &Counters, k: i64) -> LLVMValueRef {
        self.array.map_or_else(|| number(counters, k), |first| counters.fixed(first.wrapping_add(k)))
    }

    fn place(&self, register: Reg) -> LLVMValueRef {
        self.places[&register]
    }

    /// # Safety
    /// The builder must be positioned in the function.
    unsafe fn load(&self, counters: &Counters, register: Reg) -> LLVMValueRef {
        let ty = if self.array.is_some() { counters.address_type() } else { counters.int64 };
        // SAFETY: as the caller promises.
        unsafe { LLVMBuildLoad2(counters.builder, ty, self.place(register), c"".as_ptr()) }
    }

    /// The register as an integer, whatever it holds.
    ///
    /// # Safety
    /// The builder must be positioned in the function.
    unsafe fn load_integer(&self, counters: &Counters, register: Reg) -> LLVMValueRef {
        // SAFETY: as the caller promises.
        unsafe {
            let value = self.load(counters, register);
            match self.array {
                Some(_) => LLVMBuildPtrToInt(counters.builder, value, counters.int64, c"".as_ptr()),
                None => value,
            }
        }
    }

    /// # Safety
    /// The builder must be positioned in the function.
    unsafe fn plus(&self, counters: &Counters, value: LLVMValueRef, constant: i64) -> LLVMValueRef {
        if constant == 0 {
            return value;
        }
        // SAFETY: as the caller promises. An address may leave the array on the way, so nothing is promised.
        unsafe {
            match self.array {
                Some(_) => {
                    let mut indices = [number(counters, constant)];
                    LLVMBuildGEP2(counters.builder, counters.int64, value, indices.as_mut_ptr(), 1, c"".as_ptr())
                }
                None => LLVMBuildAdd(counters.builder, value, number(counters, constant), c"".as_ptr()),
            }
        }
    }

    /// Emits a probe; false if it has nothing to do with paths.
    ///
    /// # Safety
    /// The builder must be positioned in the function.
    pub(super) unsafe fn probe(&self, counters: &Counters, probe: Probe) -> bool {
        // SAFETY: as the caller promises.
        unsafe {
            match probe {
                Probe::Set(register, k) => {
                    LLVMBuildStore(counters.builder, self.initial(counters, k), self.place(register));
                }
                Probe::Add(register, k) => {
                    let sum = self.plus(counters, self.load(counters, register), k);
                    LLVMBuildStore(counters.builder, sum, self.place(register));
                }
                Probe::Linear { to, from, times, plus } => {
                    let mut value = self.load(counters, from);
                    if times != 1 {
                        value = LLVMBuildMul(counters.builder, value, number(counters, times), c"".as_ptr());
                    }
                    LLVMBuildStore(counters.builder, self.plus(counters, value, plus), self.place(to));
                }
                Probe::CountPath(table, register, k) => {
                    let path = self.load(counters, register);
                    let amount = self.meter.as_ref().map(|meter| meter.read(self.module, counters));
                    match self.paths.table {
                        PathTable::None => return false,
                        PathTable::Array { .. } if self.array.is_some() => {
                            counters.increment_at(self.plus(counters, path, k));
                        }
                        PathTable::Array { base } => {
                            let index = self.plus(counters, path, k.wrapping_add(base.cast_signed()));
                            counters.add(index, number(counters, 1));
                            if let Some(amount) = amount {
                                let sums = self.paths.plan.key.paths.cast_signed();
                                counters.add(self.plus(counters, index, sums), amount);
                            }
                        }
                        PathTable::Hashed { function, cache, windows } => {
                            let window = Window::of(&self.paths.plan.key.windows, table);
                            self.count_hashed(counters, function, (path, k, amount), cache, window, windows);
                        }
                    }
                }
                _ => return false,
            }
        }
        true
    }

    /// Counts the path whose number is the sum of both: in the window if it is one of its paths, else in the hash
    /// table.
    ///
    /// # Safety
    /// The builder must be positioned in the function.
    unsafe fn count_hashed(
        &self,
        counters: &Counters,
        function: u64,
        (register, plus, amount): (LLVMValueRef, i64, Option<LLVMValueRef>),
        cache: u64,
        window: Option<(usize, Window)>,
        windows: u64,
    ) {
        let (place, window) = window.map_or((0, Window { first: 0, len: 0 }), |(index, window)| {
            let before: u64 = self.paths.plan.key.windows[..index].iter().map(|window| window.len).sum();
            (windows + before, window)
        });
        let constant = |value: u64| number(counters, value.cast_signed());
        // SAFETY: as the caller promises.
        unsafe {
            let above = self.plus(counters, register, plus.wrapping_sub(window.first.cast_signed()));
            let key = self.plus(counters, register, plus.wrapping_add(1));
            let [slab, in_assembly] = counters.pointers();
            let (fast, ty) = fast_path(self.module, counters, amount.is_some());
            let mut arguments = vec![
                slab,
                in_assembly,
                above,
                constant(window.len),
                constant(place),
                key,
                constant(function),
                constant(cache),
                constant(self.spare + TO_ZEROS),
            ];
            if let Some(amount) = amount {
                arguments.extend([constant(self.paths.plan.key.words_of_windows()), amount]);
            }
            let count = u32::try_from(arguments.len()).expect("few arguments");
            LLVMBuildCall2(counters.builder, ty, fast, arguments.as_mut_ptr(), count, c"".as_ptr());
        }
    }

    /// Does what each of several edges asks for at the place where they have come together: `of_predecessor` holds the
    /// effect of each edge's source, where it has one. Without jumps: what differs comes from phis.
    ///
    /// # Safety
    /// `first` must be the first instruction of a block with these predecessors, `behind` where its code begins.
    pub(super) unsafe fn join(
        &self,
        counters: &Counters,
        of_predecessor: &[(LLVMBasicBlockRef, Option<&Effect>)],
        first: LLVMValueRef,
        behind: LLVMValueRef,
    ) {
        let spare = self.spare;
        let effects = || of_predecessor.iter().filter_map(|(_, effect)| *effect);
        let choose_value = |value: &dyn Fn(Option<&Effect>) -> LLVMValueRef| {
            // SAFETY: as the caller promises; one entry per predecessor.
            unsafe {
                counters.position_before(first);
                let phi = LLVMBuildPhi(counters.builder, counters.int64, c"".as_ptr());
                for &(mut block, effect) in of_predecessor {
                    let mut entry = value(effect);
                    LLVMAddIncoming(phi, &raw mut entry, &raw mut block, 1);
                }
                counters.position_before(behind);
                phi
            }
        };
        let choose = |value: &dyn Fn(Option<&Effect>) -> i64| choose_value(&|effect| number(counters, value(effect)));
        // What is added to a register that is kept, or takes the place of one that is not.
        let constant = |linear: Linear| match self.array {
            // SAFETY: an address that is a constant.
            Some(_) if linear.times == 0 => unsafe {
                LLVMConstPtrToInt(self.initial(counters, linear.plus), counters.int64)
            },
            Some(_) => number(counters, linear.plus.wrapping_mul(8)),
            None => number(counters, linear.plus),
        };
        let value = |linear: &dyn Fn(Option<&Effect>) -> Linear| {
            let all = || of_predecessor.iter().map(|(_, effect)| linear(*effect));
            let sources: BTreeSet<Reg> = all().filter(|linear| linear.times != 0).map(|linear| linear.from).collect();
            let mut sum = choose_value(&|e| constant(linear(e)));
            for source in sources {
                let times = |e: Option<&Effect>| Some(linear(e)).filter(|l| l.from == source).map_or(0, |l| l.times);
                // SAFETY: as the caller promises; the builder stands before `behind` after each choice.
                unsafe {
                    let before = self.load_integer(counters, source);
                    let part = if of_predecessor.iter().all(|(_, e)| matches!(times(*e), 0 | 1)) {
                        LLVMBuildAnd(counters.builder, before, choose(&|e| -times(e)), c"".as_ptr())
                    } else {
                        LLVMBuildMul(counters.builder, before, choose(&times), c"".as_ptr())
                    };
                    sum = LLVMBuildAdd(counters.builder, part, sum, c"".as_ptr());
                }
            }
            sum
        };
        // SAFETY: as the caller promises; the builder stands before `behind` after each choice.
        unsafe {
            counters.position_before(behind);
            let address = |value| LLVMBuildIntToPtr(counters.builder, value, counters.address_type(), c"".as_ptr());
            for layer in 0..effects().map(|e| e.counted.len()).max().unwrap_or(0) {
                let counted = |e: Option<&Effect>| e.and_then(|e| e.counted.get(layer).copied());
                // The index of a word of the slab that is `above` the one of the path; the spare one where none is counted.
                let word = |above: u64| {
                    let nowhere = Linear::constant(spare.cast_signed());
                    value(&|e| counted(e).map_or(nowhere, |path| path.plus(above.cast_signed())))
                };
                let amount = self.meter.as_ref().map(|meter| {
                    let counts = choose(&|e| if counted(e).is_some() { -1 } else { 0 });
                    meter.read_if(self.module, counters, counts)
                });
                match self.paths.table {
                    PathTable::None => {}
                    PathTable::Array { base } if self.array.is_some() => {
                        // Registers hold the addresses of words, numbered from the array's first one.
                        let nowhere = Linear::constant(spare.wrapping_sub(base).cast_signed());
                        counters.increment_at(address(value(&|e| counted(e).unwrap_or(nowhere))));
                    }
                    PathTable::Array { base } => {
                        counters.add(word(base), number(counters, 1));
                        if let Some(amount) = amount {
                            counters.add(word(base.wrapping_add(self.paths.plan.key.paths)), amount);
                        }
                    }
                    PathTable::Hashed { function, cache, .. } => {
                        let owner = choose(&|e| counted(e).map_or(NOWHERE.cast_signed(), |_| function.cast_signed()));
                        let key = value(&|e| counted(e).map_or(Linear::constant(0), |path| path.plus(1)));
                        let cache = cache_word(counters, number(counters, cache.cast_signed()), key);
                        ask_runtime(self.module, counters.builder, [owner, key, cache], amount);
                    }
                }
            }
            let targets: BTreeSet<Reg> = effects().flat_map(|e| e.registers.keys().copied()).collect();
            let after = |register| value(&|e| e.map_or(Linear::of(register), |e| e.of(register)));
            let values: Vec<_> = targets.iter().map(|&register| after(register)).collect();
            for (&register, value) in targets.iter().zip(values) {
                let value = if self.array.is_some() { address(value) } else { value };
                LLVMBuildStore(counters.builder, value, self.place(register));
            }
        }
    }

    /// The function's calls carry their registers.
    ///
    /// # Safety
    /// `calls` must be the function's call sites.
    pub(super) unsafe fn at_calls(&self, counters: &Counters, function: &Function, calls: &[LLVMValueRef]) {
        for (site, (facts, &call)) in function.sites().zip(calls).enumerate() {
            // SAFETY: as the caller promises.
            unsafe {
                let link = |flag| bundles::link(self.module, self.paths.function | flag, site);
                let Some(AtCalls::Query(_)) = self.paths.plan.key.at_calls(facts.block) else {
                    bundles::carry(self.module, call, &mut link(HAS_NONE));
                    continue;
                };
                counters.position_before(call);
                let mut values = link(if self.array.is_some() { IS_ADDRESS } else { 0 }).to_vec();
                values.extend(self.array.map(|first| number(counters, first)));
                values.push(self.load_integer(counters, Reg::PathSum));
                bundles::carry(self.module, call, &mut values);
            }
        }
    }
}

pub(super) fn number(counters: &Counters, value: i64) -> LLVMValueRef {
    // SAFETY: a constant of the module's context.
    unsafe { LLVMConstInt(counters.int64, value.cast_unsigned(), 1) }
}
