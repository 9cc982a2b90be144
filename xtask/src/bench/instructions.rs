//! Counting the instructions that a program executes.
//!
//! Always by callgrind: counts are kept and compared with those of other days and machines, and what a processor counts
//! by itself (`perf`) also depends on which instructions the C library chooses for it.

use super::store;
use super::subject::Subject;
use crate::command;
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Output};

/// Runs the whole workload; the executable has to be free of debug information. Gives the instructions of all runs, and
/// a hash of what they printed and how they ended.
pub fn count(executable: &Path, subject: &Subject, folder: &Path) -> Result<(u64, String)> {
    let (mut instructions, mut printed) = (0, Vec::new());
    for (index, arguments) in subject.runs().iter().enumerate() {
        let (count, output) = callgrind(executable, arguments, folder, &environment(folder, index))?;
        instructions += count;
        printed.extend(&output.stdout);
        printed.extend(command::ending(&output).to_string().into_bytes());
    }
    Ok((instructions, store::hash(&printed)))
}

fn callgrind(
    executable: &Path,
    arguments: &[String],
    folder: &Path,
    environment: &[(&str, OsString)],
) -> Result<(u64, Output)> {
    let log = folder.join("count.log");
    let mut valgrind = Command::new("valgrind");
    let option = format!("--log-file={}", log.display());
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", &option]);
    valgrind.arg(executable).args(arguments).current_dir(folder).envs(environment.iter().cloned());
    let output = command::output(&mut valgrind)?;
    let text = std::fs::read_to_string(&log).unwrap_or_default();
    let count = collected(&text).with_context(|| format!("no count from {}:\n{text}", command::line(&valgrind)))?;
    Ok((count, output))
}

fn collected(log: &str) -> Option<u64> {
    log.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok())
}

/// The profile that the run of that number leaves in this folder, when the build is one of cotree's.
pub fn profile(index: usize) -> String {
    format!("run-{index}.cotree")
}

/// Where the run of that number leaves its profile.
pub fn environment(folder: &Path, index: usize) -> [(&'static str, OsString); 3] {
    [
        ("COTREE_FILE", folder.join(profile(index)).into()),
        ("LLVM_PROFILE_FILE", folder.join("profile.profraw").into()),
        ("RUST_BACKTRACE", "0".into()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_in_the_log() {
        let log = "==7== Events    : Ir\n==7== Collected : 123456\n==7== \n==7== I   refs:      123,456\n";
        assert_eq!(collected(log), Some(123_456));
        assert_eq!(collected("valgrind: failed to start"), None);
    }
}
