//! Coverage as `llvm-cov export` writes it (`llvm.coverage.json.export`, version 2.0.1), for programs that read that.
//!
//! What markers in the sources exclude is not in the sums and branches; regions and segments have everything.
//! Expansions are left out, as with `-skip-expansions`.

use super::functions::{CountedBranch, CountedFunction};
use super::program::RegionCoverage;
use super::ratio::Ratio;
use super::segments::Segment;
use super::summary::FileSummary;
use crate::source::Sources;
use cotree_profile::coverage::{Place, RegionKind, VirtualFile};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{self, Write};

/// Writes the document of the files whose paths are wanted and that have functions.
///
/// # Errors
/// If the output can't be written.
pub fn write(
    coverage: &RegionCoverage<'_>,
    wanted: impl Fn(&str) -> bool,
    sources: &dyn Sources,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut total = FileSummary::default();
    let mut files = Vec::new();
    for path in coverage.paths().filter(|path| wanted(path)) {
        let sums = coverage.summary(path);
        if sums.functions.total == 0 && sums.lines.total == 0 {
            continue;
        }
        total.add(&sums);
        let mut view = coverage.file(path);
        place_cuts(&mut view.segments, &region_ends(coverage, path), sources.bytes(path).as_deref());
        files.push(json!({
            "filename": path,
            "segments": view.segments.iter().map(segment).collect::<Vec<_>>(),
            "branches": view.branches.iter().map(|found| branch(found, found.region.file.0)).collect::<Vec<_>>(),
            "expansions": [],
            "mcdc_records": [],
            "summary": summary(&sums),
        }));
    }
    let written = coverage.functions.iter().filter(|function| function.main_path().is_some_and(&wanted));
    let functions: Vec<Value> = written.map(function_value).collect();
    let document = json!({
        "data": [{ "files": files, "functions": functions, "totals": summary(&total) }],
        "type": "llvm.coverage.json.export",
        "version": "2.0.1",
        "cotree": { "version": env!("CARGO_PKG_VERSION") },
    });
    serde_json::to_writer(&mut *out, &document)?;
    writeln!(out)
}

/// Where the regions of a file end: ends of lines are those of text that the preprocessor has left out.
fn region_ends(coverage: &RegionCoverage<'_>, path: &str) -> BTreeSet<Place> {
    let functions = coverage.functions_in(path);
    let regions = functions.flat_map(|function| function.regions().map(move |counted| (function, counted.region)));
    regions.filter(|(function, region)| function.path(region.file) == path).map(|(_, region)| region.end).collect()
}

/// Gives cuts at the end of a line, which readers do not know, a column: that of its end, or if the text is not there
/// the one behind what else begins on the line.
fn place_cuts(segments: &mut [Segment], region_ends: &BTreeSet<Place>, text: Option<&[u8]>) {
    let at_end = |segment: &Segment| segment.start.column == u32::MAX && !region_ends.contains(&segment.start);
    if !segments.iter().any(at_end) {
        return;
    }
    let lines: Vec<&[u8]> = text.map(|text| text.split(|&byte| byte == b'\n').collect()).unwrap_or_default();
    let mut before = Place { line: 0, column: 0 };
    for segment in segments {
        if at_end(segment) {
            let line = (segment.start.line as usize).checked_sub(1).and_then(|line| lines.get(line));
            let end = line.map(|line| line.strip_suffix(b"\r").unwrap_or(line).len().saturating_add(1));
            let before = if before.line == segment.start.line { before.column } else { 0 };
            let end = end.map_or(before.saturating_add(1), |end| u32::try_from(end).unwrap_or(u32::MAX));
            segment.start.column = end.max(before);
        }
        before = segment.start;
    }
}

fn segment(segment: &Segment) -> Value {
    let Segment { start, count, is_entry, is_gap, .. } = *segment;
    json!([start.line, start.column, count.unwrap_or(0), count.is_some(), is_entry, is_gap])
}

fn place([start, end]: [Place; 2]) -> [u32; 4] {
    [start.line, start.column, end.line, end.column]
}

fn branch(branch: &CountedBranch<'_>, file: u32) -> Value {
    let [line, column, end, end_column] = place([branch.region.start, branch.region.end]);
    let (taken, not_taken) = (branch.taken.unwrap_or(0), branch.not_taken.unwrap_or(0));
    json!([line, column, end, end_column, taken, not_taken, file, 0, number(branch.region.kind)])
}

fn function_value(function: &CountedFunction<'_>) -> Value {
    let files = || (0..function.function.files.len() as u32).map(VirtualFile);
    let regions = function.regions().map(|counted| {
        let [line, column, end, end_column] = place([counted.region.start, counted.region.end]);
        let into = if let RegionKind::Expansion { into, .. } = counted.region.kind { into.0 } else { 0 };
        let (file, kind) = (counted.region.file.0, number(counted.region.kind));
        json!([line, column, end, end_column, counted.count, file, into, kind])
    });
    json!({
        "name": function.function.name,
        "count": function.entries(),
        "regions": regions.collect::<Vec<_>>(),
        "branches": function.branches().map(|found| branch(&found, found.region.file.0)).collect::<Vec<_>>(),
        "mcdc_records": [],
        "filenames": files().map(|file| function.path(file)).collect::<Vec<_>>(),
    })
}

/// The number of a kind of regions in the format.
fn number(kind: RegionKind) -> u32 {
    match kind {
        RegionKind::Code(_) => 0,
        RegionKind::Expansion { .. } => 1,
        RegionKind::Skipped => 2,
        RegionKind::Gap(_) => 3,
        RegionKind::Branch { .. } => 4,
        RegionKind::Decision { .. } => 5,
        RegionKind::Condition { .. } => 6,
    }
}

fn summary(sums: &FileSummary) -> Value {
    let plain = |Ratio { covered, total }: Ratio| {
        let percent = if total == 0 { 0.0 } else { covered as f64 * 100.0 / total as f64 };
        json!({ "count": total, "covered": covered, "percent": percent })
    };
    let with_missed = |ratio: Ratio| {
        let mut value = plain(ratio);
        value["notcovered"] = ratio.missed().into();
        value
    };
    json!({
        "lines": plain(sums.lines),
        "functions": plain(sums.functions),
        "instantiations": plain(sums.instantiations),
        "regions": with_missed(sums.regions),
        "branches": with_missed(sums.branches),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_at_ends_of_lines_have_columns() {
        let at = |line, column| Place { line, column };
        let segment = |start| Segment { start, count: Some(1), is_entry: false, is_gap: false, count_of_line: None };
        let places = [at(1, 5), at(1, u32::MAX), at(2, u32::MAX), at(3, 9), at(3, u32::MAX), at(4, u32::MAX)];
        let columns = |text: Option<&[u8]>| {
            let mut segments = places.map(segment).to_vec();
            place_cuts(&mut segments, &BTreeSet::from([at(4, u32::MAX)]), text);
            segments.iter().map(|segment| segment.start.column).collect::<Vec<_>>()
        };
        assert_eq!(columns(Some(b"one();\r\n\n  short\n\n")), [5, 7, 1, 9, 9, u32::MAX]);
        assert_eq!(columns(None), [5, 6, 1, 9, 10, u32::MAX]);
    }
}
