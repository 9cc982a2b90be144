//! Lowers counters in registers ([`cotree_core::place::promotion`]).

use super::lowering::MethodLowering;
use super::registers::RegisterVariables;
use crate::ir::Instruction;
use crate::lower::code::Code;
use crate::lower::landing_pad::LandingPad;
use cotree_core::probe::{PlacedProbe, Probe};

/// The registers of one function that counters are kept in.
pub(super) struct PromotedCounters<'m>(RegisterVariables<'m>);

impl<'m> PromotedCounters<'m> {
    /// Makes the registers that the probes use, all 0.
    pub(super) fn new(code: &Code<'_, 'm>, probes: impl Iterator<Item = Probe>, at: [Instruction<'m>; 2]) -> Self {
        Self(RegisterVariables::new(code, probes, at))
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

    /// Counters are promoted in loops without calls. What is left are counters that are added to others: to which, a
    /// phi says.
    fn on_unwind_edges(
        &self,
        code: &Code<'_, 'm>,
        base: u64,
        pad: &LandingPad<'m>,
        probes: &[Option<Vec<Probe>>],
    ) -> Result<(), Probe> {
        let (builder, int64) = (&code.counters.builder, code.counters.int64);
        let most = probes.iter().flatten().map(Vec::len).max().unwrap_or(0);
        for number in 0..most {
            let added =
                |probes: &Option<Vec<Probe>>| match probes.as_ref().and_then(|probes| probes.get(number)).copied() {
                    None => Ok(None),
                    Some(Probe::AddCounter { to, from, minus: false }) => Ok(Some((to, from))),
                    Some(other) => Err(other),
                };
            let added = probes.iter().map(added).collect::<Result<Vec<_>, _>>()?;
            // They stand in the same order on all edges.
            let Some((_, from)) = added.iter().copied().flatten().next() else { continue };
            if let Some((to, from)) = added.iter().copied().flatten().find(|&(_, other)| other != from) {
                return Err(Probe::AddCounter { to, from, minus: false });
            }
            builder.move_before(pad.first);
            let phi = builder.phi(int64);
            for (&predecessor, added) in pad.predecessors.iter().zip(&added) {
                let to = added.map_or(code.unit.spare, |(to, _)| base + u64::from(to.0));
                phi.add_incoming(int64.constant(to), predecessor);
            }
            builder.move_before(pad.behind);
            let amount = code.counters.load(int64.constant(base + u64::from(from.0)), int64);
            code.counters.add(phi.into(), amount);
        }
        Ok(())
    }
}
