//! The errors between bitcode and objects, each as one sentence with its remedy.

use cotree_core::method::UnitPlanError;
use cotree_core::method::events::call_queries::CallQueryError;
use cotree_core::unit::PlanError;
use std::path::PathBuf;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No LLVM anywhere.
    #[error(
        "cannot find LLVM {major} (looked for libLLVM.so.* in {}): install the Rust toolchain that cotree was built with, \
         or name a library in COTREE_LLVM",
        list(tried)
    )]
    LlvmNotFound {
        /// Folders looked into.
        tried: Vec<PathBuf>,
        /// The major version needed.
        major: u32,
    },
    /// The library exists but cannot be used.
    #[error("cannot use LLVM from {}: {reason}; name another library in COTREE_LLVM, or unset it to use the Rust toolchain's", path.display())]
    LlvmUnusable {
        /// The library.
        path: PathBuf,
        /// The loader's or our reason.
        reason: String,
    },
    /// The library is of another major version.
    #[error(
        "{} is LLVM {found}, but cotree speaks to LLVM {wanted}: rebuild cotree with the active Rust toolchain, or name an \
         LLVM {wanted} library in COTREE_LLVM", path.display()
    )]
    LlvmVersion {
        /// The library.
        path: PathBuf,
        /// The version that was found.
        found: String,
        /// The major version needed.
        wanted: u32,
    },
    /// A file could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file of costs is none.
    #[error("{} is no file of costs: {source}", path.display())]
    Costs {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: crate::extract::CostFileError,
    },
    /// A file could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The bitcode was written by a newer LLVM.
    #[error(
        "{module} was compiled by {producer}, which is newer than the LLVM {reader} that cotree uses: compile it with a \
         compiler based on LLVM {reader} or older, or use a newer Rust toolchain ({reason})"
    )]
    TooNew {
        /// The module.
        module: String,
        /// The producer, as the bitcode names it.
        producer: String,
        /// Our LLVM.
        reader: String,
        /// LLVM's own words.
        reason: String,
    },
    /// The bitcode could not be parsed.
    #[error("{module} is not valid bitcode ({reason}): compile it again")]
    BadBitcode {
        /// The module.
        module: String,
        /// LLVM's own words.
        reason: String,
    },
    /// The module is for a machine that we do not support.
    #[error("{module} is compiled for {triple}, but cotree supports x86-64 Linux only for now")]
    Target {
        /// The module.
        module: String,
        /// The module's target triple.
        triple: String,
    },
    /// A module was compiled for counts at another place.
    #[error(
        "{module} was compiled for --at {was}, and this link is --at {wanted}: compile and link with the same --at (a compiler cache \
         does not see COTREE_AT; give it --cotree-at={wanted} among the compiler's options)"
    )]
    CompiledOtherwise {
        /// The module.
        module: String,
        /// `early` or `late`.
        was: &'static str,
        /// `late` or `early`.
        wanted: &'static str,
    },
    /// A module was compiled as if no limit of events could be reached in it.
    #[error(
        "{module} was compiled without --event-limit, with which this link is done: compile it with that option, too (a compiler cache \
         does not see COTREE_EVENT_LIMIT; give it --cotree-event-limit among the compiler's options)"
    )]
    CompiledWithoutLimits {
        /// The module.
        module: String,
    },
    /// The compiler's coverage instrumentation is of a kind that cannot be told from counts of blocks.
    #[error(
        "{module} asks for coverage by {intrinsic}, which --coverage does not count: compile it without single-byte coverage, and \
         -fcoverage-mcdc with clang 19 or newer"
    )]
    UnknownCoverage {
        /// The module.
        module: String,
        /// The intrinsic of LLVM.
        intrinsic: String,
    },
    /// A decision has more test vectors than are counted.
    #[error(
        "a decision in {function} of {module} has more than {most} test vectors, so many are not counted: compile it with \
         -fmcdc-max-test-vectors={most}, and clang leaves it out"
    )]
    TooManyVectors {
        /// The module.
        module: String,
        /// The function.
        function: String,
        /// How many a decision may have.
        most: usize,
    },
    /// Too many counters: code reaches only two gigabytes, minus its own size.
    #[error(
        "the counters of {unit} would take {} MiB, more than the {} MiB that its code can reach: choose a smaller --path-array, or \
         fewer functions (--include, --exclude)", bytes >> 20, most >> 20
    )]
    TooManyCounters {
        /// The name of the program.
        unit: String,
        /// Bytes of counters.
        bytes: u64,
        /// The most bytes that there may be.
        most: u64,
    },
    /// The program asks for the events of calls where no answer can be given.
    #[error("cotree_event_call_count in {function} ({module}) cannot be answered: {reason}")]
    CallQuery {
        /// The module.
        module: String,
        /// The function that asks.
        function: String,
        /// Why.
        reason: CallQueryError,
    },
    /// Something refers to the function by which programs ask for the events of calls, and does not just call it.
    #[error(
        "{module} refers to cotree_event_call_count, but does not call it by name in code that cotree compiles, so its answer \
         would be 0: call it directly, in C, C++ or Rust that is compiled with cotree"
    )]
    CallQueryElsewhere {
        /// The module, or what native code is called.
        module: String,
    },
    /// The optimiser or code generator refused.
    #[error("{module}: LLVM failed to {step}: {reason}")]
    Llvm {
        /// The module.
        module: String,
        /// What was being done.
        step: &'static str,
        /// LLVM's own words.
        reason: String,
    },
    /// An unknown option, or one with an invalid value.
    #[error("bad option {option}: {reason}")]
    Option {
        /// The option.
        option: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Options that do not go together.
    #[error(transparent)]
    Misfit(#[from] cotree_options::Misfit),
    /// The weights cannot be used.
    #[error(transparent)]
    Weights(#[from] cotree_profile::weights::WeightsError),
    /// The method cannot plan the unit.
    #[error("cannot plan the profile: {0}")]
    Unit(UnitPlanError),
    /// Something that we built is inconsistent: a defect of cotree.
    #[error("internal error in {module}: {reason}; please report it")]
    Internal {
        /// The module.
        module: String,
        /// What.
        reason: String,
    },
}

impl From<PlanError> for Error {
    fn from(error: PlanError) -> Self {
        match (error.module(), &error) {
            (Some(module), _) => Self::Internal { module: module.to_owned(), reason: error.to_string() },
            (None, PlanError::Unit(unit)) => Self::Unit(unit.clone()),
            (None, _) => Self::Internal { module: String::new(), reason: error.to_string() },
        }
    }
}

fn list(paths: &[PathBuf]) -> String {
    if paths.is_empty() {
        return "no toolchain: rustc is not in PATH".into();
    }
    paths.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", ")
}
