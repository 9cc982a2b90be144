//! The source lines of selected functions.
//!
//! A body also holds lines of functions that were inlined there, and a function that was inlined everywhere has lines
//! only in other bodies. So a function's lines are those of its bodies' own spans and of its inlined copies.

use crate::unit::Unit;
use cotree_core::facts::Function;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// Lines by path.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    files: BTreeMap<String, FileLines>,
}

/// Lines of one file.
#[derive(Clone, Debug, Default)]
pub struct FileLines {
    own: BTreeSet<u32>,
    ranges: Vec<(u32, u32)>,
}

impl Selection {
    /// The lines of all functions whose symbols are `wanted`.
    #[must_use]
    pub fn new(units: &[Unit<'_>], wanted: impl Fn(&str) -> bool) -> Self {
        let mut files: BTreeMap<String, FileLines> = BTreeMap::new();
        for unit in units {
            for function in unit.functions() {
                let facts = function.facts;
                let body = wanted(&facts.symbol);
                let copies: Vec<bool> = facts.inlined.iter().map(|copy| wanted(&copy.symbol)).collect();
                // The file, the copy, and its first and last line there.
                let mut extents: BTreeMap<(u32, Option<u32>), (u32, u32)> = BTreeMap::new();
                let mut add = |file: u32, line: u32, copy: Option<u32>| {
                    let extent = extents.entry((file, copy)).or_insert((line, line));
                    *extent = (extent.0.min(line), extent.1.max(line));
                    files.entry(unit.file(file).to_owned()).or_default().own.insert(line);
                };
                if let Some(at) = facts.position.filter(|_| body) {
                    add(at.file, at.line, None);
                }
                for span in facts.blocks.iter().flat_map(|block| &block.lines) {
                    if span.inlined.map_or(body, |copy| copies.get(copy as usize).copied().unwrap_or(false)) {
                        add(span.at.file, span.at.line, span.inlined);
                    }
                }
                for ((file, _), extent) in extents {
                    files.entry(unit.file(file).to_owned()).or_default().ranges.push(extent);
                }
            }
        }
        for lines in files.values_mut() {
            lines.join();
        }
        Self { files }
    }

    /// The lines of one file, if any was asked for.
    #[must_use]
    pub fn of_file(&self, path: &str) -> Option<&FileLines> {
        self.files.get(path)
    }
}

impl FileLines {
    /// Is the line one of the functions' own?
    #[must_use]
    pub fn contains(&self, line: u32) -> bool {
        self.own.contains(&line)
    }

    /// From the first to the last line of each function; those that meet are one range.
    pub fn ranges(&self) -> impl Iterator<Item = RangeInclusive<u32>> {
        self.ranges.iter().map(|&(first, last)| first..=last)
    }

    fn join(&mut self) {
        self.ranges.sort_unstable();
        let mut joined: Vec<(u32, u32)> = Vec::new();
        for &(first, last) in &self.ranges {
            match joined.last_mut() {
                Some(open) if first <= open.1.saturating_add(1) => open.1 = open.1.max(last),
                _ => joined.push((first, last)),
            }
        }
        self.ranges = joined;
    }
}

/// Is the function `wanted`, or an inlined copy in it?
pub(crate) fn concerns(function: &Function, wanted: &impl Fn(&str) -> bool) -> bool {
    wanted(&function.symbol) || function.inlined.iter().any(|copy| wanted(&copy.symbol))
}
