//! `cargo xtask bench --papers`: the numbers of the papers that cotree is made from, beside ours.
//!
//! Most of ours are in `bench/results.json` anyway. What is missing there is measured once for each program and kept in
//! the same file, so that a run that was interrupted is resumed by starting it again. `bench/PAPERS.md` is made from
//! the file alone.

mod addresses;
mod ball_1994;
mod ball_larus_1994;
mod ball_larus_1996;
mod facts;
mod frenot_pereira_2024;
mod measure;
mod melski_reps_1998;
mod program;
mod request;
mod sheet;
mod structure;
#[cfg(test)]
mod tests;
mod zircon_2026;

pub use facts::Facts;
pub use request::Request;

use super::campaign::{self, Campaign};
use super::results::{Measured, Results};
use super::store::Store;
use super::subject::{Subject, Workloads};
use super::variants::{self, Variant};
use crate::workspace;
use anyhow::{Context as _, Result};
use program::Program;
use sheet::Sheet;
use std::path::PathBuf;

/// Builds whose instructions the page has of each program.
const USED: [&str; 14] = [
    variants::NONE,
    variants::BLOCK,
    variants::EDGE,
    variants::PLAIN,
    variants::AFFINE,
    variants::WEIGHTED,
    variants::PATH,
    variants::EVENTS,
    variants::NAIVE_EVENTS,
    variants::ACROSS,
    variants::TRACE,
    variants::TRACE_BY[0],
    variants::TRACE_BY[1],
    variants::TRACE_BRANCHES,
];
/// Builds whose instructions the page has of sets of small functions.
const USED_OF_SETS: [&str; 4] = [variants::NONE, variants::EDGE, variants::PLAIN, variants::AFFINE];

/// Since this day loops are vectorised and unrolled after the counters, and traces have the paper's witnesses and bits.
/// Older measurements are of other code, and no ratio may mix them with newer ones.
const CHANGED: &str = "2026-11-28";

/// Whether a measurement is of other code. Those that are not from a day of their own are older than all that are.
fn is_old(from: &str) -> bool {
    !from.starts_with(|c: char| c.is_ascii_digit()) || from < CHANGED
}

/// Measures what the store lacks: instructions of builds, then facts. Says what failed.
pub fn measure(request: &Request<'_>, store: &mut Store) -> Result<Vec<String>> {
    let mut failures = Vec::new();
    let mut programs = request.programs.to_vec();
    // Whoever is interrupted has most programs.
    programs.sort_by_cached_key(|program| campaign::effort(&program.counted));
    for program in programs {
        failures.extend(count_missing(request, program, store)?);
        if !program.is_set() {
            failures.extend(measure::missing(request, program, store)?);
        }
    }
    Ok(failures)
}

/// Counts the instructions of the builds of which the store has none that are of use.
fn count_missing(request: &Request<'_>, program: &Workloads, store: &mut Store) -> Result<Vec<String>> {
    let used: &[&str] = if program.is_set() { &USED_OF_SETS } else { &USED };
    let lacks = |variant: &&Variant| {
        let subject = &program.counted;
        let old = || store.counted(subject, variant).is_none_or(|counted| is_old(&counted.from));
        used.contains(&variant.name.as_str()) && subject.has(variant) && old()
    };
    let names: Vec<&str> = request.variants.iter().filter(lacks).map(|variant| variant.name.as_str()).collect();
    let wanted = |variant: &Variant| names.contains(&variant.name.as_str());
    let Request { context, variants, today, .. } = request;
    let campaign = Campaign { context, variants, wanted: &wanted, peers: false, jobs: 1, today: today.clone() };
    if names.is_empty() { Ok(Vec::new()) } else { campaign.count(&[program], store) }
}

/// Writes bench/PAPERS.md from what the store has of all programs, those of sets among them.
pub fn save(all: &[Workloads], variants: &[Variant], store: &Store) -> Result<PathBuf> {
    let file = workspace::root().join("bench/PAPERS.md");
    let (sets, programs): (Vec<&Workloads>, Vec<&Workloads>) = all.iter().partition(|program| program.is_set());
    let facts: Vec<Option<&Facts>> = programs.iter().map(|program| store.facts(&program.counted)).collect();
    let [programs, sets] = [programs, sets].map(|programs| Results::new(&programs, variants, store));
    let in_rust = |name: &str| all.iter().any(|p| p.name() == name && matches!(p.counted, Subject::Rust(_)));
    let sheet = sheet(&paired(&programs, &facts, &in_rust), &paired(&sets, &vec![None; sets.programs.len()], &in_rust));
    std::fs::write(&file, format!("{INTRODUCTION}\n{}\n", sheet.text().trim_end()))
        .with_context(|| format!("can't write {}", file.display()))?;
    Ok(file)
}

fn paired<'a>(results: &'a Results, facts: &[Option<&'a Facts>], in_rust: &dyn Fn(&str) -> bool) -> Vec<Program<'a>> {
    let program = |(measured, facts): (&'a Measured, &Option<&'a Facts>)| Program {
        measured,
        facts: *facts,
        in_rust: in_rust(measured.name),
    };
    results.programs.iter().zip(facts).map(program).collect()
}

fn sheet(programs: &[Program<'_>], sets: &[Program<'_>]) -> Sheet {
    let mut sheet = Sheet::default();
    ball_larus_1994::write(programs, &mut sheet);
    ball_1994::write(programs, &mut sheet);
    ball_larus_1996::write(programs, &mut sheet);
    frenot_pereira_2024::write(programs, sets, &mut sheet);
    melski_reps_1998::write(programs, &mut sheet);
    zircon_2026::write(programs, sets, &mut sheet);
    sheet
}

const INTRODUCTION: &str = "\
# The papers' numbers, and ours

Written by `cargo xtask bench --papers` from `bench/results.json`. Each paper begins with one line for each quantity;
the tables of programs stand below. Ours are of the programs of [RESULTS.md](RESULTS.md), on their small workloads,
compiled at -O2 (Rust: release). Overheads are instructions over the build without counters, by callgrind, unless time
is named. Blocks, edges and paths are those of LLVM IR after the compiler's first simplification and inlining. None of
the papers' own programs (SPEC89, SPEC92, SPEC95, the LLVM test suite, Jotai) is among ours, so all numbers are of
other programs.

Builds are named as the papers name them. Redundant counters are those of `cotree block`, optimal ones and KS counters
those of `cotree edge, plain`, SESE counters those of `cotree edge, affine alone`. Below each table stand the days of
its measurements, with how many are of each day: ours are those of the cotree of that day. Times are taken on a machine
without other work: those of `bench/RESULTS.md of 2026-11-23, rounded` are of a cotree that placed counters after loops
had been unrolled.
";
