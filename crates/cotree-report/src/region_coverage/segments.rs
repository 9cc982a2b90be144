//! Cuts a file into segments: from each on, up to the next, one count holds.
//!
//! Regions nest, and what lies innermost decides. Several functions may have the same region (instances of a template,
//! expansions of a macro); then their counts add up. This follows what LLVM shows, place by place, also where regions
//! overlap without nesting.

use super::functions::{CountedRegion, Cut, added};
use cotree_profile::coverage::{Place, RegionKind, VirtualFile};
use std::collections::{BTreeMap, HashSet};

/// A place in a file from which on, up to the next segment, one count holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Where it begins.
    pub start: Place,
    /// The count. `None`: there is no code, or the preprocessor has left it out.
    pub count: Option<u64>,
    /// A region begins here. Otherwise one has ended, and the count is that of the region around it.
    pub is_entry: bool,
    /// A gap begins here: space between statements.
    pub is_gap: bool,
    /// How often the region ran that begins here, if its text is not in the file, as that of `assert`. What goes on has
    /// the count of the region around it, which for LLVM is the count of the line, too.
    pub count_of_line: Option<u64>,
}

/// How regions over the same text rank: the first kind is counted, others are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Code,
    Expansion,
    Skipped,
    Gap,
    /// What is behind a cut of a region, up to the region's end.
    Rest,
}

#[derive(Clone, Copy, Debug)]
struct Text {
    start: Place,
    end: Place,
    kind: Kind,
    count: u64,
}

/// Cuts a file into segments. The regions are all in one file, or in several whose lines are to be seen as one's.
pub fn segments<'m>(regions: impl Iterator<Item = CountedRegion<'m>>) -> Vec<Segment> {
    let mut all = Vec::new();
    let mut cuts: BTreeMap<(Place, Place), Vec<Cut>> = BTreeMap::new();
    for region in regions {
        let Some(text) = text(region) else { continue };
        all.push(text);
        if text.kind == Kind::Code && !region.cuts.is_empty() {
            let sum = cuts.entry((text.start, text.end)).or_default();
            *sum = added(sum, region.cuts);
        }
    }
    let texts = divided(combined(all), &cuts);
    let mut builder = Builder::default();
    // What is behind a cut is no region of the map, and must not change which lines are mapped.
    let last = texts.iter().rposition(|text| text.kind != Kind::Rest);
    for (index, &text) in texts.iter().enumerate() {
        builder.begin(text, texts.get(index + 1), Some(index) == last);
    }
    if !builder.active.is_empty() {
        builder.end(0, None);
    }
    builder.segments
}

/// Regions of a function, with one of those that have no text at one place, as of a macro of macros: what ran most.
pub(super) fn without_repeats<'m>(regions: impl Iterator<Item = CountedRegion<'m>>) -> Vec<CountedRegion<'m>> {
    let is_empty = |counted: &CountedRegion<'m>| {
        matches!(counted.region.kind, RegionKind::Code(_)) && counted.region.start == counted.region.end
    };
    let mut most: BTreeMap<(VirtualFile, Place), usize> = BTreeMap::new();
    let mut kept: Vec<CountedRegion<'m>> = Vec::new();
    for counted in regions {
        let known =
            is_empty(&counted).then(|| *most.entry((counted.region.file, counted.region.start)).or_insert(kept.len()));
        match known.and_then(|at| kept.get_mut(at)) {
            Some(before) if before.count < counted.count => *before = counted,
            Some(_) => {}
            None => kept.push(counted),
        }
    }
    kept
}

fn text(counted: CountedRegion<'_>) -> Option<Text> {
    let kind = match counted.region.kind {
        RegionKind::Code(_) => Kind::Code,
        RegionKind::Expansion { .. } => Kind::Expansion,
        RegionKind::Skipped => Kind::Skipped,
        RegionKind::Gap(_) => Kind::Gap,
        RegionKind::Branch { .. } | RegionKind::Decision { .. } | RegionKind::Condition { .. } => return None,
    };
    Some(Text { start: counted.region.start, end: counted.region.end, kind, count: counted.count })
}

/// Sorts regions, outer ones first, and makes one of those that cover the same text.
///
/// A macro that consists of another one is both code and an expansion; it must not count twice. So only regions of the
/// first kind add up.
fn combined(mut texts: Vec<Text>) -> Vec<Text> {
    texts.sort_by(|a, b| (a.start, b.end, a.kind).cmp(&(b.start, a.end, b.kind)));
    texts.dedup_by(|next, kept| {
        let same = (next.start, next.end) == (kept.start, kept.end);
        if same && next.kind == kept.kind {
            kept.count = kept.count.saturating_add(next.count);
        }
        same
    });
    texts
}

/// Divides regions of code at their cuts.
fn divided(mut texts: Vec<Text>, cuts: &BTreeMap<(Place, Place), Vec<Cut>>) -> Vec<Text> {
    if cuts.is_empty() {
        return texts;
    }
    let regions: HashSet<(Place, Place)> = texts.iter().map(|text| (text.start, text.end)).collect();
    let mut rests = Vec::new();
    for text in texts.iter().filter(|text| text.kind == Kind::Code) {
        let mut count = i128::from(text.count);
        for cut in cuts.get(&(text.start, text.end)).into_iter().flatten() {
            count = count.saturating_sub(cut.fewer);
            // A region within it that begins there and has the same end covers all of that.
            let is_covered = cut.at != text.start && regions.contains(&(cut.at, text.end));
            if (text.start..text.end).contains(&cut.at) && !is_covered {
                let count = u64::try_from(count.max(0)).unwrap_or(u64::MAX);
                rests.push(Text { start: cut.at, kind: Kind::Rest, count, ..*text });
            }
        }
    }
    texts.append(&mut rests);
    texts.sort_by(|a, b| (a.start, b.end, a.kind).cmp(&(b.start, a.end, b.kind)));
    texts
}

