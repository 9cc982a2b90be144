//! gcov's intermediate format, as `gcov --json-format` writes it: gzipped JSON in version 2, that of gcc 14, which
//! gcovr reads (`--gcov-use-existing-files`): <https://gcc.gnu.org/onlinedocs/gcc/Invoking-Gcov.html>.
//!
//! Lines, branches and functions are those of the tracefile ([`crate::lcov`]), each line once. gcov's blocks are those
//! of one compilation, but a line here is the sum of all code of it. So the numbers of blocks are the file's own and
//! only tell branches apart.

use super::format::{Export, ExportError, Format, Needs};
use super::lcov::{options, what_is_left_out};
use crate::branches::Branch;
use crate::coverage::{FileCoverage, LineCoverage};
use crate::harness::is_of_harness;
use crate::lcov::{self, Tracefile, end_of, is_exceptional};
use crate::names::Names;
use crate::terminal::counted;
use crate::unit::Unit;
use cotree_core::facts::{EdgeKind, Position};
use cotree_core::ids::Block;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Write;

/// The format.
pub(super) const FORMAT: Format = Format {
    name: "gcov-json",
    summary: "What gcov --json-format writes, for gcovr",
    needs: Needs::Blocks,
    has_lines: true,
    escapes: true,
    write: export,
};

#[derive(Serialize)]
struct Report<'a> {
    format_version: &'static str,
    gcc_version: String,
    current_working_directory: &'a str,
    data_file: &'a str,
    files: Vec<File>,
}

#[derive(Serialize)]
struct File {
    file: String,
    functions: Vec<Function>,
    lines: Vec<Line>,
}

#[derive(Serialize)]
struct Function {
    name: String,
    demangled_name: String,
    start_line: u32,
    start_column: u32,
    end_line: u32,
    end_column: u32,
    blocks: u64,
    blocks_executed: u64,
    execution_count: u64,
}

#[derive(Serialize)]
struct Line {
    line_number: u32,
    count: u64,
    unexecuted_block: bool,
    /// Only where it is one function's.
    #[serde(skip_serializing_if = "Option::is_none")]
    function_name: Option<String>,
    block_ids: Vec<u32>,
    branches: Vec<Outcome>,
    calls: [(); 0],
}

#[derive(Serialize)]
struct Outcome {
    count: u64,
    throw: bool,
    fallthrough: bool,
    source_block_id: u32,
    destination_block_id: u32,
}

fn export(export: &Export<'_>, out: &mut dyn Write) -> Result<Vec<String>, ExportError> {
    let options = options(export.options);
    let tracefile = Tracefile::new(export.units, export.sources, &options);
    let mut notes = what_is_left_out(export, &tracefile)?;
    let mut functions = functions_by_path(export.units);
    let unexecuted = lines_with_unexecuted_blocks(export.units);
    let mut unknown = 0;
    let mut files = Vec::new();
    for path in tracefile.paths() {
        let coverage = tracefile.coverage(path, &mut notes);
        if coverage.lines.is_empty() {
            continue;
        }
        let mut functions = functions.remove(path).unwrap_or_default();
        if let Some(exclusions) = tracefile.markers().of(path) {
            functions.retain(|function| !exclusions.line(function.start_line));
        }
        let (known, others): (Vec<Branch>, Vec<Branch>) = (tracefile.branches(path, &coverage).into_iter())
            .partition(|branch| branch.outcomes.iter().all(|(_, count)| count.is_some()));
        unknown += others.iter().map(|branch| branch.outcomes.len() as u128).sum::<u128>();
        let lines = lines(&coverage, &known, unexecuted.get(path.as_str()), &functions);
        files.push(File { file: path.clone(), functions, lines });
    }
    if unknown > 0 {
        let outcomes = counted(unknown, "outcome");
        notes.push(format!("left out {outcomes} of branches: the profile does not tell how often they occurred"));
    }
    let unknown_folder = || ExportError::Nothing("the current folder is not known, where sources may be".into());
    let report = Report {
        format_version: "2",
        gcc_version: format!("cotree {}", env!("CARGO_PKG_VERSION")),
        current_working_directory: export.options.folder.as_deref().ok_or_else(unknown_folder)?,
        data_file: export.units.first().map_or("", |unit| unit.map.program.name.as_str()),
        files,
    };
    let mut gzip = GzEncoder::new(out, Compression::default());
    serde_json::to_writer(&mut gzip, &report).map_err(std::io::Error::from)?;
    gzip.finish()?;
    Ok(notes)
}

/// The lines of a file. `branches` are in the order of lines; `unexecuted`: the lines with blocks that never ran.
fn lines(
    coverage: &FileCoverage,
    branches: &[Branch],
    unexecuted: Option<&BTreeSet<u32>>,
    functions: &[Function],
) -> Vec<Line> {
    let mut by_line: BTreeMap<u32, Vec<&Branch>> = BTreeMap::new();
    branches.iter().for_each(|branch| by_line.entry(branch.line).or_default().push(branch));
    let mut blocks = 0;
    let mut next_block = || {
        blocks += 1;
        blocks
    };
    let line = |(&number, facts): (&u32, &LineCoverage)| {
        let mut block_ids = Vec::new();
        let mut outcomes = Vec::new();
        for branch in by_line.remove(&number).unwrap_or_default() {
            let source = next_block();
            block_ids.push(source);
            outcomes.extend(branch.outcomes.iter().map(|&outcome| outcome_of(source, next_block(), outcome)));
        }
        if block_ids.is_empty() {
            block_ids.push(next_block());
        }
        Line {
            line_number: number,
            count: facts.count,
            unexecuted_block: unexecuted.is_some_and(|lines| lines.contains(&number)),
            function_name: the_function(functions, number),
            block_ids,
            branches: outcomes,
            calls: [],
        }
    };
    coverage.lines.iter().map(line).collect()
}

