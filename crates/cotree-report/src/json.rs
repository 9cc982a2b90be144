//! Export as JSON: the whole profile for other programs (`docs/json.md`).
//!
//! Functions are written one by one, so that memory does not grow with the program.

use crate::costs::{self, view::amounts};
use crate::explain;
use crate::functions::inlined_entries;
use crate::method;
use crate::names::demangle;
use crate::unit::{Unit, UnitFunction};
use cotree_core::facts::{Callee, Doubt, EdgeKind, InstructionCounts, Linkage, Position, Untouched};
use cotree_core::ids::{Block, Edge, Site};
use cotree_core::profile::Flaw;
use cotree_profile::counts::Runs;
use cotree_profile::recover::UnitProfile;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// The name and version of the schema.
pub const SCHEMA: &str = "cotree-profile/1";

/// Writes all units.
///
/// # Errors
/// If the output can't be written.
pub fn write(units: &[Unit<'_>], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{{\"schema\":\"{SCHEMA}\",\"units\":[")?;
    for (number, unit) in units.iter().enumerate() {
        if number > 0 {
            writeln!(out, ",")?;
        }
        write_unit(unit, out)?;
    }
    writeln!(out, "]}}")
}

fn write_unit(unit: &Unit<'_>, out: &mut dyn Write) -> io::Result<()> {
    let profile = unit.profile;
    let Runs { finished, aborted, cut_off, snapshots } = profile.runs;
    let head = UnitHead {
        unit: profile.unit.to_string(),
        binary: profile.binary.display().to_string(),
        name: &unit.map.program.name,
        target: &unit.map.program.target,
        command: &profile.command,
        tests: &profile.tests,
        method: profile.method.method().name(),
        exact: profile.exact(),
        runs: RunCounts { finished, aborted, cut_off, snapshots },
        weight: profile.weight,
        notes: profile.notes.iter().map(ToString::to_string).collect(),
        note_codes: note_codes(profile),
        events: method::unit_events(unit),
        files: &unit.map.program.files,
    };
    // The functions go into the same object: its closing brace comes after them.
    let text = serde_json::to_string(&head)?;
    write!(out, "{},\"functions\":[", text.strip_suffix('}').unwrap_or(&text))?;
    for function in unit.functions() {
        writeln!(out, "{}", if function.index.0 > 0 { "," } else { "" })?;
        serde_json::to_writer(&mut *out, &function_of(unit, &function))?;
    }
    write!(out, "\n]}}")
}

#[derive(Serialize)]
struct UnitHead<'a> {
    unit: String,
    binary: String,
    name: &'a str,
    target: &'a str,
    command: &'a [String],
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    tests: &'a BTreeSet<String>,
    method: &'static str,
    exact: bool,
    runs: RunCounts,
    weight: u64,
    notes: Vec<String>,
    note_codes: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<BTreeMap<&'static str, Value>>,
    files: &'a [String],
}

#[derive(Serialize)]
struct RunCounts {
    finished: u64,
    aborted: u64,
    cut_off: u64,
    snapshots: u64,
}

#[derive(Serialize)]
struct JsonFunction<'a> {
    symbol: &'a str,
    name: String,
    module: &'a str,
    linkage: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<JsonPosition>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_instrumented: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entries: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<BTreeMap<&'static str, Value>>,
    flaws: Vec<&'static str>,
    doubts: Vec<&'static str>,
    inlined: Vec<JsonInlined<'a>>,
    blocks: Vec<JsonBlock>,
    edges: Vec<JsonEdge>,
    early_exits: Vec<JsonEarly<'a>>,
    #[serde(flatten)]
    details: BTreeMap<&'static str, Value>,
}

#[derive(Serialize)]
struct JsonPosition {
    file: u32,
    line: u32,
    column: u32,
}

impl From<Position> for JsonPosition {
    fn from(p: Position) -> Self {
        Self { file: p.file, line: p.line, column: p.column }
    }
}

#[derive(Serialize)]
struct JsonInlined<'a> {
    symbol: &'a str,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<JsonPosition>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entries: Option<u64>,
}

#[derive(Serialize)]
struct JsonBlock {
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    instructions: JsonInstructions,
    lines: Vec<JsonLine>,
}

#[derive(Serialize)]
struct JsonInstructions {
    total: u32,
    loads: u32,
    stores: u32,
    calls: u32,
    float: u32,
}

impl From<InstructionCounts> for JsonInstructions {
    fn from(n: InstructionCounts) -> Self {
        Self { total: n.total, loads: n.loads, stores: n.stores, calls: n.calls, float: n.float }
    }
}

#[derive(Serialize)]
struct JsonLine {
    file: u32,
    line: u32,
    column: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    inlined: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
}

#[derive(Serialize)]
struct JsonEdge {
    from: u32,
    /// `None` is EXIT.
    to: Option<u32>,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cases: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
}

#[derive(Serialize)]
struct JsonEarly<'a> {
    block: u32,
    site: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    callee: Option<&'a str>,
    count: i64,
}

