//! Has debug information say which path each block is on (`cotree_profile::path_notes`).
//!
//! Where the optimiser promotes registers, a note refers to a value that is loaded for it: it stays true wherever that
//! goes, and is dropped where the value is. Functions that are compiled as they are written keep their registers in
//! memory, and a second variable says where.

use super::PathRegisters;
use crate::ir::{At, DebugInfoBuilder};
use crate::lower::block_notes::operators::{CONSTU, PLUS, SHL, STACK_VALUE};
use crate::lower::block_notes::{BlockNotes, begins_with_pad};
use crate::lower::code::Code;
use cotree_core::ids::Block;
use cotree_core::method::path::AtCalls;
use cotree_core::probe::Reg;
use cotree_profile::path_notes::{ADDRESS_SHIFT, MOST_PATHS, NUMBER_SHIFT, Note, REGISTER, name};

impl<'m> PathRegisters<'_, 'm> {
    pub(super) fn note_in_debug_info(&self, code: &Code<'_, 'm>, notes: &BlockNotes<'m>) {
        let (module, function, counters) = (code.module, code.ir.function, &code.counters);
        let Some((scope, file)) = function.scope().and_then(|scope| Some((scope, scope.file()?))) else { return };
        let builder = DebugInfoBuilder::new(module);
        let location = builder.location(0, 0, scope, None);
        // The address of the word with a number is 8 times the number, and something that the reader knows.
        let (shift, first) = self.array.map_or((NUMBER_SHIFT, 0), |first| (ADDRESS_SHIFT, first));
        let variable = builder.variable(scope, file, &name(self.paths.function, notes.first, shift));
        let register = self.places.get(&Reg::PathSum).copied();
        let as_written = function.has_attribute(At::Function, "optnone");
        if let Some(register) = register.filter(|_| as_written) {
            let place = builder.variable(scope, file, REGISTER);
            builder.note_place(place, register, location, notes.blocks[Block(0)].start);
        }
        for (block, ends) in notes.blocks.numbered() {
            let number = notes.numbers[block];
            if ends.start.block().is_none() || begins_with_pad(code, block) {
                continue;
            }
            let known = |note: Note| Some((counters.int64.constant(note.pack(number)), 0));
            let value = match self.paths.plan.in_blocks.get(block) {
                Some(AtCalls::Counted) => known(Note::Counted),
                _ if self.paths.plan.highest >= MOST_PATHS => None,
                Some(&AtCalls::Known(prefix)) => known(Note::Known(prefix)),
                Some(&AtCalls::Query(less)) => {
                    let plus = Note::Register(less.wrapping_sub(first)).pack(number);
                    match register {
                        Some(_) if as_written => Some((counters.int64.constant(plus), 0)),
                        Some(_) => {
                            counters.builder.move_before(ends.start);
                            Some((self.load(counters, Reg::PathSum), plus))
                        }
                        None => None,
                    }
                }
                None => None,
            };
            match value {
                Some((value, _)) if value.is_constant_int() => {
                    builder.note_value(variable, value, &[], location, ends.start);
                }
                Some((value, plus)) => {
                    let operators = [CONSTU, u64::from(shift), SHL, CONSTU, plus, PLUS, STACK_VALUE];
                    builder.note_value(variable, value, &operators, location, ends.start);
                }
                None => builder.note_unknown(variable, location, ends.start),
            }
            // What the register holds behind those is another path's, or of further blocks.
            if let Some(probes) = ends.probes {
                builder.note_unknown(variable, location, probes);
            }
        }
    }
}
