//! What a view says that shows some functions only: how much of the run they are, and what its totals and shares are
//! of.

use crate::terminal::{Style, grouped, percent};
use std::io::{self, Write};

/// What the shares of a view are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shares {
    /// All functions.
    OfRun,
    /// The functions that are shown.
    OfShown,
}

/// Writes the sentence: `part` of `whole` are in functions that match the pattern.
pub(crate) fn write(
    pattern: &str,
    [part, whole]: [u128; 2],
    what: &str,
    shares: Shares,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let share = percent(part, whole);
    let theirs = match shares {
        Shares::OfRun => "totals below are theirs, and shares are of the whole run",
        Shares::OfShown => "totals and shares below are theirs",
    };
    let (part, whole) = (grouped(part), grouped(whole));
    let sentence =
        format!("Only functions that match {pattern}, with {part} of the run's {whole} {what} ({share}): {theirs}.");
    writeln!(out, "{}\n", style.wrap(&sentence, 0))
}
