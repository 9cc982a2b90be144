//! `cargo xtask soak`: random programs of what breaks profilers, in all builds, against tallies of their own.
//!
//! A seed is a program. It is made of pieces, each from an ingredient with one hard thing (`ingredients`), that call
//! each other from wherever they can, until fuel runs out or something ends the process. Each program counts lines and
//! entries of functions in memory that all of its processes share. That tally, and what plain clang's build of the
//! program does, are the truth. A failure is a number that is called exact and is wrong, another output or end, a hang,
//! a profile that can't be read, or a doubt without a reason. A program that fails is made smaller while it fails.

mod builds;
mod counts;
mod ingredients;
mod program;
mod random;
mod recipe;
mod shrink;
mod statements;
mod template;
mod trial;

use crate::suite::Suite;
use crate::workspace;
use anyhow::{Context as _, Result, bail, ensure};
use builds::Build;
pub use builds::OPTIONS;
use recipe::Recipe;
use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use trial::{Fault, Kind, Workshop};

/// Arguments of `cargo xtask soak`.
#[derive(clap::Args)]
pub struct Args {
    /// Programs of these seeds; without it, one after the other, and on and on
    #[arg(long, value_name = "A..B", value_parser = parse_range)]
    seeds: Option<Range<u64>>,
    /// The program of this seed, in every build
    #[arg(long, value_name = "N", conflicts_with = "seeds")]
    seed: Option<u64>,
    /// Only builds whose name contains this, such as `path`, `-O2 early`, `trace-ring`
    #[arg(long, value_name = "PART", default_value = "", allow_hyphen_values = true)]
    build: String,
    /// Only programs that have an ingredient whose name contains this, such as `threads`
    #[arg(long, value_name = "PART", default_value = "")]
    with: String,
    /// How many builds of each program are tried, in rotation
    #[arg(long, value_name = "COUNT", default_value_t = 8)]
    builds: usize,
    /// Stop after this many minutes
    #[arg(long)]
    minutes: Option<u64>,
    /// Use this cotree and don't build one
    #[arg(long, value_name = "PATH")]
    cotree: Option<PathBuf>,
    /// Keep programs that fail as they are; else the first of each kind and build is made smaller
    #[arg(long)]
    no_shrinking: bool,
}

fn parse_range(text: &str) -> Result<Range<u64>, String> {
    let numbers = text.split_once("..").and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    numbers.ok_or_else(|| "two numbers with `..` between them".into())
}

/// What came of the programs.
#[derive(Default)]
struct Tally {
    programs: usize,
    builds: usize,
    numbers: usize,
    faults: Vec<String>,
    /// Kinds of faults, by build, of which there is a small program.
    shrunk: BTreeSet<(Kind, String)>,
}

impl Tally {
    fn summary(&self) -> String {
        let Tally { programs, builds, numbers, faults, .. } = self;
        format!("{programs} programs in {builds} builds, {numbers} numbers agree, {} faults", faults.len())
    }
}

/// Where the folders are.
fn scratch() -> PathBuf {
    workspace::scratch().join("soak")
}

/// Runs the task.
pub fn run(args: &Args) -> Result<bool> {
    let cotree = workspace::cotree(args.cotree.clone())?;
    let builds: Vec<Build> = Build::all().into_iter().filter(|build| build.name().contains(&args.build)).collect();
    ensure!(!builds.is_empty(), "no build has `{}` in its name", args.build);
    let workshop = Workshop::new(scratch().join(format!("worker-{}", std::process::id())), cotree)?;
    no_core_dumps()?;
    let start = Instant::now();
    let mut tally = Tally::default();
    let seeds = args.seed.map(|seed| seed..seed + 1).or(args.seeds.clone()).unwrap_or(0..u64::MAX);
    for seed in seeds.filter(|&seed| Recipe::of(seed).kept().any(|piece| piece.ingredient.name.contains(&args.with))) {
        let chosen = if args.seed.is_some() { builds.clone() } else { rotation(&builds, seed, args.builds) };
        soak(&workshop, seed, &chosen, !args.no_shrinking, &mut tally)?;
        if tally.programs.is_multiple_of(10) {
            println!("seed {seed}: {}", tally.summary());
        }
        if args.minutes.is_some_and(|minutes| start.elapsed() >= Duration::from_secs(minutes * 60)) {
            break;
        }
    }
    println!("{}", tally.summary());
    fs::remove_dir_all(&workshop.folder)?;
    Ok(tally.faults.is_empty())
}

