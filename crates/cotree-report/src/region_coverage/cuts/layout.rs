//! The regions of a function in the order of its text, and which of them a place is in.

use cotree_profile::coverage::{Counter, CoverageMap, MappedFunction, Place, Region, RegionKind, VirtualFile};
use std::collections::BTreeSet;

/// The regions of a function of the map in the order of its text.
pub(super) struct Layout<'m> {
    pub(super) function: &'m MappedFunction,
    /// Per file: its path, and its regions of text by where they begin, outer ones first.
    files: Vec<(&'m str, Vec<usize>)>,
    /// Per region of text: the innermost one of the same file around it.
    parent: Vec<Option<usize>>,
    /// Per region of text: those directly within it, in order.
    children: Vec<Vec<usize>>,
    /// Per file: the outermost expansion that leads to it, and per region of counted text, whether no other region with
    /// its counter stands before it.
    host: Vec<Option<usize>>,
    first_with_counter: Vec<bool>,
}

impl<'m> Layout<'m> {
    pub(super) fn new(map: &'m CoverageMap, function: &'m MappedFunction) -> Self {
        let regions = &function.regions;
        let mut files: Vec<(&str, Vec<usize>)> =
            function.files.iter().map(|&file| (map.path(file), Vec::new())).collect();
        for (index, region) in regions.iter().enumerate().filter(|(_, region)| is_text(region.kind)) {
            files[region.file.0 as usize].1.push(index);
        }
        let mut parent = vec![None; regions.len()];
        let mut children = vec![Vec::new(); regions.len()];
        for (_, inside) in &mut files {
            inside.sort_by_key(|&index| (regions[index].start, std::cmp::Reverse(regions[index].end), index));
            let mut open: Vec<usize> = Vec::new();
            for &index in &*inside {
                open.retain(|&outer| regions[outer].end > regions[index].start);
                parent[index] = open.last().copied();
                if let Some(&outer) = open.last() {
                    children[outer].push(index);
                }
                open.push(index);
            }
        }
        let main = function.main_file();
        let mut used: Vec<Option<usize>> = vec![None; files.len()];
        for (index, region) in regions.iter().enumerate() {
            if let RegionKind::Expansion { into, .. } = region.kind {
                used[into.0 as usize] = Some(index);
            }
        }
        // A file replaces no region of its own, so the walk up ends.
        let up = |&expansion: &usize| used[regions[expansion].file.0 as usize];
        let host =
            (0..files.len()).map(|file| std::iter::successors(used[file], up).take(files.len()).last()).collect();
        let mut seen = std::collections::HashSet::new();
        let mut first_with_counter = vec![false; regions.len()];
        let mut order: Vec<usize> = (0..regions.len()).collect();
        order.sort_by_key(|&index| (Some(regions[index].file) != main, regions[index].file, regions[index].start));
        for index in order {
            if let RegionKind::Code(counter @ Counter::Value(_)) = regions[index].kind {
                first_with_counter[index] = seen.insert(counter);
            }
        }
        Self { function, files, parent, children, host, first_with_counter }
    }

    /// The files with their paths.
    pub(super) fn files(&self) -> impl Iterator<Item = (VirtualFile, &'m str)> {
        (0..).map(VirtualFile).zip(self.files.iter().map(|(path, _)| *path))
    }

    /// The innermost region of a file's text that holds a place.
    pub(super) fn innermost(&self, file: VirtualFile, place: Place) -> Option<usize> {
        let inside = &self.files[file.0 as usize].1;
        let begun = inside.partition_point(|&index| self.function.regions[index].start <= place);
        let last = *inside[..begun].last()?;
        std::iter::successors(Some(last), |&index| self.parent[index])
            .find(|&index| self.function.regions[index].end > place)
    }

    /// Is it the last brace of a region? All that leaves a scope may go over it.
    pub(super) fn is_last_brace(&self, region: usize, place: Place) -> bool {
        let end = self.function.regions[region].end;
        (place.line, place.column + 1) == (end.line, end.column)
    }

    /// The innermost region of code that holds the text of a condition.
    pub(super) fn text_of(&self, condition: &Region) -> Option<usize> {
        let is_code = |&index: &usize| matches!(self.function.regions[index].kind, RegionKind::Code(_));
        let innermost = self.innermost(condition.file, condition.start);
        std::iter::successors(innermost, |&index| self.parent[index]).find(is_code)
    }

    /// The innermost region of text around a region.
    pub(super) fn around(&self, region: usize) -> Option<usize> {
        self.parent[region]
    }

    /// The innermost region of code around a region.
    pub(super) fn code_around(&self, region: usize) -> Option<usize> {
        let is_code = |&index: &usize| matches!(self.function.regions[index].kind, RegionKind::Code(_));
        std::iter::successors(self.parent[region], |&index| self.parent[index]).find(is_code)
    }

    /// Where the last region within another one ends before a place.
    pub(super) fn end_of_last_within(&self, region: usize, place: Place) -> Option<Place> {
        let ends = self.children[region].iter().map(|&index| self.function.regions[index].end);
        ends.filter(|&end| end <= place).max()
    }

    /// Where the regions directly within a region begin that have another counter. All that stands in them has such a
    /// place in the region around them.
    pub(super) fn begins_of_others_within(&self, region: usize) -> BTreeSet<Place> {
        let (regions, counter) = (&self.function.regions, self.function.regions[region].kind.counters().0);
        let within = self.children[region].iter().map(|&index| &regions[index]);
        within
            .filter(|inner| matches!(inner.kind, RegionKind::Code(other) if other != counter))
            .map(|inner| inner.start)
            .collect()
    }

    /// The expansion in a file of its own through which a file is used.
    pub(super) fn host(&self, file: VirtualFile) -> Option<usize> {
        self.host[file.0 as usize]
    }

    /// Is it the first region of the function?
    pub(super) fn begins_function(&self, region: usize) -> bool {
        let is_code = |kind: RegionKind| matches!(kind, RegionKind::Code(_));
        self.function.regions.iter().position(|other| is_code(other.kind)) == Some(region)
    }

    /// The first region of text of what replaces an expansion, which may be one within it.
    pub(super) fn first_of_expansion(&self, expansion: usize) -> usize {
        let regions = &self.function.regions;
        let into = |&at: &usize| match regions[at].kind {
            RegionKind::Expansion { into, .. } => regions.iter().position(|region| region.file == into),
            _ => None,
        };
        std::iter::successors(Some(expansion), into).take(regions.len()).last().unwrap_or(expansion)
    }

    /// Is it the first region of a macro that is used in the function's own text?
    pub(super) fn begins_macro(&self, region: usize) -> bool {
        let regions = &self.function.regions;
        let file = regions[region].file;
        let direct = self.host[file.0 as usize]
            .is_some_and(|host| matches!(regions[host].kind, RegionKind::Expansion { into, .. } if into == file));
        direct && regions.iter().position(|other| other.file == file) == Some(region)
    }

    /// Is it the first region with its counter? The counter stood at its beginning.
    pub(super) fn is_first_with_counter(&self, region: usize) -> bool {
        self.first_with_counter[region]
    }
}

fn is_text(kind: RegionKind) -> bool {
    matches!(kind, RegionKind::Code(_) | RegionKind::Gap(_) | RegionKind::Expansion { .. } | RegionKind::Skipped)
}
