//! What the probes of each method would cost.

use cotree_core::facts::hints::Hints;
use cotree_core::facts::{Function, ProgramMap};
use cotree_core::graph::cfg::Cfg;
use cotree_core::ids::IdMap;
use cotree_core::method::path::{self, PathCost, PathMethod, PathOptions};
use cotree_core::profile::FunctionProfile;
use cotree_core::statistics::PlanStatistics;
use cotree_core::weight::weighting::Weighting;
use cotree_options::BuildOptions;
use cotree_report::names::matches;
use cotree_report::terminal::{Column, grouped, number, text};
use miette::{Result, miette};

/// The costs of all methods.
#[derive(Default)]
pub(super) struct Costs {
    pub(super) counters: PlanStatistics,
    pub(super) paths: PathCost,
    pub(super) context: PathCost,
}

impl Costs {
    /// Adds those of a program's functions that match; `exactly` places counters by the profiles, too.
    pub(super) fn add(
        &mut self,
        wanted: Option<&str>,
        exactly: bool,
        options: &BuildOptions,
        program: &ProgramMap,
        hints: &[Hints],
        profiles: Option<&Vec<Option<FunctionProfile>>>,
    ) -> Result<()> {
        let usual = PathOptions::default();
        let choice = PathOptions {
            limit: options.path_limit.unwrap_or(usual.limit),
            array: options.path_array.unwrap_or(usual.array),
            window: options.path_array.unwrap_or(usual.window),
            metric: options.path_metric.map_or(usual.metric, Into::into),
        };
        for (index, (_, function)) in program.functions().enumerate() {
            let wanted = wanted.is_none_or(|pattern| matches(pattern, &function.symbol));
            let Some(cfg) = function.cfg().ok().filter(|_| wanted) else { continue };
            let predicted = predicted(function, &cfg, hints.get(index));
            let expected = Weighting::expected(function, &cfg);
            let profile = profiles.and_then(|p| p.get(index)).and_then(Option::as_ref);
            let exact = profiles.map(|_| {
                let counts = profile.and_then(|p| Weighting::from_profile(&cfg, p));
                // A function without counts never ran: no counter in it would have counted.
                counts.unwrap_or_else(|| Weighting::new(&cfg, IdMap::default()))
            });
            let placed_by = exact.as_ref().filter(|_| exactly);
            let counters = (placed_by.unwrap_or(&predicted), exact.as_ref().unwrap_or(&predicted));
            self.counters += PlanStatistics::new(function, &cfg, counters.0, counters.1);
            let (guide, judge) = (placed_by.unwrap_or(&expected), exact.as_ref().unwrap_or(&expected));
            for (method, sum) in [(PathMethod::Plain, &mut self.paths), (PathMethod::Context, &mut self.context)] {
                let plan = path::plan_as(method, function, &cfg, guide, choice)
                    .map_err(|error| miette!("{}: {error}", function.symbol))?;
                *sum += PathCost::of(&plan, function, &cfg, judge, choice.array);
            }
        }
        Ok(())
    }

    /// The table of what paths would cost: a column per method.
    pub(super) fn path_table(&self, judged: &str) -> (Vec<Column>, Vec<Vec<String>>) {
        let counted = |number: u64| grouped(u128::from(number));
        let executed = |number: f64| grouped(number.round() as u128);
        let row = |title: &str, cost: &dyn Fn(&PathCost) -> String| {
            vec![title.to_owned(), cost(&self.paths), cost(&self.context)]
        };
        let rows = vec![
            row("most paths of a function", &|cost| counted(cost.most_paths)),
            row("in arrays", &|cost| counted(cost.array_entries)),
            row("hashed functions", &|cost| counted(cost.hashed_functions)),
            row("cut for number", &|cost| counted(cost.limited_functions)),
            row("probes", &|cost| counted(cost.probes)),
            row("calls noted", &|cost| counted(cost.sites_with_register)),
            row("register updates", &|cost| executed(cost.register_updates)),
            row(judged, &|cost| executed(cost.path_increments + cost.self_loop_increments)),
            row("hashed increments", &|cost| executed(cost.hashed_increments)),
        ];
        (vec![text("paths"), number("path"), number("path-context")], rows)
    }
}

/// The best guess at how often the function's edges run when counters are placed; binaries give no hints.
fn predicted(function: &Function, cfg: &Cfg, hints: Option<&Hints>) -> Weighting {
    hints.map_or_else(
        || Weighting::predicted(function, cfg, &Hints::default()),
        |hints| Weighting::predicted(function, cfg, hints),
    )
}
