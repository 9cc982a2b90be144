//! Commands of GitHub's workflows, which show remarks beside the lines of a change.

use std::io::{self, Write};

/// Writes a warning for lines of a file.
pub(super) fn warning(
    path: &str,
    (first, last): (u32, u32),
    title: &str,
    says: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let path = escaped(path);
    writeln!(out, "::warning file={path},line={first},endLine={last},title={title}::{says}")
}

/// A value of a property of a workflow command (GitHub's toolkit, `escapeProperty`).
fn escaped(text: &str) -> String {
    [("%", "%25"), ("\r", "%0D"), ("\n", "%0A"), (":", "%3A"), (",", "%2C")]
        .into_iter()
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}
