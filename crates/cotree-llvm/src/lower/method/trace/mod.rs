//! Tokens (Ball & Larus 1994, §4): the token is a register until it is appended to the thread's stream, in the window
//! of its slab.
//!
//! To append takes four instructions: the cursor is loaded, the bytes are stored behind it, it moves, and where it has
//! come to the window's end a jump leads to the runtime. The flags of the addition tell, since a cursor is the distance
//! from that end. So the window has some slack behind it, and nobody looks before storing.
//!
//! The cursor stays in memory. In a register it would be lost when the process is killed.

mod addresses;
mod bits;
mod window;

use super::lowering::MethodLowering;
use super::registers::RegisterVariables;
use crate::ir::{Function, Instruction, Location, Type, Value};
use crate::lower::callsites::location_of_no_site;
use crate::lower::code::Code;
use crate::lower::landing_pad::LandingPad;
use cotree_core::ids::FunctionId;
use cotree_core::method::trace::{HEADER, SLACK, TraceWords, WINDOW, stream};
use cotree_core::probe::{Place, PlacedProbe, Probe};
use cotree_rt::layout::{TRACE_SLACK, TRACE_WINDOW, TracePlace, TraceWord};
use llvm_sys::LLVMIntPredicate;
pub use window::Recording;
use window::{advance, inlined, parameters};

const _: () = assert!(HEADER == TraceWord::WINDOW && WINDOW == TRACE_WINDOW && SLACK == TRACE_SLACK);

/// LLVM's name for the time stamp counter.
const CYCLES: &str = "llvm.readcyclecounter";
/// What the probes of one function do not say.
#[derive(Clone, Copy)]
pub struct Traces {
    /// Where the stream grows.
    pub words: TraceWords,
    /// The function.
    pub function: FunctionId,
    /// How it is recorded.
    pub recording: Recording,
}

/// The registers of one function, and where its tokens go.
pub(super) struct Tokens<'m> {
    traces: Traces,
    registers: RegisterVariables<'m>,
    /// The location of calls that append, if anyone wants to know where they are.
    location: Option<Location<'m>>,
}

impl<'m> Tokens<'m> {
    /// Makes the registers that the probes use.
    pub(super) fn new(
        code: &Code<'_, 'm>,
        traces: Traces,
        probes: impl Iterator<Item = Probe>,
        at: [Instruction<'m>; 2],
    ) -> Self {
        let location = traces.recording.in_ring.then(|| location_of_no_site(code.module, code.ir.function));
        Self { traces, registers: RegisterVariables::new(code, probes, at), location }
    }

    /// Appends the lowest bytes of a value.
    fn append(&self, code: &Code<'_, 'm>, at: Place, value: Value<'m>, bytes: u8) -> bool {
        let (append, ty) = append(code, self.traces.words, bytes);
        self.call(code, at, (append, ty), &[value])
    }

    /// Appends the register if it is full.
    fn append_full(&self, code: &Code<'_, 'm>, at: Place, register: Value<'m>, limit: u64, bytes: u8) -> bool {
        let (append, ty) = append_full(code, self.traces.words, bytes);
        self.call(code, at, (append, ty), &[register, code.counters.int64.constant(limit)])
    }

    /// Calls a function that appends; false if the place has too large a number for the runtime to be told it.
    fn call(
        &self,
        code: &Code<'_, 'm>,
        at: Place,
        (function, ty): (Function<'m>, Type<'m>),
        arguments: &[Value<'m>],
    ) -> bool {
        let counters = &code.counters;
        let (kind, index) = match at {
            Place::Start(block) => (0, block.0),
            Place::End(block) => (1, block.0),
            Place::Edge(edge) => (2, edge.0),
            Place::Call(call) => (3, call.0),
            Place::After(call) => (4, call.0),
        };
        let place = TracePlace { function: self.traces.function.0, kind, index };
        let [slab, in_assembly] = counters.pointers();
        let mut all = vec![slab, in_assembly, counters.int64.constant(place.pack())];
        all.extend(arguments);
        // The location leads from the call of the runtime to the functions that this one is inlined into.
        counters.builder.set_location(self.location);
        counters.builder.call(ty, function, &all);
        counters.builder.set_location(None);
        index < TracePlace::MOST
    }
}

impl<'m> MethodLowering<'m> for Tokens<'m> {
    fn probe(&self, code: &Code<'_, 'm>, _base: u64, placed: PlacedProbe) -> bool {
        let at = placed.place;
        match placed.probe {
            Probe::Emit { reg, plus, bytes: bytes @ 1..=8 } => {
                let constant = || code.counters.int64.signed(plus);
                let value = reg.map_or_else(constant, |register| self.registers.plus(code, register, plus));
                self.append(code, at, value, bytes)
            }
            Probe::EmitFull { reg, limit, bytes: bytes @ 1..=8 } => {
                self.append_full(code, at, self.registers.place(reg), limit, bytes)
            }
            Probe::EmitBits { value, bits: bits @ 1..=7 } => {
                let (append, ty) = bits::append(code, self.traces.words, bits);
                let value = code.module.int8().constant(value.into());
                self.call(code, at, (append, ty), &[value])
            }
            Probe::RecordEntry => {
                let (bytes, length) = stream::entered(self.traces.function);
                let value = bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
                let value = code.counters.int64.constant(value);
                let length = length.try_into().expect("a few bytes");
                if self.traces.recording.timed {
                    let (append, ty) = append_timed(code, self.traces.words, length);
                    return self.call(code, at, (append, ty), &[value]);
                }
                self.append(code, at, value, length)
            }
            other => self.registers.probe(code, other),
        }
    }

    /// The stream says which exception went where. So all these edges do the same: they begin a segment. Those that
    /// do nothing are never taken.
    fn on_unwind_edges(
        &self,
        code: &Code<'_, 'm>,
        _base: u64,
        pad: &LandingPad<'m>,
        probes: &[Option<Vec<Probe>>],
    ) -> Result<(), Probe> {
        let mut edges = probes.iter().flatten();
        let Some(first) = edges.next() else { return Ok(()) };
        if let Some(&unlike) = edges.find(|other| *other != first).and_then(|other| other.first()) {
            return Err(unlike);
        }
        code.counters.builder.move_before(pad.behind);
        first.iter().try_for_each(|&probe| self.registers.probe(code, probe).then_some(()).ok_or(probe))
    }

    fn at_calls(&self, code: &Code<'_, 'm>) {
        addresses::append_all(code, self.traces.words, self.traces.recording);
    }
}

/// `void (slab, slab in assembly, place, value)`: appends so many of the value's bytes.
fn append<'m>(code: &Code<'_, 'm>, words: TraceWords, bytes: u8) -> (Function<'m>, Type<'m>) {
    let (module, caller) = (code.module, &code.counters);
    let [slab, in_assembly] = caller.pointers().map(Value::ty);
    let ty = module.void().function(&[slab, in_assembly, module.int64(), module.int64()]);
    inlined(module, &format!("__cotree_append_{bytes}"), ty, |function| {
        let [slab, in_assembly, place, value] = parameters(function);
        let [entry, full, done] = [(); 3].map(|()| module.append_block(function));
        let counters = caller.in_block(entry, [slab, in_assembly]);
        let (builder, int64) = (&counters.builder, counters.int64);
        let cursor = counters.load(int64.constant(words.first), int64);
        // Bytes behind those that count are written over by the next token.
        let stored = match bytes {
            1 => builder.truncate(value, module.int8()),
            2..=4 => builder.truncate(value, module.int32()),
            _ => value,
        };
        counters.store_behind(int64.constant(words.window_end()), cursor, stored);
        advance(code, &counters, words, int64.constant(bytes.into()), place, [full, done]);
    })
}

