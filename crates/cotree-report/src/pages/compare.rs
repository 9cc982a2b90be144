//! What differs from the profile of another run.

use super::content::{Before, Pages};
use super::data::{Add, Amount, script};
use super::functions::PER_SCRIPT;
use super::numbering::Numbering;
use crate::diff::{self, Change};
use crate::names::across_builds;
use crate::unit::Unit;
use cotree_core::ids::{Block, Edge, FunctionId};
use serde::Serialize;
use std::collections::HashMap;
use std::io;

/// What differs, for the page.
#[derive(Serialize)]
struct Comparison {
    exact: bool,
    /// Both are of one build.
    same_build: bool,
    /// Blocks and edges are compared, too.
    blocks: bool,
    functions: Vec<FunctionRow>,
    lines: Vec<LineRow>,
    calls: Vec<CallRow>,
}

#[derive(Serialize)]
struct FunctionRow {
    /// The function's number, if it is known to this profile.
    function: Option<usize>,
    name: String,
    change: Change,
    entries: [Amount; 2],
    instructions: [Amount; 2],
    share: [f64; 2],
}

#[derive(Serialize)]
struct LineRow {
    file: Option<usize>,
    path: Option<String>,
    line: u32,
    change: Change,
    counts: [Amount; 2],
}

#[derive(Serialize)]
struct CallRow {
    caller: String,
    /// `None` for calls through pointers, and of assembly.
    callee: Option<String>,
    place: Option<(usize, u32)>,
    counts: [Amount; 2],
}

/// Counts of a body in the other run: of its blocks, and of its edges.
#[derive(Serialize)]
struct Body {
    blocks: Vec<Amount>,
    edges: Vec<Option<Amount>>,
}

/// Writes what differs from the other profile.
///
/// # Errors
/// If a script can't be written.
pub(super) fn write(
    pages: &Pages<'_>,
    before: &Before<'_>,
    numbering: &Numbering<'_>,
    add: &mut Add<'_>,
) -> io::Result<()> {
    let difference = diff::compare(before.units, pages.units(), pages.sources);
    let builds = |units: &[Unit<'_>]| units.iter().map(|unit| unit.profile.unit).collect::<Vec<_>>();
    let same_build = builds(before.units) == builds(pages.units());
    let blocks = difference.blocks.is_some();
    let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
    for (number, function) in numbering.functions.iter().enumerate() {
        by_name.entry(across_builds(&function.summary.symbol)).or_default().push(number);
    }
    let path_of = |number: usize| {
        let function = &numbering.functions[number];
        numbering.place(function.unit, function.summary.position).map(|(file, _)| numbering.files[file])
    };
    let functions = difference.functions.into_iter().map(|change| {
        let named = by_name.get(&across_builds(&change.symbol)).map(Vec::as_slice).unwrap_or_default();
        let same_file = named.iter().find(|&&number| path_of(number) == change.file.as_deref());
        FunctionRow {
            function: same_file.or(named.first()).copied(),
            name: pages.names.show(&change.symbol),
            change: change.change,
            entries: change.entries.map(Into::into),
            instructions: change.instructions.map(Amount),
            share: change.share,
        }
    });
    let lines = difference.lines.into_iter().map(|change| {
        let file = numbering.of_path(&change.file);
        LineRow {
            file,
            path: file.is_none().then_some(change.file),
            line: change.line,
            change: change.change,
            counts: change.counts.map(Into::into),
        }
    });
    let calls = difference.calls.iter().flatten().map(|change| CallRow {
        caller: pages.names.show(&change.caller),
        callee: change.callee.as_deref().map(|callee| pages.names.show(callee)),
        place: change.file.as_deref().and_then(|file| numbering.of_path(file)).zip(change.line),
        counts: change.counts.map(Into::into),
    });
    let comparison = Comparison {
        exact: difference.exact,
        same_build,
        blocks,
        functions: functions.collect(),
        lines: lines.collect(),
        calls: calls.collect(),
    };
    add("compare/index".to_owned(), script("compare/index", &comparison)?)?;
    if blocks { write_bodies(before, numbering, add) } else { Ok(()) }
}

/// Writes the other run's counts of blocks and edges, several functions to a script.
fn write_bodies(before: &Before<'_>, numbering: &Numbering<'_>, add: &mut Add<'_>) -> io::Result<()> {
    for (number, functions) in numbering.functions.chunks(PER_SCRIPT).enumerate() {
        let body = |unit: usize, body: FunctionId| {
            let flow = before.units.get(unit)?.function(body)?.flow()?;
            Some(Body {
                blocks: (0..flow.function.blocks.len()).map(|block| flow.block(Block::new(block)).into()).collect(),
                edges: (0..flow.function.edges.len()).map(|edge| flow.edge(Edge::new(edge)).map(Into::into)).collect(),
            })
        };
        let bodies: Vec<Vec<Option<Body>>> = (functions.iter())
            .map(|function| function.summary.bodies.iter().map(|&index| body(function.unit, index)).collect())
            .collect();
        let name = format!("compare/functions/{number}");
        add(name.clone(), script(&name, &bodies)?)?;
    }
    Ok(())
}
