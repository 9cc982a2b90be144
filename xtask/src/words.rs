//! Comments that people read in a hover or an editor: doc comments stand alone, and lines end at 120 columns.

use crate::workspace;
use anyhow::{Context, Result, bail};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// How a doc comment must not begin: what it speaks of would be in a sentence that a hover does not show.
const OPENINGS: [&str; 7] = ["The same", "It ", "Its ", "Those ", "Of ", "So many ", "They "];

/// The longest line of a comment or of Markdown.
const COLUMNS: usize = 120;

/// How many faults of each kind are left, by folder. These figures may only shrink; a folder that is not listed has
/// none.
const LEFT: [(&str, [usize; 2]); 10] = [
    ("crates/cotree", [0, 0]),
    ("crates/cotree-api", [0, 0]),
    ("crates/cotree-core", [0, 0]),
    ("crates/cotree-llvm", [0, 0]),
    ("crates/cotree-lto", [0, 0]),
    ("crates/cotree-profile", [0, 0]),
    ("crates/cotree-report", [0, 0]),
    ("crates/cotree-rt", [0, 0]),
    ("xtask", [0, 0]),
    ("docs", [0, 0]),
];

/// Fails if a folder has more such comments than are left.
pub fn check() -> Result<String> {
    let mut wrong = String::new();
    for (folder, [openings, long]) in LEFT {
        let mut found = [Vec::new(), Vec::new()];
        for file in files(&workspace::root().join(folder))? {
            read(&file, &mut found)?;
        }
        for ((found, left), what) in found
            .iter()
            .zip([openings, long])
            .zip(["doc comments do not stand alone", "lines are longer than 120 columns"])
        {
            if found.len() > left {
                let _ = writeln!(wrong, "{folder}: {} {what}, and {left} are left:\n{}", found.len(), found.join("\n"));
            }
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
        // A paragraph begins behind code, or behind an empty line of the comment.
        begins = doc.is_none();
        let prose = if markdown { trimmed } else { trimmed.trim_start_matches(['/', '!']).trim_start() };
        fenced ^= markdown && trimmed.starts_with("```");
        let is_prose = if markdown { !fenced && !line.starts_with("    ") } else { trimmed.starts_with("//") };
        if is_prose && line.chars().count() > COLUMNS && !prose.starts_with('|') && prose.contains(' ') {
            long.push(place());
        }
    }
    Ok(())
}