#[derive(Default)]
struct Builder {
    segments: Vec<Segment>,
    /// The regions that have begun and not ended, as they have begun.
    active: Vec<Text>,
}

impl Builder {
    /// A region begins; `next` is the one that begins after it, and `is_last` says whether it is the map's last one.
    fn begin(&mut self, text: Text, next: Option<&Text>, is_last: bool) {
        let (mut open, mut ended): (Vec<Text>, Vec<Text>) = (Vec::new(), Vec::new());
        if self.active.iter().any(|active| active.end <= text.start) {
            for active in self.active.drain(..) {
                if active.end <= text.start { ended.push(active) } else { open.push(active) }
            }
            let first_ended = open.len();
            open.append(&mut ended);
            self.active = open;
            self.end(first_ended, Some(text.start));
        }
        let is_entry = !matches!(text.kind, Kind::Gap | Kind::Rest);
        if text.start == text.end {
            // No text has the count of such a region. It only marks a place, also the end of all.
            let skipped = is_last || text.kind == Kind::Skipped;
            let around = self.active.last().copied();
            self.emit(&around.unwrap_or(text), text.start, is_entry, skipped);
            if let Some(segment) = self.segments.last_mut().filter(|_| is_entry && around.is_some()) {
                segment.count_of_line = segment.count.map(|_| text.count);
            }
            if let Some(around) = around.filter(|_| skipped) {
                self.emit(&around, text.start, false, false);
            }
            return;
        }
        // Of those that begin at one place the innermost comes last, and counts.
        if next.is_none_or(|next| next.start != text.start) {
            self.emit(&text, text.start, is_entry, false);
        }
        self.active.push(text);
    }

    /// The active regions from `first` on have ended, before a region begins at `next`, or before the end of all.
    fn end(&mut self, first: usize, next: Option<Place>) {
        let mut ended = self.active.split_off(first);
        ended.sort_by_key(|text| text.end);
        // Where the first ones end, the last of those that end next goes on.
        let mut groups = ended.chunk_by(|a, b| a.end == b.end).peekable();
        while let Some(group) = groups.next() {
            let following = groups.peek().and_then(|following| following.last());
            if let (Some(last), Some(following)) = (group.last(), following) {
                self.emit(following, last.end, false, false);
            }
        }
        let Some(last) = ended.last().copied().filter(|last| Some(last.end) != next) else { return };
        match self.active.last().copied() {
            Some(around) => self.emit(&around, last.end, false, false),
            // Between functions there is nothing.
            None => self.emit(&last, last.end, false, true),
        }
    }

    /// Begins a segment with the count of a region, if that changes anything.
    fn emit(&mut self, text: &Text, start: Place, is_entry: bool, skipped: bool) {
        let count = (!skipped && text.kind != Kind::Skipped).then_some(text.count);
        if !is_entry
            && !skipped
            && self.segments.last().is_some_and(|last| {
                last.count.is_some() == count.is_some() && last.count.unwrap_or(0) == text.count && !last.is_entry
            })
        {
            return;
        }
        let is_gap = count.is_some() && text.kind == Kind::Gap;
        self.segments.push(Segment { start, count, is_entry, is_gap, count_of_line: None });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::region_coverage::LineRuns;
    use cotree_profile::coverage::{Counter, Region, VirtualFile};

    #[test]
    fn a_cut_changes_no_line_that_is_mapped() {
        let at = |line, column| Place { line, column };
        let region = |start, end| Region { kind: RegionKind::Code(Counter::Zero), file: VirtualFile(0), start, end };
        // A macro without text is the last region: LLVM leaves its line out.
        let (outer, empty) = (region(at(1, 1), at(6, 2)), region(at(4, 9), at(4, 9)));
        let cuts = [Cut { at: at(4, 12), fewer: 3 }];
        let lines = |cuts: &[Cut]| {
            let counted = [(&outer, cuts), (&empty, &[][..])];
            let regions = counted.into_iter().map(|(region, cuts)| CountedRegion { region, count: 10, cuts });
            LineRuns::new(&segments(regions)).lines().collect::<Vec<_>>()
        };
        assert_eq!(lines(&[]), [(1, 10), (2, 10), (3, 10), (5, 10), (6, 10)]);
        assert_eq!(lines(&cuts), [(1, 10), (2, 10), (3, 10), (5, 7), (6, 7)]);
    }

    #[test]
    fn what_is_behind_a_cut_does_not_cover_a_region_within() {
        let at = |line, column| Place { line, column };
        let region = |start, end| Region { kind: RegionKind::Code(Counter::Zero), file: VirtualFile(0), start, end };
        let (outer, inner) = (region(at(1, 1), at(4, 2)), region(at(3, 5), at(4, 2)));
        let cuts = [Cut { at: at(2, 20), fewer: 4 }, Cut { at: at(3, 5), fewer: 2 }];
        let counted = [(&outer, 10, &cuts[..]), (&inner, 0, &[])];
        let regions = counted.into_iter().map(|(region, count, cuts)| CountedRegion { region, count, cuts });
        let lines: Vec<_> = LineRuns::new(&segments(regions)).lines().collect();
        assert_eq!(lines, [(1, 10), (2, 10), (3, 6), (4, 0)]);
    }
}
