//! `cargo cotree …`: cargo starts this as `cargo-cotree cotree …`, and `cotree cargo …` does the work.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let mut arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "cotree") {
        arguments.remove(0);
    }
    // Both are installed side by side; PATH is for those who copied only one.
    let beside = std::env::current_exe().ok().map(|path| path.with_file_name("cotree")).filter(|path| path.exists());
    let cotree = beside.unwrap_or_else(|| PathBuf::from("cotree"));
    let error = Command::new(&cotree).arg("cargo").args(arguments).exec();
    eprintln!("cargo-cotree: can't start {}: {error}; install it with `cargo install cotree`", cotree.display());
    ExitCode::FAILURE
}
