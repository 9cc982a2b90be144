//! Recovery where paths across functions are counted: of the whole unit at once.

use super::path::{PathCounts, PathId, abandoned};
use crate::binary::BinaryFile;
use crate::counts::UnitCounts;
use crate::exits::UnitExits;
use crate::sums::{Sums, compact};
use cotree_core::facts::Function;
use cotree_core::graph::cfg::Cfg;
use cotree_core::ids::FunctionId;
use cotree_core::method::ipath::numbering::Shape;
use cotree_core::method::ipath::{
    AtCall, Ended, Entry, IpathTables, UnitIpathPlan, UnitIpathProfile, recover as recover_unit,
};
use cotree_core::method::{MethodTables, RecoverError};
use cotree_core::profile::EarlyExits;
use cotree_core::unit::Layout;

/// The graphs of functions with paths, one entry per function.
#[must_use]
pub fn graphs(functions: &[&Function], plan: &UnitIpathPlan) -> Vec<Option<Cfg>> {
    let graph = |(function, plan): (&&Function, _)| {
        let measured = plan != Entry::Unmeasured;
        if measured { function.cfg().ok() } else { None }
    };
    functions.iter().zip(plan.functions.iter().map(|plan| plan.key.entry)).map(graph).collect()
}

/// The shapes of functions with their graphs.
#[must_use]
pub fn shapes<'a>(functions: &[&'a Function], graphs: &'a [Option<Cfg>]) -> Vec<Option<Shape<'a>>> {
    functions.iter().zip(graphs).map(|(function, cfg)| cfg.as_ref().map(|cfg| Shape { function, cfg })).collect()
}

/// Recovers a unit, or says of each function with paths why it could not be.
pub(super) fn recover(
    binary: &BinaryFile,
    counts: &UnitCounts,
    unit: &UnitIpathPlan,
    layout: &Layout,
    exits: &UnitExits,
) -> Result<UnitIpathProfile, Vec<(FunctionId, RecoverError)>> {
    let functions: Vec<&Function> = binary.map().program.functions().map(|(_, function)| function).collect();
    let graphs = graphs(&functions, unit);
    let early: Vec<EarlyExits> = FunctionId::all()
        .take(functions.len())
        .map(|function| exits.by_function.get(&function).cloned().unwrap_or_default())
        .collect();
    let none = PathCounts::default();
    let counted = counts.method.paths().unwrap_or(&none);
    let values = |hashed: &Sums<PathId, u64>, behind: u64| {
        let mut values: Vec<(u64, u64)> = hashed.entries().iter().map(|(path, value)| (path.path, *value)).collect();
        if let MethodTables::Ipath(IpathTables { array, .. }) = &layout.tables {
            let first = usize::try_from(*array + behind).expect("within the counter array");
            let words = (0..unit.array).zip(&counts.counters[first..]);
            values.extend(words.filter(|word| *word.1 > 0).map(|(number, &value)| (number, value)));
        }
        values
    };
    let paths = values(&counted.counts, 0);
    let mut sums = if unit.metric.is_summed() { values(&counted.sums, unit.array) } else { Vec::new() };
    compact(&mut sums);
    let ended = ended(binary, counts, counted, unit);
    let recovered = recover_unit(&shapes(&functions, &graphs), unit, &paths, &early, &ended);
    recovered.map(|profile| UnitIpathProfile { sums, ..profile }).map_err(|error| {
        let measured = FunctionId::all().zip(&graphs).filter(|(_, graph)| graph.is_some());
        measured.map(|(function, _)| (function, error.clone().into())).collect()
    })
}

/// The activations that ended early or were revived in calls past which paths run on.
fn ended(binary: &BinaryFile, counts: &UnitCounts, counted: &PathCounts, unit: &UnitIpathPlan) -> Vec<Ended> {
    let runs_on = |function: FunctionId, site| {
        let Some(call) = binary.function(function).calls.call_of(site) else { return false };
        unit.functions[function.index()].key.at(call).is_some_and(AtCall::runs_on)
    };
    let mut all = Vec::new();
    for (function, found) in abandoned(binary, counts, counted, runs_on) {
        let ended = found.into_iter().filter(|at| runs_on(function, at.site));
        all.extend(ended.map(|at| Ended { function, site: at.site, number: at.register, count: at.count }));
    }
    all
}
