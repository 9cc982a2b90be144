//! Lowers counters in registers ([`cotree_core::place::promotion`]).

use super::MethodLowering;
use super::registers::Registers;
use crate::ir::Instruction;
use crate::lower::code::Code;
use crate::lower::edges::LandingPad;
use cotree_core::probe::{PlacedProbe, Probe};

/// The registers of one function that counters are kept in.
pub(super) struct PromotedCounters<'m>(Registers<'m>);

impl<'m> PromotedCounters<'m> {
    /// Makes the registers that the probes use, all 0.
    pub(super) fn new(code: &Code<'_, 'm>, probes: impl Iterator<Item = Probe>, at: [Instruction<'m>; 2]) -> Self {
        Self(Registers::new(code, probes, at))
    }
}

impl<'m> MethodLowering<'m> for PromotedCounters<'m> {
    fn probe(&self, code: &Code<'_, 'm>, base: u64, placed: PlacedProbe) -> bool {
        match placed.probe {
            Probe::AddTo(counter, register, k) => {
                code.counters.add_whole(base + u64::from(counter.0), self.0.plus(code, register, k));
                true
            }
            other => self.0.probe(code, other),
        }
    }

    /// Counters are promoted in loops without calls, so there is nothing on unwind edges.
    fn on_unwind_edges(
        &self,
        _code: &Code<'_, 'm>,
        _pad: &LandingPad<'m>,
        probes: &[Option<Vec<Probe>>],
    ) -> Result<(), Probe> {
        probes.iter().flatten().flatten().next().map_or(Ok(()), |&probe| Err(probe))
    }
}
