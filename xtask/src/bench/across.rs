//! What paths across functions are and take, beside paths within functions and the build without counters.

use super::campaign::profiles;
use super::footprint::text_size;
use super::instructions::environment;
use super::results::{Measured, Results, percent};
use super::subject::Subject;
use super::variants::{self, Variant};
use crate::real::Context;
use crate::table::Table;
use crate::{command, measure};
use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// What is known of one build.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Across {
    /// Paths that could run; 0 where nobody has counted them.
    pub possible: u64,
    /// Different paths that ran.
    pub run: u64,
    /// Calls that paths go on in, calls cut for the sake of numbers or recursion, and those that may not come back.
    pub calls: [u64; 3],
    /// Bytes of `.text`.
    pub text: u64,
    /// Peak memory of the first run.
    pub peak_kib: u64,
}

/// The builds of C and C++ programs that the table has.
pub fn wanted(subject: &Subject, variant: &Variant) -> bool {
    matches!(subject, Subject::C(_))
        && ([variants::NONE, variants::PATH].contains(&&*variant.name) || is_across(variant))
}

fn is_across(variant: &Variant) -> bool {
    variant.name.starts_with("cotree ipath")
}

impl Across {
    /// Runs the build once more, outside of callgrind.
    pub fn measure(context: &Context, subject: &Subject, variant: &Variant, executable: &Path) -> Result<Across> {
        let folder = executable.parent().context("an executable is in a folder")?;
        // Some programs print what is no text, and some end with another status than 0, which is no matter here.
        let mut first = Command::new("sh");
        first.args(["-c", "\"$@\" > /dev/null || true", "sh"]).arg(executable);
        let runs = subject.runs();
        first.args(runs.first().context("there is a run")?).current_dir(folder).envs(environment(folder, 0));
        let mut across =
            Across { text: text_size(executable)?, peak_kib: measure::run(&first)?.peak_kib, ..Across::default() };
        if variant.name == variants::NONE {
            return Ok(across);
        }
        let merged = profiles(context, subject, executable)?;
        let answer: Value =
            serde_json::from_slice(&command::succeed(context.cotree().args(["paths", "--json"]).arg(merged))?)?;
        let length = |of: &Value| of["paths"].as_array().map_or(0, |paths| paths.len() as u64);
        for unit in answer["units"].as_array().context("no units")? {
            let number = |path: &str| unit.pointer(path).and_then(Value::as_u64).unwrap_or(0);
            across.possible += number("/possible");
            // Crossed; not crossed though the callee could be called with a path; others.
            const CALLS: [&[&str]; 3] = [
                &["crossed"],
                &["recursive", "left_out"],
                &["callers_unknown", "tail_call", "pointer", "outside", "returns_twice"],
            ];
            for (sum, reasons) in across.calls.iter_mut().zip(CALLS) {
                *sum += reasons.iter().map(|reason| number(&format!("/calls/{reason}/calls"))).sum::<u64>();
            }
            let within = unit["functions"].as_array().filter(|_| !is_across(variant));
            across.run += within.map_or_else(|| length(unit), |functions| functions.iter().map(length).sum());
        }
        Ok(across)
    }
}

/// The table, if anything is known.
pub fn write(results: &Results, out: &mut String) -> std::fmt::Result {
    let mut table = Table::new([
        "program",
        "paths",
        "observable",
        "run",
        "calls crossed",
        "calls cut",
        "other calls",
        ".text",
        "memory, MiB",
        "instructions",
    ]);
    let mut rows = 0;
    for program in &results.programs {
        let across = |variant: &Variant| program.counted.get(&variant.name)?.across.as_ref();
        let Some(none) = results.named(variants::NONE).and_then(across) else { continue };
        for variant in results.variants.iter().filter(|variant| variant.name == variants::PATH || is_across(variant)) {
            let Some(of) = across(variant) else { continue };
            table.row(row(program, variant, of, none));
            rows += 1;
        }
    }
    if rows == 0 {
        return Ok(());
    }
    writeln!(
        out,
        "## Paths across functions\n\nBy each strategy (Melski & Reps 1998, §8), beside paths within functions: how many paths there could be \
         (as a power of two), how many different ones ran, and what becomes of them at calls. Code, peak memory of a run and instructions \
         are those over the build without counters. No function is cloned.\n\n{table}"
    )
}

fn row(program: &Measured, variant: &Variant, of: &Across, none: &Across) -> Vec<String> {
    let within = of.possible == 0;
    let observable = (of.possible as f64).log2();
    let calls = of.calls.map(|calls| if within { "–".to_owned() } else { calls.to_string() });
    let memory = of.peak_kib as f64 / 1024.0 - none.peak_kib as f64 / 1024.0;
    let mut cells = vec![
        program.name.to_owned(),
        variant.name.trim_start_matches("cotree ").to_owned(),
        if within { "–".into() } else { format!("2^{observable:.1}") },
        of.run.to_string(),
    ];
    cells.extend(calls);
    cells.extend([
        percent(Some(of.text as f64 / none.text.max(1) as f64)),
        format!("{memory:+.1}"),
        percent(program.overhead(variant)),
    ]);
    cells
}
