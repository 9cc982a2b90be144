//! Edge counts for builds of other days.

use super::format::{Export, ExportError, Format, Needs};
use crate::unit::Unit;
use cotree_core::method::Method;
use cotree_profile::weights;
use std::io::Write;

/// The format. Weights go by functions and blocks, which lines only help to find.
pub(super) const FORMAT: Format = Format {
    name: "weights",
    summary: "Edge counts for --weights, which then does not need the binary",
    needs: Needs::Blocks,
    has_lines: false,
    escapes: true,
    write: export,
};

fn export(export: &Export<'_>, out: &mut dyn Write) -> Result<Vec<String>, ExportError> {
    if let Some(unit) = export.units.iter().find(|unit| !has_edges(unit)) {
        return Err(ExportError::Nothing(format!(
            "weights are counts of edges, and the {} of {} has none: build it with --profile {}",
            unit.profile.method.method().title(),
            unit.profile.binary.display(),
            Method::names(|entry| entry.promises.edges)
        )));
    }
    let units: Vec<_> = export.units.iter().map(|unit| (unit.map, unit.profile)).collect();
    weights::write(out, &units, "")?;
    Ok(Vec::new())
}

/// Are edges of any function counted? None of an empty program are.
fn has_edges(unit: &Unit<'_>) -> bool {
    let mut functions = unit.profile.functions.iter().flatten().peekable();
    functions.peek().is_none() || functions.any(|function| function.edges.is_some())
}
