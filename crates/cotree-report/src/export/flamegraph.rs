//! A flame graph (Gregg 2016) as an SVG image, drawn by inferno. Width is exclusive cost: it is exact.

use super::folded;
use super::format::{Export, ExportError, Format, Needs};
use super::remarks::{meaning_of_stacks, remarks};
use crate::costs::Costs;
use crate::costs::contexts::Contexts;
use cotree_core::facts::events::EventKind;
use inferno::flamegraph::{self, Options, TextTruncateDirection};
use std::io::{self, Write};

/// The format.
pub(super) const FORMAT: Format = Format {
    name: "flamegraph",
    summary: "A flame graph, an SVG image",
    needs: Needs::Costs,
    has_lines: true,
    escapes: false,
    write: export,
};

fn export(export: &Export<'_>, out: &mut dyn Write) -> Result<Vec<String>, ExportError> {
    let kind = export.kind()?;
    let (costs, contexts) = export.stacks()?;
    write(costs, &contexts, kind, out)?;
    Ok(Vec::new())
}

/// Draws the stacks of one kind.
///
/// # Errors
/// If the output can't be written, and if there is nothing to draw.
pub fn write(costs: &Costs<'_>, contexts: &Contexts, kind: EventKind, out: &mut dyn Write) -> io::Result<()> {
    let lines: Vec<String> = folded::lines(contexts, kind).collect();
    if lines.is_empty() {
        return Err(io::Error::other(format!("the profile has no {}", kind.title())));
    }
    let mut options = Options::default();
    let program = costs.units.first().map_or("", |unit| unit.map.program.name.as_str());
    options.title = format!("{program}: {}", kind.title());
    options.subtitle = Some(meaning_of_stacks(costs).to_owned());
    options.notes = remarks(costs).join("\n");
    options.count_name = kind.title().to_owned();
    options.deterministic = true;
    // Labels keep their beginning.
    options.text_truncate_direction = TextTruncateDirection::Right;
    let result = flamegraph::from_lines(&mut options, lines.iter().map(String::as_str), out);
    result.map_err(io::Error::other)
}
