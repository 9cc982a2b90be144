//! Path profiles as JSON (`docs/json.md`). Functions are written one by one.

mod compared;

pub use compared::{write_cover, write_spectrum};

use super::predict::{Beginning, Score, predict};
use super::route::{Stop, along};
use super::totals::Totals;
use super::{Executed, PathFunction, PathUnit, Paths};
use crate::json::{flaw, note_codes};
use crate::names::demangle;
use cotree_core::facts::Callee;
use cotree_core::ids::{Block, Edge, Site};
use cotree_core::method::path::{Path, PathClass, PathMetric, PathStart};
use serde::{Serialize, Serializer};
use std::io::{self, Write};

/// The name and version of the schema.
pub const SCHEMA: &str = "cotree-paths/1";

/// Writes the paths of all units, of functions that are wanted and ran.
///
/// # Errors
/// If the output can't be written.
pub fn write(units: &[PathUnit<'_>], wanted: impl Fn(&str) -> bool, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{{\"schema\":\"{SCHEMA}\",\"units\":[")?;
    for (number, unit) in units.iter().enumerate() {
        write!(out, "{}", if number > 0 { ",\n" } else { "" })?;
        write_unit(unit, &wanted, out)?;
    }
    writeln!(out, "]}}")
}

fn write_unit(unit: &PathUnit<'_>, wanted: &impl Fn(&str) -> bool, out: &mut dyn Write) -> io::Result<()> {
    let head = serde_json::to_string(&UnitHead::of(unit))?;
    write!(out, "{},\"functions\":[", head.strip_suffix('}').unwrap_or(&head))?;
    let (mut totals, mut score) = (Totals::default(), Score::default());
    let mut first = true;
    for of in unit.functions().iter().filter(|of| wanted(&of.function.facts.symbol)) {
        if !of.ran() {
            totals.add(&Totals { functions: 1, possible: of.key.paths.into(), ..Totals::default() });
            continue;
        }
        let Some(paths) = of.numbered() else { continue };
        let (own, prediction) = (Totals::of(&paths), predict(&paths));
        totals.add(&own);
        score.add(&prediction.score);
        writeln!(out, "{}", if std::mem::take(&mut first) { "" } else { "," })?;
        serde_json::to_writer(&mut *out, &function_of(&paths, &own, &prediction.beginnings))?;
    }
    write!(out, "\n],\"totals\":{}", serde_json::to_string(&JsonTotals::of(&totals, unit.metric().is_summed()))?)?;
    write!(out, ",\"prediction\":{}}}", serde_json::to_string(&JsonScore::from(&score))?)
}

#[derive(Serialize)]
struct UnitHead<'a> {
    unit: String,
    binary: String,
    name: &'a str,
    command: &'a [String],
    exact: bool,
    notes: Vec<String>,
    note_codes: Vec<&'static str>,
    files: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    metric: Option<&'static str>,
    /// The sums are a measurement.
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<bool>,
}

/// What only a metric has.
fn if_summed<T>(unit: &PathUnit<'_>, value: T) -> Option<T> {
    unit.metric().is_summed().then_some(value)
}

impl<'a> UnitHead<'a> {
    fn of(unit: &PathUnit<'a>) -> Self {
        let (map, profile) = (unit.unit.map, unit.unit.profile);
        Self {
            unit: profile.unit.to_string(),
            binary: profile.binary.display().to_string(),
            name: &map.program.name,
            command: &profile.command,
            exact: profile.exact(),
            notes: profile.notes.iter().map(ToString::to_string).collect(),
            note_codes: note_codes(profile),
            files: &map.program.files,
            metric: if_summed(unit, unit.metric().name()),
            measured: if_summed(unit, unit.metric() == PathMetric::Cycles),
        }
    }
}

#[derive(Serialize)]
struct JsonTotals {
    functions: u64,
    run: u64,
    paths: u64,
    possible: u128,
    executions: u128,
    instructions: u128,
    in_paths: u128,
    in_self_loops: u128,
    #[serde(skip_serializing_if = "Option::is_none")]
    unfinished: Option<i128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revived: Option<i128>,
}

