//! How a function is traced.

use super::super::code::Code;
use cotree_core::method::trace::{CallKind, TraceCost, TracePlan};
use cotree_core::probe::{Place, Probe};
use cotree_core::weight::weighting::Weighting;
use std::fmt::Write;

/// What tells its paths apart, what ends segments, and a line per probe that writes.
pub(super) fn write(code: Code<'_>, weighting: &Weighting, plan: &TracePlan, out: &mut String) -> std::fmt::Result {
    let key = &plan.key;
    let entries = weighting.edge(code.cfg.exit_edge()).max(f64::MIN_POSITIVE);
    let cost = TraceCost::of(&plan.probes, code.function, weighting);
    writeln!(
        out,
        "  a token is {}; expected of an activation: {:.1} bytes in {:.1} writes, {:.1} instructions",
        key.encoding.name(),
        cost.bytes / entries,
        cost.writes / entries,
        cost.instructions / entries,
    )?;
    for (call, facts) in code.function.calls.numbered() {
        let what = match key.call(call) {
            CallKind::Untraced | CallKind::Tokenless(_) => continue,
            CallKind::Opaque => "who knows what it does",
            CallKind::Direct(_) => "it writes, too",
            CallKind::Forwarded(_) => "it writes, and may leave by a jump to who knows whom",
        };
        let callee = facts.callee_name().unwrap_or("a pointer");
        writeln!(out, "  {}, a call of {callee}: a segment ends, since {what}", code.place(Place::Call(call)))?;
    }
    for &edge in &key.cuts {
        let shared = key.packing.edges.binary_search(&edge).is_ok();
        let how = if shared { "its turns share tokens" } else { "a segment ends" };
        writeln!(out, "  {}: {how}", code.place(Place::Edge(edge)))?;
    }
    for placed in &plan.probes {
        let place = code.place(placed.place);
        match placed.probe {
            Probe::Emit { reg, bytes, .. } => {
                let what = if reg.is_some() { "the token" } else { "a constant" };
                writeln!(out, "  {place}: {what} is written, {}", of_bytes(bytes))?;
            }
            Probe::EmitFull { bytes, .. } => {
                writeln!(out, "  {place}: the token is written if it is full, {}", of_bytes(bytes))?;
            }
            Probe::EmitBits { bits, .. } => {
                let bits = if bits == 1 { "1 bit".into() } else { format!("{bits} bits") };
                writeln!(out, "  {place}: the outcome is written, {bits}")?;
            }
            Probe::RecordEntry => writeln!(out, "  {place}: the function's number is written")?,
            _ => {}
        }
    }
    Ok(())
}

fn of_bytes(bytes: u8) -> String {
    if bytes == 1 { "1 byte".into() } else { format!("{bytes} bytes") }
}
