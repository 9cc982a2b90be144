//! `cargo xtask bench`: what profiling costs, beside what it costs with other tools, in one run.
//!
//! All ratios are of executed instructions, over each tool's own build without counters: they repeat on any machine.
//! Times are printed for information and never tested.

mod footprint;
mod instructions;
mod overhead;
mod variants;

use crate::programs::{self, Workload};
use crate::real::Context;
use crate::{command, rust_programs, tools, workspace};
use anyhow::{Result, ensure};
use overhead::Overheads;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

/// Measures everything and prints it.
pub fn run(cotree: Option<PathBuf>, quick: bool, only: Option<&str>) -> Result<bool> {
    ensure!(tools::find("valgrind").is_some(), "valgrind is not installed: `cargo xtask test` installs it");
    let context = Context::new(workspace::cotree(cotree)?, false)?;
    let workload = if quick { Workload::Tiny } else { Workload::Small };
    let wanted = |name: &str| only.is_none_or(|part| name.contains(part));
    let counter = instructions::Counter::choose();
    let mut overheads = Overheads::default();
    for program in programs::all_c(&context.sources, workload)?.into_iter().filter(|p| wanted(p.name)) {
        overheads.measure_c(&program, &context, counter)?;
    }
    let package = rust_programs::json_regex(&context.sources, workload);
    if wanted(package.name) {
        overheads.measure_rust(&package, &context, counter)?;
    }
    let mut text = heading(&context, counter)?;
    text += &overheads.to_string();
    if wanted("sqlite") {
        text += &footprint::measure(&context, if quick { 1 } else { 3 })?;
    }
    println!("{text}");
    if !quick && only.is_none() {
        let file = workspace::root().join("bench/RESULTS.md");
        std::fs::write(&file, text)?;
        println!("written to {}", file.display());
    }
    Ok(true)
}

fn heading(context: &Context, counter: instructions::Counter) -> Result<String> {
    let date = command::text(Command::new("date").args(["--utc", "+%F"]))?;
    let mut text = String::from("# Measurements\n\n");
    writeln!(
        text,
        "Written by `cargo xtask bench` on {}, in one run. Instructions are counted by {}.\n",
        date.trim(),
        counter.name()
    )?;
    for tool in [&*context.clang.c(), "gcc", "ld", "rustc", "valgrind"] {
        writeln!(text, "- {}", tools::version(tool))?;
    }
    writeln!(text, "- {}\n", command::text(context.cotree().arg("--version"))?.trim())?;
    Ok(text)
}
