//! The lines that a change touches: places that are named, or a diff.

use diffy::patch_set::{FileOperation, ParseOptions, PatchSet};
use diffy::{Line, Patch};
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use std::fs;
use std::io::{self, Read};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The lines of one file that a change touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// The path as the change has it, relative to the root of the sources.
    pub path: String,
    /// Lines.
    pub lines: Vec<RangeInclusive<u32>>,
}

/// Reads a diff, from a file or from standard input (`-`).
///
/// # Errors
/// If it can't be read or is no unified diff.
fn read(path: &str) -> Result<String> {
    let mut bytes = Vec::new();
    let read = if path == "-" {
        io::stdin().read_to_end(&mut bytes).map(drop)
    } else {
        fs::read(path).map(|read| bytes = read)
    };
    read.into_diagnostic().wrap_err_with(|| format!("cannot read the diff {path}"))?;
    // What is in the lines does not matter, only how many there are.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The lines of the sources before a change that it touches: those that it takes away or changes, and the neighbours of
/// what it adds. `what` is `FILE:LINE`, `FILE:LINE-LINE`, the name of a file with a unified diff, or `-`.
///
/// # Errors
/// If there is no such file, or it is no unified diff.
pub fn touched(what: &str) -> Result<Vec<ChangedFile>> {
    match place(what) {
        Some(place) => Ok(vec![place]),
        None => touched_by_diff(&read(what)?).wrap_err_with(|| format!("cannot read the diff {what}")),
    }
}

/// Reads `FILE:LINE` or `FILE:LINE-LINE`. A file of that very name is a diff.
fn place(what: &str) -> Option<ChangedFile> {
    let (path, lines) = what.rsplit_once(':').filter(|_| !Path::new(what).exists())?;
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
    (first > 0 && first <= last && !path.is_empty())
        .then(|| ChangedFile { path: path.to_owned(), lines: vec![first..=last] })
}

/// The lines of the sources behind a change that it adds or replaces. `diff` is the name of a file with a unified diff,
/// or `-`.
///
/// # Errors
/// If there is no such file, or it is no unified diff.
pub fn added(diff: &str) -> Result<Vec<ChangedFile>> {
    added_by_diff(&read(diff)?).wrap_err_with(|| format!("cannot read the diff {diff}"))
}

/// The lines that the sources in the current folder have and a revision of git's has not.
///
/// # Errors
/// If git does not know the revision, or there is no git.
pub fn added_since(revision: &str) -> Result<Vec<ChangedFile>> {
    added_by_diff(&diff_since(revision)?)
}

/// The text of a change: a file with a diff, `-`, or what the current folder has changed since a revision of git's.
///
/// # Errors
/// If there is no such thing.
pub fn diff_text(change: &str) -> Result<String> {
    if is_named(change) { read(change) } else { diff_since(change) }
}

/// Whether a change is a file, or standard input, and no revision of git's.
pub fn is_named(change: &str) -> bool {
    change == "-" || Path::new(change).exists()
}

fn diff_since(revision: &str) -> Result<String> {
    // What a user has set up for reading diffs does not change them here.
    let git = ["-c", "diff.noprefix=false", "-c", "diff.mnemonicPrefix=false", "-c", "core.quotePath=false"];
    let diff = ["diff", "--no-ext-diff", "--no-color", "--unified=0", "--find-renames", "--end-of-options", revision];
    let output = Command::new("git").args(git).args(diff).output();
    let output = output.into_diagnostic().wrap_err("cannot ask git for the changes: is git installed?")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().next().unwrap_or("it says nothing");
        return Err(miette!("git knows no changes since {revision}, which is no file either: {said}"));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn added_by_diff(diff: &str) -> Result<Vec<ChangedFile>> {
    let mut files = Vec::new();
    each_text(diff, |operation, text| {
        let path = match operation {
            FileOperation::Create(path) | FileOperation::Modify { modified: path, .. } => without(path, "b/"),
            FileOperation::Rename { to, .. } | FileOperation::Copy { to, .. } => to,
            FileOperation::Delete(_) => return,
        };
        let mut lines: Vec<RangeInclusive<u32>> = Vec::new();
        for hunk in text.hunks() {
            let mut next = u32::try_from(hunk.new_range().start()).unwrap_or(u32::MAX);
            for line in hunk.lines() {
                if matches!(line, Line::Insert(_)) {
                    add(&mut lines, next..=next);
                }
                next = next.saturating_add(u32::from(!matches!(line, Line::Delete(_))));
            }
        }
        files.push(ChangedFile { path: path.to_owned(), lines });
    })?;
    Ok(files)
}

/// Hands the text files of a diff to `take`.
///
/// # Errors
/// If it is no unified diff.
pub fn each_text(diff: &str, mut take: impl FnMut(&FileOperation<'_, str>, &Patch<'_, str>)) -> Result<()> {
    if diff.trim().is_empty() {
        return Ok(());
    }
    let is_git = diff.lines().any(|line| line.starts_with("diff --git "));
    let options = if is_git { ParseOptions::gitdiff() } else { ParseOptions::unidiff() };
    let mut any = false;
    for patch in PatchSet::parse(diff, options) {
        let patch = patch.map_err(|error| miette!("it is no unified diff: {error}"))?;
        any = true;
        if let Some(text) = patch.patch().as_text() {
            take(patch.operation(), text);
        }
    }
    if any {
        Ok(())
    } else {
        Err(miette!("it is no unified diff: there is no file in it (`git diff` and `diff -u` write one)"))
    }
}

fn touched_by_diff(diff: &str) -> Result<Vec<ChangedFile>> {
    let mut files = Vec::new();
    each_text(diff, |operation, text| {
        let path = match operation {
            FileOperation::Delete(path) | FileOperation::Modify { original: path, .. } => without(path, "a/"),
            FileOperation::Rename { from, .. } => from,
            // An original that is copied stays as it is.
            FileOperation::Create(_) | FileOperation::Copy { .. } => return,
        };
        let mut lines: Vec<RangeInclusive<u32>> = Vec::new();
        for hunk in text.hunks() {
            // With no lines of the original, it is the line before.
            let range = hunk.old_range();
            let mut next = u32::try_from(range.start() + usize::from(range.is_empty())).unwrap_or(u32::MAX);
            for line in hunk.lines() {
                match line {
                    Line::Context(_) => next += 1,
                    Line::Delete(_) => {
                        add(&mut lines, next..=next);
                        next += 1;
                    }
                    Line::Insert(_) => add(&mut lines, next.saturating_sub(1).max(1)..=next),
                }
            }
        }
        files.push(ChangedFile { path: path.to_owned(), lines });
    })?;
    Ok(files)
}

/// A path of a diff without the prefix that git puts before it.
pub fn without<'p>(path: &'p str, prefix: &str) -> &'p str {
    path.strip_prefix(prefix).unwrap_or(path)
}

