//! The `cotree` command.

mod cli;
mod commands;
mod driver;

use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::run(std::env::args_os().collect()) {
        Ok(status) => status,
        Err(report) => {
            eprintln!("{report:?}");
            ExitCode::FAILURE
        }
    }
}
