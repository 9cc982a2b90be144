//! `cargo cotree bench` of criterion and divan as they are, and of public crates with benches of theirs.
//!
//! Each of three runs has the same numbers, and so has a build in another folder, with another environment. Two
//! harnesses measure the same of the same code, and neither what prepares it nor themselves.

use crate::coverage_of_crates::{document, sources};
use crate::real::Context;
use crate::suite::Suite;
use crate::{command, rust_programs, workspace};
use anyhow::{Context as _, Result, ensure};
use std::collections::BTreeMap;
use std::path::Path;

/// Name and exact version of crates, and which of their benchmarks: parsers, a regular expression, a hash table whose
/// seeds are random, numbers as text.
const CRATES: [(&str, &str, &[&str]); 4] = [
    ("itoa", "=1.0.19", &[]),
    ("httparse", "=1.10.1", &["req/", "resp/", "uri/", "header/"]),
    ("hashbrown", "=0.17.2", &["insert", "lookup", "iter"]),
    ("fancy-regex", "=0.20.2", &[]),
];

/// What harnesses do around a benchmark, and where it begins and ends, in instructions.
const MARGIN: u64 = 40;

/// Adds the cases.
pub fn add(suite: &mut Suite, context: &Context) {
    let of_harnesses = context.clone();
    suite.add("benches, criterion and divan", move || harnesses(&of_harnesses));
    for (name, version, filters) in CRATES {
        let context = context.clone();
        suite.add(format!("benches, {name}"), move || published(&context, name, version, filters));
    }
}

/// Instructions by benchmark.
type Amounts = BTreeMap<String, u64>;

/// Measures the benches of a package, whose runs must be equal.
fn measured(context: &Context, package: &Path, filters: &[&str], environment: &[(&str, &str)]) -> Result<Amounts> {
    let out = package.join("bench.json");
    let mut bench = context.cotree();
    bench.args(["cargo", "bench", "-n", "3", "--format", "json", "--force", "-o"]).arg(&out).arg("--").args(filters);
    bench.current_dir(package).env("CARGO_TARGET_DIR", package.join("target"));
    bench.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS").envs(environment.iter().copied());
    command::succeed(&mut bench)?;
    let told = document(&out)?;
    let mut amounts = Amounts::new();
    for one in told["benchmarks"].as_array().context("no benchmarks")? {
        let name = one["name"].as_str().context("no name")?.to_owned();
        ensure!(one["exact"] == true, "{name}: not exact");
        ensure!(one["equal"] == true, "{name}: runs differ: {}", one["totals"]);
        let instructions = one["totals"]["instructions"].as_u64().context("no instructions")?;
        amounts.insert(name, instructions);
    }
    ensure!(!amounts.is_empty(), "no benchmarks");
    Ok(amounts)
}

fn published(context: &Context, name: &str, version: &str, filters: &[&str]) -> Result<String> {
    let folder = workspace::scratch().join("benches").join(name);
    workspace::fresh(&folder)?;
    let package = sources(&folder, &[(name, version)])?;
    let here = measured(context, &package, filters, &[])?;
    let elsewhere = folder.join("elsewhere/in/a/folder/with/a/longer/name");
    rust_programs::copy(&package, &elsewhere)?;
    let others =
        [("SOME_OTHER_VARIABLE", "of the environment"), ("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-AVX2,-AVX512F,-ERMS")];
    let there = measured(context, &elsewhere, filters, &others)?;
    for (name, amount) in &here {
        ensure!(there.get(name) == Some(amount), "{name}: {amount} here, and {:?} elsewhere", there.get(name));
    }
    Ok(format!("{} benchmarks, {} instructions", here.len(), here.values().sum::<u64>()))
}

fn harnesses(context: &Context) -> Result<String> {
    let folder = workspace::scratch().join("benches/harnesses");
    workspace::fresh(&folder)?;
    let package = rust_programs::harnesses();
    package.unpack(&folder)?;
    let amounts = measured(context, &folder, &[], &[])?;
    let of = |name: &str| amounts.get(name).copied().with_context(|| format!("no '{name}' among {amounts:?}"));
    let near = |one: u64, other: u64| one.abs_diff(other) <= MARGIN;
    let fibonacci = [of("criterion: fibonacci")?, of("divan: divan::fibonacci")?];
    ensure!(near(fibonacci[0], fibonacci[1]), "fibonacci: {fibonacci:?}");
    let all = ["criterion: sum/iter/", "criterion: sum/batched/", "divan: divan::sum::"];
    for prefix in all {
        let [small, large] = [of(&format!("{prefix}1000"))?, of(&format!("{prefix}3000"))?];
        let per_number = (large - small) / 2_000;
        ensure!(per_number > 0 && (large - small) % 2_000 == 0, "{prefix}: {small}, {large}");
        ensure!(near(small, 1_000 * per_number), "{prefix}: {small} with {per_number} for each number");
    }
    Ok(format!("{} benchmarks, {} instructions", amounts.len(), amounts.values().sum::<u64>()))
}
