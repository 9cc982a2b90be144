//! Functions in detail: their bodies with blocks, edges, loops and calls.

use super::content::Pages;
use super::data::{Add, Amount, script};
use super::numbering::Numbering;
use super::remarks::{Remark, flaw, untouched};
use crate::branches::outcome_name;
use crate::functions::{FunctionSummary, inlined_entries};
use crate::loops;
use crate::unit::{Unit, UnitFunction};
use cotree_core::facts::Linkage;
use cotree_core::graph::dfs::Dfs;
use cotree_core::graph::loops::LoopForest;
use cotree_core::ids::{Block, Edge, FunctionId};
use serde::Serialize;
use std::collections::HashMap;
use std::io;

/// How many functions stand in one script.
pub(super) const PER_SCRIPT: usize = 32;

/// A place: file and line.
type Place = Option<(usize, u32)>;

#[derive(Serialize)]
struct Details<'a> {
    symbol: &'a str,
    bodies: Vec<Body<'a>>,
    /// Calls by name of the function, from known callers.
    callers: Vec<Call>,
    /// What is not vouched for.
    doubts: Vec<Remark>,
}

#[derive(Serialize)]
struct Body<'a> {
    module: &'a str,
    linkage: &'static str,
    entries: Option<Amount>,
    untouched: Option<Remark>,
    inlined: Vec<Inlined>,
    blocks: Vec<BlockData>,
    edges: Vec<EdgeData>,
    loops: Vec<LoopData>,
    calls: Vec<Call>,
}

#[derive(Serialize)]
struct Inlined {
    name: String,
    call: Place,
    parent: Option<u32>,
    entries: Option<Amount>,
}

/// A line of a block: file, line, the inlined copy, the count, and behind how many of the block's call sites it stands.
type LineData = (usize, u32, Option<u32>, Option<Amount>, u32);

#[derive(Serialize)]
struct BlockData {
    count: Option<Amount>,
    instructions: u32,
    lines: Vec<LineData>,
    /// How many call sites the block has.
    sites: usize,
    /// The innermost loop.
    within: Option<u32>,
}

#[derive(Serialize)]
struct EdgeData {
    from: u32,
    /// `None` is the way out of the function.
    to: Option<u32>,
    kind: String,
    count: Option<Amount>,
    /// The edge leads back to the header of a loop.
    back: bool,
}

#[derive(Serialize)]
struct LoopData {
    header: u32,
    parent: Option<u32>,
    place: Place,
    /// Entries, trips and instructions, where they are known.
    counts: Option<[Amount; 3]>,
}

/// A call: by the function that makes it, or of it.
#[derive(Serialize)]
struct Call {
    /// The block that makes it.
    block: u32,
    /// Caller or callee, if it has a page.
    function: Option<usize>,
    /// What it is called if it has none.
    name: Option<String>,
    place: Place,
    count: Option<Amount>,
}

/// Writes all functions, several to a script.
///
/// # Errors
/// If one can't be written.
pub(super) fn write(pages: &Pages<'_>, numbering: &Numbering<'_>, add: &mut Add<'_>) -> io::Result<()> {
    let graph = Callers::new(pages, numbering);
    for (number, functions) in numbering.functions.chunks(PER_SCRIPT).enumerate() {
        let details: Vec<Details<'_>> = (number * PER_SCRIPT..)
            .zip(functions)
            .map(|(number, function)| {
                let unit = &pages.units()[function.unit];
                let bodies = function.summary.bodies.iter().filter_map(|&body| unit.function(body));
                Details {
                    symbol: &function.summary.symbol,
                    bodies: bodies.map(|body| graph.body(unit, function.unit, body)).collect(),
                    callers: graph.callers(number),
                    doubts: doubts(&function.summary),
                }
            })
            .collect();
        let name = format!("functions/{number}");
        add(name.clone(), script(&name, &details)?)?;
    }
    Ok(())
}

/// Why a function is not vouched for.
fn doubts(function: &FunctionSummary) -> Vec<Remark> {
    let failed = function.failed.then(|| Remark::without_code("its counts contradict their plan"));
    function.flaws.iter().map(|&of| flaw(of)).chain(failed).collect()
}

/// Who calls whom.
struct Callers<'p> {
    pages: &'p Pages<'p>,
    numbering: &'p Numbering<'p>,
    /// By unit and body: the function of the costs.
    costs_of: HashMap<(usize, FunctionId), usize>,
    /// By function: arcs of calls of it.
    arcs: Vec<Vec<usize>>,
}

impl<'p> Callers<'p> {
    fn new(pages: &'p Pages<'p>, numbering: &'p Numbering<'p>) -> Self {
        let costs = pages.costs;
        let body = |function: usize| (costs.functions[function].unit, costs.functions[function].function.index);
        let mut arcs = vec![Vec::new(); numbering.functions.len()];
        for (number, arc) in costs.graph.arcs().iter().enumerate() {
            let (unit, callee) = body(arc.callee);
            if let Some(callee) = numbering.of_body(unit, callee) {
                arcs[callee].push(number);
            }
        }
        let costs_of = (0..costs.functions.len()).map(|function| (body(function), function)).collect();
        Self { pages, numbering, costs_of, arcs }
    }