impl JsonTotals {
    fn of(t: &Totals, summed: bool) -> Self {
        Self {
            functions: t.functions,
            run: t.run,
            paths: t.executed,
            possible: t.possible,
            executions: t.executions,
            instructions: t.instructions,
            in_paths: t.along_paths(),
            in_self_loops: t.in_self_loops,
            unfinished: summed.then_some(t.unfinished),
            revived: summed.then_some(t.revived),
        }
    }
}

/// Pairs are what was right, and all.
#[derive(Serialize)]
pub(in crate::method) struct JsonScore {
    beginnings: [u64; 2],
    paths: [u64; 2],
    executions: [u128; 2],
    instructions: [u128; 2],
    edges_foretold: [u128; 2],
    instructions_foretold: [u128; 2],
}

impl From<&Score> for JsonScore {
    fn from(s: &Score) -> Self {
        Self {
            beginnings: [s.hottest_right, s.beginnings],
            paths: [s.paths_right, s.paths],
            executions: [s.executions_right, s.executions],
            instructions: [s.instructions_right, s.instructions],
            edges_foretold: [s.edges_foretold, s.edges],
            instructions_foretold: [s.instructions_foretold, s.instructions],
        }
    }
}

#[derive(Serialize)]
struct JsonFunction<'a> {
    symbol: &'a str,
    name: String,
    module: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<JsonLine>,
    entries: u64,
    flaws: Vec<&'static str>,
    possible: u64,
    executions: u128,
    instructions: u128,
    #[serde(skip_serializing_if = "Option::is_none")]
    sum: Option<u128>,
    /// Names of inlined copies; `inlined` of lines points in here.
    inlined: Vec<String>,
    paths: Vec<JsonPath>,
    self_loops: Vec<JsonSelfLoop>,
    pending: Vec<JsonPending<'a>>,
    cut_short: Vec<JsonEnd<'a>>,
    unresolved: Vec<JsonEnd<'a>>,
    predictions: Vec<JsonPrediction>,
}

/// The name of a class.
fn class(class: PathClass) -> &'static str {
    match class {
        PathClass::EntryToExit => "entry-to-exit",
        PathClass::EntryToBackedge => "entry-to-backedge",
        PathClass::BackedgeToBackedge => "backedge-to-backedge",
        PathClass::BackedgeToExit => "backedge-to-exit",
    }
}

/// The blocks, edges and lines of a path.
#[derive(Serialize)]
struct JsonRoute {
    blocks: Vec<u32>,
    edges: Vec<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    context: Vec<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    context_lines: Vec<JsonLine>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    turns: Vec<u32>,
    instructions: u64,
    lines: Vec<JsonLine>,
}

impl JsonRoute {
    fn of(paths: &Paths<'_>, path: &Path, until: Option<Site>) -> Self {
        Self {
            blocks: blocks(&path.blocks),
            edges: edges(&path.edges),
            context: edges(&path.context),
            context_lines: lines(paths, &paths.context(path), None),
            turns: blocks(&path.turns),
            instructions: paths.instructions(&path.blocks),
            lines: lines(paths, &path.blocks, until),
        }
    }
}

fn lines(paths: &Paths<'_>, blocks: &[Block], until: Option<Site>) -> Vec<JsonLine> {
    along(paths.of.function.facts, blocks, until).into_iter().map(JsonLine).collect()
}

fn blocks(blocks: &[Block]) -> Vec<u32> {
    blocks.iter().map(|b| b.0).collect()
}

fn edges(edges: &[Edge]) -> Vec<u32> {
    edges.iter().map(|e| e.0).collect()
}

#[derive(Serialize)]
struct JsonPath {
    number: u64,
    count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    sum: Option<u64>,
    class: &'static str,
    #[serde(flatten)]
    route: JsonRoute,
}

impl JsonPath {
    fn of(paths: &Paths<'_>, e: &Executed) -> Self {
        let route = JsonRoute::of(paths, &e.path, None);
        Self { number: e.number, count: e.count, sum: e.sum, class: class(e.path.class()), route }
    }
}

