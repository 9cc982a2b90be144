//! Errors of libraries as reports for people, with the codes that `cotree explain` knows.

use cotree_llvm::Error as LinkError;
use cotree_options::Misfit;
use cotree_profile::atomic::WriteError;
use cotree_profile::binary::BinaryError;
use cotree_profile::coverage::CoverageMapError;
use cotree_profile::error::ProfileError;
use cotree_profile::recover::UnitError;
use cotree_profile::snapshot::SnapshotError;
use cotree_profile::used::UsedError;
use cotree_profile::weights::WeightsError;
use cotree_report::explain::{self, Explanation, building};
use miette::{Diagnostic, IntoDiagnostic, Report};
use std::error::Error;
use std::fmt::{self, Display};

/// Turns a library's error into a report for the terminal, with its code if it has one.
pub fn report<E: Error + Send + Sync + 'static>(error: E) -> Report {
    match code_of(&error) {
        Some(code) => Report::new(Coded { error, code }),
        None => Err::<(), E>(error).into_diagnostic().expect_err("it is an error"),
    }
}

/// The code of an error, or of the first of its causes that has one.
fn code_of(error: &(dyn Error + 'static)) -> Option<&'static str> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(explanation) = explanation(error) {
            return Some(explanation.code);
        }
        next = error.source();
    }
    None
}

/// What `cotree explain` says of an error of a library.
fn explanation(error: &(dyn Error + 'static)) -> Option<&'static Explanation> {
    fn of<E: Error + 'static>(
        error: &(dyn Error + 'static),
        explanation: impl Fn(&E) -> &'static Explanation,
    ) -> Option<&'static Explanation> {
        error.downcast_ref::<E>().map(explanation)
    }
    of::<ProfileError>(error, explain::of_profile_error)
        .or_else(|| of::<UnitError>(error, explain::of_unit_error))
        .or_else(|| of::<BinaryError>(error, explain::of_binary_error))
        .or_else(|| of::<SnapshotError>(error, explain::of_snapshot_error))
        .or_else(|| of::<CoverageMapError>(error, explain::of_coverage_error))
        .or_else(|| of::<UsedError>(error, explain::of_used_error))
        .or_else(|| of::<WriteError>(error, explain::of_write_error))
        .or_else(|| of::<Misfit>(error, |_| &building::BAD_OPTIONS))
        .or_else(|| of::<WeightsError>(error, |_| &building::BAD_WEIGHTS))
        .or_else(|| of::<LinkError>(error, of_link_error))
}

/// What `cotree explain` says of an error between bitcode and objects.
pub fn of_link_error(error: &LinkError) -> &'static Explanation {
    match error {
        LinkError::LlvmNotFound { .. } | LinkError::LlvmUnusable { .. } | LinkError::LlvmVersion { .. } => {
            &building::LLVM_MISSING
        }
        LinkError::Read { .. } | LinkError::Write { .. } => &building::FILE_ACCESS,
        LinkError::Costs { .. } => &building::BAD_COSTS,
        LinkError::TooNew { .. } => &building::BITCODE_TOO_NEW,
        LinkError::BadBitcode { .. } => &building::BITCODE_DAMAGED,
        LinkError::Target { .. } => &building::OTHER_TARGET,
        LinkError::CompiledOtherwise { .. } | LinkError::CompiledWithoutLimits { .. } => &building::COMPILED_OTHERWISE,
        LinkError::UnknownCoverage { .. } => &building::COVERAGE_UNKNOWN,
        LinkError::TooManyVectors { .. } => &building::TOO_MANY_VECTORS,
        LinkError::TooManyCounters { .. } => &building::TOO_MANY_COUNTERS,
        LinkError::CallQuery { .. } | LinkError::CallQueryElsewhere { .. } => &building::CALL_QUERY,
        LinkError::Llvm { .. } => &building::LLVM_FAILED,
        LinkError::Option { .. } | LinkError::Misfit(_) => &building::BAD_OPTIONS,
        LinkError::Weights(_) => &building::BAD_WEIGHTS,
        LinkError::Unit(_) => &building::NOT_PLANNED,
        LinkError::Internal { .. } => &building::INTERNAL,
    }
}

/// An error with its code.
#[derive(Debug)]
struct Coded<E> {
    error: E,
    code: &'static str,
}

impl<E: Error> Display for Coded<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.error, f)
    }
}

impl<E: Error> Error for Coded<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}

impl<E: Error> Diagnostic for Coded<E> {
    fn code<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        Some(Box::new(self.code))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotree_lto::worker::Failure;
    use std::io;
    use std::os::unix::process::ExitStatusExt;
    use std::path::PathBuf;
    use std::process::ExitStatus;

    #[test]
    fn what_the_linker_plugin_says_is_explained() {
        let (path, error) = (PathBuf::from("x"), || io::Error::from(io::ErrorKind::NotFound));
        for failure in [
            Failure::NoDriver,
            Failure::Start { path: path.clone(), error: error() },
            Failure::Died { path: path.clone(), command: "lto-link", status: ExitStatus::from_raw(9) },
            Failure::File { verb: "read", path, error: error() },
        ] {
            let sentence = failure.to_string();
            let code = sentence.rsplit(' ').next().filter(|word| word.starts_with('['));
            assert!(code.is_some_and(|code| explain::find(code).is_some()), "{sentence}");
        }
    }

    #[test]
    fn a_cause_has_the_code_of_its_error() {
        let cause = WeightsError::Malformed { path: PathBuf::from("x"), reason: "empty".into() };
        let report = report(LinkError::Weights(cause));
        assert_eq!(report.code().map(|code| code.to_string()).as_deref(), Some("bad-weights"));
    }
}
