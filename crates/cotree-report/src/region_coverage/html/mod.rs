//! Coverage as pages for browsers: an overview of all files, and a page for each with its lines.
//!
//! | question | module |
//! | --- | --- |
//! | what the pages say besides counts | [`about`] |
//! | the files with their sums, by folders | [`tree`] |
//! | the page of all files | [`overview`] |
//! | the text of a file, as bytes: columns count them | [`text`] |
//! | which parts of a line did not run | [`marks`] |
//! | what a reader unfolds below a line | [`below`] |
//! | the decisions of a file, for MC/DC | [`decisions`] |
//! | the lines of a file | [`listing`] |
//! | the list of a file's functions | [`sidebar`] |
//! | which tests ran a line, and the list of all tests | [`test_names`] |
//! | the pages of a file | [`source_page`] |

mod about;
mod below;
mod decisions;
mod listing;
mod marks;
mod overview;
mod sidebar;
mod source_page;
mod test_names;
mod text;
mod tree;

pub use about::{About, Doubtful, Fact, Pages};
pub use tree::OVERVIEW;

use super::program::RegionCoverage;
use crate::html::assets;
use crate::html::file_names::FileNames;
use crate::html::put::Put;
use crate::visible;
use std::io;
use test_names::TESTS;
use tree::{FILES, FileEntry};

/// Writes the pages of the files whose paths are wanted and that have functions.
///
/// # Errors
/// If a page can't be written.
pub fn write(coverage: &RegionCoverage<'_>, pages: &Pages<'_>, put: &mut Put<'_>) -> io::Result<()> {
    let mut names = FileNames::default();
    let mut files = Vec::new();
    for path in coverage.paths().filter(|path| (pages.wanted)(path)) {
        let summary = coverage.summary(path);
        if summary.functions.total == 0 && summary.lines.total == 0 {
            continue;
        }
        let short = path.strip_prefix(pages.root).unwrap_or(path);
        let page = format!("{FILES}/{}", names.name(short));
        files.push(FileEntry { path, shown: visible::name(short).into_owned(), page, summary });
    }
    assets::write(put)?;
    put(OVERVIEW, &overview::page(&files, &pages.about, pages.tests.is_some()))?;
    if let Some(by_test) = pages.tests {
        put(TESTS, &test_names::page(by_test, &pages.about.title))?;
    }
    for file in &files {
        source_page::write(coverage, file, pages, put)?;
    }
    Ok(())
}
