//! Why tools can't be driven.

use cotree_report::explain::{Explanation, building};
use miette::Diagnostic;
use std::fmt::Display;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a tool can't be driven.
#[derive(Debug, Error)]
pub enum Error {
    /// A tool is not installed.
    #[error("{tool} was not found in PATH")]
    Missing {
        /// The name of the tool.
        tool: String,
        /// What to do.
        remedy: String,
    },
    /// The cache can't be written, so nothing that we unpack would outlast this process.
    #[error("there is no cache folder that can be written, and what other programs are told of has to stay there")]
    NoCache,
    /// The compiler is not clang.
    #[error("{variable} names {tool}, which is not clang, and cotree needs clang's bitcode")]
    NotClang {
        /// The variable.
        variable: &'static str,
        /// What it names.
        tool: String,
    },
    /// The compiler's coverage has no decisions.
    #[error("--mcdc needs clang {first} or newer, and {tool} is clang {version}")]
    NoMcdc {
        /// The compiler.
        tool: String,
        /// The version that it has.
        version: u32,
        /// The first version that has them.
        first: u32,
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
    NoPackage {
        /// Where cargo looks.
        folder: PathBuf,
    },
    /// lld loads no plugins.
    #[error("cotree is a plugin of ld.bfd, gold or mold, and lld loads no plugins")]
    Lld,
    /// A link failed, and an archive is why.
    #[error("{} holds bitcode that its index does not list, so that the linker finds nothing in it", archive.display())]
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
    BuildsNoProgram(String),
    /// A profiled program among the user's installed ones would leave profiles everywhere.
    #[error("`cargo cotree` does not install programs")]
    CargoInstall,
    /// A command of which we know nothing.
    #[error("`cargo cotree` does not know how `cargo {0}` builds programs")]
    CargoVerb(String),
    /// `cargo nextest` without one of its commands that build.
    #[error("of `cargo nextest`, cotree takes the commands that build: run, list, bench and archive")]
    NextestVerb,
    /// `cargo nextest` with programs that were built before.
    #[error("`cargo nextest` with the programs of an archive builds nothing, so cotree has nothing to do there")]
    NextestArchive,
    /// `cotree cargo +nightly pgo`
    #[error("pgo takes no `+TOOLCHAIN` behind `cotree cargo`")]
    PgoToolchain,
}

impl Diagnostic for Error {
    fn code<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        Some(Box::new(self.explanation().code))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        Some(match self {
            Self::Missing { remedy, .. } => Box::new(remedy),
            Self::NoCache => Box::new("set XDG_CACHE_HOME or HOME to a folder of yours"),
            Self::NotClang { variable, .. } => {
                Box::new(format!("set {variable} to a clang (14 or newer), or unset it to take the clang in PATH"))
            }
            Self::NoMcdc { .. } => Box::new("name a newer clang by COTREE_CC and COTREE_CXX, or leave --mcdc out"),
            Self::NoPackage { .. } => {
                Box::new("go to the folder of a package, or name its manifest with --manifest-path")
            }
            Self::Lld => Box::new("link with -fuse-ld=bfd, -fuse-ld=gold or -fuse-ld=mold, or leave the option out"),
            Self::Archive { .. } => Box::new(
                "make it anew with an `ar` that knows bitcode: `cotree ar` and `cotree ranlib`, for make \
                 AR=\"cotree ar\" RANLIB=\"cotree ranlib\"",
            ),
            Self::BuildsNoProgram(_) => Box::new("run it without cotree"),
            Self::CargoInstall => Box::new(
                "build the program in its package's folder with `cargo cotree build --release`, and run it from \
                 target/cotree",
            ),
            Self::CargoVerb(_) => Box::new(
                "it knows build, run, test, bench, check, rustc, nextest, coverage and pgo, and aliases for these",
            ),
            Self::NextestVerb => Box::new("run all others without cotree"),
            Self::NextestArchive => {
                Box::new("make the archive with `cargo cotree nextest archive`, and run it without cotree")
            }
            Self::PgoToolchain => Box::new("let rustup choose: `cargo +TOOLCHAIN cotree pgo`"),
            Self::Start { .. } | Self::Answer { .. } | Self::File { .. } | Self::Toml { .. } => return None,
        })
    }
}

impl Error {
    /// What `cotree explain` says of it.
    fn explanation(&self) -> &'static Explanation {
        match self {
            Self::Missing { .. } => &building::TOOL_MISSING,
            Self::NoCache => &building::NO_CACHE,
            Self::NotClang { .. } => &building::NOT_CLANG,
            Self::NoMcdc { .. } => &building::NO_MCDC,
            Self::Start { .. } | Self::Answer { .. } => &building::TOOL_FAILED,
            Self::NoPackage { .. } => &building::NO_PACKAGE,
            Self::Lld => &building::LLD_PLUGIN,
            Self::Archive { .. } => &building::ARCHIVE_INDEX,
            Self::File { .. } => &building::FILE_ACCESS,
            Self::Toml { .. } => &building::BAD_SETTINGS,
            Self::BuildsNoProgram(_)
            | Self::CargoInstall
            | Self::CargoVerb(_)
            | Self::NextestVerb
            | Self::NextestArchive
            | Self::PgoToolchain => &building::CARGO_COMMAND,
        }
    }

    /// What makes an error of that of a file.
    pub(super) fn file(verb: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
        let path = path.into();
        move |error| Error::File { verb, path, error }
    }
}
