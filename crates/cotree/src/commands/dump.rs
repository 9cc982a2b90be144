//! `cotree dump`: takes a snapshot of a running process.

use super::into_report;
use crate::lines;
use clap::Args;
use cotree_profile::atomic::{Over, WriteError};
use cotree_profile::snapshot::{self, Pause, Snapshot};
use miette::{Result, miette};
use std::io::ErrorKind;
use std::path::PathBuf;

/// Arguments of `cotree dump`.
#[derive(Args, Debug)]
pub struct DumpArgs {
    /// The process
    pid: u32,
    /// Where to write the snapshot [default: beside the profile of the process]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite the output even if it is a file of another kind
    #[arg(long, hide_short_help = true)]
    force: bool,
    /// Do not stop the process while its counters are copied: they may then be from slightly different moments
    #[arg(long)]
    no_pause: bool,
}

/// Runs `cotree dump`.
pub fn run(args: &DumpArgs) -> Result<()> {
    let pause = if args.no_pause { Pause::Never } else { Pause::IfNeeded };
    let snapshots = snapshot::take(args.pid, pause).map_err(into_report)?;
    if args.output.is_some() && snapshots.len() > 1 {
        return Err(miette!(
            "process {} has {} profiles (one for each link unit): leave out --output, and each is written beside its own",
            args.pid,
            snapshots.len()
        ));
    }
    for taken in snapshots {
        let path = match &args.output {
            Some(path) => taken.write(path, Over::forced(args.force)).map(|()| path.clone()),
            None => write_beside(&taken),
        }
        .map_err(into_report)?;
        let doubt = if taken.consistent { "" } else { " (its counters are of slightly different moments)" };
        lines::note(format_args!("wrote {}{doubt}", path.display()));
    }
    Ok(())
}

/// Writes `prog.123.cotree.123.snapshot.cotree` beside `prog.123.cotree.123.live`, or `….snapshot-2.cotree` if that is
/// there already, and so on.
fn write_beside(taken: &Snapshot) -> Result<PathBuf, WriteError> {
    let mut number = 1;
    loop {
        let extension = if number == 1 { "snapshot.cotree".into() } else { format!("snapshot-{number}.cotree") };
        let path = taken.live.with_extension(extension);
        match taken.write_new(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.cause.kind() == ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}
