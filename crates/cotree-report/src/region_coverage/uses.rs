//! Where macros, and files that are included in the midst of a function, are used.

use cotree_profile::coverage::{MappedFunction, Place, RegionKind, VirtualFile};

/// Per file of a function, where the main file uses it: the outermost macro that leads to its text.
#[must_use]
pub fn uses(function: &MappedFunction, main_file: Option<VirtualFile>) -> Vec<Option<Place>> {
    let mut used: Vec<Option<(VirtualFile, Place)>> = vec![None; function.files.len()];
    for region in &function.regions {
        if let RegionKind::Expansion { into, .. } = region.kind {
            used[into.0 as usize] = Some((region.file, region.start));
        }
    }
    // A file replaces no region of its own, so that no chain of uses is longer than there are files.
    let outermost = |file: usize| {
        let above = std::iter::successors(used[file], |(file, _)| used[file.0 as usize]).take(used.len());
        above.filter(|(file, _)| Some(*file) == main_file).map(|(_, start)| start).next()
    };
    (0..used.len()).map(outermost).collect()
}
