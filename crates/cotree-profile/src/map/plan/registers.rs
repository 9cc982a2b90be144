//! Path registers at return points: which activations' registers the runtime can find there.
//!
//! Usually it finds all registers of activations under way that recovery needs; only exceptions are listed.

use crate::binary::ReturnPoint;
use crate::map::MapError;
use crate::map::sections::Stream;
use crate::wire::streams::{Reader, Writer};
use cotree_core::facts::{Function, ProgramMap};
use cotree_core::ids::{FunctionId, Site};
use cotree_core::method::path::{AtCalls, PathKey};
use cotree_core::unit::UnitPlan;

/// Predicts whose registers are found at return points.
pub(in crate::map) struct Registers<'a> {
    /// Empty unless paths are counted.
    functions: Vec<(&'a Function, &'a PathKey)>,
    counts_paths: bool,
}

impl<'a> Registers<'a> {
    pub(in crate::map) fn new(plan: &'a UnitPlan, program: &'a ProgramMap) -> Self {
        let paths = plan.method.paths();
        let keys = paths.into_iter().flat_map(|unit| &unit.functions).map(|plan| &plan.key);
        let functions = program.functions().map(|(_, f)| f).zip(keys).collect();
        Self { functions, counts_paths: paths.is_some() }
    }

    /// Those of all links at which recovery needs them.
    pub(in crate::map) fn expected(&self, chain: &[(FunctionId, Site)]) -> Vec<(FunctionId, Site)> {
        let needed = |&(function, site): &(FunctionId, Site)| {
            let Some((function, key)) = self.functions.get(function.index()) else { return false };
            let block = function.calls.site(site).map(|s| s.block);
            matches!(block.and_then(|b| key.at_calls(b)), Some(AtCalls::Query(_)))
        };
        chain.iter().rev().copied().filter(needed).collect()
    }

    pub(in crate::map) fn write(&self, point: &ReturnPoint, w: &mut Writer) {
        if !self.counts_paths {
            return;
        }
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
        if !self.counts_paths {
            return Ok(Vec::new());
        }
        let Some(count) = r.get(Stream::Register)?.checked_sub(1) else { return Ok(self.expected(chain)) };
        if count > r.left(Stream::Register) as u64 {
            return Err(MapError::Invalid("a count is larger than its stream"));
        }
        (0..count).map(|_| Ok((FunctionId(r.get_u32(Stream::Register)?), Site(r.get_u32(Stream::Register)?)))).collect()
    }
}
