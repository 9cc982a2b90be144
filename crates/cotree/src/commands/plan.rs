//! `cotree plan`: what each method's counters would cost, from bitcode or from a profiled binary.

use super::input::{Binaries, load};
use super::output::{Looks, Output};
use super::told;
use clap::Args;
use cotree_core::facts::ProgramMap;
use cotree_core::profile::FunctionProfile;
use cotree_core::statistics::{PlacementCost, PlanStatistics};
use cotree_core::weighting::Weighting;
use cotree_profile::binary::BinaryFile;
use cotree_profile::file::ProfileFile;
use cotree_report::names::matches;
use cotree_report::terminal::{grouped, number, text};
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
    #[command(flatten)]
    looks: Looks,
    #[command(flatten)]
    output: Output,
}

/// Runs `cotree plan`.
pub fn run(args: &PlanArgs) -> Result<()> {
    let statistics = match (&args.judge, args.files.as_slice()) {
        (Some(profile), [binary]) => {
            let file = ProfileFile::open(profile).map_err(told)?;
            let loaded = load(&file, &Binaries { binaries: vec![binary.clone()] })?;
            let mut sum = PlanStatistics::default();
            for unit in loaded.units() {
                sum += statistics(args, &unit.map.program, Some(&unit.profile.functions));
            }
            sum
        }
        (Some(_), _) => return Err(miette!("--judge needs exactly one file: the binary that the profile is of")),
        (None, files) => statistics(args, &map_of(files)?, None),
    };
    if statistics.blocks == 0 {
        return Err(miette!("no function of the given files can be instrumented, or none matches"));
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
    args.output.write(|out| {
        writeln!(
            out,
            "{} blocks, {} edges",
            grouped(u128::from(statistics.blocks)),
            grouped(u128::from(statistics.edges))
        )?;
        write!(out, "{}", style.table(&columns, rows))
    })
}

fn statistics(
    args: &PlanArgs,
    program: &ProgramMap,
    profiles: Option<&Vec<Option<FunctionProfile>>>,
) -> PlanStatistics {
    let mut sum = PlanStatistics::default();
    for (index, (_, function)) in program.functions().enumerate() {
        let wanted = args.function.as_ref().is_none_or(|p| matches(p, &function.symbol));
        let Some(cfg) = function.cfg().ok().filter(|_| wanted) else { continue };
        let expected = Weighting::expected(function, &cfg);
        let profile = profiles.and_then(|p| p.get(index)).and_then(Option::as_ref);
        let judge = match (profiles, profile.and_then(|p| Weighting::from_profile(&cfg, p))) {
            (None, _) => expected.clone(),
            (Some(_), Some(exact)) => exact,
            // It never ran: no counter in it would count.
            (Some(_), None) => Weighting::new(&cfg, Vec::new()),
        };
        let guide = if args.exact { &judge } else { &expected };
        sum += PlanStatistics::new(function, &cfg, guide, &judge);
    }
    sum
}

/// The map of a binary built with cotree, else of bitcode.
fn map_of(files: &[PathBuf]) -> Result<ProgramMap> {
    if let [only] = files
        && is_elf(only)
    {
        return BinaryFile::open(only).map(|binary| binary.into_map().program).map_err(told);
    }
    cotree_llvm::standalone::map_of_files(files).map_err(told)
}

fn is_elf(path: &Path) -> bool {
    use std::io::Read;
    let mut magic = [0; 4];
    std::fs::File::open(path).and_then(|mut f| f.read_exact(&mut magic)).is_ok() && magic == *b"\x7FELF"
}
