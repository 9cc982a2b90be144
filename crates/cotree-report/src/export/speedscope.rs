//! speedscope's own format: <https://www.speedscope.app/file-format-schema.json>. One profile per kind of events, whose
//! samples are the stacks in the order of functions, not of time.

use super::exact::exact_in_json;
use super::format::{Export, ExportError, Format, Needs};
use super::remarks::remarks;
use crate::costs::Costs;
use crate::costs::contexts::{Contexts, Frame};
use cotree_core::facts::events::EventKind;
use serde::Serialize;
use std::io::{self, Write};

/// The format.
pub(super) const FORMAT: Format = Format {
    name: "speedscope",
    summary: "Stacks, for speedscope",
    needs: Needs::Costs,
    has_lines: true,
    escapes: true,
    write: export,
};

fn export(export: &Export<'_>, out: &mut dyn Write) -> Result<Vec<String>, ExportError> {
    let (costs, contexts) = export.stacks()?;
    write(costs, &contexts, &export.kinds(), out)?;
    Ok(Vec::new())
}

#[derive(Serialize)]
struct File<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    exporter: String,
    name: String,
    shared: Shared<'a>,
    profiles: Vec<Profile>,
}

#[derive(Serialize)]
struct Shared<'a> {
    frames: Vec<JsonFrame<'a>>,
}

#[derive(Serialize)]
struct JsonFrame<'a> {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

impl<'a> From<&'a Frame> for JsonFrame<'a> {
    fn from(frame: &'a Frame) -> Self {
        Self { name: frame.label(), file: frame.file.as_deref(), line: (frame.line > 0).then_some(frame.line) }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Profile {
    r#type: &'static str,
    name: String,
    unit: &'static str,
    start_value: u64,
    end_value: u64,
    samples: Vec<Vec<usize>>,
    weights: Vec<u64>,
}

/// Writes the stacks of these kinds; kinds without events are left out.
///
/// # Errors
/// If the output can't be written, and if amounts are beyond what the format can hold.
pub fn write(costs: &Costs<'_>, contexts: &Contexts, kinds: &[EventKind], out: &mut dyn Write) -> io::Result<()> {
    let stacks = contexts.by_function();
    let mut profiles = Vec::new();
    for &kind in kinds {
        let some = || stacks.iter().filter(|(_, cost)| cost.of(kind) > 0);
        let weights: Vec<u64> = some().map(|(_, cost)| exact_in_json(cost.of(kind))).collect::<io::Result<_>>()?;
        let total = exact_in_json(weights.iter().map(|&weight| u128::from(weight)).sum())?;
        if total > 0 {
            let samples = some().map(|(frames, _)| frames.clone()).collect();
            let name = kind.title().to_owned();
            profiles.push(Profile {
                r#type: "sampled",
                name,
                unit: "none",
                start_value: 0,
                end_value: total,
                samples,
                weights,
            });
        }
    }
    let program = costs.units.first().map_or("", |unit| unit.map.program.name.as_str());
    // The format has no place for remarks but the title.
    let stacks = match costs.traced {
        Some(_) => "stacks are those of the execution",
        None => "stacks are what is known of callers; nothing is apportioned",
    };
    let mut name = format!("{program} ({stacks})");
    remarks(costs).iter().for_each(|remark| name.push_str(&format!(" {remark}")));
    let file = File {
        schema: "https://www.speedscope.app/file-format-schema.json",
        exporter: format!("cotree {}", env!("CARGO_PKG_VERSION")),
        name,
        shared: Shared { frames: contexts.frames.iter().map(Into::into).collect() },
        profiles,
    };
    serde_json::to_writer(&mut *out, &file)?;
    writeln!(out)
}
