//! An order of functions for the linker: hot ones first, and callers beside what they call most (Ottoni & Maher,
//! "Optimizing Function Placement for Large-Scale Data-Center Applications", CGO 2017, §4: the C³ heuristic).
//!
//! Each function is a cluster. From the hottest on, a function's cluster goes behind that of the caller which calls it
//! most, unless the two would be larger than a huge page, or that of the caller would be much less dense. In the end
//! clusters stand by density: instructions executed per byte.

use super::format::{ExportError, Format, Needs};
use crate::costs::Costs;
use cotree_core::facts::events::EventKind;
use cotree_core::facts::linker_name;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// The format of symbols.
pub(super) const FORMAT: Format = Format {
    name: "symbol-order",
    summary: "Symbols that ran, hot ones first and callers beside callees, for --symbol-ordering-file of lld",
    needs: Needs::Costs,
    has_lines: true,
    escapes: false,
    write: |export, out| write(export.costs()?, Of::Symbols, out).map(|()| Vec::new()).map_err(ExportError::from),
};

/// The format of sections.
pub(super) const SECTIONS: Format = Format {
    name: "section-order",
    summary: "The order of symbols as sections (-ffunction-sections), for --section-ordering-file of gold",
    needs: Needs::Costs,
    has_lines: true,
    escapes: false,
    write: |export, out| write(export.costs()?, Of::Sections, out).map(|()| Vec::new()).map_err(ExportError::from),
};

/// A huge page, in bytes.
const LARGEST: u128 = 2 << 20;

/// A cluster may become this many times less dense by what is appended.
const DILUTED: u128 = 8;

/// Bytes of an instruction of LLVM's, about.
const INSTRUCTION: u128 = 4;

/// What is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Symbols, for `--symbol-ordering-file` of lld.
    Symbols,
    /// Sections as `-ffunction-sections` makes them, for `--section-ordering-file` of gold.
    Sections,
}

/// Functions that lie one behind the other.
#[derive(Clone, Debug, Default)]
struct Cluster {
    members: Vec<usize>,
    bytes: u128,
    executed: u128,
}

impl Cluster {
    /// Is it denser than the other one: more executed instructions per byte?
    fn compare(&self, other: &Self) -> std::cmp::Ordering {
        (self.executed * other.bytes).cmp(&(other.executed * self.bytes))
    }

    fn and(&self, other: &Self) -> Self {
        Self {
            members: [&*self.members, &*other.members].concat(),
            bytes: self.bytes + other.bytes,
            executed: self.executed + other.executed,
        }
    }
}

/// Writes the functions that ran, one a line.
///
/// # Errors
/// If the output can't be written.
pub fn write(costs: &Costs<'_>, of: Of, out: &mut dyn Write) -> io::Result<()> {
    let mut told = BTreeSet::new();
    for function in order(costs) {
        let symbol = linker_name(&costs.functions[function].function.facts.symbol);
        if told.insert(symbol) {
            match of {
                Of::Symbols => writeln!(out, "{symbol}")?,
                // What is compiled by a profile stands in sections of its own.
                Of::Sections => writeln!(out, ".text.hot.{symbol}\n.text.{symbol}")?,
            }
        }
    }
    Ok(())
}

/// The functions that ran, by their numbers.
fn order(costs: &Costs<'_>) -> Vec<usize> {
    let own = |number: usize| {
        let function = &costs.functions[number];
        let instructions: u128 = function.function.facts.blocks.iter().map(|b| u128::from(b.instructions.total)).sum();
        let executed = function.exclusive().of(EventKind::Instructions);
        Cluster { members: vec![number], bytes: (instructions * INSTRUCTION).max(1), executed }
    };
    let sizes: Vec<u128> = (0..costs.functions.len()).map(|number| own(number).bytes).collect();
    let mut hottest: Vec<usize> = (0..costs.functions.len()).filter(|&f| costs.functions[f].ran()).collect();
    let mut clusters: BTreeMap<usize, Cluster> = hottest.iter().map(|&number| (number, own(number))).collect();
    let mut cluster_of: Vec<usize> = (0..costs.functions.len()).collect();
    hottest.sort_by(|one, other| clusters[other].compare(&clusters[one]));
    for function in hottest {
        let mut callers: BTreeMap<usize, u64> = BTreeMap::new();
        for arc in costs.graph.callers(function) {
            *callers.entry(arc.caller).or_default() += arc.calls;
        }
        let Some((&caller, _)) = callers.iter().max_by_key(|(_, calls)| **calls) else { continue };
        let (to, from) = (cluster_of[caller], cluster_of[function]);
        let (Some(before), Some(behind)) = (clusters.get(&to), clusters.get(&from)) else { continue };
        let both = before.and(behind);
        let diluted = both.executed * before.bytes * DILUTED < before.executed * both.bytes;
        if to == from || both.bytes > LARGEST.max(sizes[caller]) || diluted {
            continue;
        }
        both.members.iter().for_each(|&member| cluster_of[member] = to);
        clusters.remove(&from);
        clusters.insert(to, both);
    }
    let mut clusters: Vec<Cluster> = clusters.into_values().collect();
    clusters.sort_by(|one, other| other.compare(one));
    clusters.into_iter().flat_map(|cluster| cluster.members).collect()
}
