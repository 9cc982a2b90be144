//! What event counts ask of functions: which calls keep their frames, and who is the outermost activation.

use super::counters::PromotedCounters;
use super::lowering::MethodLowering;
use crate::extract::FunctionIr;
use crate::ir::{At, Instruction, Value};
use crate::lower::code::Code;
use crate::lower::landing_pad::LandingPad;
use crate::module::Module;
use cotree_core::ids::{Block, Counter, Word};
use cotree_core::method::events::{EventPlan, counters_of};
use cotree_core::plan::FunctionPlan;
use cotree_core::probe::{OutermostStep, Place, PlacedProbe, Probe};
use cotree_rt::layout::OUTERMOST;
use llvm_sys::LLVMIntPredicate;

/// Keeps the code generator from making a jump of calls whose activation must be seen if they do not come back, and
/// functions from sharing a frame whose outermost activations are known by it. To be called while the function's calls
/// are as they were extracted.
pub(super) fn keep_frames(module: &Module, ir: &FunctionIr<'_>, plan: &EventPlan) {
    let calls = plan.framed.iter().filter_map(|call| ir.calls.get(call.index()).copied());
    calls.filter_map(Instruction::as_call).for_each(|call| call.keep_frame());
    if plan.own_frame {
        ir.function.remove_attribute(At::Function, "alwaysinline");
        ir.function.remove_attribute(At::Function, "inlinehint");
        ir.function.add_attribute(At::Function, module.attribute("noinline"));
    }
}

/// The counters of events of one function, and who is outermost.
///
/// A word of the slab holds the address of the outermost activation's return address, with [`OUTERMOST`] set. What has
/// that bit not set says that there is no such activation. An activation remembers in its own frame whether it is the
/// outermost one.
pub(super) struct EventCounters<'m> {
    counters: PromotedCounters<'m>,
    /// The first of the words that say who is outermost.
    words: u64,
    /// The word of the function itself.
    own: Option<Word>,
    /// Whether the activation is the function's outermost one, and whether it is that of the call under way.
    flags: Option<[Value<'m>; 2]>,
    /// Calls return twice: what is remembered is in memory.
    volatile: bool,
}

impl<'m> EventCounters<'m> {
    pub(super) fn new(
        code: &Code<'_, 'm>,
        words: Option<u64>,
        plan: &FunctionPlan<'_>,
        [first, entry]: [Instruction<'m>; 2],
    ) -> Self {
        let probes = plan.probes.iter().map(|placed| placed.probe);
        let outermost = |placed: &PlacedProbe| match placed.probe {
            Probe::Outermost { word, .. } => Some((placed.place, word)),
            _ => None,
        };
        let mut all = plan.probes.iter().filter_map(outermost).peekable();
        let flags = all.peek().is_some().then(|| {
            let (builder, int64) = (&code.counters.builder, code.counters.int64);
            builder.move_before(first);
            let flags = [builder.variable(int64), builder.variable(int64)];
            builder.move_before(entry);
            for flag in flags {
                builder.store(int64.constant(0), flag);
            }
            flags
        });
        let own = all.find(|&(place, _)| place == Place::Start(Block(0))).map(|(_, word)| word);
        let volatile = code.facts.calls.iter().any(|call| call.returns_twice);
        let counters = PromotedCounters::new(code, probes, [first, entry]);
        Self { counters, words: words.unwrap_or(0), own, flags, volatile }
    }

    /// Where the activation remembers whether it is the outermost one of a word.
    fn flag(&self, word: Word) -> Option<Value<'m>> {
        self.flags.map(|[own, call]| if self.own == Some(word) { own } else { call })
    }

    /// Whether it remembers that it is.
    fn is_outermost(&self, code: &Code<'_, 'm>, flag: Value<'m>) -> Value<'m> {
        let (builder, int64) = (&code.counters.builder, code.counters.int64);
        let load = builder.load(int64, flag);
        load.set_volatile(self.volatile);
        builder.compare(LLVMIntPredicate::LLVMIntNE, *load, int64.constant(0))
    }

    /// Adds the counters of events to sums, or takes them away, under a condition.
    fn sum_up(code: &Code<'_, 'm>, base: u64, sums: Value<'m>, kinds: u8, if_so: Value<'m>, minus: bool) {
        let (counters, int64) = (&code.counters, code.counters.int64);
        let builder = &counters.builder;
        let zero = int64.constant(0);
        for kind in 0..kinds {
            let [Counter(from), _] = counters_of(kind.into());
            let now = counters.load(int64.constant(base + u64::from(from)), int64);
            let amount = if minus { builder.sub(zero, now) } else { now };
            let amount = builder.select(if_so, amount, zero);
            counters.add(builder.add(sums, int64.constant(kind.into())), amount);
        }
    }

    /// The address of the activation's return address: it is below the frame of the caller, as unwinders know it.
    fn frame(code: &Code<'_, 'm>) -> Value<'m> {
        let module = code.module;
        let ty = module.pointer(0).function(&[]);
        let callee = module.function_or_declare("llvm.addressofreturnaddress.p0", ty, |_| ());
        let builder = &code.counters.builder;
        builder.address_to_int(builder.call(ty, callee, &[]), code.counters.int64)
    }

