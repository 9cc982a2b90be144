//! The registers of one function. They are variables on the stack until the optimiser promotes them, which it always
//! can, since nothing takes their address.

use crate::ir::{Instruction, Value};
use crate::lower::code::Code;
use cotree_core::probe::{Probe, Reg};
use std::collections::{BTreeMap, BTreeSet};

/// Registers that hold numbers.
pub(super) struct RegisterVariables<'m> {
    /// Where each register is.
    places: BTreeMap<Reg, Value<'m>>,
}

impl<'m> RegisterVariables<'m> {
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

    /// The address of a register.
    pub(super) fn place(&self, register: Reg) -> Value<'m> {
        self.places[&register]
    }

    /// What is in a register.
    pub(super) fn load(&self, code: &Code<'_, 'm>, register: Reg) -> Value<'m> {
        code.counters.builder.load(code.counters.int64, self.place(register)).into()
    }

    /// `register + k`
    pub(super) fn plus(&self, code: &Code<'_, 'm>, register: Reg, k: i64) -> Value<'m> {
        let value = self.load(code, register);
        if k == 0 { value } else { code.counters.builder.add(value, code.counters.int64.signed(k)) }
    }

    /// Emits a probe that computes in registers; false if it is none.
    pub(super) fn probe(&self, code: &Code<'_, 'm>, probe: Probe) -> bool {
        let (builder, int64) = (&code.counters.builder, code.counters.int64);
        match probe {
            Probe::Set(register, k) => {
                builder.store(int64.signed(k), self.place(register));
            }
            Probe::Add(register, k) => {
                builder.store(self.plus(code, register, k), self.place(register));
            }
            Probe::Linear { to, from, times, plus } => {
                let product = builder.mul(self.load(code, from), int64.signed(times));
                builder.store(builder.add(product, int64.signed(plus)), self.place(to));
            }
            _ => return false,
        }
        true
    }
}
