//! The paths that executed most: within functions, and across them.

use super::content::Pages;
use super::data::{Add, Amount, script};
use super::numbering::Numbering;
use crate::method::ipath::IpathUnit;
use crate::method::ipath::parts::PathPart;
use crate::method::path::PathUnit;
use crate::method::path::route::{Stop, along};
use crate::unit::Unit;
use cotree_core::ids::{Block, FunctionId};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::io;

/// The most paths that are shown.
const MOST: usize = 1000;

/// A path that ran.
#[derive(Serialize)]
struct Row {
    /// What its executions executed, in the run in which these were more.
    #[serde(skip)]
    weight: u128,
    /// What all its executions executed.
    instructions: Amount,
    count: Amount,
    /// How often it ran in the run that this one is compared with, if that is of one build.
    before: Option<Amount>,
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
pub(super) fn write(pages: &Pages<'_>, numbering: &Numbering<'_>, add: &mut Add<'_>) -> io::Result<Option<u64>> {
    let (mut rows, mut ran, mut counted) = (Vec::new(), 0, false);
    for (number, unit) in pages.units().iter().enumerate() {
        let maker = Maker { unit, number, numbering };
        let before = pages.before.as_ref().and_then(|before| before.units.get(number));
        let before = before.filter(|before| before.profile.unit == unit.profile.unit);
        if let Some(paths) = PathUnit::new(unit) {
            counted = true;
            ran += maker.within(&paths, before.and_then(PathUnit::new).as_ref(), &mut rows);
        }
        if let Some(paths) = IpathUnit::new(unit) {
            counted = true;
            ran += maker.across(&paths, before.and_then(IpathUnit::new).as_ref(), &mut rows);
        }
        rows.sort_by_key(|row| Reverse(row.weight));
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
    /// Adds the hottest paths through functions, and those of the other run; gives how many ran.
    fn within(&self, paths: &PathUnit<'_>, before: Option<&PathUnit<'_>>, rows: &mut Vec<Row>) -> u64 {
        let mut ran = 0;
        let others: HashMap<FunctionId, _> =
            before.into_iter().flat_map(PathUnit::functions).map(|of| (of.function.index, of)).collect();
        for of in paths.functions() {
            let Some(numbered) = of.numbered() else { continue };
            let doubtful = !of.function.flaws().is_empty();
            let other = others.get(&of.function.index).and_then(|other| other.numbered());
            let mut counts: HashMap<u64, (u64, u128)> = other
                .iter()
                .flat_map(|other| other.executed().map(|path| (path.number, (path.count, path.executed()))))
                .collect();
            let mut hot: Vec<_> = numbered
                .executed()
                .map(|path| {
                    let before = counts.remove(&path.number);
                    (path, before)
                })
                .collect();
            ran += hot.len() as u64;
            // What only the other run took.
            let gone = other.iter().flat_map(|other| other.executed()).filter(|path| counts.contains_key(&path.number));
            let gone: Vec<_> = gone.map(|path| (0, Some((path.count, path.executed())), path)).collect();
            let here = hot.drain(..).map(|(path, before)| (path.count, before, path));
            let mut all: Vec<_> =
                here.chain(gone).filter(|(count, before, _)| *count > 0 || before.is_some()).collect();
            let weight = |count: u64, before: Option<(u64, u128)>, executed: u128| {
                let own = if count > 0 { executed } else { 0 };
                own.max(before.map_or(0, |(_, executed)| executed))
            };
            all.sort_by_key(|(count, before, path)| Reverse(weight(*count, *before, path.executed())));
            all.truncate(MOST);
            for (count, other, path) in all {
                let stretches = [(numbered.context(&path.path), true), (path.path.blocks.clone(), false)];
                let parts = stretches.into_iter().filter(|(blocks, _)| !blocks.is_empty());
                let part = |(blocks, context): (Vec<Block>, bool)| {
                    let stops = along(of.function.facts, &blocks, None);
                    self.part(of.function.index, 0, context, &blocks, &stops)
                };
                rows.push(Row {
                    weight: weight(count, other, path.executed()),
                    instructions: Amount(if count > 0 { path.executed() } else { 0 }),
                    count: count.into(),
                    before: before.map(|_| other.map_or(0, |(count, _)| count).into()),
                    number: path.number.to_string(),
                    parts: parts.map(part).collect(),
                    doubtful,
                });
            }
        }
        ran
    }

    /// Adds the hottest paths across functions, and those of the other run; gives how many ran.
    fn across(&self, paths: &IpathUnit<'_>, before: Option<&IpathUnit<'_>>, rows: &mut Vec<Row>) -> u64 {
        let all = paths.paths();
        let ran = all.len() as u64;
        let gone = before.map(IpathUnit::paths).unwrap_or_default();
        let here: HashSet<u64> = all.iter().map(|path| path.number).collect();
        let counts: HashMap<u64, u64> = gone.iter().map(|path| (path.number, path.count)).collect();
        let gone = gone.into_iter().filter(|path| !here.contains(&path.number)).map(|path| (path, false));
        for (path, runs) in all.into_iter().map(|path| (path, true)).take(MOST).chain(gone.take(MOST)) {
            let part = |part: &PathPart| {
                let blocks: Vec<Block> = part.visits.iter().map(|visit| visit.block).collect();
                let stops = self.unit.function(part.function).map(|of| part.stops(of.facts)).unwrap_or_default();
                self.part(part.function, part.depth, part.context, &blocks, &stops)
            };
            let doubtful = |part: &PathPart| {
                self.unit.function(part.function).is_some_and(|function| !function.flaws().is_empty())
            };
            rows.push(Row {
                weight: path.executed(),
                instructions: Amount(if runs { path.executed() } else { 0 }),
                count: if runs { path.count } else { 0 }.into(),
                before: before.map(|_| counts.get(&path.number).copied().unwrap_or(0).into()),
                number: path.number.to_string(),
                doubtful: path.parts.iter().any(doubtful),
                parts: path.parts.iter().map(part).collect(),
            });
        }
        ran
    }

    fn part(&self, function: FunctionId, depth: u32, context: bool, blocks: &[Block], stops: &[Stop]) -> Part {
        let place = |stop: &Stop| Some((self.numbering.of_path(self.unit.file(stop.file))?, stop.line));
        let mut lines: Vec<(usize, u32)> = stops.iter().filter_map(place).collect();
        lines.dedup();
        Part {
            function: self.numbering.of_body(self.number, function),
            depth,
            context,
            blocks: blocks.iter().map(|block| block.0).collect(),
            lines,
        }
    }
}
