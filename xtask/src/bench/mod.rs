//! `cargo xtask bench`: what profiling costs, beside what it costs with other tools, in one run.
//!
//! All ratios of instructions are over each tool's own build without counters: they repeat on any machine, however busy. Times
//! are printed for information and never tested.

mod build;
mod campaign;
mod footprint;
mod instructions;
mod plans;
mod store;
mod summary;
mod tables;
mod variants;
mod workers;

use crate::programs::{self, Workload};
use crate::real::Context;
use crate::sources::Sources;
use crate::{command, rust_programs, tools, workspace};
use anyhow::{Context as _, Result, ensure};
use build::Subject;
use campaign::Campaign;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::time::Instant;
use summary::Results;

/// Arguments of `cargo xtask bench`.
#[derive(clap::Args)]
pub struct Args {
    /// Fewer programs and builds, smaller workloads, and don't write bench/RESULTS.md: less than ten minutes on an idle machine
    #[arg(long)]
    quick: bool,
    /// Fewer builds, but no smaller workloads
    #[arg(long)]
    few: bool,
    /// Only programs whose name contains this
    #[arg(long, value_name = "PART")]
    only: Option<String>,
    /// Only builds by these
    #[arg(long, value_enum)]
    tool: Vec<variants::Tool>,
    /// Take numbers of gcc, clang and BOLT alone from the last run, where versions, sources and options are the same
    #[arg(long)]
    reuse: bool,
    /// How many builds go on at once [default: one per processor]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Measure nothing, only put bench/NOTES.md into bench/RESULTS.md anew
    #[arg(long)]
    notes: bool,
    /// Use this cotree and don't build one
    #[arg(long, value_name = "PATH")]
    cotree: Option<PathBuf>,
}

/// What `--quick` leaves out: programs that take long to build, and of whose kind another one stays.
const NOT_QUICK: [&str; 5] = ["lua-c++", "zstd", "oniguruma", "meshoptimizer", "json-regex"];

/// Measures everything and prints it.
pub fn run(args: &Args) -> Result<bool> {
    if args.notes {
        let file = results_file();
        let text = std::fs::read_to_string(&file).with_context(|| format!("can't read {}", file.display()))?;
        let measured =
            text.split_once(NOTES).with_context(|| format!("no line `{}` in {}", NOTES.trim(), file.display()))?.0;
        std::fs::write(&file, with_notes(measured)?)?;
        return Ok(true);
    }
    let (quick, only) = (args.quick, args.only.as_deref());
    ensure!(tools::find("valgrind").is_some(), "valgrind is not installed: `cargo xtask test` installs it");
    let start = Instant::now();
    let context = Context::new(workspace::cotree(args.cotree.clone())?, false)?;
    let (mut variants, mut missing) = variants::available(&context, quick || args.few)?;
    if quick {
        missing.push("With `--quick`, times are of five rounds and one layout, which says little, and `-fprofile-generate` has one form.".into());
        if only.is_none() {
            missing.push(format!("Not measured: {}, and what it takes to build SQLite.", NOT_QUICK.join(", ")));
        }
    }
    variants.retain(|variant| args.tool.is_empty() || args.tool.contains(&variant.tool));
    let store = Mutex::new(store::Store::open(&context, args.reuse, quick)?);
    let counter = instructions::Counter::choose();
    let subjects = subjects(&context.sources, if quick { Workload::Tiny } else { Workload::Small })?;
    let (long, short) =
        (self::subjects(&context.sources, Workload::Long)?, self::subjects(&context.sources, Workload::Start)?);
    let (rounds, layouts) = if quick { (5, 1) } else { (128, 16) };
    let jobs = args.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(2, usize::from));
    let campaign = Campaign { context: &context, variants: &variants, counter, rounds, layouts, jobs };
    let mut results = Results { variants: variants.clone(), programs: Vec::new() };
    let mut sets = Results { variants: variants.clone(), programs: Vec::new() };
    let mut failures = Vec::new();
    for set in programs::kernels::sets().map(Subject::C) {
        if only.is_none_or(|part| set.name().contains(part)) {
            let mut measured = campaign.measure(&set, None, &store)?;
            failures.append(&mut measured.failures);
            sets.programs.push(measured);
        }
    }
    let unfinished = workspace::scratch().join("bench-so-far.md");
    for [subject, long, short] in campaign::triples(subjects, long, short)? {
        let wanted = |part| subject.name().contains(part);
        if only.map_or(!(quick && NOT_QUICK.contains(&subject.name())), wanted) {
            let mut measured = campaign.measure(&subject, Some([&long, &short]), &store)?;
            failures.append(&mut measured.failures);
            results.programs.push(measured);
            std::fs::write(&unfinished, page(&context, counter, args, &missing, &failures, [&results, &sets])?)?;
        }
    }
    ensure!(!(results.programs.is_empty() && sets.programs.is_empty()), "no program has such a name");
    let mut text = page(&context, counter, args, &missing, &failures, [&results, &sets])?;
    if !quick && only.is_none_or(|part| "sqlite".contains(part)) && args.tool.is_empty() {
        text += &footprint::measure(&context)?;
    }
    println!("{text}\n{:.0} s", start.elapsed().as_secs_f64());
    for failure in &failures {
        println!("FAIL  {failure}");
    }
    if !quick && only.is_none() && args.tool.is_empty() {
        let file = results_file();
        std::fs::write(&file, with_notes(&text)?)?;
        println!("written to {}", file.display());
    }
    Ok(failures.is_empty())
}

