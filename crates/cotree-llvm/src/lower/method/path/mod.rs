//! Path registers and path tables (Ball & Larus 1996, §3.4 and §5).
//!
//! A register is a variable on the stack until the optimiser promotes it. Array entries are counters like any other;
//! where their addresses are constants, the register holds the address of the entry instead of its number, so that
//! counting takes one instruction: position-independent code would have to load the array's address first.
//!
//! - [`hashed`]: counting in hash tables.
//! - [`unwinding`]: what edges into a landing pad do to the registers, as one step.
//! - [`notes`]: what debug information says of the path after a fault.
//! - [`meter`]: what is added up along paths.

mod hashed;
mod meter;
mod notes;
mod registers;
mod unwinding;

use super::lowering::MethodLowering;
use crate::lower::block_notes::BlockNotes;
use crate::lower::code::Code;
use crate::lower::landing_pad::LandingPad;
use crate::lower::notes_at_calls::{self, HAS_NONE, IS_ADDRESS};
use cotree_core::method::path::{AtCalls, Window};
use cotree_core::probe::{PlacedProbe, Probe, Reg};
pub(super) use hashed::fast_path;
pub(super) use meter::total;
pub(super) use registers::PathRegisters;
pub use registers::Paths;

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

    fn note_paths(&self, code: &Code<'_, 'm>, notes: &BlockNotes<'m>) {
        self.note_in_debug_info(code, notes);
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
