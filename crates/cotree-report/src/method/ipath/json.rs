//! Paths across functions as JSON (`docs/json.md`).

use super::calls::{Calls, Reason, by_reason};
use super::cover::compare;
use super::parts::PathPart;
use super::predict::{Beginning, predict};
use super::{IpathUnit, RunPath, only_in_one};
use crate::json::note_codes;
use crate::method::path::json::JsonScore;
use cotree_core::method::path::PathMetric;
use serde::Serialize;
use serde_json::json;
use std::io::{self, Write};

/// The name and version of the schema.
pub const SCHEMA: &str = "cotree-ipaths/1";

#[derive(Serialize)]
struct Unit<'a> {
    unit: String,
    binary: String,
    name: &'a str,
    command: &'a [String],
    exact: bool,
    notes: Vec<String>,
    note_codes: Vec<&'static str>,
    method: &'static str,
    possible: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    metric: Option<&'static str>,
    /// The sums are a measurement.
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<bool>,
    calls: serde_json::Map<String, serde_json::Value>,
    files: &'a [String],
    functions: Vec<&'a str>,
    paths: Vec<Path>,
    ended: Vec<Ended>,
    #[serde(skip_serializing_if = "Option::is_none")]
    predictions: Option<Vec<Predicted>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prediction: Option<JsonScore>,
}

/// The paths that begin at one place, and the one that edge counts predict.
#[derive(Serialize)]
struct Predicted {
    /// An index into the functions.
    function: u32,
    /// The block; `null`: the entry.
    after_cut: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after_call: Option<u32>,
    active: Vec<Part>,
    count: u64,
    hottest: u64,
    hottest_count: u64,
    executions: u128,
    instructions: u128,
}

/// A path that ended in a call that did not come back.
#[derive(Serialize)]
struct Ended {
    count: i64,
    #[serde(flatten)]
    path: UncountedPath,
}

#[derive(Serialize)]
struct Path {
    count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    sum: Option<u64>,
    #[serde(flatten)]
    path: UncountedPath,
}

#[derive(Serialize)]
struct UncountedPath {
    number: u64,
    instructions: u64,
    context: Vec<Part>,
    active: Vec<Part>,
}

/// A part of a path.
#[derive(Serialize)]
pub(in crate::method) struct Part {
    /// An index into the functions.
    function: u32,
    depth: u32,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    enters: bool,
    blocks: Vec<u32>,
    /// File and line.
    lines: Vec<(u32, u32)>,
}

