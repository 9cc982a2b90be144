//! `cotree run`: runs a profiled program and says what it has done, as `perf stat` does.
//!
//! Every process of the run that was built with cotree writes a profile into a folder of ours; they are added up when
//! the program has ended. Its output, its status and the signals that it gets are its own.

use super::into_report;
use crate::driver;
use crate::lines;
use clap::Args;
use cotree_core::facts::events::EventKind;
use cotree_profile::atomic::{self, Over};
use cotree_profile::content::Content;
use cotree_profile::file::{ProfileFile, ProfileFormat};
use cotree_profile::merged::{self, Merge};
use cotree_profile::recover::{Recovery, recover_remaining};
use cotree_report::costs::totals::Totals;
use cotree_report::shell::command_line;
use cotree_report::terminal::grouped;
use cotree_report::unit::Unit;
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use signal_hook::consts::{SIGINT, SIGQUIT};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

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
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true, value_name = "COMMAND")]
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
    let folder = tempfile::tempdir().into_diagnostic().wrap_err("cannot make a temporary folder")?;
    let (status, time) = execute(args, folder.path())?;
    let (profile, processes) = collect(folder.path())?;
    let Some(profile) = profile else {
        return Err(miette!(
            "{} left no profile: build it with cotree (`cotree cc`, `cotree c++`, `cargo cotree build`)",
            program.display()
        ));
    };
    let (recovered, gone) = recover_remaining(&profile, &[]).map_err(into_report)?;
    print(args, &recovered, processes, time)?;
    gone.iter().for_each(|error| lines::note(format_args!("warning: left out: {error}")));
    if !args.count {
        merged::write_over(&output, over, &profile.units).map_err(into_report)?;
        lines::note(format_args!("The profile is {}: see `cotree report`.", output.display()));
    }
    if let Some(signal) = signal_of(status) {
        lines::note(format_args!("{} was ended by signal {signal}.", program.display()));
    }
    Ok(driver::exit_code(status))
}

fn signal_of(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

/// Runs the program, with profiles going into a folder. Keys that interrupt it do not interrupt us.
fn execute(args: &RunArgs, folder: &Path) -> Result<(ExitStatus, Duration)> {
    for signal in [SIGINT, SIGQUIT] {
        // The handler is ours alone: the program begins with the default.
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))
            .into_diagnostic()
            .wrap_err("cannot wait for a program that is interrupted")?;
    }
    let program = &args.command[0];
    let begin = Instant::now();
    let status = Command::new(program)
        .args(&args.command[1..])
        .env("COTREE_FILE", folder.join("%p.%n.cotree"))
        .status()
        .into_diagnostic()
        .wrap_err_with(|| {
            let path = Path::new(program);
            let here = path.components().count() == 1 && path.is_file();
            let meant = if here {
                format!(", which is looked for in PATH: say ./{}", program.display())
            } else {
                String::new()
            };
            format!("cannot start {}{meant}", program.display())
        })?;
    Ok((status, begin.elapsed()))
}

/// The profiles in a folder.
fn profiles(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).into_diagnostic().wrap_err("cannot read the folder of the profiles")?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

/// Adds up the profiles in a folder, those of processes that were killed, too. Also says how many processes they are
/// of.
fn collect(folder: &Path) -> Result<(Option<ProfileFile>, usize)> {
    let mut merge = Merge::default();
    merge.several_units = true;
    let mut processes = BTreeSet::new();
    for path in profiles(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // A process that has replaced itself has `-2` behind its number.
        processes.insert(name.split(['.', '-']).next().unwrap_or_default().to_owned());
        let profile = ProfileFile::open(&path).map_err(into_report)?;
        merge.add(profile, 1).map_err(into_report)?;
    }
    let units = merge.finish();
    let profile = ProfileFile { path: folder.to_owned(), kind: ProfileFormat::Merged, units };
    Ok((Some(profile).filter(|profile| !profile.units.is_empty()), processes.len()))
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