#[derive(Serialize)]
struct JsonSelfLoop {
    edge: u32,
    block: u32,
    count: u64,
    instructions: u64,
    lines: Vec<JsonLine>,
}

#[derive(Serialize)]
struct JsonPending<'a> {
    prefix: u64,
    #[serde(flatten)]
    end: JsonEnd<'a>,
    from_entry: bool,
    #[serde(flatten)]
    route: JsonRoute,
}

/// Activations that ended at a call.
#[derive(Serialize)]
struct JsonEnd<'a> {
    site: u32,
    block: u32,
    callee: Option<&'a str>,
    count: i64,
}

impl<'a> JsonEnd<'a> {
    fn of(of: &PathFunction<'a>, site: Site, count: i64) -> Option<Self> {
        let facts = of.function.facts.calls.site(site)?;
        let callee = match &facts.callee {
            Callee::Symbol(symbol) => Some(symbol.as_str()),
            Callee::Indirect | Callee::Assembly | Callee::Fault => None,
        };
        Some(Self { site: site.0, block: facts.block.0, callee, count })
    }
}

#[derive(Serialize)]
struct JsonPrediction {
    /// The block; `null`: the entry.
    after_cut: Option<u32>,
    blocks: Vec<u32>,
    edges: Vec<u32>,
    count: u64,
    hottest: u64,
    hottest_count: u64,
    executions: u128,
    instructions: u128,
}

impl From<&Beginning> for JsonPrediction {
    fn from(b: &Beginning) -> Self {
        Self {
            after_cut: match b.start {
                PathStart::Entry => None,
                PathStart::Cut(block) => Some(block.0),
            },
            blocks: blocks(&b.predicted.0),
            edges: edges(&b.predicted.1),
            count: b.predicted_count,
            hottest: b.hottest,
            hottest_count: b.hottest_count,
            executions: b.executions,
            instructions: b.instructions,
        }
    }
}

/// `[file, line]`, or `[file, line, inlined]`.
struct JsonLine(Stop);

impl Serialize for JsonLine {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Stop { file, line, inlined } = self.0;
        match inlined {
            None => [file, line].serialize(serializer),
            Some(inlined) => [file, line, inlined].serialize(serializer),
        }
    }
}

fn function_of<'a>(paths: &Paths<'a>, totals: &Totals, beginnings: &[Beginning]) -> JsonFunction<'a> {
    let of = paths.of;
    let facts = of.function.facts;
    let end = |&(site, count): &(Site, i64)| JsonEnd::of(&of, site, count);
    let all = paths.executed().map(|e| JsonPath::of(paths, &e));
    let self_loops = paths.self_loops().map(|l| JsonSelfLoop {
        edge: l.edge.0,
        block: l.block.0,
        count: l.count,
        instructions: l.instructions,
        lines: lines(paths, &[l.block], None),
    });
    let pending = of.profile.pending.iter().filter_map(|p| {
        let path = paths.pending(p)?;
        let end = JsonEnd::of(&of, p.site, p.count)?;
        let from_entry = path.start == PathStart::Entry;
        Some(JsonPending { prefix: p.prefix, end, from_entry, route: JsonRoute::of(paths, &path, Some(p.site)) })
    });
    JsonFunction {
        symbol: &facts.symbol,
        name: demangle(&facts.symbol),
        module: &of.function.module.name,
        line: facts.position.map(|p| JsonLine(Stop { file: p.file, line: p.line, inlined: None })),
        entries: of.function.profile.map_or(0, |p| p.entries),
        flaws: of.function.flaws().iter().map(|&f| flaw(f)).collect(),
        possible: of.key.paths,
        executions: totals.executions,
        instructions: totals.instructions,
        sum: of.metric.is_summed().then_some(totals.sum),
        inlined: facts.inlined.iter().map(|i| demangle(&i.symbol)).collect(),
        paths: all.collect(),
        self_loops: self_loops.collect(),
        pending: pending.collect(),
        cut_short: of.profile.cut_short.iter().filter_map(end).collect(),
        unresolved: of.profile.unresolved.iter().filter_map(end).collect(),
        predictions: beginnings.iter().map(Into::into).collect(),
    }
}
