//! Files by folders, with the sums of each folder.

use crate::region_coverage::summary::FileSummary;
use std::collections::BTreeMap;

/// The overview: the page to open.
pub const OVERVIEW: &str = "index.html";
/// The folder of the pages of source files.
pub(super) const FILES: &str = "files";

/// A file of the overview.
pub(super) struct FileEntry<'m> {
    /// The path, as the compiler has it.
    pub(super) path: &'m str,
    /// The path as it is shown.
    pub(super) shown: String,
    /// The file's page in the folder, without the ending.
    pub(super) page: String,
    /// How much there is of it, and how much ran.
    pub(super) summary: FileSummary,
}

impl FileEntry<'_> {
    /// The page of a part of the file. The first part is number 1.
    pub(super) fn part(&self, number: usize) -> String {
        if number <= 1 { format!("{}.html", self.page) } else { format!("{}.part{number}.html", self.page) }
    }
}

/// A row of the tree.
pub(super) enum Row {
    /// A folder: how deep it is, its path with a `/` at the end, and the sums of all that is below it.
    Folder { depth: usize, path: String, files: usize, summary: FileSummary },
    /// A file: how deep it is, its place in the list, and where its name begins in the path that is shown.
    File { depth: usize, index: usize, name: usize },
}

#[derive(Default)]
struct Folder {
    /// The path with a `/` at the end; empty for the root of all.
    path: String,
    folders: BTreeMap<String, usize>,
    /// The files: their places in the list, and where their names begin.
    files: Vec<(usize, usize)>,
    all_files: usize,
    summary: FileSummary,
}

/// The rows of the tree of these files: folders before files, each followed by what is in it.
pub(super) fn rows(files: &[FileEntry<'_>]) -> Vec<Row> {
    let mut folders = vec![Folder::default()];
    for (index, file) in files.iter().enumerate() {
        let mut at = 0;
        let mut begin = 0;
        loop {
            let folder = &mut folders[at];
            folder.summary.add(&file.summary);
            folder.all_files += 1;
            // The first `/` of an absolute path is part of its first name.
            let from = begin + usize::from(begin == 0 && file.shown.starts_with('/'));
            let Some(length) = file.shown[from..].find('/') else { break };
            let end = from + length + 1;
            let next = folders.len();
            let known = *folders[at].folders.entry(file.shown[begin..end].to_owned()).or_insert(next);
            if known == next {
                folders.push(Folder { path: file.shown[..end].to_owned(), ..Folder::default() });
            }
            (at, begin) = (known, end);
        }
        folders[at].files.push((index, begin));
    }
    let mut rows = Vec::new();
    // What is still to be shown, the next one last. Paths may have more parts than a stack has frames.
    let mut work = vec![(Show::Folder(0), 0)];
    while let Some((show, depth)) = work.pop() {
        match show {
            Show::Folder(mut at) => {
                // A folder that holds nothing but a folder is one row with it.
                while folders[at].files.is_empty() && folders[at].folders.len() == 1 {
                    at = folders[at].folders.values().next().copied().unwrap_or(at);
                }
                let Folder { path, all_files, summary, .. } = &folders[at];
                let below = depth + usize::from(!path.is_empty());
                if !path.is_empty() {
                    rows.push(Row::Folder { depth, path: path.clone(), files: *all_files, summary: *summary });
                }
                work.push((Show::Files(at), below));
                work.extend(folders[at].folders.values().rev().map(|&folder| (Show::Folder(folder), below)));
            }
            Show::Files(at) => {
                rows.extend(folders[at].files.iter().map(|&(index, name)| Row::File { depth, index, name }));
            }
        }
    }
    rows
}

/// What is to be shown of a folder: all that is in it, or its own files.
enum Show {
    Folder(usize),
    Files(usize),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::region_coverage::Ratio;

    #[test]
    fn folders_have_the_sums_of_what_is_below() {
        let file = |shown: &str| FileEntry {
            path: "",
            shown: shown.into(),
            page: String::new(),
            summary: FileSummary { lines: Ratio { covered: 1, total: 2 }, ..FileSummary::default() },
        };
        let deep = format!("d{}", "/d".repeat(5000));
        let files = ["/usr/include/a.h", "b.c", "src/x/y/c.c", "src/x/y/d.c", "src/x/z.c", &deep].map(file);
        let shown: Vec<String> = rows(&files)
            .iter()
            .map(|row| match row {
                Row::Folder { depth, path, files, summary } => {
                    format!("{depth} {} {files} {}", if path.len() > 99 { "deep" } else { path }, summary.lines.total)
                }
                Row::File { depth, index, name } => format!("{depth} {}", &files[*index].shown[*name..]),
            })
            .collect();
        let expected = [
            "0 /usr/include/ 1 2",
            "1 a.h",
            "0 deep 1 2",
            "1 d",
            "0 src/x/ 3 6",
            "1 src/x/y/ 2 4",
            "2 c.c",
            "2 d.c",
            "1 z.c",
            "0 b.c",
        ];
        assert_eq!(shown, expected);
    }
}
