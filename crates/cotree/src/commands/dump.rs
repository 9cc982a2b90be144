//! `cotree dump`: takes a snapshot of a running process.

use super::into_report;
use crate::lines;
use clap::Args;
use cotree_profile::snapshot::{self, Pause};
use miette::{Result, miette};
use std::path::{Path, PathBuf};

/// Arguments of `cotree dump`.
#[derive(Args, Debug)]
pub struct DumpArgs {
    /// The process
    pid: u32,
    /// Where to write the snapshot; by default beside the profile of the process
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Never stop the process, not even while copying: the counters may then be of slightly different moments
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
        let path = args.output.clone().unwrap_or_else(|| beside(&taken.live));
        taken.write(&path).map_err(into_report)?;
        let doubt = if taken.consistent { "" } else { " (its counters are of slightly different moments)" };
        lines::note(format_args!("wrote {}{doubt}", path.display()));
    }
    Ok(())
}

/// `prog.123.cotree.123.live` → `prog.123.cotree.123.snapshot.cotree`.
fn beside(live: &Path) -> PathBuf {
    live.with_extension("snapshot.cotree")
}
