//! Everything, as docs/json.md describes it.

use super::format::{Format, Needs};
use crate::json;

/// The format.
pub(super) const FORMAT: Format = Format {
    name: "json",
    summary: "Everything, as described in docs/json.md",
    needs: Needs::Nothing,
    has_lines: true,
    escapes: true,
    write: |export, out| Ok(json::write(export.units, out).map(|()| Vec::new())?),
};
