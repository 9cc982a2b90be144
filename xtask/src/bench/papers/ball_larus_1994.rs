//! Ball & Larus 1994, *Optimally profiling and tracing programs*: Tables 1 to 3, Graphs 1 to 5, and §6.3.

use super::facts::Placement;
use super::program::{Program, known, mean, percent, range, ratio, share, times};
use super::sheet::{Column, Line, Part, Sheet};
use crate::bench::variants::{self, BLOCK, EDGE, PATH, PLAIN, TRACE, TRACE_BRANCHES, TRACE_BY, WEIGHTED};

/// All tables and graphs.
pub fn write(programs: &[Program<'_>], sheet: &mut Sheet) {
    sheet.paper("Ball & Larus 1994", "Optimally profiling and tracing programs");
    table_1(programs, sheet);
    graph_1(programs, sheet);
    graph_2(programs, sheet);
    graph_3(programs, sheet);
    table_2(programs, sheet);
    table_3(programs, sheet);
    section_6_3(programs, sheet);
    graph_4(programs, sheet);
    graph_5(programs, sheet);
}

fn kilo(bytes: u64) -> String {
    format!("{:.0}", bytes as f64 / 1e3)
}

fn mega(number: f64) -> String {
    format!("{:.2}", number / 1e6)
}

/// How much longer the link with spanning trees takes than the one with all counters.
fn slower_link(program: &Program<'_>) -> Option<f64> {
    ratio(program.size(PLAIN)?.link_ms as f64, program.size(BLOCK)?.link_ms as f64)
}

fn table_1(programs: &[Program<'_>], sheet: &mut Sheet) {
    let link = |build: &'static str| move |p: &Program<'_>| Some(p.size(build)?.link_ms.to_string());
    sheet.part(programs, Part {
        place: "Table 1",
        about: "The size of each program without counters, and the time that it takes to place counters and to compile the result.",
        lines: vec![Line {
            quantity: "placing optimal counters, over placing redundant ones, in time",
            theirs: "1.22 to 1.38",
            ours: range(known(programs, slower_link), times),
            why: "qpt edits machine code. cotree's link also compiles the program, with fewer counters where they are optimal.",
        }],
        columns: vec![
            Column::new("kB, none", |p| Some(kilo(p.size(variants::NONE)?.bytes))),
            Column::new("kB, redundant", |p| Some(kilo(p.size(BLOCK)?.bytes))),
            Column::new("kB, optimal", |p| Some(kilo(p.size(PLAIN)?.bytes))),
            Column::new("link without counters, ms", link(variants::NONE)),
            Column::new("redundant, ms", link(BLOCK)),
            Column::new("optimal, ms", link(PLAIN)),
            Column::new("optimal / redundant", |p| slower_link(p).map(times)),
        ],
        facts: true,
        empty: "Rust programs are not built with redundant counters.",
        ..Part::default()
    });
}

fn graph_1(programs: &[Program<'_>], sheet: &mut Sheet) {
    let over = |build: &'static str| move |p: &Program<'_>| p.over(build).map(percent);
    let time = |build: &'static str| move |p: &Program<'_>| p.time(build).map(percent);
    sheet.part(programs, Part {
        place: "Graph 1",
        about: "Overhead of redundant and of optimal counters. Ours that are redundant count every block and every edge.",
        lines: vec![
            Line {
                quantity: "overhead of redundant profiling",
                theirs: "10 to 225 % in time",
                ours: range(known(programs, |p| p.over(BLOCK)), percent)
                    .zip(mean(known(programs, |p| p.time(BLOCK)), percent))
                    .map(|(instructions, time)| format!("{instructions}; in time {time}")),
                why: "A counter takes 5 to 11 instructions on the MIPS and one here.",
            },
            Line {
                quantity: "overhead of optimal profiling",
                theirs: "5 to 91 % in time",
                ours: range(known(programs, |p| p.over(PLAIN)), percent)
                    .zip(mean(known(programs, |p| p.time(PLAIN)), percent))
                    .map(|(instructions, time)| format!("{instructions}; in time {time}")),
                why: "As before; a processor of today also executes an increment beside the program's own instructions.",
            },
        ],
        columns: vec![
            Column::new("redundant", over(BLOCK)),
            Column::new("optimal", over(PLAIN)),
            Column::new("cotree's default", over(EDGE)),
            Column::new("redundant, time", time(BLOCK)),
            Column::new("optimal, time", time(PLAIN)),
            Column::new("default, time", time(EDGE)),
        ],
        builds: &[BLOCK, PLAIN, EDGE],
        ..Part::default()
    });
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

fn graph_2(programs: &[Program<'_>], sheet: &mut Sheet) {
    sheet.part(programs, Part {
        place: "Graph 2",
        about: "How many times fewer increments and instructions optimal counters execute than a counter in every block, \
                by the paper's five instructions for an increment and one for a jump.",
        lines: vec![
            Line {
                quantity: "redundant over optimal increments",
                theirs: "3 to 4 for the C programs",
                ours: range(known(programs, |p| fewer_increments(p, "edge")), times),
                why: "The heuristic and the spanning trees are the paper's. Inlining leaves larger functions, and numeric loops \
                      of one block leave nothing to save.",
            },
            Line {
                quantity: "redundant over optimal overhead in instructions",
                theirs: "2 to 3 for the C programs",
                ours: range(known(programs, |p| fewer_instructions(p, "edge")), times),
                why: "Jumps are counted for each block that a counter needs, though the compiler lays many out without one.",
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
    });
}

fn graph_3(programs: &[Program<'_>], sheet: &mut Sheet) {
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
                    why: "Below 1 stands where counters on edges need many jumps, which are all counted.",
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

fn table_2(programs: &[Program<'_>], sheet: &mut Sheet) {
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
                    why: "A graph has |E| − |V| + 1 chords: the share tells how many branches a block has.",
                },
                Line {
                    quantity: "profiled edges that need no jump",
                    theirs: "51 to 58 %",
                    ours: range(known(programs, no_jump), share),
                    why: "IR merges blocks that machine code keeps apart, so more of our edges are critical.",
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

fn bytes(p: &Program<'_>, build: &str) -> Option<f64> {
    p.traced(build).map(|traced| traced.bytes as f64)
}

fn smaller(p: &Program<'_>, new: &str) -> Option<f64> {
    ratio(bytes(p, TRACE_BRANCHES)?, bytes(p, new)?)
}

fn table_3(programs: &[Program<'_>], sheet: &mut Sheet) {
    let [witness, bits, _] = TRACE_BY;
    sheet.part(programs, Part {
        place: "Table 3",
        about: "Megabytes of the whole trace before compression, by a record of each branch, by witnesses of a byte, by bits, and \
                as cotree writes it; then instructions over the build without counters.",
        lines: vec![
            Line {
                quantity: "trace, old over new (a record per branch, witnesses)",
                theirs: "1.2 to 3.0",
                ours: range(known(programs, |p| smaller(p, witness)), times),
                why: "Ours takes a byte for several branches in its record of each branch, so that the old way is smaller.",
            },
            Line {
                quantity: "witnesses over bit tracing",
                theirs: "3 to 7",
                ours: range(known(programs, |p| ratio(bytes(p, witness)?, bytes(p, bits)?)), times),
                why: "Ours marks calls and the ends of functions, which bits do not save.",
            },
            Line {
                quantity: "run time, old over new",
                theirs: "0.9 to 1.2",
                ours: range(known(programs, |p| ratio(p.over(TRACE_BRANCHES)?, p.over(witness)?)), times)
                    .map(|ours| format!("{ours}, by instructions")),
                why: "Theirs is time with the writing of the file; ours counts instructions, those of the compression among them.",
            },
        ],
        columns: vec![
            Column::new("per branch", |p| bytes(p, TRACE_BRANCHES).map(mega)),
            Column::new("witnesses", move |p| bytes(p, witness).map(mega)),
            Column::new("bits", move |p| bytes(p, bits).map(mega)),
            Column::new("cotree's", |p| bytes(p, TRACE).map(mega)),
            Column::new("branch / witnesses", move |p| smaller(p, witness).map(times)),
            Column::new("branch / cotree's", |p| smaller(p, TRACE).map(times)),
            Column::new("per branch, instr.", |p| p.over(TRACE_BRANCHES).map(percent)),
            Column::new("witnesses, instr.", move |p| p.over(witness).map(percent)),
            Column::new("cotree's, instr.", |p| p.over(TRACE).map(percent)),
        ],
        builds: &[TRACE_BRANCHES, TRACE_BY[0], TRACE_BY[1], TRACE],
        ..Part::default()
    });
}

fn section_6_3(programs: &[Program<'_>], sheet: &mut Sheet) {
    let saved = |p: &Program<'_>| ratio(p.over(PLAIN)?, p.over(variants::AFFINE)?);
    sheet.part(programs, Part {
        place: "§6.3",
        about: "Loop variables in place of counters, and all of cotree's optimisations: instructions over the build without counters.",
        lines: vec![Line {
            quantity: "instructions that loop variables save",
            theirs: "increments of eqntott from 4.3 to 7.7 times fewer; matrix300 33 times fewer instructions of counters; xlisp little",
            ours: range(known(programs, |p| saved(p).map(|s| 1.0 - 1.0 / s)), share)
                .map(|ours| format!("of all instructions {ours}")),
            why: "Theirs is a share of the counters' work and ours of the program's. As there, matrix gains much, and what chases \
                  pointers nothing.",
        }, Line {
            quantity: "register scavenging",
            theirs: "6 to 21 % of some programs",
            ours: Some("Not done by cotree: an increment of memory needs no register on x86-64.".into()),
            why: "The machines differ.",
        }, Line {
            quantity: "jumps that are avoided",
            theirs: "10 % of xlisp",
            ours: Some("Not measured apart: counters move to the only neighbour of an edge before jumps are counted.".into()),
            why: "cotree places probes in IR, and the compiler lays out the blocks.",
        }],
        columns: vec![
            Column::new("spanning trees alone", |p| p.over(PLAIN).map(percent)),
            Column::new("with loop variables", |p| p.over(variants::AFFINE).map(percent)),
            Column::new("default", |p| p.over(EDGE).map(percent)),
            Column::new("path profile", |p| p.over(PATH).map(percent)),
        ],
        builds: &[PLAIN, variants::AFFINE, EDGE, PATH],
        empty: "Rust programs are not built with loop variables alone.",
        ..Part::default()
    });
}

fn graph_4(programs: &[Program<'_>], sheet: &mut Sheet) {
    let exact = |p: &Program<'_>, method: &str| {
        ratio(p.placed_exactly("redundant")?.increments, p.placed_exactly(method)?.increments)
    };
    let loss = |p: &Program<'_>| ratio(exact(p, "edge")?, fewer_increments(p, "edge")?).map(|ratio| 1.0 - 1.0 / ratio);
    sheet.part(programs, Part {
        place: "Graph 4",
        about: "Redundant over optimal increments, with counters on the chords of the maximum and the minimum spanning tree, by the static \
                heuristic and by the counts of the very run.",
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
    });
}

fn graph_5(programs: &[Program<'_>], sheet: &mut Sheet) {
    sheet.part(programs, Part {
        place: "Graph 5",
        about: "Overhead of optimal counters by the heuristic and by the counts of the very run.",
        lines: vec![Line {
            quantity: "run time by exact weights over that by the heuristic",
            theirs: "at most 1, but for fpppp; the text gives no numbers",
            ours: mean(known(programs, |p| ratio(p.over(WEIGHTED)?, p.over(EDGE)?)), times)
                .zip(mean(known(programs, |p| ratio(p.time(WEIGHTED)?, p.time(EDGE)?)), times))
                .map(|(instructions, time)| format!("by instructions {instructions}, in time {time}")),
            why: "Ours also tells the compiler the weights of branches, which makes some programs faster than without counters.",
        }],
        columns: vec![
            Column::new("heuristic", |p| p.over(EDGE).map(percent)),
            Column::new("exact", |p| p.over(WEIGHTED).map(percent)),
            Column::new("heuristic, time", |p| p.time(EDGE).map(percent)),
            Column::new("exact, time", |p| p.time(WEIGHTED).map(percent)),
        ],
        builds: &[EDGE, WEIGHTED],
        ..Part::default()
    });
}
