//! Which file of one coverage is which of another.

use super::changed::{covered_path, roots};
use super::line_maps::EditedFile;
use cotree_report::tracefile::FileRecords;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Files of two coverages that belong together, by their places in both lists.
pub struct Pairs {
    /// By the file now: the one before.
    pub before: BTreeMap<usize, usize>,
    /// Files that were matched by the ends of their paths.
    pub by_ends: Vec<(usize, usize)>,
}

/// Pairs files: those of one path, those that were renamed, and those whose path below the root of the checkout, or the
/// current folder, is how the other one ends.
pub fn pairs(before: &[FileRecords], now: &[FileRecords], edited: &[EditedFile]) -> Pairs {
    let roots = roots();
    let mut pairs = Pairs { before: BTreeMap::new(), by_ends: Vec::new() };
    let of_now: BTreeMap<&str, usize> = now.iter().enumerate().map(|(index, file)| (&*file.path, index)).collect();
    let mut free: BTreeMap<&str, usize> = before.iter().enumerate().map(|(index, file)| (&*file.path, index)).collect();
    let mut renamed_to = BTreeSet::new();
    for (from, to) in edited.iter().filter_map(|file| Some((file.before.as_ref()?, file.after.as_ref()?))) {
        let found =
            covered_path(&roots, of_now.keys().copied(), to).zip(covered_path(&roots, free.keys().copied(), from));
        if let Some((to, from)) = found.filter(|_| from != to) {
            renamed_to.insert(of_now[to]);
            pairs.before.extend(free.remove(from).map(|from| (of_now[to], from)));
        }
    }
    for (path, &index) in of_now.iter().filter(|(_, index)| !renamed_to.contains(index)) {
        pairs.before.extend(free.remove(path).map(|before| (index, before)));
    }
    for (path, &index) in &of_now {
        if pairs.before.contains_key(&index) {
            continue;
        }
        let below = roots.iter().find_map(|root| Path::new(path).strip_prefix(root).ok()).unwrap_or(Path::new(path));
        let Some(below) = below.to_str().filter(|below| !below.starts_with('/')) else { continue };
        if let Some(old) = covered_path(&roots, free.keys().copied(), below).map(str::to_owned)
            && let Some(before) = free.remove(&*old)
        {
            pairs.before.insert(index, before);
            pairs.by_ends.push((index, before));
        }
    }
    pairs
}
