//! `cotree plan`: shows what each method's counters would cost, for bitcode or a profiled binary.

mod costs;
mod explain;
mod files;
mod json;

use super::input::{Binaries, Reader, expect_bitcode, load};
use super::into_report;
use super::output::{Looks, Output};
use crate::{folder, lines};
use clap::Args;
use costs::Costs;
use cotree_core::statistics::PlacementCost;
use cotree_llvm::standalone::facts_of_files;
use cotree_options::BuildOptions;
use cotree_report::terminal::{Style, grouped, number, text};
use explain::Planned;
use files::{is_elf, map_of};
use miette::{Result, miette};
use std::io::{self, Write};
use std::path::PathBuf;

/// Arguments of `cotree plan`.
#[derive(Args, Debug)]
pub struct PlanArgs {
    /// Bitcode (.bc, or objects compiled with -flto), or one binary built with cotree
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Compute costs from the counts of this profile, which must be of the binary
    #[arg(long, value_name = "PROFILE")]
    judge: Option<PathBuf>,
    /// Place counters by these counts, too, instead of by the static heuristic
    #[arg(long, requires = "judge")]
    exact: bool,
    /// Only functions whose symbol or name contains PATTERN (`=NAME`: is exactly NAME)
    #[arg(short, long, value_name = "PATTERN")]
    function: Option<String>,
    /// Explain each counter of the functions of this name (as with --function): what it counts, where, and why there
    #[arg(long, value_name = "FUNCTION", conflicts_with_all = ["judge", "function"])]
    explain: Option<String>,
    /// Write JSON, which for bitcode also says how many loops can be counted by their own variables
    #[arg(long, conflicts_with = "explain")]
    json: bool,
    #[command(flatten)]
    looks: Looks,
    #[command(flatten)]
    output: Output,
}

impl PlanArgs {
    /// Says which options of builds change nothing in the table of all methods; `named` are on the command line.
    pub fn note_idle(&self, named: &[String]) {
        /// What the table looks at.
        const OF_TABLE: [&str; 3] = ["path-array", "path-limit", "path-metric"];
        if self.explain.is_some() {
            return;
        }
        for option in named.iter().filter(|option| !OF_TABLE.contains(&option.as_str())) {
            lines::note(format_args!(
                "cotree: warning: --{option} changes nothing in the table of all methods: it is for --explain"
            ));
        }
    }
}

/// Writes a line, or where it has no room in the terminal several, with what follows further to the right.
fn write_within(style: Style, line: &str, out: &mut dyn Write) -> io::Result<()> {
    if style.width.is_none_or(|width| line.chars().count() <= usize::from(width)) {
        return writeln!(out, "{line}");
    }
    let text = line.trim_start();
    let blanks = line.len() - text.len();
    writeln!(out, "{}{}", &line[..blanks], style.wrap(text, blanks + 2))
}

/// Runs `cotree plan`.
pub fn run(args: &PlanArgs, options: &BuildOptions) -> Result<()> {
    args.files.iter().try_for_each(|file| expect_bitcode(file))?;
    if let Some(function) = &args.explain {
        let text = Planned::open(&args.files, options)?.explain(function)?;
        let style = args.looks.style(&args.output);
        return args.output.write_text(|out| text.lines().try_for_each(|line| write_within(style, line, out)));
    }
    let costs = match (&args.judge, args.files.as_slice()) {
        (Some(profile), [binary]) => {
            let file = folder::open(profile, &[])?;
            let loaded = load(&file, &Binaries { binaries: vec![binary.clone()] }, Reader::of(args.json))?;
            let mut sum = Costs::default();
            for unit in loaded.units() {
                sum.add(
                    args.function.as_deref(),
                    args.exact,
                    options,
                    &unit.map.program,
                    &[],
                    Some(&unit.profile.functions),
                )?;
            }
            sum
        }
        (Some(_), _) => return Err(miette!("--judge needs exactly one file: the binary that the profile is of")),
        (None, files) => {
            let mut sum = Costs::default();
            let (program, hints) = map_of(files)?;
            sum.add(args.function.as_deref(), args.exact, options, &program, &hints, None)?;
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
        number("per edge").spare(1),
        number("need a jump").spare(2),
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
