//! Errors of libraries as reports for people, with the codes that `cotree explain` knows.

use cotree_profile::binary::BinaryError;
use cotree_profile::error::ProfileError;
use cotree_profile::recover::UnitError;
use cotree_report::explain;
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
        let explanation = error
            .downcast_ref::<ProfileError>()
            .map(explain::of_profile_error)
            .or_else(|| error.downcast_ref::<UnitError>().map(explain::of_unit_error))
            .or_else(|| error.downcast_ref::<BinaryError>().map(explain::of_binary_error));
        if let Some(explanation) = explanation {
            return Some(explanation.code);
        }
        next = error.source();
    }
    None
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
