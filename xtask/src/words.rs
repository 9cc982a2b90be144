//! Comments that people read in a hover or an editor: doc comments stand alone, and lines end at 120 columns.

use crate::workspace;
use anyhow::{Context, Result, bail};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// How a doc comment must not begin: what it speaks of would be in a sentence that a hover does not show.
const OPENINGS: [&str; 7] = ["The same", "It ", "Its ", "Those ", "Of ", "So many ", "They "];

/// The longest line of a comment or of Markdown.
const COLUMNS: usize = 120;

/// Where people read.
const FOLDERS: [&str; 3] = ["crates", "xtask", "docs"];
/// Pages outside of these folders.
const PAGES: [&str; 3] = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"];

/// Fails if there is such a comment.
pub fn check() -> Result<String> {
    let mut found = [Vec::new(), Vec::new()];
    let mut all: Vec<PathBuf> = PAGES.iter().map(|page| workspace::root().join(page)).collect();
    for folder in FOLDERS {
        all.extend(files(&workspace::root().join(folder))?);
    }
    for file in all {
        read(&file, &mut found)?;
    }
    let mut wrong = String::new();
    for (found, what) in found.iter().zip(["doc comments do not stand alone", "lines are longer than 120 columns"]) {
        if !found.is_empty() {
            let _ = writeln!(wrong, "{} {what}:\n{}", found.len(), found.join("\n"));
        }
    }
    if wrong.is_empty() { Ok(String::new()) } else { bail!("comments (words.rs)\n{wrong}") }
}

/// The Rust and Markdown files below a folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("no folder {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(self::files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "md") {
            files.push(path);
        }
    }
    Ok(files)
}

/// Adds the faults of a file: openings of doc comments, and long lines. Tables, links and code can't be wrapped.
fn read(file: &Path, [openings, long]: &mut [Vec<String>; 2]) -> Result<()> {
    let text = std::fs::read_to_string(file).with_context(|| format!("can't read {}", file.display()))?;
    let markdown = file.extension().is_some_and(|extension| extension == "md");
    let (mut begins, mut fenced) = (true, false);
    for (number, line) in (1..).zip(text.lines()) {
        let place = || format!("  {}:{number}: {}", file.display(), line.trim());
        let trimmed = line.trim_start();
        let doc = trimmed.strip_prefix("/// ").or_else(|| trimmed.strip_prefix("//! "));
        if begins && doc.is_some_and(|doc| OPENINGS.iter().any(|opening| doc.starts_with(opening))) {
            openings.push(place());
        }
        // A comment begins behind code, and what a hover shows by itself behind a heading of it.
        begins = doc.is_none_or(|doc| doc.starts_with("# "));
        let prose = if markdown { trimmed } else { trimmed.trim_start_matches(['/', '!']).trim_start() };
        fenced ^= markdown && trimmed.starts_with("```");
        let is_prose = if markdown { !fenced && !line.starts_with("    ") } else { trimmed.starts_with("//") };
        if is_prose && line.chars().count() > COLUMNS && !prose.starts_with('|') && prose.contains(' ') {
            long.push(place());
        }
    }
    Ok(())
}
