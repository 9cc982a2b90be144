//! Which line is which after an edit: from a diff, or from both texts.

use super::changed::{diff_text, each_text, without};
use cotree_report::region_coverage::against::LineMap;
use diffy::patch_set::FileOperation;
use diffy::{DiffOptions, Line, Patch};
use miette::{Result, WrapErr};
use std::ops::Range;

/// A file of a diff.
pub struct EditedFile {
    /// The path before; `None` if the file is new.
    pub before: Option<String>,
    /// The path after; `None` if the file is gone.
    pub after: Option<String>,
    /// Which line is which.
    pub lines: LineMap,
}

/// The files of a change: a file with a diff, `-`, or a revision of git's.
///
/// # Errors
/// If the change can't be read.
pub fn of_change(change: &str) -> Result<Vec<EditedFile>> {
    of_diff(&diff_text(change)?).wrap_err_with(|| format!("cannot read the diff {change}"))
}

fn of_diff(diff: &str) -> Result<Vec<EditedFile>> {
    let mut files = Vec::new();
    each_text(diff, |operation, text| {
        let (before, after) = match operation {
            FileOperation::Create(path) => (None, Some(without(path, "b/"))),
            FileOperation::Delete(path) => (Some(without(path, "a/")), None),
            FileOperation::Modify { original, modified } => {
                (Some(without(original, "a/")), Some(without(modified, "b/")))
            }
            FileOperation::Rename { from, to } | FileOperation::Copy { from, to } => (Some(&**from), Some(&**to)),
        };
        let lines = match (before, after) {
            (None, _) => LineMap::created(),
            (_, None) => LineMap::deleted(),
            _ => LineMap::new(replaced(text)),
        };
        files.push(EditedFile { before: before.map(str::to_owned), after: after.map(str::to_owned), lines });
    })?;
    Ok(files)
}

/// Which line is which in two texts.
pub fn of_texts(before: &[u8], after: &[u8]) -> LineMap {
    let mut options = DiffOptions::new();
    LineMap::new(replaced(&options.set_context_len(0).create_patch_bytes(before, after)))
}

/// The lines that a patch replaces, before and after.
fn replaced<T: ToOwned + ?Sized>(patch: &Patch<'_, T>) -> Vec<(Range<u32>, Range<u32>)> {
    let mut all: Vec<(Range<u32>, Range<u32>)> = Vec::new();
    for hunk in patch.hunks() {
        // An empty range says the line before it.
        let first = |start: usize, is_empty: bool| u32::try_from(start + usize::from(is_empty)).unwrap_or(u32::MAX);
        let (old, new) = (hunk.old_range(), hunk.new_range());
        let mut before = first(old.start(), old.is_empty());
        let mut after = first(new.start(), new.is_empty());
        let mut goes_on = false;
        for line in hunk.lines() {
            let (gone, come) = (matches!(line, Line::Delete(_)), matches!(line, Line::Insert(_)));
            if gone || come {
                if !goes_on {
                    all.push((before..before, after..after));
                }
                if let Some((old, new)) = all.last_mut() {
                    old.end = old.end.saturating_add(u32::from(gone));
                    new.end = new.end.saturating_add(u32::from(come));
                }
            }
            goes_on = gone || come;
            before = before.saturating_add(u32::from(!come));
            after = after.saturating_add(u32::from(!gone));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "a\nb\nc\nd\ne\nf\n";
    const AFTER: &str = "new\na\nB\nB2\nc\ne\nf\nlast\n";

    fn moved(map: &LineMap) -> Vec<Option<u32>> {
        (1..=6).map(|line| map.after(line)).collect()
    }

    #[test]
    fn texts_and_diffs_say_the_same() {
        let expected = [Some(2), None, Some(5), None, Some(6), Some(7)];
        let map = of_texts(BEFORE.as_bytes(), AFTER.as_bytes());
        assert_eq!(moved(&map), expected);
        for context in [0, 1, 3] {
            let mut options = DiffOptions::new();
            let options = options.set_context_len(context);
            let options = options.set_original_filename("a/x.c").set_modified_filename("b/x.c");
            let files = of_diff(&options.create_patch(BEFORE, AFTER).to_string()).expect("a diff");
            assert_eq!((files[0].before.as_deref(), files[0].after.as_deref()), (Some("x.c"), Some("x.c")));
            assert_eq!(files[0].lines, map, "{context} lines of context");
        }
        let new: Vec<u32> = (1..=8).filter(|&line| map.is_new(line)).collect();
        assert_eq!(new, [1, 3, 4, 8]);
    }

    #[test]
    fn files_come_go_and_move() {
        let diff = "diff --git a/o.c b/n.c\nsimilarity index 90%\nrename from o.c\nrename to n.c\n--- a/o.c\n+++ b/n.c\n\
            @@ -1 +1 @@\n-x\n+y\ndiff --git a/c.c b/c.c\nnew file mode 100644\n--- /dev/null\n+++ b/c.c\n@@ -0,0 +1 @@\n\
            +x\ndiff --git a/d.c b/d.c\ndeleted file mode 100644\n--- a/d.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
        let files = of_diff(diff).expect("a diff");
        let names: Vec<_> = files.iter().map(|file| (file.before.as_deref(), file.after.as_deref())).collect();
        assert_eq!(names, [(Some("o.c"), Some("n.c")), (None, Some("c.c")), (Some("d.c"), None)]);
        assert_eq!((files[0].lines.after(1), files[0].lines.after(2)), (None, Some(2)));
    }
}
