//! Coverage as a tracefile of lcov: lines, functions and branches that could have run, also those that were never
//! compiled into code.
//!
//! Lines and branches are those of `llvm-cov export -format=lcov`. The instances of a template are one function, so
//! that lcov counts as many functions as [`super::table`] does.

use super::functions::CountedFunction;
use super::program::RegionCoverage;
use crate::names::Names;
use crate::visible;
use cotree_profile::coverage::{Place, RegionKind, VirtualFile};
use std::collections::BTreeMap;
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
        for group in &groups {
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
    let mut conditions: BTreeMap<(Place, u32, Place, Place), Vec<Vec<u64>>> = BTreeMap::new();
    for function in functions {
        let uses = uses(function);
        // A macro that uses a parameter several times has the same text several times.
        let mut times: BTreeMap<_, usize> = BTreeMap::new();
        for branch in function.branches() {
            let region = branch.region;
            let at =
                if Some(region.file) == function.main_file { Some(region.start) } else { uses[region.file.0 as usize] };
            let Some(at) = at else { continue };
            let outcomes: Vec<u64> = branch.outcomes().collect();
            let key = (at, region.file.0, region.start, region.end);
            let time = times.entry(key).and_modify(|time| *time += 1).or_insert(0);
            let same_text = conditions.entry(key).or_default();
            same_text.resize(same_text.len().max(*time + 1), Vec::new());
            let sums = &mut same_text[*time];
            sums.resize(sums.len().max(outcomes.len()), 0);
            sums.iter_mut().zip(outcomes).for_each(|(sum, count)| *sum = sum.saturating_add(count));
        }
    }
    let (mut last, mut block, mut number) = (0, 0, 0);
    let (mut all, mut seen) = (0, 0);
    let conditions = conditions.iter().flat_map(|((at, ..), all)| all.iter().map(move |outcomes| (at, outcomes)));
    for (at, outcomes) in conditions {
        (block, number) = if at.line == last { (block + 1, number) } else { (0, 0) };
        last = at.line;
        let evaluated = outcomes.iter().any(|&count| count > 0);
        for count in outcomes {
            let count = if evaluated { count.to_string() } else { "-".into() };
            writeln!(out, "BRDA:{},{block},{number},{count}", at.line)?;
            number += 1;
        }
        all += outcomes.len();
        seen += outcomes.iter().filter(|&&count| count > 0).count();
    }
    writeln!(out, "BRF:{all}\nBRH:{seen}")
}

/// Per file of a function, where the main file uses it: the outermost macro that leads to its text.
fn uses(function: &CountedFunction<'_>) -> Vec<Option<Place>> {
    let mut used: Vec<Option<(VirtualFile, Place)>> = vec![None; function.function.files.len()];
    for region in &function.function.regions {
        if let RegionKind::Expansion { into, .. } = region.kind {
            used[into.0 as usize] = Some((region.file, region.start));
        }
    }
    // A file replaces no region of its own, so that no way up is longer than there are files.
    let outermost = |file: usize| {
        let above = std::iter::successors(used[file], |(file, _)| used[file.0 as usize]).take(used.len());
        above.filter(|(file, _)| Some(*file) == function.main_file).map(|(_, start)| start).next()
    };
    (0..used.len()).map(outermost).collect()
}
