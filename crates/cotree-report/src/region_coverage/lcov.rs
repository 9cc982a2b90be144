//! Coverage as a tracefile of lcov: lines, functions and branches that could have run, also those that were never
//! compiled into code.
//!
//! Lines and branches are those of `llvm-cov export -format=lcov`; MC/DC is there if the build has it. The instances of
//! a template are one function, so that lcov counts as many functions as [`super::table`] does.

use super::decision_records::decision_records;
use super::program::RegionCoverage;
use super::records::records;
use crate::names::Names;
use crate::source::Sources;
use crate::tracefile::{Numbering, TracefileForm, Untold};
use std::io::{self, Write};

/// Writes the tracefile of the files whose paths are wanted and that have functions.
///
/// # Errors
/// If the output can't be written.
pub fn write(
    coverage: &RegionCoverage<'_>,
    wanted: impl Fn(&str) -> bool,
    sources: &dyn Sources,
    names: Names,
    function_ends: bool,
    out: &mut dyn Write,
) -> io::Result<Untold> {
    let form = TracefileForm { function_ends, numbering: Numbering::ByLine };
    let mut untold = Untold::default();
    for mut file in records(coverage, wanted, names) {
        file.decisions = decision_records(coverage, &file.path, sources);
        writeln!(out, "TN:")?;
        untold.add(file.write(form, out)?);
    }
    Ok(untold)
}
