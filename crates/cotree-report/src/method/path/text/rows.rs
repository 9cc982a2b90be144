//! Lists whose rows have a text below their numbers, and the format of very large numbers.

use super::options::PathsOptions;
use crate::terminal::{Column, Style, counted, grouped};
use std::io::{self, Write};

/// A row of numbers, and what they are of.
pub struct Row {
    /// The numbers.
    pub cells: Vec<String>,
    /// The text, below them.
    pub text: String,
    /// A remark on a line of its own.
    pub more: Option<String>,
}

impl Row {
    /// A row without a remark.
    pub fn new(cells: Vec<String>, text: String) -> Self {
        Self { cells, text, more: None }
    }
}

/// The most lines of a text, unless everything was asked for.
const MOST_LINES: usize = 3;
const INDENT: usize = 6;

/// Writes a list.
pub fn write(options: &PathsOptions, columns: &[Column], rows: &[Row], out: &mut dyn Write) -> io::Result<()> {
    let table = options.style.table(columns, rows.iter().map(|r| r.cells.clone()).collect());
    let mut lines = table.lines();
    writeln!(out, "{}", lines.next().unwrap_or(""))?;
    for (line, row) in lines.zip(rows) {
        writeln!(out, "{line}")?;
        for text in std::iter::once(&row.text).chain(&row.more) {
            writeln!(out, "{}", below(options, text))?;
        }
    }
    writeln!(out)
}

/// A text below a row.
fn below(options: &PathsOptions, text: &str) -> String {
    let Style { width, .. } = options.style;
    let wrapped = Style { width, colour: false }.wrap(text, INDENT);
    let lines: Vec<&str> = wrapped.lines().map(str::trim_start).collect();
    let most = if options.verbose { lines.len() } else { MOST_LINES };
    let indent = " ".repeat(INDENT);
    let mut shown: Vec<String> = lines.iter().take(most).map(|l| format!("{indent}{l}")).collect();
    if lines.len() > most {
        shown.push(
            options.style.faint(&format!("{indent}… and {} (-v)", counted((lines.len() - most) as u128, "more line"))),
        );
    }
    shown.join("\n")
}

/// A heading that says how many of all are shown.
pub fn heading(options: &PathsOptions, title: &str, shown: usize, all: usize, out: &mut dyn Write) -> io::Result<()> {
    let cut =
        if shown < all { format!(" ({} of {})", grouped(shown as u128), grouped(all as u128)) } else { String::new() };
    writeln!(out, "{}{}", options.style.heading(title), options.style.faint(&cut))
}

/// A number that may be too large to read: `1.2e17`.
pub fn large(value: u128) -> String {
    if value < 10_000_000_000 { grouped(value) } else { format!("{:.1e}", value as f64) }
}
