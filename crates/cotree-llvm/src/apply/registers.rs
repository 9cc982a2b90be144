//! Counters in registers ([`cotree_core::promotion`]): variables on the stack until the optimiser promotes them, which it
//! always can, since nothing takes their address.

use super::counters::Counters;
use crate::ffi::*;
use cotree_core::probe::{Probe, Reg};
use llvm_sys::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The registers of one function that counters are kept in.
pub(super) struct CounterRegisters {
    /// Where each register is.
    places: BTreeMap<Reg, LLVMValueRef>,
}

impl CounterRegisters {
    /// Makes the registers that the probes use, all 0.
    ///
    /// # Safety
    /// `first` must be the entry block's first instruction, and `entry` where its code begins.
    pub(super) unsafe fn new<'p>(
        counters: &Counters,
        probes: impl Iterator<Item = &'p Probe>,
        [first, entry]: [LLVMValueRef; 2],
    ) -> Self {
        let used: BTreeSet<Reg> = probes.flat_map(Probe::registers).collect();
        // SAFETY: as the caller promises.
        unsafe {
            counters.position_before(first);
            let place = |register| (register, LLVMBuildAlloca(counters.builder, counters.int64, c"".as_ptr()));
            let places = used.into_iter().map(place).collect();
            let registers = Self { places };
            counters.position_before(entry);
            for &place in registers.places.values() {
                LLVMBuildStore(counters.builder, LLVMConstInt(counters.int64, 0, 0), place);
            }
            registers
        }
    }

    /// Emits a probe of a function whose counters begin at `base`; false if it has nothing to do with registers.
    ///
    /// # Safety
    /// The builder must be positioned in the function.
    pub(super) unsafe fn probe(&self, counters: &Counters, base: u64, probe: Probe) -> bool {
        let Some(&place) = register(probe).and_then(|register| self.places.get(&register)) else {
            return false;
        };
        let b = counters.builder;
        // SAFETY: as the caller promises; the place is a variable of the function.
        unsafe {
            let constant = |k: i64| LLVMConstInt(counters.int64, k.cast_unsigned(), 0);
            let plus = |k: i64| {
                let value = LLVMBuildLoad2(b, counters.int64, place, c"".as_ptr());
                if k == 0 { value } else { LLVMBuildAdd(b, value, constant(k), c"".as_ptr()) }
            };
            match probe {
                Probe::Set(_, k) => {
                    LLVMBuildStore(b, constant(k), place);
                }
                Probe::Add(_, k) => {
                    LLVMBuildStore(b, plus(k), place);
                }
                Probe::AddTo(counter, _, k) => counters.add_whole(base + u64::from(counter.0), plus(k)),
                _ => return false,
            }
        }
        true
    }
}

/// The register that a probe uses.
fn register(probe: Probe) -> Option<Reg> {
    match probe {
        Probe::Set(register, _) | Probe::Add(register, _) | Probe::AddTo(_, register, _) => Some(register),
        _ => None,
    }
}