    fn step(&self, code: &Code<'_, 'm>, base: u64, step: OutermostStep, word: Word, sums: Counter, kinds: u8) {
        let Some(flag) = self.flag(word) else { return };
        let (counters, int64) = (&code.counters, code.counters.int64);
        let builder = &counters.builder;
        let at = int64.constant(self.words + u64::from(word.0));
        let sums = int64.constant(base + u64::from(sums.0));
        match step {
            OutermostStep::Begin => {
                let open = builder.or(Self::frame(code), int64.constant(OUTERMOST));
                let now = counters.load(at, int64);
                let is_free = builder.compare(LLVMIntPredicate::LLVMIntSGE, now, int64.constant(0));
                Self::sum_up(code, base, sums, kinds, is_free, true);
                counters.store(at, builder.select(is_free, open, now));
                builder.store(builder.widen(is_free, int64), flag).set_volatile(self.volatile);
            }
            OutermostStep::End => {
                let outermost = self.is_outermost(code, flag);
                self.end(code, base, outermost, at, sums, kinds);
            }
            OutermostStep::Again => {
                let frame = Self::frame(code);
                let now = counters.load(at, int64);
                let closed = builder.compare(LLVMIntPredicate::LLVMIntEQ, now, frame);
                let again = builder.and(self.is_outermost(code, flag), closed);
                Self::sum_up(code, base, sums, kinds, again, true);
                let open = builder.or(frame, int64.constant(OUTERMOST));
                counters.store(at, builder.select(again, open, now));
            }
        }
    }

    fn end(&self, code: &Code<'_, 'm>, base: u64, outermost: Value<'m>, at: Value<'m>, sums: Value<'m>, kinds: u8) {
        let (counters, int64) = (&code.counters, code.counters.int64);
        Self::sum_up(code, base, sums, kinds, outermost, false);
        let now = counters.load(at, int64);
        counters.store(at, counters.builder.select(outermost, int64.constant(0), now));
    }
}

impl<'m> MethodLowering<'m> for EventCounters<'m> {
    fn probe(&self, code: &Code<'_, 'm>, base: u64, placed: PlacedProbe) -> bool {
        match placed.probe {
            Probe::Outermost { step, word, sums, kinds } => {
                self.step(code, base, step, word, sums, kinds);
                true
            }
            _ => self.counters.probe(code, base, placed),
        }
    }

    /// The calls that lead to one landing pad by exceptions end there: which of them it was, phis say.
    fn on_unwind_edges(
        &self,
        code: &Code<'_, 'm>,
        base: u64,
        pad: &LandingPad<'m>,
        probes: &[Option<Vec<Probe>>],
    ) -> Result<(), Probe> {
        let (builder, int64) = (&code.counters.builder, code.counters.int64);
        let mut ends = Vec::with_capacity(probes.len());
        let mut rest = Vec::with_capacity(probes.len());
        for probes in probes {
            let (outermost, others): (Vec<Probe>, Vec<Probe>) =
                probes.iter().flatten().partition(|probe| matches!(probe, Probe::Outermost { .. }));
            match outermost[..] {
                [] => ends.push(None),
                [Probe::Outermost { step: OutermostStep::End, word, sums, kinds }] => {
                    ends.push(Some((word, sums, kinds)));
                }
                [other, ..] => return Err(other),
            }
            rest.push(probes.is_some().then_some(others));
        }
        if let Some((word, sums, kinds)) = ends.iter().copied().flatten().next()
            && let Some(flag) = self.flag(word)
        {
            builder.move_before(pad.first);
            let [is_call, words, all_sums] = [builder.phi(int64), builder.phi(int64), builder.phi(int64)];
            for (&predecessor, end) in pad.predecessors.iter().zip(&ends) {
                // Where no call ends, what stands in the others' word stays.
                let (word, sums, _) = end.unwrap_or((word, sums, kinds));
                is_call.add_incoming(int64.constant(end.is_some().into()), predecessor);
                words.add_incoming(int64.constant(self.words + u64::from(word.0)), predecessor);
                all_sums.add_incoming(int64.constant(base + u64::from(sums.0)), predecessor);
            }
            builder.move_before(pad.behind);
            let is_call = builder.compare(LLVMIntPredicate::LLVMIntNE, is_call, int64.constant(0));
            let outermost = builder.and(is_call, self.is_outermost(code, flag));
            self.end(code, base, outermost, words.into(), all_sums.into(), kinds);
        }
        if rest.iter().flatten().any(|probes| !probes.is_empty()) {
            self.counters.on_unwind_edges(code, base, pad, &rest)?;
        }
        Ok(())
    }
}
