//! Folded stacks, as `stackcollapse-perf.pl` and inferno write them: `main;parse;next 1234`, one line per stack.

use super::format::{Export, ExportError, Format, Needs};
use crate::costs::contexts::{Contexts, Frame};
use cotree_core::facts::events::EventKind;
use std::io::{self, Write};

/// The format.
pub(super) const FORMAT: Format = Format {
    name: "folded",
    summary: "Stacks, one per line, for flamegraph.pl and inferno",
    needs: Needs::Costs,
    has_lines: true,
    escapes: false,
    write: export,
};

fn export(export: &Export<'_>, out: &mut dyn Write) -> Result<Vec<String>, ExportError> {
    let kind = export.kind()?;
    write(&export.stacks()?.1, kind, out)?;
    Ok(Vec::new())
}

/// The stacks of one kind, one line each, in the order of functions.
pub fn lines(contexts: &Contexts, kind: EventKind) -> impl Iterator<Item = String> {
    let stacks = contexts.by_function().into_iter().filter(move |(_, cost)| cost.of(kind) > 0);
    stacks.map(move |(frames, cost)| {
        let names: Vec<String> = frames.iter().map(|&frame| name(&contexts.frames[frame])).collect();
        format!("{} {}", names.join(";"), cost.of(kind))
    })
}

/// Semicolons separate frames, so they can't be in names (`[u8; 4]`).
fn name(frame: &Frame) -> String {
    let name: String = frame.name.chars().map(|c| if c == ';' || c.is_control() { ',' } else { c }).collect();
    if frame.inlined { format!("{name} (inlined)") } else { name }
}

/// Writes the stacks of one kind.
///
/// # Errors
/// If the output can't be written.
pub fn write(contexts: &Contexts, kind: EventKind, out: &mut dyn Write) -> io::Result<()> {
    lines(contexts, kind).try_for_each(|line| writeln!(out, "{line}"))
}