fn function_of<'a>(unit: &Unit<'a>, function: &UnitFunction<'a>) -> JsonFunction<'a> {
    let facts = function.facts;
    let flow = function.flow();
    let entries = flow.as_ref().map(inlined_entries).unwrap_or_default();
    let inlined = (0..).zip(&facts.inlined).map(|(index, copy)| JsonInlined {
        symbol: &copy.symbol,
        name: demangle(&copy.symbol),
        call: copy.call.map(Into::into),
        parent: copy.parent,
        entries: entries.iter().find(|e| e.index == index).map(|e| e.entries),
    });
    let blocks = facts.blocks.iter().enumerate().map(|(index, block)| JsonBlock {
        count: flow.as_ref().map(|f| f.block(Block::new(index))),
        instructions: block.instructions.into(),
        lines: block
            .lines
            .iter()
            .map(|span| JsonLine {
                file: span.at.file,
                line: span.at.line,
                column: span.at.column,
                inlined: span.inlined,
                count: flow.as_ref().map(|f| f.after(Block::new(index), span.after_sites)),
            })
            .collect(),
    });
    let edges = facts.edges.iter().enumerate().map(|(index, edge)| {
        let (kind, value, cases) = edge_kind(edge.kind);
        let to = (edge.dst != facts.exit()).then_some(edge.dst.0);
        JsonEdge {
            from: edge.src.0,
            to,
            kind,
            value,
            cases,
            count: flow.as_ref().and_then(|f| f.edge(Edge::new(index))),
        }
    });
    let early = function.profile.map_or(&[][..], |p| &p.early);
    let early_exits = (0..).zip(early).filter(|(_, count)| **count != 0).filter_map(|(site, &count)| {
        let facts = facts.calls.site(Site(site))?;
        let callee = match &facts.callee {
            Callee::Symbol(symbol) => Some(symbol.as_str()),
            Callee::Indirect | Callee::Assembly | Callee::Fault => None,
        };
        Some(JsonEarly { block: facts.block.0, site, callee, count })
    });
    JsonFunction {
        symbol: &facts.symbol,
        name: demangle(&facts.symbol),
        module: &function.module.name,
        linkage: match facts.linkage {
            Linkage::Internal => "internal",
            Linkage::External => "external",
            Linkage::Copy => "copy",
        },
        position: facts.position.map(Into::into),
        not_instrumented: facts.untouched.map(untouched),
        entries: function.profile.map(|p| p.entries),
        events: costs::exclusive(function).map(|cost| amounts(&cost)),
        flaws: function.flaws().iter().map(|&f| flaw(f)).collect(),
        doubts: facts.doubts.iter().map(|&d| doubt(d)).collect(),
        inlined: inlined.collect(),
        blocks: blocks.collect(),
        edges: edges.collect(),
        early_exits: early_exits.collect(),
        details: method::details(unit, function),
    }
}

/// The codes of a profile's notes, in the order of the notes.
pub(crate) fn note_codes(profile: &UnitProfile) -> Vec<&'static str> {
    profile.notes.iter().map(|note| explain::of_note(note).code).collect()
}

/// The name of a flaw in exports.
#[must_use]
pub fn flaw(flaw: Flaw) -> &'static str {
    explain::of_flaw(flaw).code
}

fn doubt(doubt: Doubt) -> &'static str {
    match doubt {
        Doubt::UnmappedCallSites => "unmapped-call-sites",
        Doubt::BuiltinSetjmp => "builtin-setjmp",
        Doubt::SwitchesStacks => "switches-stacks",
        Doubt::OptimisedBefore => "optimised-before",
    }
}

fn untouched(untouched: Untouched) -> &'static str {
    match untouched {
        Untouched::Naked => "naked",
        Untouched::Excluded => "excluded",
        Untouched::IfuncResolver => "ifunc-resolver",
        Untouched::Coroutine => "coroutine",
        Untouched::NotAsked => "not-asked",
        Untouched::AuthorForbids => "author-forbids",
        Untouched::UnmodelledControlFlow => "unmodelled-control-flow",
    }
}

fn edge_kind(kind: EdgeKind) -> (&'static str, Option<i64>, Option<u32>) {
    match kind {
        EdgeKind::Jump => ("jump", None, None),
        EdgeKind::True => ("true", None, None),
        EdgeKind::False => ("false", None, None),
        EdgeKind::Case(value) => ("case", Some(value), None),
        EdgeKind::Cases(cases, value) => ("cases", Some(value), Some(cases)),
        EdgeKind::Default => ("default", None, None),
        EdgeKind::InvokeNormal => ("invoke-normal", None, None),
        EdgeKind::InvokeUnwind => ("invoke-unwind", None, None),
        EdgeKind::IndirectBranch => ("indirect", None, None),
        EdgeKind::CallBrFallthrough => ("callbr-fallthrough", None, None),
        EdgeKind::CallBrIndirect => ("callbr-indirect", None, None),
        EdgeKind::Return => ("return", None, None),
        EdgeKind::Resume => ("resume", None, None),
        EdgeKind::Unreachable => ("unreachable", None, None),
    }
}
