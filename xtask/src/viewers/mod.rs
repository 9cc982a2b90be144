//! Exports are read by the programs that they are for, and these find our totals: `callgrind_annotate`,
//! `go tool pprof`, speedscope's own importer, from npm, in a browser, and what [`python`] gets from PyPI.
//!
//! Firefox Profiler's own code is in no registry: what we write for it is added up here.

mod python;

use crate::fetched::once;
use crate::programs::{self, Program, Workload};
use crate::real::Context;
use crate::suite::Suite;
use crate::{command, rust_programs, tools, workspace};
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The version of speedscope that must read our files.
const SPEEDSCOPE: &str = "1.25.0";

/// The last block of a trace that timelines show.
const BLOCKS: &str = "1000000";

/// Adds all cases.
pub fn add(suite: &mut Suite, context: &Context) {
    let lua = match programs::lua(&context.sources, Workload::Small) {
        Ok(lua) => lua,
        Err(error) => return suite.add("viewers", move || Err(error)),
    };
    let mut subjects = vec![(lua.clone(), "edge"), (lua, "trace")];
    if context.all {
        let (sources, small) = (&context.sources, Workload::Small);
        let others = [
            Ok(programs::sqlite(sources, small)),
            programs::zstd(sources, small),
            programs::lua_cxx(sources, small),
            programs::cadical(sources, small),
        ];
        for program in others {
            match program {
                Ok(program) => subjects.push((program, "edge")),
                Err(error) => return suite.add("viewers", move || Err(error)),
            }
        }
        subjects.push((programs::sqlite(sources, Workload::Tiny), "trace"));
        let with = context.clone();
        suite.add("viewers rust edge", move || {
            let folder = folder("rust-edge")?;
            let profile = rust_profile(&with, &folder)?;
            check(&profile, &folder.join("package"), "edge", &with)
        });
        let with = context.clone();
        suite.add("viewers ripgrep edge", move || {
            let folder = folder("ripgrep-edge")?;
            let profile = rust_programs::profile(&rust_programs::ripgrep(&with.sources), &with, &folder)?;
            check(&profile, &folder.join("source"), "edge", &with)
        });
    }
    for (program, method) in subjects {
        let context = context.clone();
        let name = format!("viewers {} {method}", program.name);
        suite.add(name, move || {
            let folder = folder(&format!("{}-{method}", program.name))?;
            let profile = profile(&program, method, &context, &folder)?;
            check(&profile, &home(&program)?, method, &context)
        });
    }
}

/// A new folder.
fn folder(name: &str) -> Result<PathBuf> {
    let folder = workspace::scratch().join("viewers").join(name);
    workspace::fresh(&folder)?;
    Ok(folder)
}

/// The profile of a program.
fn profile(program: &Program, method: &str, context: &Context, folder: &Path) -> Result<PathBuf> {
    let ours = folder.join("ours");
    command::succeed(&mut program.build(
        context.cotree_cc(&["--profile", method], program.cxx),
        &["-O2", "-g"],
        &ours,
    ))?;
    let profile = folder.join("run.cotree");
    let mut run = Command::new(&ours);
    // Its own tests say whether it ends as it should.
    command::output(run.args(&program.runs[0]).current_dir(folder).env("COTREE_FILE", &profile))?;
    Ok(profile)
}

/// The profile of a Rust program.
fn rust_profile(context: &Context, folder: &Path) -> Result<PathBuf> {
    let package = folder.join("package");
    fs::create_dir_all(package.join("src"))?;
    let manifest = "[package]\nname = \"m\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n";
    fs::write(package.join("Cargo.toml"), manifest)?;
    let source = workspace::root().join("crates/cotree/tests/programs/coverage/generics.rs");
    fs::copy(source, package.join("src/main.rs"))?;
    let profile = folder.join("run.cotree");
    let mut cargo = context.cotree();
    cargo.args(["cargo", "run", "--quiet"]).current_dir(&package).env("COTREE_FILE", &profile);
    command::succeed(&mut cargo)?;
    Ok(profile)
}

