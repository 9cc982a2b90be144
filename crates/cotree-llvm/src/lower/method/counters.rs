//! Lowers counters in registers ([`cotree_core::place::promotion`]). They are variables on the stack until the
//! optimiser promotes them, which it always can, since nothing takes their address.

use super::MethodLowering;
use crate::ir::{Instruction, Value};
use crate::lower::code::Code;
use crate::lower::edges::LandingPad;
use cotree_core::probe::{Probe, Reg};
use std::collections::{BTreeMap, BTreeSet};

/// The registers of one function that counters are kept in.
pub(super) struct PromotedCounters<'m> {
    /// Where each register is.
    places: BTreeMap<Reg, Value<'m>>,
}

impl<'m> PromotedCounters<'m> {
    /// Makes the registers that the probes use, all 0.
    pub(super) fn new(
        code: &Code<'_, 'm>,
        probes: impl Iterator<Item = Probe>,
        [first, entry]: [Instruction<'m>; 2],
    ) -> Self {
        let used: BTreeSet<Reg> = probes.flat_map(|probe| probe.registers()).collect();
        let (builder, int64) = (&code.counters.builder, code.counters.int64);
        builder.move_before(first);
        let places: BTreeMap<Reg, Value<'m>> = used.into_iter().map(|reg| (reg, builder.variable(int64))).collect();
        builder.move_before(entry);
        for &place in places.values() {
            builder.store(int64.constant(0), place);
        }
        Self { places }
    }
}

impl<'m> MethodLowering<'m> for PromotedCounters<'m> {
    fn probe(&self, code: &Code<'_, 'm>, base: u64, probe: Probe) -> bool {
        let (builder, int64) = (&code.counters.builder, code.counters.int64);
        let plus = |register: Reg, k: i64| {
            let value = builder.load(int64, self.places[&register]).into();
            if k == 0 { value } else { builder.add(value, int64.signed(k)) }
        };
        match probe {
            Probe::Set(register, k) => {
                builder.store(int64.signed(k), self.places[&register]);
            }
            Probe::Add(register, k) => {
                builder.store(plus(register, k), self.places[&register]);
            }
            Probe::AddTo(counter, register, k) => {
                code.counters.add_whole(base + u64::from(counter.0), plus(register, k));
            }
            _ => return false,
        }
        true
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
