//! The plan of a link unit, from its functions' facts.

use crate::entries;
use crate::error::Error;
use crate::options::Options;
use cotree_core::affine::{AffineVariable, LARGE};
use cotree_core::cfg::Cfg;
use cotree_core::facts::{self, Function, ProgramMap};
use cotree_core::hints::Hints;
use cotree_core::method::counters::{self, CounterMethod, UnitCounterPlan};
use cotree_core::method::path::windows::{self, Room};
use cotree_core::method::path::{self, PathCost, PathMethod, PathOptions, PathPlan, UnitPathPlan, Window};
use cotree_core::method::{Family, MethodPlan};
use cotree_core::placement::Placer;
use cotree_core::plan::{CallPoint, CounterPlan};
use cotree_core::spanning::Extreme;
use cotree_core::unit::UnitPlan;
use cotree_core::weighting::Weighting;
use cotree_profile::weights::Weights;
use rayon::prelude::*;

/// Plans all functions of a unit; what is told of each is in unit order.
///
/// # Errors
/// If a function can't be planned.
pub(crate) fn plan_unit(
    program: &ProgramMap,
    affine: &[&[AffineVariable]],
    hints: &[&Hints],
    calls: &[Vec<CallPoint>],
    announcing: &[bool],
    (options, weights): (&Options, Option<&Weights>),
    room: Room,
) -> Result<UnitPlan, Error> {
    let planner =
        Planner { functions: program.functions().zip(hints.iter().copied()).collect(), weights, affine, options };
    let method = match options.method.family() {
        Family::None => return Ok(UnitPlan::new(MethodPlan::None)),
        Family::Counters(method) => {
            let (functions, entries) = if method == CounterMethod::Edge && options.spanning_tree == Extreme::Maximum {
                let facts: Vec<&Function> = planner.functions.iter().map(|at| at.0.1).collect();
                let graph = |number: usize| planner.graph(&planner.functions[number]);
                let means =
                    entries::Means { trades: options.trades_affine(), promotes: options.promotes(), announcing };
                entries::plan(&facts, graph, affine, calls, means)?
            } else {
                (planner.counters(method)?, Vec::new())
            };
            MethodPlan::Counters(UnitCounterPlan { method, functions, entries })
        }
        Family::Paths(method) => {
            let functions = planner.paths(method, room)?;
            let PathOptions { array, metric, .. } = options.paths;
            MethodPlan::Paths(UnitPathPlan { method, functions, array, metric })
        }
    };
    let check = options.verify.then(|| planner.counters(CounterMethod::Block)).transpose()?;
    Ok(UnitPlan { method, check })
}

/// A function of a module, with what its code says about its branches.
type Hinted<'a> = ((&'a facts::Module, &'a Function), &'a Hints);

struct Planner<'a> {
    functions: Vec<Hinted<'a>>,
    weights: Option<&'a Weights>,
    affine: &'a [&'a [AffineVariable]],
    options: &'a Options,
}

impl Planner<'_> {
    /// The function's graph, and how often its edges run or are thought to.
    fn graph(&self, ((module, function), hints): &Hinted<'_>) -> Result<(Cfg, Weighting), Error> {
        let cfg = function.cfg().map_err(|e| failed(&module.name, e.to_string()))?;
        let previous = self.weights.and_then(|w| w.of(&module.name, function));
        // Where there is no room in registers, it hangs on single probes what a path register pushes out of them, and predictions only move
        // them about: bzip2's decoder takes half as many instructions again by them.
        let predicts = !self.options.method.promises().paths || function.blocks.len() <= LARGE;
        let hints = predicts.then_some(*hints);
        let weighting = Weighting::from_previous(function, &cfg, hints, previous);
        Ok((cfg, weighting))
    }

    /// Every function by itself, by a method that counts blocks or edges.
    fn counters(&self, method: CounterMethod) -> Result<Vec<CounterPlan>, Error> {
        let plan = |at: &Hinted<'_>| {
            let function = at.0.1;
            if function.untouched.is_some() {
                return Ok(CounterPlan::default());
            }
            let (cfg, weighting) = self.graph(at)?;
            Ok(match method {
                CounterMethod::Edge => {
                    counters::edge::plan_extreme(function, &cfg, &weighting, self.options.spanning_tree)
                }
                CounterMethod::VertexEdge => {
                    let prices = Placer::new(function, &cfg).prices(&cfg, &weighting);
                    counters::vertex_edge::plan(function, &cfg, &prices)
                }
                other => counters::plan(other, function, &cfg, &weighting),
            })
        };
        self.functions.par_iter().map(plan).collect()
    }

    /// The paths of one function.
    fn paths_of(&self, method: PathMethod, number: usize, choice: PathOptions) -> Result<PathPlan, Error> {
        let at @ ((module, function), _) = &self.functions[number];
        if function.untouched.is_some() {
            return Ok(PathPlan::default());
        }
        let (cfg, weighting) = self.graph(at)?;
        let mut plan = path::plan_as(method, function, &cfg, &weighting, choice)
            .map_err(|e| failed(&module.name, format!("{}: {e}", function.symbol)))?;
        if self.options.trades_affine() {
            path::loops::trade(&mut plan, function, &cfg, &weighting, self.affine[number]);
        }
        Ok(plan)
    }

    /// The paths of all functions: first as they are, then those that are worth large arrays or windows anew.
    fn paths(&self, method: PathMethod, room: Room) -> Result<Vec<PathPlan>, Error> {
        let all = 0..self.functions.len();
        let options = self.options.paths;
        let without = PathOptions { window: 0, ..options };
        let mut plans: Vec<PathPlan> = all
            .clone()
            .into_par_iter()
            .map(|number| self.paths_of(method, number, without))
            .collect::<Result<_, _>>()?;
        let counts = |(at, plan): (&Hinted<'_>, &PathPlan)| {
            if plan.key.paths <= options.array {
                return Ok(0.0); // It has an array already.
            }
            let (cfg, weighting) = self.graph(at)?;
            Ok(PathCost::of(plan, at.0.1, &cfg, &weighting, options.array).path_increments)
        };
        let counts: Vec<f64> = self.functions.par_iter().zip(&plans).map(counts).collect::<Result<_, Error>>()?;

        let of: Vec<_> = all.clone().map(|i| (self.functions[i].0.1, &plans[i].key, counts[i])).collect();
        let arrays = windows::worth_arrays(&of, options.array, room).into_par_iter().map(|index| {
            let mut plan = self.paths_of(method, index, PathOptions { array: u64::MAX, ..options })?;
            plan.key.windows = vec![Window { first: 0, len: plan.key.paths }];
            plan.key.behind = plan.key.paths > windows::FRONT;
            Ok((index, plan))
        });
        for (index, in_array) in arrays.collect::<Result<Vec<_>, Error>>()? {
            plans[index] = in_array;
        }

        let hashed: Vec<usize> = all.filter(|&i| !plans[i].key.in_array(options.array)).collect();
        let words = windows::worth_windows(&hashed.iter().map(|&i| counts[i]).collect::<Vec<_>>(), options.array, room);
        let windowed = hashed.into_par_iter().zip(words).map(|(index, window)| {
            let mut plan = self.paths_of(method, index, PathOptions { window, ..options })?;
            plan.key.behind = plan.key.words_of_windows() > windows::FRONT;
            Ok((index, plan))
        });
        for (index, windowed) in windowed.collect::<Result<Vec<_>, Error>>()? {
            plans[index] = windowed;
        }
        Ok(plans)
    }
}

fn failed(module: &str, reason: String) -> Error {
    Error::Internal { module: module.into(), reason }
}
