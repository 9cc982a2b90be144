//! The report of a trace: where to look at it.

use super::Total;
use crate::unit::UnitFunction;
use std::io::{self, Write};

/// Writes the report, below its head.
pub(super) fn write(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "nothing was counted: `cotree trace FILE` shows what each thread did")
}

/// How many functions are traced.
pub(super) fn total<'a>(functions: impl Iterator<Item = UnitFunction<'a>>) -> Total {
    ("traced functions", functions.count() as u128, String::new())
}