    /// The known calls of a function, the most frequent first.
    fn callers(&self, function: usize) -> Vec<Call> {
        let costs = self.pages.costs;
        let mut calls: Vec<_> = self.arcs[function].iter().map(|&arc| costs.graph.arcs()[arc]).collect();
        calls.sort_by_key(|arc| std::cmp::Reverse(arc.calls));
        let call = |arc: &crate::costs::calls::Arc| {
            let caller = &costs.functions[arc.caller];
            Some(Call {
                block: caller.call(arc.call)?.block.0,
                function: self.numbering.of_body(caller.unit, caller.function.index),
                name: None,
                place: self.numbering.place(caller.unit, caller.function.facts.call_position(arc.call)),
                count: Some(arc.calls.into()),
            })
        };
        calls.iter().filter_map(call).collect()
    }

    fn body<'a>(&self, unit: &Unit<'a>, number: usize, body: UnitFunction<'a>) -> Body<'a> {
        let facts = body.facts;
        let flow = body.flow();
        let place = |at| self.numbering.place(number, at);
        let entries = flow.as_ref().map(inlined_entries).unwrap_or_default();
        let inlined = (0..).zip(&facts.inlined).map(|(index, copy)| Inlined {
            name: self.pages.names.show(&copy.symbol),
            call: place(copy.call),
            parent: copy.parent,
            entries: entries.iter().find(|entry| entry.index == index).map(|entry| entry.entries.into()),
        });
        let forest = flow.as_ref().map(|flow| {
            let dfs = Dfs::new(&flow.cfg);
            (LoopForest::new(&flow.cfg, &dfs), dfs)
        });
        let within = |block| forest.as_ref().and_then(|(forest, _)| forest.innermost(block)).map(|l| l.index() as u32);
        let blocks = facts.blocks.iter().enumerate().map(|(index, block)| BlockData {
            count: flow.as_ref().map(|flow| flow.block(Block::new(index)).into()),
            instructions: block.instructions.total,
            lines: (block.lines.iter())
                .filter_map(|span| {
                    let file = self.numbering.of_path(unit.file(span.at.file))?;
                    let count = flow.as_ref().map(|flow| flow.after(Block::new(index), span.after_sites).into());
                    Some((file, span.at.line, span.inlined, count, span.after_sites))
                })
                .collect(),
            sites: facts.sites_of(Block::new(index)).count(),
            within: within(Block::new(index)),
        });
        let edges = facts.edges.iter().enumerate().map(|(index, edge)| EdgeData {
            from: edge.src.0,
            to: (edge.dst != facts.exit()).then_some(edge.dst.0),
            kind: outcome_name(edge.kind),
            count: flow.as_ref().and_then(|flow| flow.edge(Edge::new(index))).map(Into::into),
            back: forest.as_ref().is_some_and(|(_, dfs)| dfs.is_backedge(Edge::new(index))),
        });
        let counted = flow.as_ref().map(loops::of_function).unwrap_or_default();
        let loops = forest.as_ref().map(|(forest, _)| {
            let data = |found| {
                let header = forest.header(found);
                let known = counted.iter().find(|known| known.header == header);
                LoopData {
                    header: header.0,
                    parent: forest.parent(found).map(|parent| parent.index() as u32),
                    place: known.and_then(|known| place(known.position)),
                    counts: known.map(|known| [known.entries.into(), known.trips.into(), Amount(known.instructions)]),
                }
            };
            forest.loops().map(data).collect()
        });
        Body {
            module: &body.module.name,
            linkage: match facts.linkage {
                Linkage::Internal => "internal",
                Linkage::External => "external",
                Linkage::Copy => "copy",
            },
            entries: body.profile.map(|profile| profile.entries.into()),
            untouched: facts.untouched.map(untouched),
            inlined: inlined.collect(),
            blocks: blocks.collect(),
            edges: edges.collect(),
            loops: loops.unwrap_or_default(),
            calls: self.calls(number, &body),
        }
    }

    /// The calls that a body makes, in the order of the code.
    fn calls(&self, unit: usize, body: &UnitFunction<'_>) -> Vec<Call> {
        let facts = body.facts;
        let arcs = self.pages.costs.graph.arcs();
        let own = self.costs_of.get(&(unit, body.index)).copied();
        // Arcs are sorted by callers.
        let from = own.map_or(0, |own| arcs.partition_point(|arc| arc.caller < own));
        let mine = arcs[from..].iter().take_while(|arc| Some(arc.caller) == own);
        let callees: HashMap<_, _> = mine.map(|arc| (arc.call, arc.callee)).collect();
        let made: Option<HashMap<_, _>> =
            own.map(|own| self.pages.costs.functions[own].calls.iter().copied().collect());
        let calls = facts.calls.numbered().filter(|(_, call)| !call.resume_marker && !call.is_fault());
        let call = |(id, call): (_, &cotree_core::facts::Call)| {
            let callee = callees.get(&id).and_then(|&callee| {
                let callee = &self.pages.costs.functions[callee];
                self.numbering.of_body(callee.unit, callee.function.index)
            });
            Call {
                block: call.block.0,
                function: callee,
                name: callee.is_none().then(|| self.pages.names.callee(call)),
                place: self.numbering.place(unit, facts.call_position(id)),
                count: made.as_ref().map(|made| made.get(&id).copied().unwrap_or(0).into()),
            }
        };
        calls.map(call).collect()
    }
}
