//! What the probes of each method would cost.

use cotree_core::facts::hints::Hints;
use cotree_core::facts::{Function, ProgramMap};
use cotree_core::graph::cfg::Cfg;
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
                counts.unwrap_or_else(|| Weighting::new(&cfg, Vec::new()))
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

    /// The table of what paths would cost.
    pub(super) fn path_table(&self, judged: &'static str) -> (Vec<Column>, Vec<Vec<String>>) {
        let columns = vec![
            text("paths"),
            number("most"),
            number("in arrays"),
            number("hashed functions"),
            number("cut for number"),
            number("probes"),
            number("calls noted"),
            number("register updates"),
            number(judged),
            number("hashed"),
        ];
        let counted = |number: u64| grouped(u128::from(number));
        let executed = |number: f64| grouped(number.round() as u128);
        let row = |name: &str, cost: &PathCost| {
            vec![
                name.to_owned(),
                counted(cost.most_paths),
                counted(cost.array_entries),
                counted(cost.hashed_functions),
                counted(cost.limited_functions),
                counted(cost.probes),
                counted(cost.sites_with_register),
                executed(cost.register_updates),
                executed(cost.path_increments + cost.self_loop_increments),
                executed(cost.hashed_increments),
            ]
        };
        (columns, vec![row("path", &self.paths), row("path-context", &self.context)])
    }
}

/// The best guess at how often the function's edges run when counters are placed; binaries give no hints.
fn predicted(function: &Function, cfg: &Cfg, hints: Option<&Hints>) -> Weighting {
    hints.map_or_else(
        || Weighting::predicted(function, cfg, &Hints::default()),
        |hints| Weighting::predicted(function, cfg, hints),
    )
}
