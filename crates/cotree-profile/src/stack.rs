//! The stack of the thread that ended the process, as the runtime wrote it down ([`StackEntry`]): in units that count
//! paths.

use crate::binary::BinaryFile;
use crate::held_path::{HeldPath, Machine};
use crate::source_lines::{self, Found};
use cotree_core::ids::{CallId, FunctionId};
use cotree_rt::layout::{ADDRESS_MASK, INTERRUPTED, StackEntry};

/// A frame of the unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// How many frames were above it, of whatever code.
    pub above: u64,
    /// Where it was.
    pub at: At,
}

/// Where a frame was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum At {
    /// In a call. The activations that share the frame, as they are inlined into each other: innermost first.
    Call(Vec<Activation>),
    /// A signal found it at an instruction.
    Instruction {
        /// The address.
        address: u64,
        /// The function whose machine code it is, if that is known; another one may be inlined there.
        function: Option<FunctionId>,
        /// File and line, if the binary has line tables.
        line: Option<(String, u32)>,
        /// File and line of the call in the machine code's function through which another one is inlined there.
        caller: Option<(String, u32)>,
        /// On which path it was, where the machine code held that.
        held: Option<HeldPath>,
    },
    /// In a call that no activation is thought to end in, as those of `strlen` are.
    PassedOver {
        /// The function whose machine code it is, if that is known.
        function: Option<FunctionId>,
        /// File and line of the call, if the binary has line tables.
        line: Option<(String, u32)>,
    },
}

/// An activation in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activation {
    /// The function.
    pub function: FunctionId,
    /// The call.
    pub call: CallId,
    /// What was in its path register, where that could be found.
    pub register: Option<i64>,
}

/// The frames of profiled code, innermost first.
pub(crate) fn frames(binary: &BinaryFile, entries: &[StackEntry]) -> Vec<Frame> {
    let mut frames = Vec::new();
    let told = |entry: &&StackEntry| {
        let interrupted = entry.address & INTERRUPTED != 0;
        entry.register == 0 && (interrupted || binary.return_point(entry.address & ADDRESS_MASK).is_none())
    };
    let instruction = |entry: &StackEntry| {
        let address = entry.address & ADDRESS_MASK;
        if entry.address & INTERRUPTED == 0 { address.saturating_sub(1) } else { address }
    };
    let instructions: Vec<u64> = entries.iter().filter(told).map(instruction).collect();
    let found = source_lines::of(binary.path(), &instructions, &machines(entries));
    let mut rest = entries;
    while let Some((frame, others)) = rest.split_first() {
        let registers = others.iter().take_while(|entry| entry.register != 0).count();
        let (registers, next) = others.split_at(registers);
        rest = next;
        if frame.register == 0
            && let Some(at) = at(binary, frame.address, registers, &found)
        {
            frames.push(Frame { above: frame.value, at });
        }
    }
    frames
}

/// No more interrupted frames are looked at: handlers hardly nest.
const MOST_INTERRUPTED: usize = 64;

/// The frames that a signal has interrupted, with what the code had in registers and on the stack. An address at which
/// there are several is left out.
fn machines(entries: &[StackEntry]) -> Vec<(u64, Machine<'_>)> {
    let is_frame = |entry: &StackEntry| entry.register == 0;
    let mut found: Vec<(u64, Machine<'_>)> = Vec::new();
    for group in entries.chunk_by(|_, next| !is_frame(next)) {
        if let [frame, held @ ..] = group
            && frame.address & INTERRUPTED != 0
            && !held.is_empty()
        {
            found.push((frame.address & ADDRESS_MASK, Machine(held)));
        }
    }
    found.truncate(MOST_INTERRUPTED);
    let addresses: Vec<u64> = found.iter().map(|(address, _)| *address).collect();
    found.retain(|(address, _)| addresses.iter().filter(|other| *other == address).count() == 1);
    found
}

fn at(binary: &BinaryFile, address: u64, registers: &[StackEntry], found: &Found) -> Option<At> {
    let line = |address: u64| found.lines.get(&address).cloned();
    let plain = address & ADDRESS_MASK;
    if address & INTERRUPTED != 0 {
        let known = binary.is_known_code(plain);
        let at = || At::Instruction {
            address: plain,
            function: binary.function_at(plain),
            line: line(plain),
            caller: found.callers.get(&plain).cloned(),
            held: found.paths.get(&plain).copied(),
        };
        return known.then(at);
    }
    let before = plain.checked_sub(1).filter(|&before| binary.is_known_code(before))?;
    let Some(point) = binary.return_point(plain) else {
        return Some(At::PassedOver { function: binary.function_at(before), line: line(before) });
    };
    let register = |value: Option<u8>| {
        let entry = registers.iter().find(|entry| Some(entry.register) == value.map(|value| u64::from(value) + 1))?;
        Some(entry.value.cast_signed())
    };
    let activation = |(&(function, site), value): (&(FunctionId, _), Option<u8>)| {
        let call = binary.function(function).calls.call_of(site)?;
        Some(Activation { function, call, register: register(value) })
    };
    Some(At::Call(point.chain.iter().zip(point.values()).filter_map(activation).collect()))
}
