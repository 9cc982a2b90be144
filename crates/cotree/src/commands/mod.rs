//! The subcommands that drive no other tool: each has a struct of arguments and a `run` function.

pub mod annotate;
pub mod bisect;
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
pub mod explain;
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
mod profiled_run;
pub mod report;
pub mod run;
mod source_names;
mod sources;
pub mod stat;
pub mod trace;
pub mod verify;
mod vouched;

use crate::coded::report as into_report;