/// The path among those of the coverage that a path of a change means: that below the root of git's checkout or the
/// current folder; else the shortest that ends with it.
pub fn covered_path<'p>(roots: &[PathBuf], paths: impl Iterator<Item = &'p str>, path: &str) -> Option<&'p str> {
    let ends_with_it = |covered: &&str| Path::new(covered).ends_with(path);
    let is_below = |covered: &str| roots.iter().any(|root| root.join(path) == Path::new(covered));
    paths.filter(ends_with_it).min_by_key(|covered| (!is_below(covered), covered.len()))
}

/// The folders that paths of changes may be relative to: the root of git's checkout, and the current folder.
pub fn roots() -> Vec<PathBuf> {
    let here = std::env::current_dir().unwrap_or_default();
    let top = here.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_owned);
    top.into_iter().chain([here]).collect()
}

/// Adds lines, joined with the last ones where they touch.
fn add(lines: &mut Vec<RangeInclusive<u32>>, more: RangeInclusive<u32>) {
    match lines.last_mut() {
        Some(last) if *more.start() <= last.end().saturating_add(1) => {
            *last = *last.start()..=(*last.end()).max(*more.end());
        }
        _ => lines.push(more),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "diff --git a/src/parse.c b/src/parse.c
index 1111111..2222222 100644
--- a/src/parse.c
+++ b/src/parse.c
@@ -3,5 +3,5 @@ int parse(void)
 three
-four
+FOUR
 five
 six
 seven
@@ -20,2 +20,3 @@
 twenty
+new
 twenty-one
diff --git a/old.c b/new.c
similarity index 90%
rename from old.c
rename to new.c
--- a/old.c
+++ b/new.c
@@ -1 +0,0 @@
-one
diff --git a/born.c b/born.c
new file mode 100644
--- /dev/null
+++ b/born.c
@@ -0,0 +1 @@
+one
";

    #[test]
    fn a_diff_touches_what_it_changes_and_the_neighbours_of_what_it_adds() {
        let parse = ChangedFile { path: "src/parse.c".into(), lines: vec![4..=5, 20..=21] };
        let old = ChangedFile { path: "old.c".into(), lines: vec![1..=1] };
        assert_eq!(touched_by_diff(DIFF).expect("a diff"), [parse, old]);
        let plain = "--- x.c\t2026-01-01\n+++ x.c\t2026-01-02\n@@ -0,0 +1,2 @@\n+a\n+b\n";
        let whole = |lines| ChangedFile { path: "x.c".into(), lines: vec![lines] };
        assert_eq!(touched_by_diff(plain).expect("a diff"), [whole(1..=1)]);
        assert_eq!(added_by_diff(plain).expect("a diff"), [whole(1..=2)]);
    }

    #[test]
    fn a_diff_adds_lines_of_the_new_sources() {
        let file = |path: &str, lines: &[RangeInclusive<u32>]| ChangedFile { path: path.into(), lines: lines.to_vec() };
        let added = [file("src/parse.c", &[4..=4, 21..=21]), file("new.c", &[]), file("born.c", &[1..=1])];
        assert_eq!(added_by_diff(DIFF).expect("a diff"), added);
    }

    #[test]
    fn a_path_of_a_change_is_the_one_below_the_root() {
        let paths = ["/p/a/src/lib.rs", "/p/src/lib.rs", "/q/lib.rs"];
        let found = |root: &str, path: &str| covered_path(&[PathBuf::from(root)], paths.into_iter(), path);
        assert_eq!(found("/p", "src/lib.rs"), Some("/p/src/lib.rs"));
        assert_eq!(found("/p/a", "src/lib.rs"), Some("/p/a/src/lib.rs"));
        assert_eq!(found("/elsewhere", "a/src/lib.rs"), Some("/p/a/src/lib.rs"));
        assert_eq!(found("/p", "rc/lib.rs"), None);
    }

    #[test]
    fn places_are_lines_of_files() {
        let lines = |what: &str| place(what).map(|file| (file.path, file.lines[0].clone()));
        assert_eq!(lines("src/a.c:12"), Some(("src/a.c".into(), 12..=12)));
        assert_eq!(lines("a:b.c:12-20"), Some(("a:b.c".into(), 12..=20)));
        for wrong in ["a.c", "a.c:0", "a.c:x", ":3", "a.c:5-4"] {
            assert_eq!(lines(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_is_no_diff_is_refused() {
        for text in ["hello\n", "--- a\n+++ b\n@@ nonsense @@\n"] {
            let error = touched_by_diff(text).expect_err("no diff").to_string();
            assert!(error.contains("it is no unified diff"), "{error}");
        }
        assert_eq!(touched_by_diff("").expect("no change"), []);
    }
}