/// The builds of one seed: neighbours of a level, since sources are compiled once for each, and other ones with each
/// seed.
fn rotation(builds: &[Build], seed: u64, count: usize) -> Vec<Build> {
    let count = count.min(builds.len());
    let first = usize::try_from(seed * count as u64 % builds.len() as u64).expect("below a length");
    (first..first + count).map(|at| builds[at % builds.len()]).collect()
}

/// Checks the program of a seed in these builds.
fn soak(workshop: &Workshop, seed: u64, builds: &[Build], shrinks: bool, tally: &mut Tally) -> Result<()> {
    let recipe = Recipe::of(seed);
    tally.programs += 1;
    let mut compiled = None;
    let mut failed = Vec::new();
    let subject = match workshop.subject(&recipe) {
        Ok(subject) => subject,
        Err(error) => {
            let fault = format!("seed {seed} ({}) is no program: {error:#}", recipe.ingredients());
            println!("{fault}");
            tally.faults.push(fault);
            return Ok(());
        }
    };
    for build in builds.iter().filter(|build| build.suits(&recipe)) {
        let level = build.level;
        let checked = if compiled == Some(level) { Ok(()) } else { workshop.compile(&subject, level) };
        compiled = checked.is_ok().then_some(level);
        tally.builds += 1;
        match checked.and_then(|()| workshop.check(&subject, *build)) {
            Ok(numbers) => tally.numbers += numbers,
            Err(fault) => failed.push((*build, fault)),
        }
    }
    for (build, fault) in failed {
        let Fault { kind, text } = &fault;
        let name = build.name();
        println!("seed {seed}, {name}: {kind:?}: {text}\n  of {}, {:?}", recipe.ingredients(), recipe.ending);
        println!("  cargo xtask soak --seed {seed} --build '{name}'");
        let shrinks = shrinks && tally.shrunk.insert((*kind, name.clone()));
        let smallest = if shrinks { shrink::shrink(workshop, &recipe, build, *kind) } else { recipe.clone() };
        let folder = keep(workshop, &smallest, build, &fault)?;
        println!("  made of {}, {:?}: {}", smallest.ingredients(), smallest.ending, folder.display());
        tally.faults.push(format!("seed {seed}, {name}: {kind:?}: {text}"));
    }
    Ok(())
}

/// Keeps the sources of what failed.
fn keep(workshop: &Workshop, recipe: &Recipe, build: Build, fault: &Fault) -> Result<PathBuf> {
    let again = shrink::once(workshop, recipe, build);
    let name: String = build.name().chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
    let folder = scratch().join("finds").join(format!("{}-{name}", recipe.seed));
    workspace::fresh(&folder)?;
    let names = ["soak.h", "soak.c"].into_iter().map(str::to_owned);
    for name in names.chain(program::Program::of(recipe).files.into_iter().map(|(name, _)| name.to_owned())) {
        fs::copy(workshop.folder.join(&name), folder.join(&name))?;
    }
    let again =
        again.err().map_or("it does not fail again".into(), |fault| format!("{:?}: {}", fault.kind, fault.text));
    let text = format!("{}\nat first {:?}: {}\nshrunk {again}\n", build.name(), fault.kind, fault.text);
    fs::write(folder.join("fault.txt"), text)?;
    Ok(folder)
}

/// Programs that end by signals leave none.
fn no_core_dumps() -> Result<()> {
    use nix::sys::resource::{Resource, setrlimit};
    setrlimit(Resource::RLIMIT_CORE, 0, 0).context("can't turn core dumps off")
}

/// Adds a few programs to the suite; more of them with `all`.
pub fn add(suite: &mut Suite, cotree: &Path, all: bool) {
    let (groups, programs) = if all { (20, 40) } else { (4, 6) };
    for group in 0..groups {
        let seeds = group * programs..(group + 1) * programs;
        let (cotree, name) = (cotree.to_owned(), format!("soak, seeds {}..{}", seeds.start, seeds.end));
        suite.add(name, move || {
            let workshop = Workshop::new(scratch().join(format!("seeds-{group}")), cotree)?;
            no_core_dumps()?;
            let mut tally = Tally::default();
            for seed in seeds {
                soak(&workshop, seed, &rotation(&Build::all(), seed, 6), false, &mut tally)?;
            }
            if !tally.faults.is_empty() {
                bail!("{}\n{}", tally.summary(), tally.faults.join("\n"));
            }
            fs::remove_dir_all(&workshop.folder)?;
            Ok(tally.summary())
        });
    }
}
