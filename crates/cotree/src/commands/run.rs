//! `cotree run`: runs a profiled program and says what it has done, as `perf stat` does.

use super::into_report;
use super::profiled_run::{self, ProfiledRun};
use crate::driver;
use crate::lines;
use clap::Args;
use cotree_core::facts::events::EventKind;
use cotree_profile::atomic::{self, Over};
use cotree_profile::content::Content;
use cotree_profile::merged;
use cotree_profile::recover::{Recovery, recover_remaining};
use cotree_report::costs::totals::Totals;
use cotree_report::shell::command_line;
use cotree_report::terminal::grouped;
use cotree_report::unit::Unit;
use miette::Result;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

/// Arguments of `cotree run`.
#[derive(Args, Debug)]
pub struct RunArgs {
    /// Only print the totals, and keep no profile
    #[arg(long)]
    count: bool,
    /// Where to write the profile of all its processes [default: the program's name, with .cotree]
    #[arg(short, long, value_name = "FILE", conflicts_with = "count")]
    output: Option<PathBuf>,
    /// Overwrite the output even if it is a file of another kind
    #[arg(long, hide_short_help = true)]
    force: bool,
    /// Print only these kinds of events
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_parser = super::export::event_kind)]
    event: Vec<EventKind>,
    /// A program that was built with cotree, and its arguments
    #[arg(trailing_var_arg = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Runs `cotree run`, which ends as the program ends.
pub fn run(args: &RunArgs) -> Result<ExitCode> {
    let program = &args.command[0];
    let name = Path::new(program).file_name().unwrap_or(program);
    let output = args.output.clone().unwrap_or_else(|| Path::new(name).with_added_extension("cotree"));
    let over = Over::forced(args.force);
    if !args.count {
        atomic::check(&output, Content::MergedProfile, over).map_err(into_report)?;
    }
    let ProfiledRun { status, time, profile, processes, .. } =
        ProfiledRun::of(Command::new(program).args(&args.command[1..]))?;
    let (recovered, gone) = recover_remaining(&profile, &[]).map_err(into_report)?;
    print(args, &recovered, processes, time)?;
    gone.iter().for_each(|error| lines::note(format_args!("warning: left out: {error}")));
    if !args.count {
        merged::write_over(&output, over, &profile.units).map_err(into_report)?;
        lines::note(format_args!("The profile is {}: see `cotree report`.", output.display()));
    }
    if let Some(signal) = profiled_run::signal_of(status) {
        lines::note(format_args!("{} was ended by signal {signal}.", program.display()));
    }
    Ok(driver::exit_code(status))
}

/// Prints the totals, and what is not exact about them.
fn print(args: &RunArgs, recovered: &[Recovery], processes: usize, time: Duration) -> Result<()> {
    let units: Vec<Unit<'_>> = recovered.iter().map(|(binary, profile)| Unit::new(binary.map(), profile)).collect();
    let totals = Totals::new(&units);
    let command: Vec<_> = args.command.iter().map(|word| word.to_string_lossy()).collect();
    lines::note(format_args!(""));
    lines::note(format_args!(" Counts of '{}':", command_line(&command)));
    lines::note(format_args!(""));
    for (title, amount) in totals.rows(&args.event) {
        lines::note(format_args!("{:>22}  {title}", grouped(amount)));
    }
    if totals.is_empty() {
        lines::note(format_args!("{:>22}  the profile has no events", ""));
    }
    let more =
        if processes > 1 { format!(", {} profiled processes", grouped(processes as u128)) } else { String::new() };
    lines::note(format_args!(""));
    lines::note(format_args!("{:>22.6}  seconds elapsed{more}", time.as_secs_f64()));
    lines::note(format_args!(""));
    for remark in totals.remarks() {
        lines::note(format_args!("note: {remark}"));
    }
    Ok(())
}