fn outcome_of(source: u32, destination: u32, (kind, count): (EdgeKind, Option<u64>)) -> Outcome {
    Outcome {
        count: count.unwrap_or(0),
        throw: is_exceptional(kind),
        // Before code generation only a call that returns is known to go on without a jump.
        fallthrough: matches!(kind, EdgeKind::InvokeNormal | EdgeKind::CallBrFallthrough),
        source_block_id: source,
        destination_block_id: destination,
    }
}

/// The name of the function that a line is of, if it is one alone.
fn the_function(functions: &[Function], line: u32) -> Option<String> {
    let mut around = functions.iter().filter(|function| (function.start_line..=function.end_line).contains(&line));
    let function = around.next()?;
    around.next().is_none().then(|| function.name.clone())
}

/// The functions by path, in the order of lines: all bodies of a function are one.
fn functions_by_path(units: &[Unit<'_>]) -> HashMap<String, Vec<Function>> {
    let mut merged: BTreeMap<(String, Position, String), Function> = BTreeMap::new();
    lcov::functions(units, |unit, summary, position| {
        let path = unit.file(position.file).to_owned();
        let (end_line, end_column) = end_of(unit, &summary.bodies, position);
        // The number of the file is the unit's.
        let key = (path, Position { file: 0, ..position }, summary.symbol.clone());
        let function = merged.entry(key).or_insert_with(|| Function {
            name: Names::Raw.show(&summary.symbol),
            demangled_name: Names::Demangled.show(&summary.symbol),
            start_line: position.line,
            start_column: position.column,
            end_line,
            end_column,
            blocks: 0,
            blocks_executed: 0,
            execution_count: 0,
        });
        (function.end_line, function.end_column) = (function.end_line, function.end_column).max((end_line, end_column));
        function.execution_count = function.execution_count.saturating_add(summary.entries());
        function.blocks += summary.blocks;
        function.blocks_executed += summary.blocks - summary.unreached;
    });
    let mut by_path: HashMap<String, Vec<Function>> = HashMap::new();
    for ((path, ..), mut function) in merged {
        // A function that exists only inlined has no blocks of its own; readers divide by their number.
        if function.blocks == 0 {
            (function.blocks, function.blocks_executed) = (1, u64::from(function.execution_count > 0));
        }
        by_path.entry(path).or_default().push(function);
    }
    by_path.values_mut().for_each(|functions| tell_apart(functions));
    by_path
}

/// Gives functions of a file that begin on several lines, and have one name to people, names by their lines. Closures
/// of Rust are such, and gcovr takes all for one otherwise.
fn tell_apart(functions: &mut [Function]) {
    let mut lines: HashMap<String, BTreeSet<u32>> = HashMap::new();
    for function in &*functions {
        lines.entry(function.demangled_name.clone()).or_default().insert(function.start_line);
    }
    for function in functions.iter_mut().filter(|function| lines[&function.demangled_name].len() > 1) {
        function.demangled_name += &format!(":{}", function.start_line);
    }
}

/// By path, the lines of which some block never ran, or did not run to the line.
fn lines_with_unexecuted_blocks<'a>(units: &[Unit<'a>]) -> HashMap<&'a str, BTreeSet<u32>> {
    let mut lines: HashMap<&'a str, BTreeSet<u32>> = HashMap::new();
    for unit in units {
        for function in unit.functions().filter(|function| !is_of_harness(function.facts)) {
            let Some(flow) = function.flow() else { continue };
            for (index, block) in function.facts.blocks.iter().enumerate() {
                for span in &block.lines {
                    if flow.after(Block::new(index), span.after_sites) == 0 {
                        lines.entry(unit.file(span.at.file)).or_default().insert(span.at.line);
                    }
                }
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closures_of_one_name_are_told_apart_by_lines() {
        let function = |name: &str, start_line| Function {
            name: format!("_R{name}{start_line}"),
            demangled_name: name.to_owned(),
            start_line,
            start_column: 0,
            end_line: start_line,
            end_column: 0,
            blocks: 1,
            blocks_executed: 1,
            execution_count: 1,
        };
        let mut functions =
            [function("f", 1), function("f::{{closure}}", 2), function("f::{{closure}}", 3), function("g", 5)];
        let mut instances = [function("h", 7), function("h", 7)];
        tell_apart(&mut functions);
        tell_apart(&mut instances);
        let names = |functions: &[Function]| functions.iter().map(|f| f.demangled_name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&functions), ["f", "f::{{closure}}:2", "f::{{closure}}:3", "g"]);
        assert_eq!(names(&instances), ["h", "h"]);
    }
}
