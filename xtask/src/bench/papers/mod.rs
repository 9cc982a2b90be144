//! `cargo xtask bench --papers`: the numbers of the papers that cotree is made from, beside ours of the same quantities.
//!
//! Most of ours are in `bench/results.json` anyway. What is missing there is measured once for each program and kept in
//! the same file, so that a run that was interrupted is resumed by starting it again. `bench/PAPERS.md` is made from
//! the file alone.

mod addresses;
mod ball_larus_1994;
mod facts;
mod measure;
mod program;
mod sheet;
mod structure;

pub use facts::Facts;

use super::campaign::Campaign;
use super::results::Results;
use super::store::Store;
use super::subject::Workloads;
use super::variants::{self, Variant};
use crate::real::Context;
use crate::workspace;
use anyhow::{Context as _, Result};
use program::Program;
use sheet::Sheet;
use std::path::PathBuf;

/// What a run is about.
pub struct Request<'a> {
    /// Tools and sources.
    pub context: &'a Context,
    /// All builds.
    pub variants: &'a [Variant],
    /// The programs, without sets.
    pub programs: &'a [&'a Workloads],
    /// Measure facts that are known already, too.
    pub again: bool,
    /// The day of the measurements.
    pub today: String,
}

/// Builds whose instructions the page has of each program, and that the bench once had of few.
const WANTED: [&str; 4] = [variants::NONE, variants::EVENTS, variants::NAIVE_EVENTS, variants::ACROSS];

/// Measures what the store lacks: instructions of builds, then facts. Says what failed.
pub fn measure(request: &Request<'_>, store: &mut Store) -> Result<Vec<String>> {
    let mut failures = Vec::new();
    for program in request.programs {
        failures.extend(count_missing(request, program, store)?);
        failures.extend(measure::missing(request, program, store)?);
    }
    Ok(failures)
}

/// Counts the instructions of the builds of which the store has none.
fn count_missing(request: &Request<'_>, program: &Workloads, store: &mut Store) -> Result<Vec<String>> {
    let lacks = |variant: &&Variant| {
        let subject = &program.counted;
        WANTED.contains(&variant.name.as_str()) && subject.has(variant) && store.counted(subject, variant).is_none()
    };
    let names: Vec<&str> = request.variants.iter().filter(lacks).map(|variant| variant.name.as_str()).collect();
    let wanted = |variant: &Variant| names.contains(&variant.name.as_str());
    let Request { context, variants, today, .. } = request;
    let campaign = Campaign { context, variants, wanted: &wanted, peers: false, jobs: 1, today: today.clone() };
    if names.is_empty() { Ok(Vec::new()) } else { campaign.count(&[program], store) }
}

/// Writes bench/PAPERS.md.
pub fn save(programs: &[&Workloads], variants: &[Variant], store: &Store) -> Result<PathBuf> {
    let file = workspace::root().join("bench/PAPERS.md");
    let results = Results::new(programs, variants, store);
    let facts: Vec<Option<&Facts>> = programs.iter().map(|program| store.facts(&program.counted)).collect();
    std::fs::write(&file, page(&results, &facts)).with_context(|| format!("can't write {}", file.display()))?;
    Ok(file)
}

fn page(results: &Results, facts: &[Option<&Facts>]) -> String {
    let programs: Vec<Program<'_>> =
        results.programs.iter().zip(facts).map(|(measured, facts)| Program { measured, facts: *facts }).collect();
    format!("{INTRODUCTION}\n{}\n", sheet(&programs).text().trim_end())
}

fn sheet(programs: &[Program<'_>]) -> Sheet {
    let mut sheet = Sheet::default();
    ball_larus_1994::write(programs, &mut sheet);
    sheet
}

const INTRODUCTION: &str = "\
# The papers' numbers, and ours

Written by `cargo xtask bench --papers` from `bench/results.json`. The overview has one line for each quantity; the
tables below have the programs. Ours are of the programs of [RESULTS.md](RESULTS.md), on their small workloads, compiled
at -O2 (Rust: release). Overheads are instructions over the build without counters, by callgrind, unless time is named.
Blocks, edges and paths are those of LLVM IR after the compiler's first simplification and inlining.
";
