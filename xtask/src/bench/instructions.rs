//! Counting the instructions that a program executes.

use crate::command;
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Output};

/// Who counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Counter {
    /// The processor, in user mode.
    Perf,
    /// valgrind's callgrind.
    Callgrind,
}

impl Counter {
    /// perf where the machine lets it, else callgrind.
    pub fn choose() -> Counter {
        let mut perf = Command::new("perf");
        perf.args(["stat", "--field-separator=;", "--event=instructions:u", "true"]);
        let counted = command::output(&mut perf).is_ok_and(|output| from_perf(&output).is_some());
        if counted { Counter::Perf } else { Counter::Callgrind }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Counter::Perf => "`perf stat -e instructions:u`",
            Counter::Callgrind => "valgrind's callgrind",
        }
    }

    /// Runs the executable, which has to be free of debug information; gives the count and what the program itself did.
    pub fn run(
        self,
        executable: &Path,
        arguments: &[String],
        folder: &Path,
        environment: &[(&str, OsString)],
    ) -> Result<(u64, Output)> {
        let log = folder.join("count.log");
        let mut counted = match self {
            Counter::Perf => {
                let mut perf = Command::new("perf");
                perf.args(["stat", "--field-separator=;", "--event=instructions:u", "--output"]).arg(&log);
                perf
            }
            Counter::Callgrind => {
                let mut valgrind = Command::new("valgrind");
                let log = format!("--log-file={}", log.display());
                valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", &log]);
                valgrind
            }
        };
        counted.arg(executable).args(arguments).current_dir(folder).envs(environment.iter().cloned());
        let output = command::output(&mut counted)?;
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        let count = match self {
            Counter::Perf => perf_line(&text),
            Counter::Callgrind => callgrind_line(&text),
        };
        let count = count.with_context(|| format!("no count from {}:\n{text}", command::line(&counted)))?;
        Ok((count, output))
    }
}

fn from_perf(output: &Output) -> Option<u64> {
    perf_line(&String::from_utf8_lossy(&output.stderr))
}

fn perf_line(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.contains("instructions"))?;
    line.split(';').next()?.parse().ok()
}

fn callgrind_line(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok())
}
