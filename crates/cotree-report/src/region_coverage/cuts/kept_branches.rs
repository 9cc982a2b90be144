//! Text behind an `if constexpr`, of which the compiler keeps one branch.
//!
//! Clang counts the branch that it keeps as the text around it, and what follows, too, even if all of that branch
//! returns: by the map, text behind it ran that never did. The map has a gap between such a statement and the next one
//! if there is a `return`, `break` or the like in the branch. So text behind it counts as its instructions say, and so
//! does text behind the statements around it. Where there are no instructions up to the end of the scope, though a
//! statement is there, the compiler knew that nothing comes there.

use super::correlated::region_numbers;
use super::instances::Instance;
use super::layout::Layout;
use super::points::{Point, Points};
use cotree_profile::coverage::{Counter, MappedFunction, Place, Region, RegionKind, VirtualFile};
use std::collections::BTreeSet;
use std::ops::Range;

/// A statement of which one branch was kept.
struct Kept {
    /// The region around it.
    around: usize,
    /// Where it ends.
    end: Place,
    /// Where the next statement begins, if the map says that the branch may not come out at its end.
    next: Option<Place>,
}

/// Does a function have text of which the map does not say how often it ran?
pub(super) fn may_be_wrong(function: &MappedFunction) -> bool {
    function.regions.iter().any(|branch| statement_end(function, branch).is_some())
}

/// Where the statement ends of which a region is the branch that was kept, behind a text that was left out.
fn statement_end(function: &MappedFunction, branch: &Region) -> Option<(VirtualFile, Place)> {
    if !matches!(branch.kind, RegionKind::Code(_)) {
        return None;
    }
    let left_out = || function.regions.iter().filter(|r| r.kind == RegionKind::Skipped && r.file == branch.file);
    left_out().find(|before| before.end == branch.start)?;
    let other = left_out().find(|behind| behind.start == branch.end);
    Some((branch.file, other.map_or(branch.end, |other| other.end)))
}

/// The gap that begins at a place.
fn gap(function: &MappedFunction, (file, place): (VirtualFile, Place)) -> Option<&Region> {
    let is_gap = |region: &&Region| matches!(region.kind, RegionKind::Gap(_)) && region.file == file;
    function.regions.iter().filter(is_gap).find(|gap| gap.start == place)
}

/// Where the text of an instance does not run as often as the map says.
#[derive(Default)]
pub(super) struct KeptBranches {
    /// Text that counts as its instructions say.
    distrusted: Vec<Stretch>,
    /// Text that never ran, as the compiler knew.
    dead: Vec<Stretch>,
}

/// A part of the text of a region.
#[derive(Clone, Copy)]
struct Stretch {
    region: usize,
    from: Place,
    until: Place,
}

impl KeptBranches {
    pub(super) fn of(layout: &Layout<'_>, instance: &Instance<'_, '_>, points: &Points) -> Self {
        let mut all = Self::default();
        // Without lines nothing tells.
        if instance.copy.is_some() || !instance.has_own_lines || !points.are_known() {
            return all;
        }
        let numbers = region_numbers(layout, instance);
        // The next statement runs as often as the text before it.
        let comes_out = |&Kept { around, next, .. }: &Kept| {
            let of_line = |point: &Point| next.is_some_and(|next| point.place >= next && point.place.line == next.line);
            let is_text = |point: &Point| !layout.is_last_brace(around, point.place);
            let mut behind = points.within(around).filter(of_line).filter(is_text);
            behind.any(|point| numbers[around].is_some_and(|n| instance.normal.block(point.block).equal(n).is_some()))
        };
        for Kept { around, end, next } in kept(layout).filter(|kept| !comes_out(kept)) {
            all.put(layout, (instance, points), around, next.unwrap_or(end), next);
            let mut inside = around;
            while let Some(outside) = layout.code_around(inside) {
                let end = layout.function.regions[inside].end;
                all.put(layout, (instance, points), outside, end, next_statement(layout, outside, end));
                inside = outside;
            }
        }
        all
    }

