//! Time and peak memory of a process tree.
//!
//! The system keeps the largest peak of all children that were waited for, as one number per process: so each
//! measurement is done by a process of its own, `xtask measure`.

use crate::command;
use anyhow::{Context, Result};
use nix::sys::resource::{UsageWho, getrusage};
use std::ffi::OsString;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// What a command cost.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// From start to end.
    pub elapsed: Duration,
    /// The peak of the largest process.
    pub peak_kib: u64,
    /// Processor time of all processes.
    pub processor: Duration,
}

/// Runs the command; it has to succeed.
pub fn run(command: &Command) -> Result<Cost> {
    let mut measured = Command::new(std::env::current_exe()?);
    measured.arg("measure").arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => measured.env(name, value),
            None => measured.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        measured.current_dir(folder);
    }
    let text = String::from_utf8(command::succeed(&mut measured)?)?;
    let line = text.lines().last().context("measure prints a line")?;
    let mut numbers = line.split(' ').map(str::parse::<u64>);
    let mut next = || numbers.next().and_then(Result::ok).context("measure prints three numbers");
    Ok(Cost { elapsed: Duration::from_micros(next()?), peak_kib: next()?, processor: Duration::from_micros(next()?) })
}

/// What processors have done for all children that were waited for, the system's part included.
pub fn of_children() -> Duration {
    let duration = |time: nix::sys::time::TimeVal| {
        Duration::from_micros(u64::try_from(time.tv_sec() * 1_000_000 + time.tv_usec()).expect("time is not negative"))
    };
    getrusage(UsageWho::RUSAGE_CHILDREN)
        .map_or(Duration::ZERO, |usage| duration(usage.user_time()) + duration(usage.system_time()))
}

/// `xtask measure COMMAND…`: runs it, and prints microseconds, KiB, and microseconds of processors on a line of their
/// own.
pub fn child(command: &[OsString]) -> ExitCode {
    let start = Instant::now();
    let status = Command::new(&command[0]).args(&command[1..]).status();
    let elapsed = start.elapsed();
    let peak = getrusage(UsageWho::RUSAGE_CHILDREN).map_or(0, |usage| usage.max_rss());
    match status {
        Ok(status) if status.success() => {
            println!("\n{} {peak} {}", elapsed.as_micros(), of_children().as_micros());
            ExitCode::SUCCESS
        }
        Ok(status) => {
            eprintln!("it ended with {status}");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("can't start {}: {error}", command[0].display());
            ExitCode::FAILURE
        }
    }
}
