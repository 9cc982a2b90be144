//! `cargo cotree bench` of criterion and divan as they are, and of public crates with benches of theirs.
//!
//! Each of three runs has the same numbers, and so has a build in another folder, with another environment. Two
//! harnesses measure the same of the same code, and neither what prepares it nor themselves.

mod planted;

use crate::coverage_of_crates::{document, sources};
use crate::real::Context;
use crate::suite::Suite;
use crate::{command, rust_programs, workspace};
use anyhow::{Context as _, Result, ensure};
use planted::Planted;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A crate, and what is measured of it.
struct Crate {
    name: &'static str,
    version: &'static str,
    /// Parts of the names of benchmarks; all if there are none.
    filters: &'static [&'static str],
    /// Options of cargo.
    options: &'static [&'static str],
    planted: Planted,
}

/// Numbers as text, a parser, a hash table whose seeds are random, regular expressions, and a table that threads share.
const CRATES: [Crate; 5] = [
    Crate {
        name: "itoa",
        version: "=1.0.19",
        filters: &[],
        options: &[],
        planted: Planted {
            file: "src/lib.rs",
            behind: "pub fn format<I: Integer>(&mut self, i: I) -> &str {",
            turns: 0,
            function: "format",
            benchmark: "u64[max]/itoa",
        },
    },
    Crate {
        name: "httparse",
        version: "=1.10.1",
        filters: &["req/", "resp/", "uri/", "header/"],
        options: &[],
        planted: Planted {
            file: "src/lib.rs",
            behind: "pub fn parse_uri<'a>(bytes: &mut Bytes<'a>) -> Result<&'a str> {",
            turns: 8,
            function: "parse_uri",
            benchmark: "req/req",
        },
    },
    Crate {
        name: "hashbrown",
        version: "=0.17.2",
        filters: &["insert", "lookup", "iter"],
        options: &["--bench", "bench"],
        planted: Planted {
            file: "src/map.rs",
            behind: "pub fn insert(&mut self, k: K, v: V) -> Option<V> {",
            turns: 0,
            function: "insert",
            benchmark: "insert_foldhash_serial",
        },
    },
    Crate {
        name: "fancy-regex",
        version: "=0.20.2",
        filters: &[],
        options: &["--bench", "bench"],
        planted: Planted {
            file: "src/vm.rs",
            behind: "    extract: impl FnOnce(&State) -> T,\n) -> Result<Option<T>> {",
            turns: 80,
            function: "run_with",
            benchmark: "run_backtrack",
        },
    },
    Crate {
        name: "sharded-slab",
        version: "=0.1.7",
        filters: &["single_threaded"],
        options: &[],
        planted: Planted {
            file: "src/lib.rs",
            behind: "    pub fn insert(&self, value: T) -> Option<usize> {",
            turns: 1,
            function: "insert",
            benchmark: "single_threaded/sharded_slab/1000",
        },
    },
];

/// A benchmark of sharded-slab with four threads, which takes the time itself.
const THREADS: &str = "insert_remove_local/sharded_slab/1000";

/// What harnesses do around a benchmark, and where it begins and ends, in instructions.
const MARGIN: u64 = 40;

/// Adds the cases.
pub fn add(suite: &mut Suite, context: &Context) {
    let of_harnesses = context.clone();
    suite.add("benches, criterion and divan", move || harnesses(&of_harnesses));
    for one in CRATES {
        let (of_crate, of_planted) = (context.clone(), context.clone());
        let (name, planted) = (one.name, one.planted);
        let version = one.version;
        suite.add(format!("benches, {name}"), move || published(&of_crate, &one));
        suite.add(format!("benches, planted in {name}"), move || {
            let folder = workspace::scratch().join("benches").join(format!("{name}-planted"));
            workspace::fresh(&folder)?;
            let note = planted.find(&of_planted, &unpacked(&folder, name, version)?, name)?;
            fs::remove_dir_all(&folder)?;
            Ok(note)
        });
    }
    let of_threads = context.clone();
    suite.add("benches, threads", move || threads(&of_threads));
}

/// Instructions by benchmark.
type Amounts = BTreeMap<String, u64>;

/// Measures the benches of a package, whose runs must be equal.
fn measured(
    context: &Context,
    package: &Path,
    (options, filters): (&[&str], &[&str]),
    environment: &[(&str, &str)],
) -> Result<Amounts> {
    let out = package.join("bench.json");
    let mut bench = context.cotree();
    bench
        .args(["cargo", "bench", "-n", "3", "--format", "json", "--force", "-o"])
        .arg(&out)
        .args(options)
        .arg("--")
        .args(filters);
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

/// A crate, with a lock file.
fn unpacked(folder: &Path, name: &str, version: &str) -> Result<PathBuf> {
    let package = sources(folder, &[(name, version)])?;
    command::succeed(workspace::cargo().args(["generate-lockfile", "--quiet"]).current_dir(&package))?;
    Ok(package)
}

fn published(context: &Context, one: &Crate) -> Result<String> {
    let Crate { name, version, filters, options, .. } = one;
    let folder = workspace::scratch().join("benches").join(name);
    workspace::fresh(&folder)?;
    let package = unpacked(&folder, name, version)?;
    let here = measured(context, &package, (options, filters), &[])?;
    let elsewhere = folder.join("elsewhere/in/a/folder/with/a/longer/name");
    rust_programs::copy(&package, &elsewhere)?;
    let others =
        [("SOME_OTHER_VARIABLE", "of the environment"), ("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-AVX2,-AVX512F,-ERMS")];
    let there = measured(context, &elsewhere, (options, filters), &others)?;
    for (name, amount) in &here {
        ensure!(there.get(name) == Some(amount), "{name}: {amount} here, and {:?} elsewhere", there.get(name));
    }
    fs::remove_dir_all(&folder)?;
    Ok(format!("{} benchmarks, {} instructions", here.len(), here.values().sum::<u64>()))
}

/// Threads that share a table: each run does the same, or is told where it does not.
fn threads(context: &Context) -> Result<String> {
    let folder = workspace::scratch().join("benches/threads");
    workspace::fresh(&folder)?;
    let package = unpacked(&folder, "sharded-slab", "=0.1.7")?;
    let out = folder.join("bench.json");
    let mut bench = context.cotree();
    bench.args(["cargo", "bench", "-n", "3", "--whole", "--format", "json", "-o"]).arg(&out).args(["--", THREADS]);
    bench.current_dir(&package).env("CARGO_TARGET_DIR", folder.join("target"));
    let output = command::output(bench.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{said}");
    let told = document(&out)?;
    let one = &told["benchmarks"][0];
    ensure!(one["exact"] == true, "not exact: {said}");
    let differs = one["equal"] == false;
    ensure!(!differs || said.contains("did something else than run 1"), "it is not told where runs differ: {said}");
    fs::remove_dir_all(&folder)?;
    Ok(format!("{}: {}", if differs { "differs, and that is told" } else { "equal" }, one["totals"]["instructions"]))
}

fn harnesses(context: &Context) -> Result<String> {
    let folder = workspace::scratch().join("benches/harnesses");
    workspace::fresh(&folder)?;
    let package = rust_programs::harnesses();
    package.unpack(&folder)?;
    let amounts = measured(context, &folder, (&[], &[]), &[])?;
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