    /// Distrusts the text of a region from a place on, in which the next statement is known or not.
    fn put(
        &mut self,
        layout: &Layout<'_>,
        (instance, points): (&Instance<'_, '_>, &Points),
        region: usize,
        from: Place,
        next: Option<Place>,
    ) {
        let until = next_counter(layout, instance, region, from);
        let is_behind = |place: Place| (from..until).contains(&place) && !layout.is_last_brace(region, place);
        match next {
            Some(next) if !points.within(region).any(|point| is_behind(point.place)) => {
                self.dead.push(Stretch { region, from: next, until });
            }
            _ => self.distrusted.push(Stretch { region, from, until: layout.function.regions[region].end }),
        }
    }

    /// Is there any?
    pub(super) fn is_empty(&self) -> bool {
        self.distrusted.is_empty() && self.dead.is_empty()
    }

    /// From where on the text of a region counts as its instructions say.
    pub(super) fn distrusted_from(&self, region: usize) -> Option<Place> {
        first(&self.distrusted, region)
    }

    /// The text of a region that never ran.
    pub(super) fn dead_of(&self, region: usize) -> impl Iterator<Item = Range<Place>> {
        self.dead.iter().filter(move |text| text.region == region).map(|text| text.from..text.until)
    }

    /// Is a region text that never ran, or a macro that is used there?
    pub(super) fn is_dead(&self, layout: &Layout<'_>, region: usize) -> bool {
        is_within(&self.dead, layout, region)
    }

    /// Does a region, or a macro that is used there, count as its instructions say?
    pub(super) fn is_distrusted(&self, layout: &Layout<'_>, region: usize) -> bool {
        is_within(&self.distrusted, layout, region)
    }
}

/// Is a region, or the use of its macro, within one of these texts?
fn is_within(texts: &[Stretch], layout: &Layout<'_>, region: usize) -> bool {
    let regions = &layout.function.regions;
    let Region { file, start, .. } = regions[layout.host(regions[region].file).unwrap_or(region)];
    texts.iter().any(|text| regions[text.region].file == file && (text.from..text.until).contains(&start))
}

/// Where text behind a place in the text of a region is entered by a counter of its own, as at the next `case`; or the
/// end of the region.
fn next_counter(layout: &Layout<'_>, instance: &Instance<'_, '_>, region: usize, place: Place) -> Place {
    let regions = &layout.function.regions;
    let Region { file, end, .. } = regions[region];
    let placed: BTreeSet<u32> = instance.anchors.iter().map(|anchor| anchor.counter).collect();
    let is_entered = |&index: &usize| match (regions[index].kind, regions[index].kind.counters().0) {
        (RegionKind::Code(_), Counter::Value(counter)) => {
            layout.is_first_with_counter(index) && placed.contains(&counter)
        }
        (RegionKind::Branch { .. }, Counter::Value(counter)) => placed.contains(&counter),
        _ => false,
    };
    let of_file = (0..regions.len()).filter(|&index| regions[index].file == file);
    let entered = of_file.filter(is_entered).map(|index| regions[index].start);
    entered.filter(|start| (place..end).contains(start)).min().unwrap_or(end)
}

/// A statement behind a place in the text of a region: the map has a gap there that counts nothing, if that place ends
/// a statement which may not come out at its end; or it has a region there, as of a macro.
fn next_statement(layout: &Layout<'_>, region: usize, place: Place) -> Option<Place> {
    let regions = &layout.function.regions;
    let Region { file, end, .. } = regions[region];
    let next = |other: &Region| match other.kind {
        RegionKind::Gap(Counter::Zero) if (place..end).contains(&other.start) => Some(other.end),
        RegionKind::Code(_) | RegionKind::Expansion { .. } => Some(other.start),
        _ => None,
    };
    let of_file = regions.iter().filter(|other| other.file == file);
    of_file.filter_map(next).filter(|next| (place..end).contains(next)).min()
}

/// The first place of a region.
fn first(places: &[Stretch], region: usize) -> Option<Place> {
    places.iter().filter(|text| text.region == region).map(|text| text.from).min()
}

/// The statements of which one branch was kept.
fn kept<'l>(layout: &'l Layout<'_>) -> impl Iterator<Item = Kept> + 'l {
    let regions = &layout.function.regions;
    (0..regions.len()).filter_map(|index| {
        let around = layout.around(index)?;
        let is_as_around = regions[around].kind == regions[index].kind;
        let end = statement_end(layout.function, &regions[index]).filter(|_| is_as_around)?;
        Some(Kept { around, end: end.1, next: gap(layout.function, end).map(|gap| gap.end) })
    })
}