/// The folder with the sources of a program, apart from those of our own.
fn home(program: &Program) -> Result<PathBuf> {
    let own = workspace::root().join("xtask/programs");
    let mut folders = program.sources.iter().filter(|source| !source.starts_with(&own)).map(PathBuf::as_path);
    let mut home = folders.next().and_then(Path::parent).context("a program has sources")?;
    for source in folders {
        while !source.starts_with(home) {
            home = home.parent().context("sources have a folder in common")?;
        }
    }
    Ok(home.to_owned())
}

/// Checks a profile, which stands in a folder of its own. `home`: where the sources are.
fn check(profile: &Path, home: &Path, method: &str, context: &Context) -> Result<String> {
    let folder = profile.parent().context("a folder")?;
    let write = |verb: &str, format: &str, more: &[&str]| -> Result<PathBuf> {
        let file = folder.join(format!("out.{format}"));
        let mut cotree = context.cotree();
        command::succeed(cotree.args([verb, "--format", format, "-o"]).arg(&file).args(more).arg(profile))?;
        Ok(file)
    };
    let export = |format: &str| write("export", format, &[]);
    let file = export("callgrind")?;
    let callgrind = callgrind(&file)?;
    if method == "trace" {
        let main = inclusive_in_main(&file)?;
        let nearly_all = callgrind - callgrind / 10_000..=callgrind;
        ensure!(nearly_all.contains(&main), "callgrind_annotate: {main} instructions in main, {callgrind} in all");
    } else {
        let counted = counted(&fs::read(export("json")?)?)?;
        ensure!(counted.contains(&callgrind), "callgrind_annotate: {callgrind} instructions, counted: {counted:?}");
    }
    let pprof = pprof(&export("pprof")?)?;
    ensure!(pprof == callgrind, "pprof: {pprof} instructions, callgrind_annotate: {callgrind}");
    let speedscope = speedscope(&export("speedscope")?, folder)?;
    ensure!(speedscope == callgrind, "speedscope: {speedscope} instructions, callgrind_annotate: {callgrind}");
    let folded: u64 = sum_of_lines(&fs::read_to_string(export("folded")?)?)?;
    ensure!(folded == callgrind, "folded stacks: {folded} instructions, callgrind_annotate: {callgrind}");
    let firefox = firefox_profiler(&export("firefox-profiler")?)?;
    ensure!(firefox == callgrind, "firefox-profiler: {firefox} instructions, callgrind_annotate: {callgrind}");
    let gprof2dot = python::gprof2dot(&file)?;
    ensure!(gprof2dot == callgrind, "gprof2dot: {gprof2dot} instructions, callgrind_annotate: {callgrind}");
    let own = format!("{}/", home.display());
    let of_sources = |format: &str| write("export", format, &["--file", &own]);
    let lines = python::gcovr(&of_sources("gcov-json")?, &of_sources("lcov")?, home, folder)?;
    let mut outcome = format!("{callgrind} instructions in every viewer, {lines} lines in gcovr");
    if method == "trace" {
        let part = ["--to", BLOCKS];
        let slices = python::perfetto(&write("trace", "perfetto", &part)?, &write("trace", "chrome", &part)?)?;
        outcome.push_str(&format!(", {slices} calls in Perfetto's messages"));
    }
    fs::remove_dir_all(folder)?;
    Ok(outcome)
}

/// How many instructions blocks have run, from the JSON export: what was cut short by calls that did not return is
/// between the two.
fn counted(json: &[u8]) -> Result<std::ops::RangeInclusive<u64>> {
    let json: Value = serde_json::from_slice(json)?;
    let (mut all, mut cut) = (0, 0);
    for unit in json["units"].as_array().context("units")? {
        for function in unit["functions"].as_array().context("functions")? {
            let blocks = function["blocks"].as_array().context("blocks")?;
            let instructions = |block: &Value| block["instructions"]["total"].as_u64().unwrap_or(0);
            all += blocks.iter().map(|block| block["count"].as_u64().unwrap_or(0) * instructions(block)).sum::<u64>();
            for early in function["early_exits"].as_array().context("early exits")? {
                let block = &blocks[early["block"].as_u64().context("a block")? as usize];
                cut += early["count"].as_i64().unwrap_or(0).unsigned_abs() * instructions(block);
            }
        }
    }
    Ok(all - cut..=all + cut)
}

