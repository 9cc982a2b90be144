//! Pending paths as JSON (`docs/json.md`).

use super::text::silence;
use super::{PathTaken, Pending, StoppedAt, pending};
use crate::method::ipath::json::Part;
use crate::unit::Unit;
use serde_json::{Value, json};
use std::io::{self, Write};

/// The name and version of the schema.
pub const SCHEMA: &str = "cotree-pending/1";

/// Writes what was pending in all units whose paths were counted.
///
/// # Errors
/// If the output can't be written.
pub fn write(units: &[Unit<'_>], out: &mut dyn Write) -> io::Result<()> {
    let units: Vec<Value> =
        units.iter().filter_map(|unit| pending(unit).map(|pending| unit_of(unit, &pending))).collect();
    serde_json::to_writer(&mut *out, &json!({ "schema": SCHEMA, "units": units }))?;
    writeln!(out)
}

fn unit_of(unit: &Unit<'_>, pending: &[Pending]) -> Value {
    let runs = unit.profile.runs;
    let ended = match (runs.total(), runs.aborted, runs.finished, runs.snapshots) {
        (1, 1, ..) => Some("aborted"),
        (1, _, 1, _) => Some("exited"),
        (1, .., 1) => Some("copied"),
        _ => None,
    };
    let program = &unit.map.program;
    json!({
        "unit": unit.profile.unit.to_string(),
        "binary": unit.profile.binary.display().to_string(),
        "name": program.name,
        "command": unit.profile.command,
        "method": unit.profile.method.method().name(),
        "ended": ended,
        "note": silence(unit),
        "files": program.files,
        "functions": program.functions().map(|(_, function)| function.symbol.as_str()).collect::<Vec<_>>(),
        "activations": pending.iter().map(|at| activation(unit, at)).collect::<Vec<_>>(),
    })
}

fn activation(unit: &Unit<'_>, at: &Pending) -> Value {
    let (path, one_of) = match &at.path {
        PathTaken::Path(_) => ("known", None),
        PathTaken::OfTheNext => ("of the next", None),
        PathTaken::OneOf(paths) => ("one of several", Some(*paths)),
        PathTaken::NotHeld => ("not held", None),
        PathTaken::Unknown => ("unknown", None),
    };
    let parts = |context: bool| match &at.path {
        PathTaken::Path(parts) => {
            let of = parts.iter().filter(|part| part.context == context);
            of.map(|part| Part::new(unit, part)).collect()
        }
        _ => Vec::new(),
    };
    let (call, line) = match &at.place {
        StoppedAt::Call(call) => {
            let facts = at.function.and_then(|function| unit.function(function)).map(|of| of.facts);
            let position = facts.filter(|facts| facts.calls.get(*call).is_some()).and_then(|f| f.call_position(*call));
            (Some(call.0), position.map(|at| (unit.file(at.file).to_owned(), at.line)))
        }
        StoppedAt::Instruction(line) | StoppedAt::SomeCall(line) => (None, line.clone()),
    };
    json!({
        "function": at.function.map(|function| function.0),
        "call": call,
        "line": line,
        "path": path,
        "candidates": one_of,
        "context": parts(true),
        "active": parts(false),
    })
}
