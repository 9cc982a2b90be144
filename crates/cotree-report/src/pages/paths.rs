//! The paths that executed most: within functions, and across them.

use super::content::Pages;
use super::data::{Amount, script};
use super::numbering::Numbering;
use crate::method::ipath::IpathUnit;
use crate::method::ipath::parts::PathPart;
use crate::method::path::PathUnit;
use crate::unit::Unit;
use cotree_core::ids::{Block, FunctionId};
use serde::Serialize;
use std::cmp::Reverse;
use std::io;

/// The most paths that are shown.
const MOST: usize = 1000;

/// A path that ran.
#[derive(Serialize)]
struct Row {
    /// What all its executions executed.
    instructions: Amount,
    count: Amount,
    /// The number of the path: decimal digits, as they may be more than JavaScript's numbers hold.
    number: String,
    parts: Vec<Part>,
    doubtful: bool,
}

/// A stretch of a path, within one activation.
#[derive(Serialize)]
struct Part {
    function: Option<usize>,
    depth: u32,
    /// The stretch led to the path, and is not counted by it.
    context: bool,
    blocks: Vec<u32>,
    /// Files and lines, in the order in which they ran.
    lines: Vec<(usize, u32)>,
}

/// Writes the paths as one script; gives how many ran, if any were counted.
///
/// # Errors
/// If it can't be written.
pub(super) fn write(
    pages: &Pages<'_>,
    numbering: &Numbering<'_>,
    add: &mut dyn FnMut(String, String) -> io::Result<()>,
) -> io::Result<Option<u64>> {
    let (mut rows, mut ran, mut counted) = (Vec::new(), 0, false);
    for (number, unit) in pages.units().iter().enumerate() {
        let maker = Maker { unit, number, numbering };
        if let Some(paths) = PathUnit::new(unit) {
            counted = true;
            ran += maker.within(&paths, &mut rows);
        }
        if let Some(paths) = IpathUnit::new(unit) {
            counted = true;
            ran += maker.across(&paths, &mut rows);
        }
        rows.sort_by_key(|row| Reverse(row.instructions));
        rows.truncate(MOST);
    }
    if counted {
        add("paths".to_owned(), script("paths", &rows)?)?;
    }
    Ok(counted.then_some(ran))
}

struct Maker<'p> {
    unit: &'p Unit<'p>,
    number: usize,
    numbering: &'p Numbering<'p>,
}

impl Maker<'_> {
    /// Adds the hottest paths through functions; gives how many ran.
    fn within(&self, paths: &PathUnit<'_>, rows: &mut Vec<Row>) -> u64 {
        let mut ran = 0;
        for of in paths.functions() {
            let Some(numbered) = of.numbered() else { continue };
            let doubtful = !of.function.flaws().is_empty();
            let mut hot: Vec<_> = numbered.executed().collect();
            ran += hot.len() as u64;
            hot.sort_by_key(|path| Reverse(path.executed()));
            hot.truncate(MOST);
            for path in hot.into_iter().filter(|path| path.count > 0) {
                let stretches = [(numbered.context(&path.path), true), (path.path.blocks.clone(), false)];
                let parts = stretches.into_iter().filter(|(blocks, _)| !blocks.is_empty());
                rows.push(Row {
                    instructions: Amount(path.executed()),
                    count: path.count.into(),
                    number: path.number.to_string(),
                    parts: parts.map(|(blocks, context)| self.part(of.function.index, 0, context, &blocks)).collect(),
                    doubtful,
                });
            }
        }
        ran
    }

    /// Adds the hottest paths across functions; gives how many ran.
    fn across(&self, paths: &IpathUnit<'_>, rows: &mut Vec<Row>) -> u64 {
        let all = paths.paths();
        let ran = all.len() as u64;
        for path in all.into_iter().take(MOST) {
            let part = |part: &PathPart| {
                let blocks: Vec<Block> = part.visits.iter().map(|visit| visit.block).collect();
                self.part(part.function, part.depth, part.context, &blocks)
            };
            let doubtful = |part: &PathPart| {
                self.unit.function(part.function).is_some_and(|function| !function.flaws().is_empty())
            };
            rows.push(Row {
                instructions: Amount(path.executed()),
                count: path.count.into(),
                number: path.number.to_string(),
                doubtful: path.parts.iter().any(doubtful),
                parts: path.parts.iter().map(part).collect(),
            });
        }
        ran
    }

    fn part(&self, function: FunctionId, depth: u32, context: bool, blocks: &[Block]) -> Part {
        let mut lines: Vec<(usize, u32)> = Vec::new();
        if let Some(of) = self.unit.function(function) {
            let spans = blocks.iter().filter_map(|&block| of.facts.blocks.get(block)).flat_map(|facts| &facts.lines);
            lines.extend(spans.filter_map(|span| self.numbering.place(self.number, Some(span.at))));
            lines.dedup();
        }
        Part {
            function: self.numbering.of_body(self.number, function),
            depth,
            context,
            blocks: blocks.iter().map(|block| block.0).collect(),
            lines,
        }
    }
}
