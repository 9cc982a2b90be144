//! Edge counts for builds of other days.

use super::format::{Export, ExportError, Format, Needs};
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
    if let Some(why) = export.units.iter().find_map(|unit| weights::refused(unit.profile)) {
        return Err(ExportError::Nothing(why));
    }
    let units: Vec<_> = export.units.iter().map(|unit| (unit.map, unit.profile)).collect();
    weights::write(out, &units, "")?;
    Ok(Vec::new())
}