/// The function that appends an entry record, with the time before it. The cursor moves once: killed in between, the
/// process has written neither.
fn append_timed<'m>(code: &Code<'_, 'm>, words: TraceWords, bytes: u8) -> (Function<'m>, Type<'m>) {
    let (module, caller) = (code.module, &code.counters);
    let [slab, in_assembly] = caller.pointers().map(Value::ty);
    let ty = module.void().function(&[slab, in_assembly, module.int64(), module.int64()]);
    inlined(module, &format!("__cotree_append_timed_{bytes}"), ty, |function| {
        let [slab, in_assembly, place, value] = parameters(function);
        let [entry, full, done] = [(); 3].map(|()| module.append_block(function));
        let counters = caller.in_block(entry, [slab, in_assembly]);
        let (builder, int64) = (&counters.builder, counters.int64);
        let clock_type = int64.function(&[]);
        let clock = module.function_or_declare(CYCLES, clock_type, |_| {});
        let now: Value<'m> = builder.call(clock_type, clock, &[]).into();
        let cursor = counters.load(int64.constant(words.first), int64);
        let behind = |bytes: u64| builder.add(cursor, int64.constant(bytes));
        let window_end = int64.constant(words.window_end());
        counters.store_behind(window_end, cursor, module.int8().constant(stream::ControlByte::TIME.into()));
        counters.store_behind(window_end, behind(1), now);
        let record = if bytes <= 4 { builder.truncate(value, module.int32()) } else { value };
        counters.store_behind(window_end, behind(9), record);
        advance(code, &counters, words, int64.constant((9 + bytes).into()), place, [full, done]);
    })
}

/// `void (slab, slab in assembly, place, register, limit)`: if what is in the register is not below the limit, appends
/// its lowest bytes and sets it to 1.
fn append_full<'m>(code: &Code<'_, 'm>, words: TraceWords, bytes: u8) -> (Function<'m>, Type<'m>) {
    let (module, caller) = (code.module, &code.counters);
    let (append, append_type) = append(code, words, bytes);
    let [slab, in_assembly] = caller.pointers().map(Value::ty);
    let ty = module.void().function(&[slab, in_assembly, module.int64(), module.pointer(0), module.int64()]);
    inlined(module, &format!("__cotree_append_full_{bytes}"), ty, |function| {
        let [slab, in_assembly, place, register, limit] = parameters(function);
        let [entry, full, done] = [(); 3].map(|()| module.append_block(function));
        let counters = caller.in_block(entry, [slab, in_assembly]);
        let (builder, int64) = (&counters.builder, counters.int64);
        let value: Value<'m> = builder.load(int64, register).into();
        builder.branch(builder.compare(LLVMIntPredicate::LLVMIntUGE, value, limit), full, done);

        builder.move_to_end(full);
        builder.call(append_type, append, &[slab, in_assembly, place, value]);
        builder.store(int64.constant(1), register);
        builder.jump(done);

        builder.move_to_end(done);
        builder.return_nothing();
    })
}
