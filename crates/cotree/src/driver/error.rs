//! Why tools can't be driven.

use miette::Diagnostic;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

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
    /// The compiler's coverage has no decisions.
    #[error("--mcdc needs clang {first} or newer, and {tool} is clang {version}")]
    #[diagnostic(help("name a newer clang by COTREE_CC and COTREE_CXX, or leave --mcdc out"))]
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
    #[diagnostic(help(
        "it knows build, run, test, bench, check, rustc, nextest, coverage and pgo, and aliases for these"
    ))]
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
    /// What makes an error of that of a file.
    pub(super) fn file(verb: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
        let path = path.into();
        move |error| Error::File { verb, path, error }
    }
}
