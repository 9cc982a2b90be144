//! Text behind an `if constexpr`, of which the compiler keeps one branch.
//!
//! Clang counts the branch that it keeps as the text around it, and what follows, too, even if all of that branch
//! returns: by the map, text behind it ran that never did. The map has a gap between such a statement and the next one
//! if there is a `return`, `break` or the like in the branch. So text behind it counts as its instructions say. Where
//! there are none up to the end of the scope, the compiler knew that nothing comes there.

use super::instances::Instance;
use super::layout::Layout;
use super::points::Points;
use cotree_profile::coverage::{MappedFunction, Place, Region, RegionKind, VirtualFile};

/// A statement of which one branch was kept.
struct Kept {
    /// The region around it.
    around: usize,
    /// Where the next statement begins, if the branch may not come out at its end.
    next: Place,
}

/// Does a function have text of which the map does not say how often it ran?
pub(super) fn may_be_wrong(function: &MappedFunction) -> bool {
    function
        .regions
        .iter()
        .any(|branch| statement_end(function, branch).is_some_and(|end| gap(function, end).is_some()))
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
    /// By region: from where on its text counts as its instructions say.
    distrusted: Vec<(usize, Place)>,
    /// By region: from where on its text never ran, as the compiler knew.
    dead: Vec<(usize, Place)>,
}

impl KeptBranches {
    pub(super) fn of(layout: &Layout<'_>, instance: &Instance<'_, '_>, points: &Points) -> Self {
        let mut all = Self::default();
        // Without lines nothing tells.
        if instance.copy.is_some() || !instance.has_own_lines || !points.are_known() {
            return all;
        }
        for Kept { around, next } in kept(layout) {
            let is_behind = |place: Place| place >= next && !layout.is_last_brace(around, place);
            if points.within(around).any(|point| is_behind(point.place)) {
                all.distrusted.push((around, next));
            } else {
                all.dead.push((around, next));
            }
        }
        all
    }

    /// Is there any?
    pub(super) fn is_empty(&self) -> bool {
        self.distrusted.is_empty() && self.dead.is_empty()
    }

    /// From where on the text of a region counts as its instructions say.
    pub(super) fn distrusted_from(&self, region: usize) -> Option<Place> {
        first(&self.distrusted, region)
    }

    /// From where on the text of a region never ran.
    pub(super) fn dead_from(&self, region: usize) -> Option<Place> {
        first(&self.dead, region)
    }

    /// Is a region text that never ran, or a macro that is used there?
    pub(super) fn is_dead(&self, layout: &Layout<'_>, region: usize) -> bool {
        let regions = &layout.function.regions;
        let Region { file, start, .. } = regions[layout.host(regions[region].file).unwrap_or(region)];
        let is_within = |&(around, next): &(usize, Place)| {
            regions[around].file == file && (next..regions[around].end).contains(&start)
        };
        self.dead.iter().any(is_within)
    }
}

/// The first place of a region.
fn first(places: &[(usize, Place)], region: usize) -> Option<Place> {
    places.iter().filter(|(around, _)| *around == region).map(|&(_, next)| next).min()
}

/// The statements of which one branch was kept.
fn kept<'l>(layout: &'l Layout<'_>) -> impl Iterator<Item = Kept> + 'l {
    let regions = &layout.function.regions;
    (0..regions.len()).filter_map(|index| {
        let around = layout.around(index)?;
        let is_as_around = regions[around].kind == regions[index].kind;
        let end = statement_end(layout.function, &regions[index]).filter(|_| is_as_around)?;
        Some(Kept { around, next: gap(layout.function, end)?.end })
    })
}
