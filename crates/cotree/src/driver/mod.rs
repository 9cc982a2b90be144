//! The build side of the command line: drives clang, cargo and the linker, and does the linker plugin's work.
//!
//! `cotree cc` runs clang with `-flto` and with our linker ([`linker`]), which runs the real linker with the plugin
//! loaded. So clang still decides how to link. [`unpack`] writes the plugin and the linkers' names into a
//! cache folder. Options travel by environment from `cotree cc` to the linker, and as a value of `-plugin-opt` from
//! there to the [`worker`] that the plugin starts.

mod archives;
pub mod binutils;
pub mod cargo;
mod cargo_config;
pub mod cargo_host_tests;
mod cargo_verbs;
pub mod clang;
pub mod embedded;
mod inputs;
pub mod linker;
pub mod pgo;
mod response_file;
mod search;
mod unpack;
pub mod weights;
pub mod worker;

use crate::lines;
use cotree_llvm::extract::CostFile;
use cotree_options::BuildOptions;
use miette::{Diagnostic, IntoDiagnostic};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};
use thiserror::Error;

/// Options of LLVM that keep loops as they are until the probes are in: a loop of a constant number of turns is neither
/// unrolled nor are its first turns peeled off, whatever a `#pragma` says. (It is unrolled by 1, and no loop is too
/// large for that.) The link unrolls it.
const KEEP_LOOPS: [&str; 2] = ["-unroll-count=1", "-unroll-threshold=4000000000"];

/// Do the options go together that one step of a build names?
///
/// # Errors
/// They don't, or a file that they name can't be read.
pub fn check(options: &BuildOptions) -> miette::Result<()> {
    if let Some(file) = &options.event_costs {
        CostFile::read(file).into_diagnostic()?;
    }
    options.check().into_diagnostic()
}

/// Why a tool can't be driven.
#[derive(Debug, Error, Diagnostic)]
pub enum Error {
    /// A tool is not installed.
    #[error("{tool} was not found in PATH")]
    #[diagnostic(help("{remedy}"))]
    Missing {
        /// The name of the tool.
        tool: String,
        /// What to do.
        remedy: String,
    },
    /// The cache can't be written, so nothing that we unpack would outlast this process.
    #[error("there is no cache folder that can be written, and what other programs are told of has to stay there")]
    #[diagnostic(help("set XDG_CACHE_HOME or HOME to a folder of yours"))]
    NoCache,
    /// The compiler is not clang.
    #[error("{variable} names {tool}, which is not clang, and cotree needs clang's bitcode")]
    #[diagnostic(help("set {variable} to a clang (14 or newer), or unset it to take the clang in PATH"))]
    NotClang {
        /// The variable.
        variable: &'static str,
        /// What it names.
        tool: String,
    },
    /// A tool can't be started.
    #[error("can't start {tool}: {error}")]
    Start {
        /// The name of the tool.
        tool: String,
        /// Why not.
        error: io::Error,
    },
    /// A tool gave an unexpected answer.
    #[error("`{command}` gave no usable answer: {reason}")]
    Answer {
        /// What was run.
        command: String,
        /// What is wrong with it.
        reason: String,
    },
    /// There is no package to build.
    #[error("there is no Cargo.toml in {} or a folder above it, so cargo has no package to build", folder.display())]
    #[diagnostic(help("go to the folder of a package, or name its manifest with --manifest-path"))]
    NoPackage {
        /// Where cargo looks.
        folder: PathBuf,
    },
    /// lld loads no plugins.
    #[error("cotree is a plugin of ld.bfd, gold or mold, and lld loads no plugins")]
    #[diagnostic(help("link with -fuse-ld=bfd, -fuse-ld=gold or -fuse-ld=mold, or leave the option out"))]
    Lld,
    /// A link failed, and an archive is why.
    #[error("{} holds bitcode that its index does not list, so that the linker finds nothing in it", archive.display())]
    #[diagnostic(help(
        "make it anew with an `ar` that knows bitcode: `cotree ar` and `cotree ranlib`, for make \
         AR=\"cotree ar\" RANLIB=\"cotree ranlib\""
    ))]
    Archive {
        /// The first of them.
        archive: PathBuf,
    },
    /// A file can't be read or written.
    #[error("can't {verb} {}: {error}", path.display())]
    File {
        /// What was tried.
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it failed.
        error: io::Error,
    },
    /// Cargo's settings can't be understood.
    #[error("{} is not a TOML file: {reason}", path.display())]
    Toml {
        /// The file.
        path: PathBuf,
        /// Where and why.
        reason: String,
    },
    /// A command that comes with cargo and keeps no program.
    #[error("`cargo {0}` builds no program that could be profiled")]
    #[diagnostic(help("run it without cotree"))]
    BuildsNoProgram(String),
    /// A profiled program among the user's installed ones would leave profiles everywhere.
    #[error("`cargo cotree` does not install programs")]
    #[diagnostic(help(
        "build the program in its package's folder with `cargo cotree build --release`, and run it from target/cotree"
    ))]
    CargoInstall,
    /// A command of which we know nothing.
    #[error("`cargo cotree` does not know how `cargo {0}` builds programs")]
    #[diagnostic(help("it knows build, run, test, bench, check, rustc, nextest and pgo, and aliases for these"))]
    CargoVerb(String),
    /// `cargo nextest` without one of its commands that build.
    #[error("of `cargo nextest`, cotree takes the commands that build: run, list, bench and archive")]
    #[diagnostic(help("run all others without cotree"))]
    NextestVerb,
    /// `cargo nextest` with programs that were built before.
    #[error("`cargo nextest` with the programs of an archive builds nothing, so cotree has nothing to do there")]
    #[diagnostic(help("make the archive with `cargo cotree nextest archive`, and run it without cotree"))]
    NextestArchive,
    /// `cotree cargo +nightly pgo`
    #[error("pgo takes no `+TOOLCHAIN` behind `cotree cargo`")]
    #[diagnostic(help("let rustup choose: `cargo +TOOLCHAIN cotree pgo`"))]
    PgoToolchain,
}

impl Error {
    fn file(verb: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
        let path = path.into();
        move |error| Error::File { verb, path, error }
    }
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
