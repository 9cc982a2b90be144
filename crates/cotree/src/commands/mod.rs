//! The subcommands that drive no other tool: each has a struct of arguments and a `run` function.

pub mod annotate;
mod browser;
pub mod cfg;
pub mod completions;
pub mod costs;
pub mod coverage;
mod coverage_html;
pub mod demo;
pub mod diff;
pub mod dump;
mod edited;
pub mod export;
pub mod gdb;
pub mod html;
mod input;
pub mod install_tools;
pub mod instrument;
mod manual;
pub mod merge;
pub mod output;
pub mod paths;
pub mod plan;
pub mod report;
pub mod run;
mod source_names;
mod sources;
pub mod trace;
pub mod verify;
mod vouched;

/// Turns a library's error into a report for the terminal.
fn into_report<E: std::error::Error + Send + Sync + 'static>(error: E) -> miette::Report {
    use miette::IntoDiagnostic;
    Err::<(), E>(error).into_diagnostic().expect_err("it is an error")
}
