//! How a function is traced.

use super::super::code::Code;
use cotree_core::method::trace::TracePlan;
use cotree_core::probe::Probe;
use std::fmt::Write;

/// One line per token.
pub(super) fn write(code: Code<'_>, plan: &TracePlan, out: &mut String) -> std::fmt::Result {
    for placed in &plan.probes {
        let place = code.place(placed.place);
        match placed.probe {
            Probe::Emit { reg, bytes, .. } => {
                let what = if reg.is_some() { "which way was taken" } else { "a constant" };
                writeln!(out, "  {place}: {what}, in {bytes} bytes")?;
            }
            Probe::EmitFull { bytes, .. } => writeln!(out, "  {place}: {bytes} bytes where they are full")?,
            Probe::Announce => writeln!(out, "  {place}: the function's number")?,
            _ => {}
        }
    }
    Ok(())
}
