//! The `cotree` command.

mod cli;
mod commands;
mod driver;
mod folder;
mod lines;
mod tips;

use std::io::{self, IsTerminal};
use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::run(std::env::args_os().collect()) {
        Ok(status) => status,
        Err(report) => {
            if io::stderr().is_terminal() {
                lines::note(format_args!("{report:?}"));
            } else {
                lines::note(format_args!("{}", one_line(&report)));
            }
            ExitCode::FAILURE
        }
    }
}

/// What is wrong, for logs and programs: one line, and one for what to do.
fn one_line(report: &miette::Report) -> String {
    let mut causes: Vec<String> = report.chain().map(ToString::to_string).collect();
    // Many an error says what its cause says.
    causes.dedup_by(|cause, error| error.ends_with(cause.as_str()));
    let help = report.help().map(|help| format!("\ncotree: help: {help}")).unwrap_or_default();
    format!("cotree: error: {}{help}", causes.join(": "))
}
