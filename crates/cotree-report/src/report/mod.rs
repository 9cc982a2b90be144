//! The terminal view: totals, hot functions, hot loops, what never ran, and what cannot be vouched for.

mod blocks;
mod head;
mod options;

pub(crate) use blocks::write as write_blocks;
pub use head::nothing_counted;
pub(crate) use head::write_head;
pub use options::{ReportOptions, SortBy};

use crate::method;
use crate::unit::Unit;
use std::io::{self, Write};

/// Writes the report of one unit.
///
/// # Errors
/// If the output can't be written.
pub fn write(unit: &Unit<'_>, options: &ReportOptions, out: &mut dyn Write) -> io::Result<()> {
    write_head(unit, options.style, out)?;
    method::write_report(unit, options, out)
}
