//! A run of a profiled program whose profile we take: of all its processes, wherever they stand.
//!
//! Every process of the run that was built with cotree writes a profile into a folder of ours; they are added up when
//! the program has ended. Its output, its status and the signals that it gets are its own.

use super::into_report;
use cotree_profile::file::{ProfileFile, ProfileFormat};
use cotree_profile::merged::Merge;
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use signal_hook::consts::{SIGINT, SIGQUIT};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A run that has ended.
pub struct ProfiledRun {
    /// How the program ended.
    pub status: ExitStatus,
    /// How long it took.
    pub time: Duration,
    /// The profiles of its processes, added up.
    pub profile: ProfileFile,
    /// How many processes were profiled.
    pub processes: usize,
    /// Somebody at the keyboard has interrupted it, whatever it made of that.
    pub interrupted: bool,
}

impl ProfiledRun {
    /// Runs a program and waits for its end. Keys that interrupt it do not interrupt us.
    pub fn of(command: &mut Command) -> Result<Self> {
        let folder = tempfile::tempdir().into_diagnostic().wrap_err("cannot make a temporary folder")?;
        let (status, time, interrupted) = execute(command, folder.path())?;
        let (profile, processes) = collect(folder.path())?;
        let profile = profile.ok_or_else(|| {
            miette!(
                "{} left no profile: build it with cotree (`cotree cc`, `cotree c++`, `cargo cotree build`)",
                Path::new(command.get_program()).display()
            )
        })?;
        Ok(Self { status, time, profile, processes, interrupted })
    }
}

/// The signal that ended a program, if one did.
pub fn signal_of(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

/// Runs the program, with profiles going into a folder.
fn execute(command: &mut Command, folder: &Path) -> Result<(ExitStatus, Duration, bool)> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGQUIT] {
        // The handler is ours alone: the program begins with the default.
        signal_hook::flag::register(signal, Arc::clone(&interrupted))
            .into_diagnostic()
            .wrap_err("cannot wait for a program that is interrupted")?;
    }
    let program = command.get_program().to_owned();
    let begin = Instant::now();
    let status =
        command.env("COTREE_FILE", folder.join("%p.%n.cotree")).status().into_diagnostic().wrap_err_with(|| {
            let path = Path::new(&program);
            let here = path.components().count() == 1 && path.is_file();
            let meant =
                if here { format!(", which is looked for in PATH: say ./{}", path.display()) } else { String::new() };
            format!("cannot start {}{meant}", path.display())
        })?;
    Ok((status, begin.elapsed(), interrupted.load(Ordering::Relaxed)))
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
