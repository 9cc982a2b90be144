//! What traces take: instructions, bits of each block that ran, and that beside a record of each branch.

use super::instructions::{environment, profile};
use super::results::{Measured, Results, percent};
use super::subject::Subject;
use super::variants::{self, Variant};
use crate::command;
use crate::real::Context;
use crate::table::Table;
use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// What was recorded of all runs of one build.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traced {
    /// Blocks that the trace has; of a ring those that are kept.
    pub blocks: u64,
    /// Bytes of the trace.
    pub bytes: u64,
    /// The bytes of tokens as they are in the file, compressed or not.
    pub stored: u64,
}

/// Whether the build writes a trace.
pub fn wanted(variant: &Variant) -> bool {
    variant.name == variants::TRACE || variant.name.starts_with("cotree trace,")
}

impl Traced {
    /// Runs the build once more, outside of callgrind.
    pub fn measure(context: &Context, subject: &Subject, executable: &Path) -> Result<Traced> {
        let folder = executable.parent().context("an executable is in a folder")?;
        let mut traced = Traced::default();
        for (index, arguments) in subject.runs().iter().enumerate() {
            let mut run = Command::new(executable);
            command::output(run.args(arguments).current_dir(folder).envs(environment(folder, index)))?;
            let file = folder.join(profile(index));
            let answer = command::succeed(context.cotree().args(["trace", "--json"]).arg(&file))?;
            let answer: Value = serde_json::from_slice(&answer)?;
            for thread in answer["threads"].as_array().context("no threads")? {
                for part in thread["parts"].as_array().context("no parts")? {
                    let number = |name: &str| part[name].as_u64().context("a part without numbers");
                    traced.blocks += number("blocks")?;
                    traced.bytes += number("bytes")?;
                    traced.stored += number("stored_bytes")?;
                }
            }
            std::fs::remove_file(file)?;
        }
        Ok(traced)
    }
}

fn bits(bytes: u64, blocks: u64) -> String {
    format!("{:.2}", bytes as f64 * 8.0 / blocks.max(1) as f64)
}

fn mega(bytes: u64) -> String {
    format!("{:.2}", bytes as f64 / 1e6)
}

/// The programs of which this is known, each with it.
fn known<'r, T>(results: &'r Results, of: impl Fn(&'r Measured) -> Option<T>) -> Vec<(&'r Measured, T)> {
    results.programs.iter().filter_map(|program| Some((program, of(program)?))).collect()
}

fn traced<'r>(program: &'r Measured, name: &str) -> Option<&'r Traced> {
    program.counted.get(name)?.traced.as_ref()
}

/// Instructions of a build over those without counters, of these programs together.
fn total(programs: &[&Measured], name: &str) -> Option<f64> {
    let sum = |name: &str| -> Option<u64> {
        programs.iter().map(|program| Some(program.counted.get(name)?.instructions)).sum()
    };
    Some(sum(name)? as f64 / sum(variants::NONE)? as f64)
}

/// The tables, if anything is known.
pub fn write(results: &Results, out: &mut String) -> std::fmt::Result {
    let measured = known(results, |program| traced(program, variants::TRACE));
    if measured.is_empty() {
        return Ok(());
    }
    let columns = [variants::EDGE, variants::PATH, variants::TRACE_RING, variants::TRACE];
    let titles = ["program", "edge", "path", "ring of 16 MiB", "whole", "blocks, M", "bits per block", "in the file"];
    let mut table = Table::new(titles);
    let over = |program: &Measured, name: &str| percent(results.named(name).and_then(|build| program.overhead(build)));
    let mut sum = Traced::default();
    for (program, traced) in &measured {
        let numbers = [mega(traced.blocks), bits(traced.bytes, traced.blocks), bits(traced.stored, traced.blocks)];
        table.row(
            std::iter::once(program.name.to_owned()).chain(columns.map(|name| over(program, name))).chain(numbers),
        );
        sum.blocks += traced.blocks;
        sum.bytes += traced.bytes;
        sum.stored += traced.stored;
    }
    let programs: Vec<&Measured> = measured.iter().map(|(program, _)| *program).collect();
    let numbers = [mega(sum.blocks), bits(sum.bytes, sum.blocks), bits(sum.stored, sum.blocks)];
    let totals = columns.map(|name| percent(total(&programs, name)));
    table.row(std::iter::once("total".to_owned()).chain(totals).chain(numbers));
    writeln!(
        out,
        "## Traces\n\nThe whole execution, block by block, and a ring of its newest part: instructions over the build without counters, those of the \
         compression among them, and the bits that a block takes, as they are written and as they are in the file.\n\n{table}"
    )?;
    write_encodings(results, out)
}

/// Each encoding of traces, beside a record of each branch (Ball & Larus 1994, Table 3).
fn write_encodings(results: &Results, out: &mut String) -> std::fmt::Result {
    let encodings = [
        variants::TRACE_BRANCHES,
        variants::TRACE_BY[0],
        variants::TRACE_BY[1],
        variants::TRACE_BY[2],
        variants::TRACE,
    ];
    let measured = known(results, |program| {
        let of = |name: &str| Some((program.counted.get(name)?.instructions, *traced(program, name)?));
        let found: Option<Vec<(u64, Traced)>> = encodings.iter().map(|name| of(name)).collect();
        Some((program.counted.get(variants::NONE)?.instructions, found?))
    });
    if measured.is_empty() {
        return Ok(());
    }
    let names = ["per branch", "witnesses", "bits", "paths", "auto"];
    let titles = names.iter().map(|name| format!("{name}, MB")).chain(names.iter().map(|name| (*name).to_owned()));
    let mut table = Table::new(std::iter::once("program".to_owned()).chain(titles));
    let row = |name: &str, none: u64, encodings: &[(u64, Traced)]| {
        let bytes = encodings.iter().map(|(_, traced)| mega(traced.bytes));
        let over = encodings.iter().map(|(instructions, _)| percent(Some(*instructions as f64 / none.max(1) as f64)));
        std::iter::once(name.to_owned()).chain(bytes).chain(over).collect::<Vec<_>>()
    };
    let (mut base, mut sums) = (0, vec![(0, Traced::default()); encodings.len()]);
    for (program, (none, found)) in &measured {
        table.row(row(program.name, *none, found));
        base += none;
        for (sum, (instructions, traced)) in sums.iter_mut().zip(found) {
            sum.0 += instructions;
            sum.1.bytes += traced.bytes;
        }
    }
    table.row(row("total", base, &sums));
    writeln!(
        out,
        "A record of each branch, and what takes its place (Ball & Larus 1994, Table 3): witnesses on few edges, bits for each branch, the \
         number of the path, and for each function the cheapest of these. Megabytes of the whole trace before compression, and instructions over the \
         build without counters.\n\n{table}"
    )
}
