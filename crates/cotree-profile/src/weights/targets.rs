//! Whom the indirect calls of a function led to, as weights have it.
//!
//! A call is known by its block and its place among the indirect calls of that block. So it is found again wherever the
//! block is, if that still has as many of them. Targets are known by their symbols, and those of other modules by these
//! too: several modules may have local functions of one name.

use super::modules::module_name;
use cotree_core::facts::{Function, Module, ProgramMap};
use cotree_core::ids::CallId;
use cotree_core::method::targets::{SiteTargets, indirect_calls};
use cotree_core::weight::stale::Matching;
use serde::{Deserialize, Serialize};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

/// The indirect calls of a block, of which at least one was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockTargets {
    /// The block.
    pub block: u32,
    /// All its indirect calls, in order.
    pub calls: Vec<CallTargets>,
}

/// Whom one indirect call led to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallTargets {
    /// Functions of the program; the hottest first in files that we write.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<Target>,
    /// Calls of all other code.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub others: u64,
}

/// A function that was called through a pointer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// The linker symbol.
    pub symbol: String,
    /// The module, if that is another than the caller's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// How often.
    pub count: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl CallTargets {
    /// All calls that were counted; a sum that does not fit saturates.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.functions.iter().fold(self.others, |sum, target| sum.saturating_add(target.count))
    }

    fn add(&mut self, more: Self) {
        self.others = self.others.saturating_add(more.others);
        let mut places = HashMap::new();
        for target in std::mem::take(&mut self.functions).into_iter().chain(more.functions) {
            let name = (target.symbol.clone(), target.module.clone());
            match places.entry(name) {
                Entry::Occupied(place) => {
                    let known: &mut Target = &mut self.functions[*place.get()];
                    known.count = known.count.saturating_add(target.count);
                }
                Entry::Vacant(place) => {
                    place.insert(self.functions.len());
                    self.functions.push(target);
                }
            }
        }
    }
}

/// Adds up the targets of two builds with the same function.
pub(super) fn add(sum: &mut Vec<BlockTargets>, more: Vec<BlockTargets>) {
    let mut places: HashMap<u32, usize> = sum.iter().zip(0..).map(|(known, place)| (known.block, place)).collect();
    for block in more {
        match places.get(&block.block).map(|&place| &mut sum[place].calls) {
            Some(known) if known.len() == block.calls.len() => {
                known.iter_mut().zip(block.calls).for_each(|(sum, more)| sum.add(more));
            }
            // The function is not the same after all: the first one stays.
            Some(_) => {}
            None => {
                places.insert(block.block, sum.len());
                sum.push(block);
            }
        }
    }
}

/// The targets of an earlier version's calls, by the blocks of a later one. Those in blocks that have no pair are left
/// out.
pub(super) fn moved(earlier: &[BlockTargets], matching: &Matching) -> Vec<BlockTargets> {
    let pairs = matching.earlier.iter().zip(0..).filter_map(|(earlier, later)| Some(((*earlier)?, later)));
    let later: HashMap<u32, u32> = pairs.collect();
    let moved =
        |block: &BlockTargets| Some(BlockTargets { block: *later.get(&block.block)?, calls: block.calls.clone() });
    earlier.iter().filter_map(moved).collect()
}

/// The indirect calls of a function, block by block.
fn calls_by_block(function: &Function) -> BTreeMap<u32, Vec<CallId>> {
    let mut blocks: BTreeMap<u32, Vec<CallId>> = BTreeMap::new();
    for call in indirect_calls(function) {
        blocks.entry(function.calls[call].block.0).or_default().push(call);
    }
    blocks
}

/// The calls of a function for which there are targets, if blocks are those of the function that was counted.
pub fn matched<'a>(
    function: &Function,
    targets: &'a [BlockTargets],
) -> impl Iterator<Item = (CallId, &'a CallTargets)> {
    let mut calls = if targets.is_empty() { BTreeMap::new() } else { calls_by_block(function) };
    let block = move |block: &'a BlockTargets| {
        // Who names a block twice is heard once.
        let calls = calls.remove(&block.block).filter(|calls| calls.len() == block.calls.len());
        calls.into_iter().flatten().zip(&block.calls)
    };
    targets.iter().flat_map(block).filter(|(_, targets)| !targets.functions.is_empty())
}

/// The functions of a unit with their modules, by number.
pub(super) struct Names<'a>(Vec<(&'a Module, &'a Function)>);

impl<'a> Names<'a> {
    pub(super) fn of(program: &'a ProgramMap) -> Self {
        Self(program.functions().collect())
    }

    /// Whom the calls of a function of this module led to.
    pub(super) fn targets(&self, module: &str, function: &Function, sites: &[SiteTargets]) -> Vec<BlockTargets> {
        let sites: HashMap<CallId, &SiteTargets> = sites.iter().map(|site| (site.call, site)).collect();
        let counted = |call: CallId| sites.get(&call).map(|site| self.call(module, site)).unwrap_or_default();
        let blocks = calls_by_block(function).into_iter().map(|(block, calls)| {
            let calls = calls.into_iter().map(counted).collect();
            BlockTargets { block, calls }
        });
        blocks.filter(|block| block.calls.iter().any(|call| call.total() > 0)).collect()
    }

    fn call(&self, caller: &str, site: &SiteTargets) -> CallTargets {
        let (mut functions, mut others) = (Vec::new(), site.others);
        for &(function, count) in &site.functions {
            match self.0.get(function.index()) {
                Some((module, function)) => {
                    let module = (module.name != caller).then(|| module_name(&module.name).to_owned());
                    functions.push(Target { symbol: function.symbol.clone(), module, count });
                }
                None => others = others.saturating_add(count),
            }
        }
        CallTargets { functions, others }
    }
}
