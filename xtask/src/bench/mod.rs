//! `cargo xtask bench`: what profiling costs, beside what it costs with other tools.
//!
//! All ratios of instructions are over each tool's own build without counters: they repeat on any machine, however
//! busy. Measurements are kept in `bench/results.json`, and `bench/RESULTS.md` is made from it. Each one is written
//! when it is made: a run that was interrupted is resumed by starting it again. With `--papers`, `bench/PAPERS.md` has
//! the numbers of the papers that cotree is made from, beside ours.

mod across;
mod build;
mod built;
mod campaign;
mod code;
mod comparison;
mod events;
mod footprint;
mod instructions;
mod page;
mod papers;
mod pgo;
mod plans;
mod results;
mod store;
mod subject;
mod summary;
mod tables;
mod timing;
mod traces;
mod variants;
mod workers;

use crate::real::Context;
use crate::{command, tools, workspace};
use anyhow::{Result, ensure};
use campaign::Campaign;
use comparison::Comparison;
use footprint::Footprint;
use page::Page;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;
use store::Store;
use subject::Workloads;
use timing::Thoroughness;
use variants::Variant;

/// Arguments of `cargo xtask bench`.
#[derive(clap::Args)]
pub struct Args {
    /// Only programs whose name contains this; bench/RESULTS.md is not written
    #[arg(long, value_name = "PART")]
    only: Option<String>,
    /// Only the build of this name, or builds whose name contains it, and those that they are compared with;
    /// bench/RESULTS.md is not written
    #[arg(long, value_name = "PART")]
    build: Option<String>,
    /// Only builds by these; bench/RESULTS.md is not written
    #[arg(long, value_enum)]
    tool: Vec<variants::Tool>,
    /// Measure gcc, clang, rustc, BOLT and LLVM's passes again, whether they have changed or not
    #[arg(long)]
    peers: bool,
    /// After the instructions, take times, of peers only with `--peers`; the machine should have no other work for some
    /// hours
    #[arg(long)]
    time: bool,
    /// Fewer programs and builds, and smaller workloads: a first look, kept apart from bench/results.json
    #[arg(long)]
    quick: bool,
    /// Measure only programs that are compiled by profiles: by cotree, and by clang and rustc alone
    #[arg(long, conflicts_with_all = ["build", "tool", "time"])]
    pgo: bool,
    /// Measure what bench/PAPERS.md needs and bench/results.json lacks, and write that page; with `--only`, measure
    /// those programs again
    #[arg(long, conflicts_with_all = ["build", "tool", "peers", "time", "quick", "pgo"])]
    papers: bool,
    /// Measure nothing, only write bench/RESULTS.md from bench/results.json and bench/NOTES.md; with
    /// `--papers` only bench/PAPERS.md
    #[arg(long, conflicts_with_all = ["only", "build", "tool", "peers", "time", "quick", "pgo"])]
    page: bool,
    /// Compare totals with bench/results.json of this revision
    #[arg(long, value_name = "REVISION", default_value = "HEAD")]
    before: String,
    /// How many builds go on at once [default: one per processor]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Use this cotree and don't build one
    #[arg(long, value_name = "PATH")]
    cotree: Option<PathBuf>,
}

/// What `--quick` leaves out: programs that take long to build, and of whose kind another one stays.
const NOT_QUICK: [&str; 5] = ["lua-c++", "zstd", "oniguruma", "meshoptimizer", "json-regex"];

impl Args {
    /// Whether a program is part of this run.
    fn wants_program(&self, program: &Workloads) -> bool {
        match &self.only {
            Some(part) => program.name().contains(part.as_str()),
            None => !(self.quick && NOT_QUICK.contains(&program.name())),
        }
    }

    /// Whether a build is part of this run.
    fn wants_build(&self, variant: &Variant, variants: &[Variant]) -> bool {
        let named = |variant: &Variant| {
            self.build.as_ref().is_none_or(|part| {
                let exactly = variants.iter().any(|variant| variant.name == *part);
                if exactly { variant.name == *part } else { variant.name.contains(part.as_str()) }
            })
        };
        let base_of = |other: &Variant| other.tool.base() == variant.name && named(other);
        (variant.quick || !self.quick)
            && (self.tool.is_empty() || self.tool.contains(&variant.tool))
            && (named(variant) || variants.iter().any(base_of))
    }

    /// Whether all that is kept in the file is part of this run.
    fn wants_all(&self) -> bool {
        self.only.is_none() && self.build.is_none() && self.tool.is_empty() && !self.quick
    }
}

