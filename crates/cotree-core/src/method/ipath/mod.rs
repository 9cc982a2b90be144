//! Interprocedural path profiling: paths that go on in callees and come back from them, each counted exactly (Melski &
//! Reps 1998).
//!
//! In a *context* profile a path remembers all that led to it since the outermost function was entered: the path
//! through each caller up to its call, and through what it had called before. In a *piecewise* profile paths partition
//! what is executed.
//!
//! [`supergraph`] says which calls paths may cross, [`groups`] where calls through pointers may lead, [`cuts`] which of
//! them they do, so that numbers fit a machine word.
//! [`graph`] is the acyclic graph of a function, [`psi_rho`] its linear functions, [`numbering`] what joins functions
//! to a unit, and [`decode`] takes numbers apart. [`increments`] and [`placement`] turn all this into probes;
//! [`recover()`] turns counts of paths into counts of blocks and edges, and [`predict`] says which paths these alone
//! would have foretold.
//!
//! # Activations that end early
//!
//! A path runs on past the calls that it does not cross. While such a call is under way, a register of the activation
//! has the number of the path that ends in that call ([`NOTED`]). Whoever walks the dying stack notes it, and it counts
//! like any other path. Activations whose call is crossed have nothing to note: what they have executed is part of
//! their callee's path, which began in whichever caller it did. Behind `setjmp` a path begins each time that it
//! returns.
//!
//! # Metrics
//!
//! With a metric each path also adds up how far the thread's total rises from its beginning to its end. A register has
//! the total when the path began, a word passes that to callees and back. Where a path runs on past a call, what
//! happens in there is part of it, too. Behind an exception out of a crossed call the next path begins where it is
//! caught.

pub mod cuts;
pub mod decode;
mod descents;
mod error;
pub mod graph;
mod groups;
pub mod increments;
mod layout;
pub mod numbering;
mod placement;
pub mod predict;
pub mod psi_rho;
mod recover;
pub mod supergraph;
mod types;
pub(crate) mod unit;

pub use error::IpathError;
pub use layout::IpathTables;
pub(crate) use layout::lay_out;
pub use recover::{Ended, UnitIpathProfile, executed, recover};
pub use supergraph::joined;
pub use types::{
    ADDRESSEE, ANY, ARRAY, AtCall, BEGAN, COMPLETIONS, Entry, FunctionKey, GroupId, Groups, Hybrid, IN_ARRAY,
    IpathMethod, IpathOptions, IpathPlan, Keys, MOST_GROUPS, MOST_OF_FUNCTION, MOST_PATHS, NOTED, NUMBER, SMALL_ARRAY,
    SoFar, Strategy, Target, UnitIpathPlan, words,
};

use crate::ids::FunctionId;
use graph::ENTRY;
use numbering::{FunctionNumbers, Numbering, Shape};
use supergraph::FunctionInput;

/// Plans the functions of a unit; `None` stands for one without probes.
///
/// # Errors
/// [`IpathError::TooManyPaths`] if the budget is too small even if no path crosses a call.
pub fn plan(
    functions: &[Option<FunctionInput<'_>>],
    method: IpathMethod,
    options: IpathOptions,
) -> Result<UnitIpathPlan, IpathError> {
    let piecewise = method.is_piecewise();
    let budget = options.budget.clamp(1, MOST_PATHS);
    let (keys, groups) = cuts::choose(functions, IpathOptions { budget, ..options }, piecewise)?;
    let shapes: Vec<Option<Shape<'_>>> =
        functions.iter().map(|at| at.as_ref().map(|at| Shape { function: at.function, cfg: &at.cfg })).collect();
    let numbering = Numbering::new(&shapes, &Keys { functions: keys.iter().collect(), groups: &groups }, piecewise)?;
    let keeps = supergraph::keeps_words(functions, &keys);
    let direct = direct(&numbering, (&keys, &groups), options.array);
    let plan = |(function, (at, key)): (FunctionId, (&Option<FunctionInput<'_>>, FunctionKey))| {
        let keeps = keeps[function.index()];
        let place = |at: &FunctionInput<'_>| {
            placement::place(&numbering, function, (at, keeps), &key, (&direct, options.metric.is_summed()))
        };
        let (probes, so_far) = at.as_ref().map(place).unwrap_or_default();
        IpathPlan { probes, so_far, key }
    };
    let functions = FunctionId::all().zip(functions.iter().zip(keys)).map(plan).collect();
    let (paths, array) = (numbering.paths, numbering.paths.min(options.array));
    Ok(UnitIpathPlan { method, functions, groups, paths, array, metric: options.metric })
}

/// The functions in which only paths end that have a word of the slab, where paths with numbers below `array` do.
fn direct(numbering: &Numbering, (keys, groups): (&[FunctionKey], &Groups), array: u64) -> Vec<bool> {
    let own = |numbers: &FunctionNumbers| {
        let (entry, gentry) = (numbers.linear.psi[ENTRY].at(1), numbers.paths_of_gentry());
        let inside = |first: Option<u64>, paths: u128| {
            first.is_none_or(|first| paths.saturating_add(u128::from(first)) <= u128::from(array))
        };
        inside(numbers.from_entry, entry) && inside(numbers.from_gentry, gentry)
    };
    let mut direct: Vec<bool> = numbering.functions.iter().map(|of| of.as_ref().is_none_or(own)).collect();
    let crossings: Vec<(FunctionId, FunctionId)> = FunctionId::all()
        .zip(keys)
        .flat_map(|(caller, key)| {
            key.calls.iter().flat_map(|&(_, at)| groups.targets(at)).map(move |callee| (caller, callee))
        })
        .collect();
    // Paths go on in callees; those of piecewise profiles come back to callers, too.
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for &(caller, callee) in &crossings {
            let directions =
                if numbering.piecewise { [(caller, callee), (callee, caller)] } else { [(caller, callee); 2] };
            for (from, to) in directions {
                if !direct[from.index()] && direct[to.index()] {
                    direct[to.index()] = false;
                    changed = true;
                }
            }
        }
    }
    direct
}
