//! What placements of counters cost: Graphs 2 to 4 and Table 2.

use crate::bench::papers::facts::Placement;
use crate::bench::papers::program::{Program, known, range, ratio, share, times};
use crate::bench::papers::sheet::{Column, Line, Part, Sheet};
use crate::bench::variants;

fn mega(number: f64) -> String {
    format!("{:.2}", number / 1e6)
}

/// What counters cost by the paper's measure: five instructions for an increment and one for a jump.
fn instructions(placement: &Placement) -> f64 {
    5.0 * placement.increments + placement.jumps_executed
}

fn fewer_increments(p: &Program<'_>, method: &str) -> Option<f64> {
    ratio(p.placed("redundant")?.increments, p.placed(method)?.increments)
}

fn fewer_instructions(p: &Program<'_>, method: &str) -> Option<f64> {
    ratio(instructions(p.placed("redundant")?), instructions(p.placed(method)?))
}

/// Increments and instructions, redundant over optimal.
pub fn graph_2(programs: &[Program<'_>], sheet: &mut Sheet) {
    sheet.part(
        programs,
        Part {
            place: "Graph 2",
            about: "How many times fewer increments and instructions optimal counters execute than a counter in every \
                block, by the paper's five instructions for an increment and one for a jump.",
            lines: vec![
                Line {
                    quantity: "redundant over optimal increments",
                    theirs: "3 to 4 for the C programs",
                    ours: range(known(programs, |p| fewer_increments(p, "edge")), times),
                    why: "Real programs agree. Kernels whose loops are single blocks leave little to save.",
                },
                Line {
                    quantity: "redundant over optimal overhead in instructions",
                    theirs: "2 to 3 for the C programs",
                    ours: range(known(programs, |p| fewer_instructions(p, "edge")), times),
                    why: "Below 1 are kernels with such a block in each turn of a loop. All count as jumps, though the \
                      compiler lays out many without one.",
                },
            ],
            columns: vec![
                Column::new("every block, M", |p| Some(mega(p.placed("redundant")?.increments))),
                Column::new("optimal, M", |p| Some(mega(p.placed("edge")?.increments))),
                Column::new("jumps, M", |p| Some(mega(p.placed("edge")?.jumps_executed))),
                Column::new("fewer increments", |p| fewer_increments(p, "edge").map(times)),
                Column::new("fewer instructions", |p| fewer_instructions(p, "edge").map(times)),
                Column::new("instructions of a block", |p| {
                    ratio(p.instructions(variants::NONE)?, p.placed("redundant")?.increments).map(|n| format!("{n:.1}"))
                }),
            ],
            builds: &[variants::NONE],
            facts: true,
            ..Part::default()
        },
    );
}

/// Three ways to profile.
pub fn graph_3(programs: &[Program<'_>], sheet: &mut Sheet) {
    let fewer = |method: &'static str| move |p: &Program<'_>| fewer_instructions(p, method).map(times);
    let better = |p: &Program<'_>, method: &str| ratio(fewer_instructions(p, "edge")?, fewer_instructions(p, method)?);
    sheet.part(
        programs,
        Part {
            place: "Graph 3",
            about: "The same measure for edges counted on edges, and for blocks counted on edges and on blocks.",
            lines: vec![
                Line {
                    quantity: "reduction by Eprof(Ecnt) over that by Vprof(Vcnt)",
                    theirs: "above 1 for all programs",
                    ours: range(known(programs, |p| better(p, "vertex")), times),
                    why: "Below 1 are the same kernels: a counter in a block needs no jump.",
                },
                Line {
                    quantity: "reduction by Eprof(Ecnt) over that by Vprof(Ecnt)",
                    theirs: "almost 1: very few counters can be saved",
                    ours: range(known(programs, |p| better(p, "vertex_edge")), times),
                    why: "They agree.",
                },
            ],
            columns: vec![
                Column::new("Eprof(Ecnt)", fewer("edge")),
                Column::new("Vprof(Ecnt)", fewer("vertex_edge")),
                Column::new("Vprof(Vcnt)", fewer("vertex")),
            ],
            facts: true,
            ..Part::default()
        },
    );
}

fn profiled(p: &Program<'_>) -> Option<f64> {
    ratio(p.placed("edge")?.counters as f64, p.facts?.graph[1] as f64)
}

fn no_jump(p: &Program<'_>) -> Option<f64> {
    let edge = p.placed("edge")?;
    ratio((edge.counters - edge.jumps) as f64, edge.counters as f64)
}

/// Edges that have a counter.
pub fn table_2(programs: &[Program<'_>], sheet: &mut Sheet) {
    sheet.part(
        programs,
        Part {
            place: "Table 2",
            about: "Edges, those that have a counter, and the counters that need no block of their own.",
            lines: vec![
                Line {
                    quantity: "profiled edges, of all edges",
                    theirs: "39 to 46 %",
                    ours: range(known(programs, profiled), share),
                    why: "They agree. Of E edges and V blocks E − V + 1 edges are chords, in IR as in machine code.",
                },
                Line {
                    quantity: "profiled edges that need no jump",
                    theirs: "51 to 58 %",
                    ours: range(known(programs, no_jump), share),
                    why: "Ours counts every edge that has to be split; theirs needs no jump where the edge falls \
                          through.",
                },
            ],
            columns: vec![
                Column::new("edges", |p| Some(p.facts?.graph[1].to_string())),
                Column::new("profiled", |p| Some(p.placed("edge")?.counters.to_string())),
                Column::new("of all", |p| profiled(p).map(share)),
                Column::new("without jump", |p| p.placed("edge").map(|e| (e.counters - e.jumps).to_string())),
                Column::new("of profiled", |p| no_jump(p).map(share)),
            ],
            facts: true,
            ..Part::default()
        },
    );
}

/// The heuristic beside exact weights.
pub fn graph_4(programs: &[Program<'_>], sheet: &mut Sheet) {
    let exact = |p: &Program<'_>, method: &str| {
        ratio(p.placed_exactly("redundant")?.increments, p.placed_exactly(method)?.increments)
    };
    let loss = |p: &Program<'_>| ratio(exact(p, "edge")?, fewer_increments(p, "edge")?).map(|ratio| 1.0 - 1.0 / ratio);
    sheet.part(
        programs,
        Part {
            place: "Graph 4",
            about: "Redundant over optimal increments, with counters on the chords of the maximum and the minimum \
                spanning tree, by the static heuristic and by the counts of the very run.",
            lines: vec![
                Line {
                    quantity: "reduction lost by the heuristic against exact weights",
                    theirs: "1 to 34 %",
                    ours: range(known(programs, loss), share),
                    why: "They agree: the heuristic is the paper's, with a few more guesses at branches.",
                },
                Line {
                    quantity: "Heuristic-Max over Heuristic-Min",
                    theirs: "above 1 for all programs",
                    ours: range(
                        known(programs, |p| ratio(fewer_increments(p, "edge")?, fewer_increments(p, "edge_minimum")?)),
                        times,
                    ),
                    why: "They agree.",
                },
            ],
            columns: vec![
                Column::new("heuristic-max", |p| fewer_increments(p, "edge").map(times)),
                Column::new("heuristic-min", |p| fewer_increments(p, "edge_minimum").map(times)),
                Column::new("exact-max", move |p| exact(p, "edge").map(times)),
                Column::new("exact-min", move |p| exact(p, "edge_minimum").map(times)),
            ],
            facts: true,
            ..Part::default()
        },
    );
}