fn results_file() -> PathBuf {
    workspace::root().join("bench/RESULTS.md")
}

/// The line with files by their names alone: where they are on the machine that measured is nobody's business.
fn without_folders(line: &str) -> String {
    let words =
        line.split(' ').map(|word| if word.starts_with('/') { word.rsplit('/').next().unwrap_or(word) } else { word });
    words.collect::<Vec<_>>().join(" ")
}

/// Behind this line of the results people speak.
const NOTES: &str = "\n## Notes\n\n";

/// The results with the notes on them, but for the notes' title.
fn with_notes(measured: &str) -> Result<String> {
    let file = workspace::root().join("bench/NOTES.md");
    let notes = std::fs::read_to_string(&file).with_context(|| format!("can't read {}", file.display()))?;
    let body = notes.split_once("\n\n").with_context(|| format!("no title in {}", file.display()))?.1;
    Ok(format!("{}\n{NOTES}{body}", measured.trim_end()))
}

/// What there is to tell of the programs that were measured.
fn page(
    context: &Context,
    counter: instructions::Counter,
    args: &Args,
    missing: &[String],
    failures: &[String],
    [results, sets]: [&Results; 2],
) -> Result<String> {
    let mut text = heading(context, counter)?;
    if args.reuse {
        text += "Numbers of gcc, clang and BOLT alone may be of an earlier run with the same versions, sources and options.\n\n";
    }
    if args.few {
        text += "Only some builds were measured (`--few`).\n\n";
    }
    for sentence in missing {
        writeln!(text, "{sentence}\n")?;
    }
    if failures.is_empty() {
        text += "All builds of a program printed the same and ended with the same status.\n\n";
    }
    for failure in failures {
        writeln!(text, "**Failed**: {}\n", without_folders(failure.lines().next().unwrap_or_default()))?;
    }
    if !results.programs.is_empty() {
        results.write(&mut text)?;
    }
    sets.write_sets(&mut text)?;
    if !results.programs.is_empty() {
        tables::write(results, &mut text)?;
    }
    Ok(text)
}

fn subjects(sources: &Sources, workload: Workload) -> Result<Vec<Subject>> {
    let mut all: Vec<Subject> = programs::all(sources, workload)?.into_iter().map(Subject::C).collect();
    all.push(Subject::Rust(rust_programs::json_regex(sources, workload)));
    all.push(Subject::Rust(rust_programs::iterators(workload)));
    Ok(all)
}

fn heading(context: &Context, counter: instructions::Counter) -> Result<String> {
    let date = command::text(Command::new("date").args(["--utc", "+%F"]))?;
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let mut text = String::from("# Measurements\n\n");
    writeln!(
        text,
        "Written by `cargo xtask bench` on {}, in one run. Instructions are counted by {}. {} processors; load over the last \
         quarter of an hour {}: above 2.5 or so, others were at work too, and times mean less.\n",
        date.trim(),
        counter.name(),
        std::thread::available_parallelism().map_or(1, usize::from),
        load.split(' ').nth(2).unwrap_or("unknown")
    )?;
    for tool in [&*context.clang.c(), "gcc", "ld", "rustc", "valgrind"] {
        writeln!(text, "- {}", tools::version(tool))?;
    }
    if let Some(bolt) = variants::bolt(context) {
        let version = command::text(Command::new(bolt).arg("--version"))?;
        writeln!(text, "- BOLT, {}", version.lines().find(|l| l.contains("version")).unwrap_or_default().trim())?;
    }
    writeln!(text, "- {}", command::text(context.cotree().arg("--version"))?.trim())?;
    for (name, version) in crate::sources::PINNED {
        write!(
            text,
            "{}{name} {}",
            if name == crate::sources::PINNED[0].0 { "- sources: " } else { ", " },
            version.trim_start_matches('=')
        )?;
    }
    text += "\n\n";
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_name_no_folders() {
        let line = "zlib: A=b/c /here/cotree cc -O2 /there/0.o ended with 1";
        assert_eq!(without_folders(line), "zlib: A=b/c cotree cc -O2 0.o ended with 1");
    }
}