/// Measures what has changed, and prints what it costs.
pub fn run(args: &Args) -> Result<bool> {
    let start = Instant::now();
    ensure!(tools::find("valgrind").is_some(), "valgrind is not installed: `cargo xtask test` installs it");
    // A page is made without a cotree.
    let cotree = if args.page { workspace::built_cotree() } else { workspace::cotree(args.cotree.clone())? };
    let context = Context::new(cotree, false)?;
    let all = subject::all(&context.sources, args.quick)?;
    let programs: Vec<&Workloads> = all.iter().filter(|program| args.wants_program(program)).collect();
    ensure!(!programs.is_empty(), "no program has such a name");
    let mut store = Store::open(&context, args.quick)?;
    let before = if args.quick { Some(Store::open(&context, true)?) } else { store.at(&args.before)? };
    if args.pgo {
        let failures = pgo::measure(args, &context, &programs, &mut store, &today()?)?;
        let subjects: Vec<_> = programs.iter().filter(|p| !p.is_set()).map(|program| &program.counted).collect();
        let mut table = String::new();
        pgo::write(&store, &subjects, &mut table)?;
        println!("{table}`cargo xtask bench --page` writes bench/RESULTS.md");
        for failure in &failures {
            println!("FAIL  {failure}");
        }
        return Ok(failures.is_empty());
    }
    let (variants, missing) = if args.page { (variants::table(), Vec::new()) } else { variants::available(&context)? };
    if args.papers {
        return write_papers(args, &context, &variants, &all, &mut store);
    }
    let wanted = |variant: &Variant| args.wants_build(variant, &variants);
    let mut failures = Vec::new();
    if !args.page {
        let jobs = args.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(2, usize::from));
        let campaign = Campaign {
            context: &context,
            variants: &variants,
            wanted: &wanted,
            peers: args.peers,
            jobs,
            today: today()?,
        };
        failures = campaign.count(&programs, &mut store)?;
        if args.time {
            failures.extend(take_times(args, &campaign, &programs, &mut store)?);
        }
    }
    let page = Page { context: &context, variants: &variants, programs: &programs, store: &store };
    if !args.page && !args.wants_all() {
        println!("{}", page.text()?);
    }
    for sentence in &missing {
        println!("{sentence}");
    }
    let mut differences = String::new();
    Comparison::new(&programs, &variants, before.as_ref(), &store).write(args.peers, &mut differences)?;
    let then = if args.quick { "the last --quick" } else { &args.before };
    println!("\nOverhead by instructions, before ({then}) and now:\n\n{differences}");
    for failure in &failures {
        println!("FAIL  {failure}");
    }
    if args.page || (args.wants_all() && failures.is_empty()) {
        println!("written: {}", page.save()?.display());
    }
    let different = page.different();
    for program in &different {
        println!("FAIL  prints something else than most builds: {program}");
    }
    println!("{:.0} s", start.elapsed().as_secs_f64());
    Ok(failures.is_empty() && different.is_empty())
}

/// Measures what the papers' tables lack, and writes their page.
fn write_papers(
    args: &Args,
    context: &Context,
    variants: &[Variant],
    all: &[Workloads],
    store: &mut Store,
) -> Result<bool> {
    let mut failures = Vec::new();
    if !args.page {
        let wanted: Vec<&Workloads> = all.iter().filter(|program| args.wants_program(program)).collect();
        let (again, today) = (args.only.is_some(), today()?);
        let request = papers::Request { context, variants, programs: &wanted, again, today };
        failures = papers::measure(&request, store)?;
    }
    println!("written: {}", papers::save(all, variants, store)?.display());
    for failure in &failures {
        println!("FAIL  {failure}");
    }
    Ok(failures.is_empty())
}

/// The day, as measurements are marked with it.
fn today() -> Result<String> {
    Ok(command::text(Command::new("date").args(["--utc", "+%F"]))?.trim().to_owned())
}

/// The step that needs a quiet machine. Says what failed.
fn take_times(args: &Args, campaign: &Campaign<'_>, programs: &[&Workloads], store: &mut Store) -> Result<Vec<String>> {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("load at the beginning of --time: {}", load.split(' ').next().unwrap_or("unknown"));
    let thoroughness =
        if args.quick { Thoroughness { rounds: 5, layouts: 1 } } else { Thoroughness { rounds: 128, layouts: 16 } };
    let mut failures = timing::time(campaign, programs, thoroughness, store)?;
    if args.wants_all() || args.only.as_deref() == Some("sqlite") {
        match Footprint::measure(campaign.context, campaign.today.clone()) {
            Ok(footprint) => store.keep_footprint(footprint)?,
            Err(error) => failures.push(format!("building SQLite: {error:#}")),
        }
    }
    if let Some(noise) = timing::describe_noise(store, programs) {
        println!("{noise}");
    }
    Ok(failures)
}