/// The instructions that `callgrind_annotate` adds up.
fn callgrind(file: &Path) -> Result<u64> {
    let text = command::text(Command::new("callgrind_annotate").args(["--auto=no", "--show=instructions"]).arg(file))?;
    let line = text.lines().find(|line| line.ends_with("PROGRAM TOTALS")).context("no totals")?;
    number(line.split_whitespace().next().context("an amount")?)
}

/// The events in `main` with all that it calls, but for what was inlined there from other files: that is a row by
/// itself, and small ones are not listed.
fn inclusive_in_main(file: &Path) -> Result<u64> {
    let options = ["--auto=no", "--show=instructions", "--inclusive=yes", "--threshold=100"];
    let text = command::text(Command::new("callgrind_annotate").args(options).arg(file))?;
    let lines = text.lines().filter(|line| line.contains(":main ["));
    lines.map(|line| number(line.split_whitespace().next().context("an amount")?)).sum()
}

fn number(text: &str) -> Result<u64> {
    text.replace(',', "").parse().with_context(|| format!("{text} is no number"))
}

/// The instructions that pprof adds up.
fn pprof(file: &Path) -> Result<u64> {
    let mut go = Command::new("go");
    let text = command::text(go.args(["tool", "pprof", "-top", "-sample_index=instructions"]).arg(file))?;
    // Showing nodes accounting for 74669335, 70.99% of 105182512 total
    let line = text.lines().find(|line| line.starts_with("Showing nodes")).context("no totals")?;
    number(line.strip_suffix(" total").and_then(|line| line.rsplit(' ').next()).context("an amount")?)
}

fn sum_of_lines(folded: &str) -> Result<u64> {
    folded.lines().map(|line| number(line.rsplit(' ').next().unwrap_or_default())).sum()
}

/// The instructions in the samples of a processed profile: each unit has a thread of them.
fn firefox_profiler(file: &Path) -> Result<u64> {
    let profile: Value = serde_json::from_slice(&fs::read(file)?)?;
    let threads = profile["threads"].as_array().context("threads")?.iter();
    let of_instructions = threads.filter(|thread| thread["name"] == "IR instructions");
    let weights = of_instructions.flat_map(|thread| thread["samples"]["weight"].as_array().into_iter().flatten());
    weights.map(|weight| weight.as_u64().context("a weight")).sum()
}

/// The instructions that speedscope adds up: it shows the total of each profile of a file in a list.
fn speedscope(file: &Path, folder: &Path) -> Result<u64> {
    let importer = speedscope_package()?.join("dist/release/index.html");
    // What speedscope's own command line puts into the page.
    let loader = folder.join("load.js");
    let content = command::text(Command::new("base64").arg("--wrap=0").arg(file))?;
    fs::write(&loader, format!("speedscope.loadFileFromBase64(\"out.speedscope.json\", \"{content}\")"))?;
    let page = format!("file://{}#localProfilePath={}", importer.display(), loader.display());
    let browser = tools::find("chromium").context("no chromium is installed")?;
    let mut chromium = Command::new(browser);
    chromium.args(["--headless", "--no-sandbox", "--allow-file-access-from-files", "--use-gl=swiftshader"]);
    chromium.args(["--enable-unsafe-swiftshader", "--virtual-time-budget=20000", "--dump-dom"]);
    chromium.arg(format!("--user-data-dir={}", folder.join("browser").display())).arg(page);
    let text = command::text(&mut chromium)?;
    let row = text.split("<tr title=\"IR instructions\"").nth(1).context("speedscope shows no instructions")?;
    let cells: Vec<&str> = row.split("<td").map(|cell| cell.split_once('>').map_or("", |(_, cell)| cell)).collect();
    number(cells.get(3).and_then(|cell| cell.split('<').next()).context("no amount")?)
}

/// speedscope, fetched once.
fn speedscope_package() -> Result<PathBuf> {
    let folder = once("speedscope", SPEEDSCOPE, |folder| {
        let mut npm = Command::new("npm");
        command::succeed(npm.args(["pack", &format!("speedscope@{SPEEDSCOPE}")]).current_dir(folder))?;
        let archive = format!("speedscope-{SPEEDSCOPE}.tgz");
        command::succeed(Command::new("tar").args(["--extract", "--file", &archive]).current_dir(folder))?;
        Ok(())
    })?;
    Ok(folder.join("package"))
}
