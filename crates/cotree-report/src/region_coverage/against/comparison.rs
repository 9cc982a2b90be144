//! All files of two coverages.

use super::category::Category;
use super::compare::{Categories, Comparable, ComparedFile};
use super::line_map::LineMap;
use crate::tracefile::FileRecords;

/// How lines before were matched with those of now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matched {
    /// The source is the same.
    Same,
    /// The edit is known.
    Edited,
    /// By their numbers alone: it is not known whether, or how, the source was edited.
    ByNumber,
}

/// A file of either coverage, or of both.
#[derive(Clone, Debug)]
pub struct FileOfBoth<'r> {
    /// The coverage before.
    pub before: Option<&'r FileRecords>,
    /// The coverage now.
    pub now: Option<&'r FileRecords>,
    /// Which line is which.
    pub lines: LineMap,
    /// How this is known.
    pub matched: Matched,
}

/// A file, with what became of it.
#[derive(Clone, Debug)]
pub struct NamedFile {
    /// The path: that of now, if it is in the coverage of now.
    pub path: String,
    /// The path before, if it was another one.
    pub before: Option<String>,
    /// How lines were matched.
    pub matched: Matched,
    /// What became of it.
    pub file: ComparedFile,
}

/// All files, held against what they were before.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// The files, in the order of their paths.
    pub files: Vec<NamedFile>,
    /// Lines of all files.
    pub lines: Categories,
    /// Functions of all files.
    pub functions: Categories,
    /// Outcomes of conditions of all files.
    pub branches: Categories,
}

impl Comparison {
    /// Compares files.
    #[must_use]
    pub fn new<'r>(files: impl IntoIterator<Item = FileOfBoth<'r>>, comparable: Comparable) -> Self {
        let mut comparison = Self::default();
        for FileOfBoth { before, now, lines, matched } in files {
            let file = ComparedFile::new(before, now, &lines, comparable);
            comparison.lines.add(&file.lines);
            comparison.functions.add(&file.functions);
            comparison.branches.add(&file.branches);
            let Some(path) = now.or(before).map(|records| records.path.clone()) else { continue };
            let before = before.map(|records| records.path.clone()).filter(|before| *before != path);
            comparison.files.push(NamedFile { path, before, matched, file });
        }
        comparison.files.sort_by(|a, b| a.path.cmp(&b.path));
        comparison
    }

    /// How many lines, functions and outcomes are of a category.
    #[must_use]
    pub fn of(&self, category: Category) -> [u64; 3] {
        [&self.lines, &self.functions, &self.branches].map(|categories| categories.of(category))
    }
}

impl NamedFile {
    /// Whether anything is not as it was.
    #[must_use]
    pub fn any_change(&self) -> bool {
        [&self.file.lines, &self.file.functions, &self.file.branches].iter().any(|categories| categories.any_change())
    }

    /// The lines of a category: first and last of each part.
    #[must_use]
    pub fn lines(&self, category: Category) -> Vec<(u32, u32)> {
        parts(&self.file.each_line, category, !category.is_of_before())
    }

    /// The lines with outcomes of a category: first and last of each part.
    #[must_use]
    pub fn lines_of_branches(&self, category: Category) -> Vec<(u32, u32)> {
        parts(&self.file.each_branch, category, false)
    }
}

/// Parts of lines that are of a category. Lines without code join parts, if `all` lines with code are known, between
/// which nothing is of another category.
fn parts(of: &[(u32, Category)], category: Category, all: bool) -> Vec<(u32, u32)> {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    let mut goes_on = false;
    // What is no more has the lines of another version of the source.
    for &(line, found) in of.iter().filter(|(_, found)| found.is_of_before() == category.is_of_before()) {
        match parts.last_mut() {
            _ if found != category => {}
            Some((_, last)) if line - *last <= 1 || (goes_on && all) => *last = line,
            _ => parts.push((line, line)),
        }
        goes_on = found == category;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_go_on_over_lines_without_code() {
        use Category::{Cbc, Dcb, Lbc};
        let of = [(1, Lbc), (3, Lbc), (5, Cbc), (6, Lbc), (9, Cbc), (10, Lbc), (5, Dcb), (6, Dcb), (8, Dcb)];
        assert_eq!(parts(&of, Lbc, true), [(1, 3), (6, 6), (10, 10)]);
        assert_eq!(parts(&of, Dcb, false), [(5, 6), (8, 8)]);
        // Several outcomes are on a line.
        let of = [(1, Lbc), (1, Cbc), (2, Cbc), (2, Lbc), (2, Lbc), (4, Lbc)];
        assert_eq!(parts(&of, Lbc, false), [(1, 2), (4, 4)]);
    }
}
