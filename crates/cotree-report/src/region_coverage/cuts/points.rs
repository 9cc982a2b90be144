//! The instructions of a function of the source, by the region that they stand in.

use super::instances::Instance;
use super::layout::Layout;
use crate::unit::Unit;
use cotree_core::facts::{Function, LineSpan, Position};
use cotree_core::ids::Block;
use cotree_profile::coverage::{Place, RegionKind};
use std::collections::{BTreeSet, HashMap};

/// An instruction at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Point {
    pub(super) place: Place,
    pub(super) block: Block,
    /// How many call sites of the block come before it.
    pub(super) after_sites: u32,
    /// Whether the instruction is at the beginning of the block.
    pub(super) begins: bool,
}

/// Instructions by region.
#[derive(Default)]
pub(super) struct Points {
    /// By region of code: what stands in its text, in order. All of a region within it has the place of that region.
    own: HashMap<usize, BTreeSet<Point>>,
    /// By expansion: what the macro has become. All of it has the place of the expansion.
    expanded: HashMap<usize, BTreeSet<Point>>,
}

impl Points {
    /// Is there any?
    pub(super) fn are_known(&self) -> bool {
        !self.own.is_empty()
    }

    /// What stands in the text of a region, in order.
    pub(super) fn within(&self, region: usize) -> impl Iterator<Item = Point> {
        self.own.get(&region).into_iter().flatten().copied()
    }

    /// What an expansion has become.
    pub(super) fn expanded(&self, region: usize) -> impl Iterator<Item = Point> {
        self.expanded.get(&region).into_iter().flatten().copied()
    }
}

/// Finds the instructions of an instance.
pub(super) fn of_instance(unit: &Unit<'_>, layout: &Layout<'_>, instance: &Instance<'_, '_>) -> Points {
    let mut points = Points::default();
    if !instance.has_own_lines {
        return points;
    }
    let function = instance.flow.function;
    let mut is_path_of: HashMap<u32, Vec<bool>> = HashMap::new();
    let mut add = |at: Position, block: Block, after_sites: u32, begins: bool| {
        let here = is_path_of.entry(at.file).or_insert_with(|| {
            let path = unit.file(at.file);
            layout.files().map(|(_, mapped)| is_same_file(path, mapped)).collect()
        });
        let place = Place { line: at.line, column: at.column };
        for (file, _) in layout.files().filter(|(file, _)| here[file.0 as usize]) {
            // rustc places what a function returns with behind its last brace.
            let before = Place { column: place.column.saturating_sub(1), ..place };
            let innermost = layout.innermost(file, place).or_else(|| layout.innermost(file, before));
            let mut place = place;
            let mut next = innermost;
            while let Some(region) = next {
                let point = Point { place, block, after_sites, begins };
                match layout.function.regions[region].kind {
                    RegionKind::Code(_) => _ = points.own.entry(region).or_default().insert(point),
                    RegionKind::Expansion { .. } => _ = points.expanded.entry(region).or_default().insert(point),
                    _ => {}
                }
                // In the text around the region it stands where the region begins.
                place = layout.function.regions[region].start;
                next = layout.around(region);
            }
        }
    };
    for (block, facts) in function.blocks.numbered() {
        for (number, span) in facts.lines.iter().enumerate() {
            if let Some(at) = place_in(function, instance.copy, span, span.at.column) {
                add(at, block, span.after_sites, number == 0);
            }
        }
    }
    for (call, after_sites) in function.calls.after_sites() {
        let Some((span, line)) = function.line_span(call).zip(call.line) else { continue };
        if let Some(at) = place_in(function, instance.copy, span, line.column) {
            add(at, call.block, after_sites, false);
        }
    }
    points
}

/// Where an instruction stands in the text of a copy: what was inlined into that copy stands where it is called.
fn place_in(function: &Function, copy: Option<u32>, span: &LineSpan, column: u32) -> Option<Position> {
    let mut at = Some(Position { column, ..span.at });
    let mut inside = span.inlined;
    while inside != copy {
        let inlined = function.inlined.get(inside? as usize)?;
        at = inlined.call;
        inside = inlined.parent;
    }
    at
}

/// Do two paths mean the same file? Debug information and the coverage map may spell it differently, and one of them
/// may lack the folder.
fn is_same_file(one: &str, other: &str) -> bool {
    let parts = |path: &str| -> Vec<String> {
        let mut parts: Vec<String> = Vec::new();
        for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
            let goes_up = part == ".." && parts.last().is_some_and(|last| last != "..");
            if goes_up {
                parts.pop();
            } else {
                parts.push(part.to_owned());
            }
        }
        parts
    };
    if one == other {
        return true;
    }
    let (one, other) = (parts(one), parts(other));
    !one.is_empty() && !other.is_empty() && (one.ends_with(&other) || other.ends_with(&one))
}

#[cfg(test)]
mod tests {
    use super::is_same_file;

    #[test]
    fn spellings_of_a_path_are_one_file() {
        assert!(is_same_file("/w/./src/../a.c", "/w/a.c"));
        assert!(is_same_file("src/main.rs", "/w/src/main.rs"));
        assert!(!is_same_file("/w/src/main.rs", "/w/other/main.rs"));
        assert!(!is_same_file("", "/w/a.c"));
    }
}
