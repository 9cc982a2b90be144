//! The `cotree` command.

mod cli;
mod coded;
mod commands;
mod driver;
mod folder;
mod lines;
mod progress;
mod tips;
mod utc;

use std::process::ExitCode;

fn main() -> ExitCode {
    let answered = cli::complete();
    if let Ok(true) = answered {
        return ExitCode::SUCCESS;
    }
    match answered.and_then(|_| cli::run(std::env::args_os().collect())) {
        Ok(status) => status,
        Err(report) => {
            lines::error(&report);
            ExitCode::FAILURE
        }
    }
}
