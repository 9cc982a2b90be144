//! The section with the decisions of Rust: lines of text (docs/formats.md, "Decisions").

use super::source::{Place, SourceDecision};
use crate::coverage::section::{ONCE_PER_MODULE, assembly};
use cotree_core::decision::Next;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A condition is a pattern.
pub(super) const PATTERN: &str = "pattern";
/// A condition is a literal or `cfg!`.
pub(super) const CONSTANT: &str = "constant";
/// There are too many vectors.
pub(super) const TOO_MANY: &str = "too-many";
/// The branches of a condition are not there, or are not told from others.
pub(super) const UNTIED: &str = "untied";
/// A condition is not always evaluated behind those before it.
pub(super) const SHORTCUT: &str = "shortcut";
/// The source file cannot be read, or is no longer that which was compiled.
pub(super) const UNREADABLE: &str = "unreadable";

/// The line of a decision.
pub(super) fn line(decision: &SourceDecision) -> String {
    let mut line = format!("D\t{}", span(decision.start, decision.end));
    for (number, condition) in (0..).zip(&decision.conditions) {
        let _ = write!(line, "\t{}", span(condition.start, condition.end));
        for outcome in [false, true] {
            let _ = match decision.graph.next(number, outcome) {
                Next::Condition(next) => write!(line, " {next}"),
                Next::Made(made) => write!(line, " {}", if made { 't' } else { 'f' }),
            };
        }
    }
    line
}

/// The line of a macro that may have decisions.
pub(super) fn macro_line((line, column): Place) -> String {
    format!("M\t{line}:{column}")
}

fn span(start: Place, end: Place) -> String {
    format!("{}:{}-{}:{}", start.0, start.1, end.0, end.1)
}

/// Assembly that writes the decisions of a file, once in a link.
pub(super) fn of_file(path: &str, lines: &[String]) -> String {
    let text = std::iter::once(format!("F\t{}", escaped(path))).chain(lines.iter().cloned()).collect::<Vec<_>>();
    let text = text.join("\n") + "\n";
    let group = format!("cotree.decisions.{:032x}", u128::from_be_bytes(md5(text.as_bytes())));
    assembly(&format!("\"aGR\",@progbits,{group},comdat"), &text)
}

/// Assembly that writes which decisions of a module could not be followed.
pub(super) fn of_failures(failures: &BTreeSet<(String, Place, &'static str)>) -> String {
    let mut text = String::new();
    for (path, (line, column), reason) in failures {
        let _ = writeln!(text, "N\t{}\t{line}:{column}\t{reason}", escaped(path));
    }
    if text.is_empty() { text } else { assembly(ONCE_PER_MODULE, &text) }
}

/// A path without tabs and line breaks.
fn escaped(path: &str) -> String {
    path.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n")
}

/// The MD5 of a text.
pub(super) fn md5(text: &[u8]) -> [u8; 16] {
    cotree_profile::coverage::md5(text)
}
