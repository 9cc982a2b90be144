//! `cotree bisect`: which commit made a benchmark dearer, by exact counts.
//!
//! Each commit is checked out in a folder of ours and measured there once. What was measured is kept, so that a
//! search that was stopped goes on where it was. Builds stay in the folder from commit to commit; where a build
//! system does not notice what has changed, a commit has the numbers of another one. So the two ends are built from
//! nothing, and in the end the commits between which the change is, too: what is told of these is certain.

mod measured;
mod repository;

use super::output::{Looks, Output};
use super::stat::gate::{INTERRUPTED, SAVE_BASELINE};
use crate::commands::export::event_kind;
use crate::{lines, progress};
use clap::{Args, ValueEnum};
use cotree_core::facts::events::EventKind;
use cotree_report::benchmark::{Found, History, Limit, Wanted, write_bisection, write_bisection_json};
use cotree_report::terminal::counted;
use measured::{Bench, Outcome};
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use repository::Repository;
use signal_hook::consts::SIGINT;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Forms of the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    #[default]
    Text,
    /// JSON (docs/json.md)
    Json,
}

/// Arguments of `cotree bisect`.
#[derive(Args, Debug)]
pub struct BisectArgs {
    /// A commit in which benchmarks cost what they should
    #[arg(long, value_name = "REVISION")]
    good: String,
    /// A later one in which one costs more
    #[arg(long, value_name = "REVISION", default_value = "HEAD")]
    bad: String,
    /// Look for the first commit in which a benchmark has this much more than in the good one, as 1% [default: for the
    /// one that brought half of what was added]
    #[arg(long, value_name = "PERCENT")]
    above: Option<Limit>,
    /// Look at benchmarks with this in their name only
    #[arg(long, value_name = "PART")]
    benchmark: Vec<String>,
    /// The kind of events
    #[arg(long, value_name = "KIND", value_parser = event_kind, default_value = EventKind::Instructions.name())]
    event: EventKind,
    /// Measure again what was measured before
    #[arg(long)]
    again: bool,
    /// How to tell the result
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    /// Rows per list; 0 shows all
    #[arg(long, default_value_t = 10, value_name = "N")]
    top: usize,
    #[command(flatten)]
    looks: Looks,
    #[command(flatten)]
    output: Output,
    /// What builds and measures a commit, in a folder with its files: `cargo cotree bench`, or whatever runs `cotree
    /// stat`
    #[arg(trailing_var_arg = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Runs `cotree bisect`.
pub fn run(args: &BisectArgs) -> Result<ExitCode> {
    let repository = Repository::here()?;
    let mut history = History::new(repository.commits(&args.good, &args.bad)?);
    let wanted = Wanted { kind: args.event, limit: args.above, names: args.benchmark.clone() };
    // The command gets the signal, too, and ends by it or not.
    let interrupted = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGINT, Arc::clone(&interrupted))
        .into_diagnostic()
        .wrap_err("cannot wait for a command that is interrupted")?;
    let bench = Bench::new(&repository, &args.command, &interrupted)?;
    let ended = follow(args, &mut history, &wanted, &bench);
    if !matches!(ended, Ok(None)) {
        bench.clear()?;
    }
    let Some(found) = ended? else {
        let kept = counted(bench.count_kept(&history) as u128, "commit");
        lines::note(format_args!("The same command goes on from here: what was measured of {kept} is kept."));
        return Ok(INTERRUPTED.into());
    };
    match args.format {
        Format::Text => {
            let style = args.looks.style(&args.output);
            args.output.write_text(|out| write_bisection(&history, &found, &wanted, args.top, style, out))?;
        }
        Format::Json => args.output.write(|out| write_bisection_json(&history, &found, &wanted, out))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Measures commits until it is known where benchmarks have become dearer; `None` if somebody interrupts it.
fn follow(args: &BisectArgs, history: &mut History, wanted: &Wanted, bench: &Bench<'_>) -> Result<Option<Vec<Found>>> {
    let last = history.commits.len() - 1;
    while let Some(place) = history.next(wanted) {
        let commit = &history.commits[place];
        let _phase = progress::phase(&format!("measuring {} {}", commit.short, commit.subject));
        let is_end = place == 0 || place == last;
        let measured = match bench.measure(commit, args.again, is_end)? {
            Outcome::Measured(baseline) => {
                let benchmarks = counted(baseline.benchmarks.len() as u128, "benchmark");
                lines::note(format_args!("{} {}: {benchmarks} measured", commit.short, commit.subject));
                Some(baseline)
            }
            Outcome::Not(why) => {
                let told = format!("{} {} was not measured: {why}", commit.short, commit.subject);
                if is_end {
                    return Err(miette!("{told}"));
                }
                lines::note(format_args!("warning: {told}"));
                None
            }
            Outcome::Interrupted => return Ok(None),
        };
        history.add(place, measured);
    }
    let found = history.found(wanted);
    if found.is_empty() {
        let limit = if args.above.is_some() { " by as much" } else { "" };
        return Err(miette!(
            "no benchmark{} has more {} in {} than in {}{limit}: there is nothing to find",
            if args.benchmark.is_empty() { "" } else { " of such a name" },
            args.event.name(),
            args.bad,
            args.good
        ));
    }
    for one in &found {
        for place in [one.before, one.first] {
            let commit = &history.commits[place];
            if bench.is_afresh(commit) {
                continue;
            }
            let _phase = progress::phase(&format!("building {} {} from nothing", commit.short, commit.subject));
            let now = match bench.measure(commit, false, true)? {
                Outcome::Measured(baseline) => baseline,
                Outcome::Not(why) => return Err(miette!("{} was not measured again: {why}", commit.short)),
                Outcome::Interrupted => return Ok(None),
            };
            let mut of_commit = found.iter().filter(|one| [one.before, one.first].contains(&place));
            if let Some(other) = of_commit.find(|one| !history.is_confirmed(place, &one.name, wanted.kind, &now)) {
                return Err(miette!(
                    "'{}' in {} has other counts when it is built from nothing than it had upon the build of another \
                     commit: have the command remove what it does not build anew (as by `make clean`), and search with \
                     --again",
                    other.name,
                    commit.short
                ));
            }
        }
    }
    Ok(Some(found))
}
