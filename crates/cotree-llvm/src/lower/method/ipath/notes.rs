//! Has debug information say which path each stretch of a block is on (`cotree_profile::path_notes`).
//!
//! As in `super::super::path::notes`, notes refer to values that are loaded for them, or, in functions that are
//! compiled as they are written, to the places of registers. Numbers have 64 bits, and are told in two halves: with
//! each stands the number of the stretch.

use super::CallPathRegisters;
use crate::ir::{At, DebugInfoBuilder, DebugVariable, Instruction, Location, Value};
use crate::lower::block_notes::operators::{CONSTU, PLUS, SHL, SHR, STACK_VALUE};
use crate::lower::block_notes::{BlockNotes, begins_with_pad};
use crate::lower::code::Code;
use cotree_core::facts::stretches::stretches;
use cotree_core::ids::Block;
use cotree_core::method::ipath::SoFar;
use cotree_core::probe::Reg;
use cotree_profile::path_notes::{
    COMPLETIONS, COMPLETIONS_REGISTER, FACTOR, FACTOR_REGISTER, HALVES, HIGH_SHIFT, NUMBER_SHIFT, Note, REGISTER, high,
    name,
};

/// Both halves of a number.
type Halves<'m> = [DebugVariable<'m>; 2];

/// The notes of one function.
struct Notes<'n, 'm> {
    builder: DebugInfoBuilder<'m>,
    location: Location<'m>,
    code: &'n Code<'n, 'm>,
}

impl<'m> Notes<'_, 'm> {
    /// Says before an instruction that a number is that of the note; the value, if there is one, is added.
    fn note(&self, halves: Halves<'m>, note: Note, value: Option<Value<'m>>, number: u32, at: Instruction<'m>) {
        let int64 = self.code.counters.int64;
        let all = note.number();
        let Some(value) = value else {
            for (variable, part) in halves.into_iter().zip([all, all >> HIGH_SHIFT]) {
                let packed = int64.constant(note.with(part).pack(number));
                self.builder.note_value(variable, packed, &[], self.location, at);
            }
            return;
        };
        let plus = [CONSTU, all, PLUS];
        let pack = [CONSTU, NUMBER_SHIFT.into(), SHL, CONSTU, note.with(0).pack(number), PLUS, STACK_VALUE];
        let upper = [CONSTU, HIGH_SHIFT.into(), SHR];
        let [low, high] = halves;
        self.builder.note_value(low, value, &[&plus[..], &pack].concat(), self.location, at);
        self.builder.note_value(high, value, &[&plus[..], &upper, &pack].concat(), self.location, at);
    }

    fn forget(&self, halves: &[Halves<'m>], at: Instruction<'m>) {
        for &variable in halves.iter().flatten() {
            self.builder.note_unknown(variable, self.location, at);
        }
    }
}

impl<'m> CallPathRegisters<'_, 'm> {
    pub(super) fn note_in_debug_info(&self, code: &Code<'_, 'm>, notes: &BlockNotes<'m>) {
        let (module, function, counters) = (code.module, code.ir.function, &code.counters);
        let Some((scope, file)) = function.scope().and_then(|scope| Some((scope, scope.file()?))) else { return };
        let builder = DebugInfoBuilder::new(module);
        let location = builder.location(0, 0, scope, None);
        let halves = |name: &str| [name, &high(name)].map(|name| builder.variable(scope, file, name));
        let sum = halves(&name(self.paths.function, notes.first, HALVES));
        let called = self.places.contains_key(&Reg::CallPathFactor) && self.places.contains_key(&Reg::Completions);
        let [factor, completions] = [FACTOR, COMPLETIONS].map(|name| called.then(|| halves(name)));
        let all: Vec<Halves<'m>> = [Some(sum), factor, completions].into_iter().flatten().collect();
        let as_written = function.has_attribute(At::Function, "optnone");
        if as_written {
            let registers = [
                (Reg::CallPathSum, REGISTER),
                (Reg::CallPathFactor, FACTOR_REGISTER),
                (Reg::Completions, COMPLETIONS_REGISTER),
            ];
            for (register, name) in registers {
                if let Some(&place) = self.places.get(&register) {
                    let variable = builder.variable(scope, file, name);
                    builder.note_place(variable, place, location, notes.blocks[Block(0)].start);
                }
            }
        }
        let notes_of = Notes { builder, location, code };
        let mut stretches = (notes.first..).zip(stretches(code.facts)).peekable();
        for &so_far in self.paths.so_far {
            let Some((number, stretch)) = stretches.next() else { break };
            let ends = notes.blocks[stretch.block];
            let start = match stretch.behind {
                None => Some(ends.start),
                Some(call) => notes.behind[call],
            };
            let is_pad = begins_with_pad(code, stretch.block);
            let is_end = |at: &Instruction<'m>| at.block().is_none() || *at == code.last_position(stretch.block);
            let Some(start) = start.filter(|at| !is_pad && !is_end(at)) else { continue };
            // A sum or a factor, and what is added to it.
            let told = |halves: Halves<'m>, kind: Note, register: Reg| {
                if as_written {
                    notes_of.note(halves, kind, None, number, start);
                } else {
                    counters.builder.move_before(start);
                    notes_of.note(halves, kind, Some(self.load(counters, register)), number, start);
                }
            };
            match (so_far, factor.zip(completions)) {
                (SoFar::Known(path), _) => {
                    notes_of.forget(&all[1..], start);
                    notes_of.note(sum, Note::Known(path), None, number, start);
                }
                (SoFar::Sum(plus), None) if self.places.contains_key(&Reg::CallPathSum) => {
                    told(sum, Note::Register(plus), Reg::CallPathSum);
                }
                (SoFar::Product { plus, times }, Some((factor, completions))) => {
                    told(sum, Note::Product(plus), Reg::CallPathSum);
                    told(factor, Note::Register(times), Reg::CallPathFactor);
                    told(completions, Note::Register(0), Reg::Completions);
                }
                _ => notes_of.forget(&all, start),
            }
            // What registers hold behind those is another path's, or of further blocks.
            let is_last = stretches.peek().is_none_or(|(_, next)| next.block != stretch.block);
            if let Some(probes) = ends.probes.filter(|_| is_last) {
                notes_of.forget(&all, probes);
            }
        }
    }
}
