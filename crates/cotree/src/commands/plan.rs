//! `cotree plan`: shows what each method's counters would cost, for bitcode or a profiled binary.

mod explain;
mod json;

use super::input::{Binaries, load};
use super::into_report;
use super::output::{Looks, Output};
use crate::folder;
use clap::Args;
use cotree_core::facts::hints::Hints;
use cotree_core::facts::{Function, ProgramMap};
use cotree_core::graph::cfg::Cfg;
use cotree_core::method::path::{self, PathCost, PathMethod, PathOptions};
use cotree_core::profile::FunctionProfile;
use cotree_core::statistics::{PlacementCost, PlanStatistics};
use cotree_core::weight::weighting::Weighting;
use cotree_llvm::standalone::facts_of_files;
use cotree_options::BuildOptions;
use cotree_profile::binary::BinaryFile;
use cotree_report::names::matches;
use cotree_report::terminal::{Column, grouped, number, text};
use explain::Planned;
use miette::{Result, miette};
use std::path::{Path, PathBuf};

/// Arguments of `cotree plan`.
#[derive(Args, Debug)]
pub struct PlanArgs {
    /// Bitcode (.bc, or objects compiled with -flto), or one binary built with cotree
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Judge by the counts of this profile, which must be of the binary
    #[arg(long, value_name = "PROFILE")]
    judge: Option<PathBuf>,
    /// Place counters by those counts too, and not by the static heuristic
    #[arg(long, requires = "judge")]
    exact: bool,
    /// Only functions whose symbol or name contains this (`=NAME`: is this)
    #[arg(short, long, value_name = "PATTERN")]
    function: Option<String>,
    /// Explain each counter of the functions of this name (as with --function): what it counts, where, and why there
    #[arg(long, value_name = "FUNCTION", conflicts_with_all = ["judge", "function"])]
    explain: Option<String>,
    /// Write JSON; for bitcode it also says how many loops can count by their own variables
    #[arg(long, conflicts_with = "explain")]
    json: bool,
    #[command(flatten)]
    looks: Looks,
    #[command(flatten)]
    output: Output,
}

/// Runs `cotree plan`.
pub fn run(args: &PlanArgs, options: &BuildOptions) -> Result<()> {
    if let Some(function) = &args.explain {
        let text = Planned::open(&args.files, options)?.explain(function)?;
        return args.output.write_text(|out| out.write_all(text.as_bytes()));
    }
    let costs = match (&args.judge, args.files.as_slice()) {
        (Some(profile), [binary]) => {
            let file = folder::open(profile, &[])?;
            let loaded = load(&file, &Binaries { binaries: vec![binary.clone()] })?;
            let mut sum = Costs::default();
            for unit in loaded.units() {
                sum.add(args, options, &unit.map.program, &[], Some(&unit.profile.functions))?;
            }
            sum
        }
        (Some(_), _) => return Err(miette!("--judge needs exactly one file: the binary that the profile is of")),
        (None, files) => {
            let mut sum = Costs::default();
            let (program, hints) = map_of(files)?;
            sum.add(args, options, &program, &hints, None)?;
            sum
        }
    };
    let statistics = &costs.counters;
    if statistics.blocks == 0 {
        return Err(miette!("no function of the given files can be instrumented, or none matches"));
    }
    if args.json {
        let bitcode = args.judge.is_none() && !matches!(&*args.files, [only] if is_elf(only));
        let facts = bitcode.then(|| facts_of_files(&args.files, true).map_err(into_report)).transpose()?;
        let affine = facts
            .map(|facts| json::Affine::of(&facts.program, &facts.hints, &facts.variables, args.function.as_deref()));
        return args.output.write(|out| json::write(&costs, affine.as_ref(), out));
    }
    let style = args.looks.style(&args.output);
    let judged = if args.judge.is_some() { "increments" } else { "expected increments" };
    let columns = [
        text("method"),
        number("counters"),
        number("per edge"),
        number("need a jump"),
        number(judged),
        number("of redundant"),
    ];
    let redundant = statistics.redundant;
    let row = |name: &str, cost: &PlacementCost| {
        let reduction = if redundant.increments > 0.0 {
            format!("{:.1}%", 100.0 * cost.increments / redundant.increments)
        } else {
            "-".into()
        };
        vec![
            name.to_owned(),
            grouped(u128::from(cost.counters)),
            format!("{:.2}", cost.counters as f64 / (statistics.edges.max(1)) as f64),
            grouped(u128::from(cost.jumps)),
            grouped(cost.increments.round() as u128),
            reduction,
        ]
    };
    let rows = vec![
        row("every block (redundant)", &statistics.redundant),
        row("edge", &statistics.edge),
        row("edge, worst tree", &statistics.edge_minimum),
        row("vertex", &statistics.vertex),
        row("vertex-edge", &statistics.vertex_edge),
        row("block (blocks and edges)", &statistics.block),
    ];
    let (path_columns, path_rows) = costs.path_table(judged);
    args.output.write_text(|out| {
        writeln!(
            out,
            "{} blocks, {} edges",
            grouped(u128::from(statistics.blocks)),
            grouped(u128::from(statistics.edges))
        )?;
        writeln!(out, "{}", style.table(&columns, rows))?;
        write!(out, "{}", style.table(&path_columns, path_rows))
    })
}

/// The costs of all methods.
#[derive(Default)]
struct Costs {
    counters: PlanStatistics,
    paths: PathCost,
    context: PathCost,
}

impl Costs {
    fn add(
        &mut self,
        args: &PlanArgs,
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
            let wanted = args.function.as_ref().is_none_or(|p| matches(p, &function.symbol));
            let Some(cfg) = function.cfg().ok().filter(|_| wanted) else { continue };
            let predicted = predicted(function, &cfg, hints.get(index));
            let expected = Weighting::expected(function, &cfg);
            let profile = profiles.and_then(|p| p.get(index)).and_then(Option::as_ref);
            let exact = profiles.map(|_| {
                let counts = profile.and_then(|p| Weighting::from_profile(&cfg, p));
                // A function without counts never ran: no counter in it would have counted.
                counts.unwrap_or_else(|| Weighting::new(&cfg, Vec::new()))
            });
            let placed_by = exact.as_ref().filter(|_| args.exact);
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

    fn path_table(&self, judged: &'static str) -> (Vec<Column>, Vec<Vec<String>>) {
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

/// The map of a binary built with cotree, or the map and the hints of bitcode.
fn map_of(files: &[PathBuf]) -> Result<(ProgramMap, Vec<Hints>)> {
    if let [only] = files
        && is_elf(only)
    {
        return BinaryFile::open(only).map(|binary| (binary.into_map().program, Vec::new())).map_err(into_report);
    }
    facts_of_files(files, false).map(|facts| (facts.program, facts.hints)).map_err(into_report)
}

fn is_elf(path: &Path) -> bool {
    use std::io::Read;
    let mut magic = [0; 4];
    cotree_profile::regular::open(path).and_then(|mut f| f.read_exact(&mut magic)).is_ok() && magic == *b"\x7FELF"
}
