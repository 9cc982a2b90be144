//! Coverage as a tracefile of lcov: lines, functions and branches that could have run, also those that were never
//! compiled into code.
//!
//! Lines and branches are those of `llvm-cov export -format=lcov`. The instances of a template are one function, so
//! that lcov counts as many functions as [`super::table`] does.

use super::conditions::conditions;
use super::functions::CountedFunction;
use super::program::RegionCoverage;
use crate::names::Names;
use crate::visible;
use std::io::{self, Write};

/// Writes the tracefile of the files whose paths are wanted and that have functions.
///
/// # Errors
/// If the output can't be written.
pub fn write(
    coverage: &RegionCoverage<'_>,
    wanted: impl Fn(&str) -> bool,
    names: Names,
    out: &mut dyn Write,
) -> io::Result<()> {
    for path in coverage.paths().filter(|path| wanted(path)) {
        let groups = coverage.groups(path);
        if groups.is_empty() {
            continue;
        }
        writeln!(out, "TN:\nSF:{}", visible::name(path))?;
        let mut functions = Vec::new();
        for group in groups.iter().filter(|group| !group.functions.iter().all(|function| function.is_excluded())) {
            let entries = group.functions.iter().fold(0u64, |sum, function| sum.saturating_add(function.entries()));
            let Some(first) = group.functions.first() else { continue };
            let name = names.show(first.function.symbol());
            functions.push((group.start.line, visible::name(&name).into_owned(), entries));
        }
        for (line, name, _) in &functions {
            writeln!(out, "FN:{line},{name}")?;
        }
        for (_, name, entries) in &functions {
            writeln!(out, "FNDA:{entries},{name}")?;
        }
        let ran = functions.iter().filter(|(.., entries)| *entries > 0).count();
        writeln!(out, "FNF:{}\nFNH:{ran}", functions.len())?;
        let written = groups.iter().flat_map(|group| &group.functions);
        write_branches(written.copied(), out)?;
        let view = coverage.file(path);
        let (mut lines, mut ran) = (0, 0);
        for (line, count) in view.lines().lines() {
            writeln!(out, "DA:{line},{count}")?;
            lines += 1;
            ran += u64::from(count > 0);
        }
        writeln!(out, "LF:{lines}\nLH:{ran}\nend_of_record")?;
    }
    Ok(())
}

/// Writes the outcomes of the conditions of functions, those of macros at the lines that use them. Those of the
/// instances of a template are added up.
fn write_branches<'c, 'm: 'c>(
    functions: impl Iterator<Item = &'c CountedFunction<'m>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (mut last, mut block, mut number) = (0, 0, 0);
    let (mut all, mut seen) = (0, 0);
    for condition in conditions(functions) {
        let line = condition.at.line;
        (block, number) = if line == last { (block + 1, number) } else { (0, 0) };
        last = line;
        let evaluated = condition.outcomes().any(|count| count > 0);
        for count in condition.outcomes() {
            let shown = if evaluated { count.to_string() } else { "-".into() };
            writeln!(out, "BRDA:{line},{block},{number},{shown}")?;
            number += 1;
            all += 1;
            seen += u64::from(count > 0);
        }
    }
    writeln!(out, "BRF:{all}\nBRH:{seen}")
}
