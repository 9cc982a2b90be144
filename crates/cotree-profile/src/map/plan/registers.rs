//! Path registers at return points: which activations' registers the runtime can find there.
//!
//! Usually it finds all registers of activations under way that recovery needs; only exceptions are listed.

use crate::binary::{CodeMap, ReturnPoint};
use crate::map::MapError;
use crate::map::sections::Stream;
use crate::wire::streams::{Reader, Writer};
use cotree_core::facts::{Function, ProgramMap};
use cotree_core::ids::{FunctionId, Site};
use cotree_core::method::MethodPlan;
use cotree_core::method::ipath::{AtCall, FunctionKey};
use cotree_core::method::path::{AtCalls, PathKey};
use cotree_core::unit::UnitPlan;

/// Predicts whose registers are found at return points.
pub(in crate::map) struct RegisterPrediction<'a> {
    functions: Vec<&'a Function>,
    keys: Keys<'a>,
}

enum Keys<'a> {
    /// No paths are counted.
    None,
    Paths(Vec<&'a PathKey>),
    /// Paths across functions: a register is the number of the path that ended before the call, or ends in it.
    Calls(Vec<&'a FunctionKey>),
}

impl<'a> RegisterPrediction<'a> {
    pub(in crate::map) fn new(plan: &'a UnitPlan, program: &'a ProgramMap) -> Self {
        let keys = match &plan.method {
            MethodPlan::Paths(unit) => Keys::Paths(unit.functions.iter().map(|plan| &plan.key).collect()),
            MethodPlan::Ipath(unit) => Keys::Calls(unit.functions.iter().map(|plan| &plan.key).collect()),
            _ => Keys::None,
        };
        Self { functions: program.functions().map(|(_, function)| function).collect(), keys }
    }

    /// Whether something is said of each return point of this code.
    pub(in crate::map) fn are_listed(&self, code: &CodeMap) -> bool {
        match self.keys {
            Keys::None => false,
            Keys::Paths(_) => true,
            Keys::Calls(_) => {
                code.functions.iter().flat_map(|function| &function.returns).any(|point| !point.registers.is_empty())
            }
        }
    }

    /// The registers of all links at which recovery needs them.
    pub(in crate::map) fn expected(&self, chain: &[(FunctionId, Site)]) -> Vec<(FunctionId, Site)> {
        let needed = |&(function, site): &(FunctionId, Site)| {
            let Some(facts) = self.functions.get(function.index()) else { return false };
            match &self.keys {
                Keys::None => false,
                Keys::Paths(keys) => {
                    let block = facts.calls.site(site).map(|site| site.block);
                    let key = keys.get(function.index());
                    matches!(block.and_then(|block| key?.at_calls(block)), Some(AtCalls::Query(_)))
                }
                Keys::Calls(keys) => {
                    let Some((key, call)) = keys.get(function.index()).zip(facts.calls.call_of(site)) else {
                        return false;
                    };
                    key.at(call).is_some_and(|at| !matches!(at, AtCall::Cross(_)))
                }
            }
        };
        chain.iter().rev().copied().filter(needed).collect()
    }

    pub(in crate::map) fn write(&self, point: &ReturnPoint, w: &mut Writer) {
        if point.registers == self.expected(&point.chain) {
            w.put(Stream::Register, 0);
            return;
        }
        w.put(Stream::Register, 1 + point.registers.len() as u64);
        for &(function, site) in &point.registers {
            w.put(Stream::Register, function.0.into());
            w.put(Stream::Register, site.0.into());
        }
    }

    pub(in crate::map) fn read(
        &self,
        chain: &[(FunctionId, Site)],
        r: &mut Reader<'_>,
    ) -> Result<Vec<(FunctionId, Site)>, MapError> {
        let nothing_listed = match self.keys {
            Keys::None => true,
            Keys::Paths(_) => false,
            Keys::Calls(_) => r.left(Stream::Register) == 0,
        };
        if nothing_listed {
            return Ok(Vec::new());
        }
        let Some(count) = r.get(Stream::Register)?.checked_sub(1) else { return Ok(self.expected(chain)) };
        if count > r.left(Stream::Register) as u64 {
            return Err(MapError::Invalid("a count is larger than its stream"));
        }
        (0..count).map(|_| Ok((FunctionId(r.get_u32(Stream::Register)?), Site(r.get_u32(Stream::Register)?)))).collect()
    }
}
