//! The build side of the command line: drives clang, cargo and the linker, and does the linker plugin's work.
//!
//! `cotree cc` runs clang with `-flto` and with our linker ([`linker`]), which runs the real linker with the plugin
//! loaded. So clang still decides how to link. [`unpack`] writes the plugin and the linkers' names into a
//! cache folder. Options travel by environment from `cotree cc` to the linker, and as a value of `-plugin-opt` from
//! there to the [`worker`] that the plugin starts.

mod archives;
mod bench;
pub mod binutils;
pub mod cargo;
mod cargo_build;
pub mod cargo_completed;
mod cargo_config;
pub mod cargo_host_tests;
mod cargo_line;
mod cargo_options;
mod cargo_verbs;
mod cargo_workspace;
pub mod clang;
pub mod coverage;
pub mod embedded;
mod error;
mod inputs;
pub mod linker;
mod mcdc;
pub mod pgo;
mod response_file;
pub mod search;
pub mod unpack;
pub mod weights;
pub mod worker;

pub use error::Error;

use crate::{coded, lines};
use cotree_llvm::extract::CostFile;
use cotree_options::BuildOptions;
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus};

/// Options of LLVM that keep code as it is until the probes are in. A loop of a constant number of turns is neither
/// unrolled nor are its first turns peeled off, whatever a `#pragma` says. (It is unrolled by 1, and no loop is too
/// large for that.) What the ends of two blocks do alike is not made one of no line. The link does both.
const KEEP_CODE: [&str; 3] = ["-unroll-count=1", "-unroll-threshold=4000000000", "-sink-common-insts=false"];

/// Do the options go together that one step of a build names?
///
/// # Errors
/// The options don't go together, or a file that they name can't be read.
pub fn check(options: &BuildOptions) -> miette::Result<()> {
    if let Some(file) = &options.event_costs {
        CostFile::read(file).map_err(coded::report)?;
    }
    options.check().map_err(coded::report)
}

/// `cotree cmake-toolchain`: prints where the toolchain file is.
pub fn cmake_toolchain() -> Result<ExitCode, Error> {
    print_path(&unpack::Toolkit::unpack()?.cmake_toolchain()?)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints a path, which is all that was asked for.
fn print_path(path: &Path) -> Result<(), Error> {
    lines::answer(format_args!("{}", path.display())).map_err(Error::file("write to", "standard output"))
}

/// Runs a tool with our streams and ends as it ends.
fn run(mut command: Command) -> Result<ExitCode, Error> {
    let status = command
        .status()
        .map_err(|error| Error::Start { tool: command.get_program().to_string_lossy().into_owned(), error })?;
    Ok(exit_code(status))
}

/// The shell's exit code for tools that died of a signal.
pub fn exit_code(status: ExitStatus) -> ExitCode {
    use std::os::unix::process::ExitStatusExt;
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
