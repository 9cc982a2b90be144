//! One function's control-flow graph for Graphviz: counts on blocks and edges, hot paths shaded, probes marked.
//!
//! Edges with a counter of their own (the chords of the spanning tree) are blue and bold; those whose counts were
//! derived are grey. The virtual edge from EXIT to the first block, which stands for the function's entries, is drawn
//! as an arrow from ENTRY: it would cross all of a large graph. A block with a counter of its own has a double border.

use crate::branches::outcome_name;
use crate::terminal::grouped;
use crate::unit::{Unit, UnitFunction};
use cotree_core::facts::{BlockFacts, EdgeKind};
use cotree_core::ids::{Block, Edge};
use cotree_core::plan::Measure;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Writes the graph of a function. Without a profile, counts are left out.
///
/// # Errors
/// If the output can't be written.
pub fn write(unit: &Unit<'_>, function: &UnitFunction<'_>, name: &str, out: &mut dyn Write) -> io::Result<()> {
    let facts = function.facts;
    let flow = function.flow();
    let measures = unit.map.plan.method.function(function.index).map_or(&[][..], |plan| plan.measures);
    let measured_edges: HashSet<Edge> =
        measures.iter().filter_map(|m| if let Measure::Edge(e) = m { Some(*e) } else { None }).collect();
    let measured_blocks: HashSet<Block> =
        measures.iter().filter_map(|m| if let Measure::Block(b) = m { Some(*b) } else { None }).collect();
    let hottest = flow.as_ref().map_or(0, |f| f.profile.blocks.iter().copied().max().unwrap_or(0));
    let count = |n: u64| grouped(u128::from(n));

    writeln!(out, "digraph cotree {{")?;
    let mut title = name.to_owned();
    if let Some(flow) = &flow {
        let _ = write!(title, "\nentries {}", count(flow.entries()));
        if !flow.profile.flaws.is_empty() {
            title.push_str(" (not vouched for)");
        }
    }
    let _ = write!(title, "\nblue: counted; grey: derived");
    writeln!(out, "  graph [label=\"{}\", labelloc=t, fontname=\"monospace\"];", escape(&title))?;
    writeln!(out, "  node [shape=box, style=filled, fillcolor=white, fontname=\"monospace\", fontsize=10];")?;
    writeln!(out, "  edge [fontname=\"monospace\", fontsize=9, color=gray50];")?;
    for (index, block) in facts.blocks.iter().enumerate() {
        let id = Block::new(index);
        let mut label = id.to_string();
        if let Some(flow) = &flow {
            let _ = write!(label, "  {}", count(flow.block(id)));
        }
        for line in source_lines(unit, block) {
            let _ = write!(label, "\n{line}");
        }
        let executed = flow.as_ref().map(|f| f.block(id));
        let border = if measured_blocks.contains(&id) { ", peripheries=2, color=blue" } else { "" };
        writeln!(out, "  b{index} [label=\"{}\", fillcolor=\"{}\"{border}];", escape(&label), heat(executed, hottest))?;
    }
    writeln!(out, "  exit [label=\"EXIT\", shape=oval];")?;
    let target = |b: Block| if b == facts.exit() { "exit".to_owned() } else { b.to_string() };
    for (index, edge) in facts.edges.iter().enumerate() {
        let id = Edge::new(index);
        let mut label = if edge.kind == EdgeKind::Jump { String::new() } else { outcome_name(edge.kind) };
        let taken = flow.as_ref().and_then(|f| f.edge(id));
        if let Some(taken) = taken {
            let _ = write!(label, "{}{}", if label.is_empty() { "" } else { "\n" }, count(taken));
        }
        let chord = if measured_edges.contains(&id) { ", color=blue, style=bold" } else { "" };
        let dashed = if edge.kind.exceptional() && chord.is_empty() { ", style=dashed" } else { "" };
        let width = 1.0 + 3.0 * share(taken, hottest);
        let to = target(edge.dst);
        writeln!(out, "  {} -> {to} [label=\"{}\", penwidth={width:.1}{chord}{dashed}];", edge.src, escape(&label))?;
    }
    if let Some(flow) = &flow {
        for (index, site) in facts.sites().enumerate() {
            let early = flow.early(u32::try_from(index).unwrap_or(u32::MAX));
            if early != 0 {
                let label = if early > 0 { format!("left early\n{early}") } else { format!("came back\n{}", -early) };
                writeln!(out, "  {} -> exit [label=\"{}\", color=red, style=dashed];", site.block, escape(&label))?;
            }
        }
        let chord =
            if measured_edges.contains(&flow.cfg.exit_edge()) { "color=blue, style=bold" } else { "color=gray50" };
        let entries = count(flow.entries());
        writeln!(out, "  entry [label=\"ENTRY\", shape=oval];")?;
        writeln!(out, "  entry -> b0 [label=\"{entries}\", {chord}];")?;
    }
    writeln!(out, "}}")
}

/// Runs of lines of a block: `a.c:10-12`.
fn source_lines(unit: &Unit<'_>, block: &BlockFacts) -> Vec<String> {
    let mut runs: Vec<(u32, u32, u32)> = Vec::new();
    for span in &block.lines {
        match runs.last_mut() {
            Some((file, _, last)) if *file == span.at.file && (*last == span.at.line || *last + 1 == span.at.line) => {
                *last = span.at.line;
            }
            _ => runs.push((span.at.file, span.at.line, span.at.line)),
        }
    }
    let more = runs.len().saturating_sub(6);
    runs.truncate(6);
    let mut lines: Vec<String> = runs
        .into_iter()
        .map(|(file, first, last)| {
            let path = unit.file(file);
            let name = path.rsplit('/').next().unwrap_or(path);
            if first == last { format!("{name}:{first}") } else { format!("{name}:{first}-{last}") }
        })
        .collect();
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines
}

/// Heat from 0 to 1 on a logarithmic scale.
fn share(count: Option<u64>, hottest: u64) -> f64 {
    match count {
        Some(count) if hottest > 0 => ((count as f64) + 1.0).ln() / ((hottest as f64) + 1.0).ln(),
        _ => 0.0,
    }
}

/// White for cold, red for hot, grey for never.
fn heat(count: Option<u64>, hottest: u64) -> String {
    match count {
        None => "white".into(),
        Some(0) => "gray90".into(),
        Some(_) => format!("0.050 {:.3} 1.000", 0.05 + 0.55 * share(count, hottest)),
    }
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
