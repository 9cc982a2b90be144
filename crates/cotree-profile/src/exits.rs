//! Translates the early exits of a run from addresses in machine code to call sites of functions.

use crate::binary::{BinaryFile, Resolved};
use crate::counts::UnitCounts;
use cotree_core::ids::{FunctionId, IdMap};
use cotree_core::profile::EarlyExits;
use cotree_rt::layout;
use std::collections::HashMap;

/// Early exits of every function, with the functions in which an activation was left at an unknown place.
pub(crate) struct UnitExits {
    pub(crate) by_function: HashMap<FunctionId, EarlyExits>,
    /// Where calls are measured, per function, kind of events and site: what the counter was each time, added up.
    pub(crate) totals: HashMap<FunctionId, Vec<Vec<i64>>>,
    pub(crate) unknown: HashMap<FunctionId, u64>,
    pub(crate) unknown_total: u64,
    /// Activations left or revived in code that the map does not know: foreign code, or ours without mapped call sites.
    pub(crate) outside: u64,
    /// Whether a function of the map was a signal handler that the link had not foreseen.
    pub(crate) handlers: bool,
}

impl UnitExits {
    pub(crate) fn new(binary: &BinaryFile, counts: &UnitCounts) -> (Self, bool) {
        let mut exits = Self {
            by_function: HashMap::new(),
            totals: HashMap::new(),
            unknown: HashMap::new(),
            unknown_total: 0,
            outside: 0,
            handlers: false,
        };
        let mut saturated = false;
        for (&address, &count) in counts.early.iter().filter(|(_, count)| **count != 0) {
            if address & layout::HANDLER == layout::HANDLER {
                exits.handlers |= binary.is_known_code(address & !layout::HANDLER);
                continue;
            }
            if let Some(kind) = layout::total_kind(address) {
                exits.add_total(binary, address & !layout::TOTAL, kind, count);
                continue;
            }
            match binary.resolve(address) {
                Resolved::Sites(chain) => {
                    for (function, site) in chain {
                        let early = exits.by_function.entry(function).or_insert_with(|| EarlyExits {
                            at_site: IdMap::filled(0, binary.function(function).sites().len()),
                        });
                        let sum = &mut early.at_site[site];
                        *sum = sum.checked_add(count).unwrap_or_else(|| {
                            saturated = true;
                            if count < 0 { i64::MIN } else { i64::MAX }
                        });
                    }
                }
                Resolved::UnknownInFunction(functions) => {
                    let number = count.unsigned_abs();
                    exits.unknown_total = exits.unknown_total.saturating_add(number);
                    for function in functions {
                        *exits.unknown.entry(function).or_default() += number;
                    }
                }
                Resolved::Outside => exits.outside = exits.outside.saturating_add(count.unsigned_abs()),
            }
        }
        (exits, saturated)
    }

    /// Adds what the counter of a kind was where activations ended, modulo 2⁶⁴.
    fn add_total(&mut self, binary: &BinaryFile, address: u64, kind: usize, total: i64) {
        let Resolved::Sites(chain) = binary.resolve(address) else { return };
        for (function, site) in chain {
            let kinds = self.totals.entry(function).or_default();
            let sites = binary.function(function).sites().len();
            kinds.resize(kinds.len().max(kind + 1), vec![0; sites]);
            let sum = &mut kinds[kind][site.index()];
            *sum = sum.wrapping_add(total);
        }
    }
}