/// Writes the paths of all units that execute something of a wanted function; if asked for, also what edge counts would
/// have predicted.
///
/// # Errors
/// If the output can't be written.
pub fn write(
    units: &[IpathUnit<'_>],
    wanted: impl Fn(&str) -> bool,
    predicted: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let units: Vec<Unit<'_>> = units.iter().map(|unit| unit_of(unit, &wanted, predicted)).collect();
    serde_json::to_writer(&mut *out, &json!({ "schema": SCHEMA, "units": units }))?;
    writeln!(out)
}

/// The name and version of the schema of comparisons.
pub const DIFF_SCHEMA: &str = "cotree-ipath-diff/1";

/// Writes the paths that only one of two runs of one build took.
///
/// # Errors
/// If the output can't be written.
pub fn write_diff(
    pairs: &[(IpathUnit<'_>, IpathUnit<'_>)],
    wanted: impl Fn(&str) -> bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let pair = |(before, after): &(IpathUnit<'_>, IpathUnit<'_>)| {
        let [new, gone] = only_in_one(before, after, &wanted);
        let paths =
            |of: &IpathUnit<'_>, paths: &[RunPath]| paths.iter().map(|path| path_of(of, path)).collect::<Vec<_>>();
        let program = &before.unit.map.program;
        json!({
            "unit": before.unit.profile.unit.to_string(),
            "files": program.files,
            "functions": program.functions().map(|(_, function)| function.symbol.as_str()).collect::<Vec<_>>(),
            "exact": before.unit.profile.exact() && after.unit.profile.exact(),
            "new": paths(after, &new),
            "gone": paths(before, &gone),
        })
    };
    let units: Vec<_> = pairs.iter().map(pair).collect();
    serde_json::to_writer(&mut *out, &json!({ "schema": DIFF_SCHEMA, "units": units }))?;
    writeln!(out)
}

/// The name and version of the schema of how much of a run another one covered.
pub const COVER_SCHEMA: &str = "cotree-ipath-cover/1";

/// Writes how much of the first of each pair the second covered.
///
/// # Errors
/// If the output can't be written.
pub fn write_cover(
    pairs: &[(IpathUnit<'_>, IpathUnit<'_>)],
    wanted: impl Fn(&str) -> bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let pair = |(run, other): &(IpathUnit<'_>, IpathUnit<'_>)| {
        let (common, missed) = compare(run, other, &wanted);
        let program = &run.unit.map.program;
        json!({
            "unit": run.unit.profile.unit.to_string(),
            "files": program.files,
            "functions": program.functions().map(|(_, function)| function.symbol.as_str()).collect::<Vec<_>>(),
            "exact": run.unit.profile.exact(),
            "other_exact": other.unit.profile.exact(),
            "totals": {
                "paths": [common.paths_common, common.paths],
                "executions": [common.executions_common, common.executions],
                "instructions": [common.instructions_common, common.instructions],
                "only_there": common.only_there,
            },
            "missed": missed.iter().map(|path| path_of(run, path)).collect::<Vec<_>>(),
        })
    };
    let units: Vec<_> = pairs.iter().map(pair).collect();
    serde_json::to_writer(&mut *out, &json!({ "schema": COVER_SCHEMA, "units": units }))?;
    writeln!(out)
}

fn unit_of<'a>(of: &IpathUnit<'a>, wanted: &impl Fn(&str) -> bool, predicted: bool) -> Unit<'a> {
    let (map, profile) = (of.unit.map, of.unit.profile);
    let found = by_reason(of);
    let calls = Reason::ALL.map(|reason| {
        let Calls { calls, made } = found.get(&reason).copied().unwrap_or_default();
        (reason.name().to_owned(), json!({ "calls": calls, "made": made }))
    });
    let wants = |part: &PathPart| !part.context && of.facts(part.function).is_some_and(|f| wanted(&f.symbol));
    let paths = of.paths().into_iter().filter(|path| path.parts.iter().any(wants));
    let ended = of.ended().into_iter().filter(|(path, _)| path.parts.iter().any(wants));
    let prediction = predicted.then(|| predict(of, wanted));
    let predictions = prediction.as_ref().map(|all| all.beginnings.iter().map(|one| predicted_of(of, one)).collect());
    Unit {
        unit: profile.unit.to_string(),
        binary: profile.binary.display().to_string(),
        name: &map.program.name,
        command: &profile.command,
        exact: profile.exact(),
        notes: profile.notes.iter().map(ToString::to_string).collect(),
        note_codes: note_codes(profile),
        method: profile.method.method().name(),
        possible: of.plan.paths,
        metric: of.metric().is_summed().then(|| of.metric().name()),
        measured: of.metric().is_summed().then(|| of.metric() == PathMetric::Cycles),
        calls: calls.into_iter().collect(),
        files: &map.program.files,
        functions: map.program.functions().map(|(_, function)| function.symbol.as_str()).collect(),
        paths: paths.map(|path| path_of(of, &path)).collect(),
        ended: ended.map(|(path, count)| Ended { count, path: uncounted(of, &path) }).collect(),
        predictions,
        prediction: prediction.as_ref().map(|all| JsonScore::from(&all.score)),
    }
}

fn predicted_of(of: &IpathUnit<'_>, beginning: &Beginning) -> Predicted {
    Predicted {
        function: beginning.function.0,
        after_cut: beginning.after_cut.map(|block| block.0),
        after_call: beginning.after_call.map(|call| call.0),
        active: beginning.predicted.iter().filter(|part| !part.context).map(|part| Part::new(of.unit, part)).collect(),
        count: beginning.predicted_count,
        hottest: beginning.hottest,
        hottest_count: beginning.hottest_count,
        executions: beginning.executions,
        instructions: beginning.instructions,
    }
}

impl Part {
    pub(in crate::method) fn new(unit: &crate::unit::Unit<'_>, part: &PathPart) -> Self {
        let facts = unit.function(part.function).map(|of| of.facts);
        let lines = |facts| part.stops(facts).iter().map(|stop| (stop.file, stop.line)).collect();
        Self {
            function: part.function.0,
            depth: part.depth,
            enters: part.enters,
            blocks: part.visits.iter().map(|visit| visit.block.0).collect(),
            lines: facts.map_or_else(Vec::new, lines),
        }
    }
}

fn path_of(of: &IpathUnit<'_>, path: &RunPath) -> Path {
    let sum = of.metric().is_summed().then_some(path.sum);
    Path { count: path.count, sum, path: uncounted(of, path) }
}

fn uncounted(of: &IpathUnit<'_>, path: &RunPath) -> UncountedPath {
    let part = |part: &PathPart| Part::new(of.unit, part);
    UncountedPath {
        number: path.number,
        instructions: path.instructions,
        context: path.parts.iter().filter(|part| part.context).map(part).collect(),
        active: path.parts.iter().filter(|part| !part.context).map(part).collect(),
    }
}
