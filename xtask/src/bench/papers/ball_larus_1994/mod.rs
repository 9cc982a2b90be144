//! Ball & Larus 1994, *Optimally profiling and tracing programs*: Tables 1 to 3, Graphs 1 to 5, and §6.3.

mod placement;
mod tracing;

use super::program::{Program, known, mean, percent, range, ratio, share, times};
use super::sheet::{Column, Line, Part, Sheet};
use crate::bench::variants::{self, BLOCK, EDGE, PATH, PLAIN, WEIGHTED};

/// All tables and graphs.
pub fn write(programs: &[Program<'_>], sheet: &mut Sheet) {
    sheet.paper("Ball & Larus 1994", "Optimally profiling and tracing programs");
    table_1(programs, sheet);
    graph_1(programs, sheet);
    placement::graph_2(programs, sheet);
    placement::graph_3(programs, sheet);
    placement::table_2(programs, sheet);
    tracing::table_3(programs, sheet);
    section_6_3(programs, sheet);
    placement::graph_4(programs, sheet);
    graph_5(programs, sheet);
}

fn kilo(bytes: u64) -> String {
    format!("{:.0}", bytes as f64 / 1e3)
}

/// How much longer the link with spanning trees takes than the one with all counters.
fn slower_link(program: &Program<'_>) -> Option<f64> {
    ratio(program.size(PLAIN)?.link_ms as f64, program.size(BLOCK)?.link_ms as f64)
}

fn table_1(programs: &[Program<'_>], sheet: &mut Sheet) {
    let link = |build: &'static str| move |p: &Program<'_>| Some(p.size(build)?.link_ms.to_string());
    sheet.part(programs, Part {
        place: "Table 1",
        about: "The size of each program without counters, and the time that it takes to place counters and to \
                compile the result. Ours that are redundant count every block and every edge.",
        lines: vec![Line {
            quantity: "placing optimal counters, over placing redundant ones, in time",
            theirs: "1.22 to 1.38",
            ours: range(known(programs, slower_link), times),
            why: "qpt edits machine code. cotree's link also compiles the program, with fewer counters where they are \
                  optimal.",
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
    sheet.part(
        programs,
        Part {
            place: "Graph 1",
            about: "Overhead of redundant and of optimal counters. Ours that are redundant count every block and every \
                edge.",
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
                    why: "As before. The most is matrix, whose loop a counter keeps from being vectorised.",
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
            timed: true,
            ..Part::default()
        },
    );
}

fn section_6_3(programs: &[Program<'_>], sheet: &mut Sheet) {
    let saved = |p: &Program<'_>| ratio(p.over(PLAIN)?, p.over(variants::AFFINE)?);
    sheet.part(programs, Part {
        place: "§6.3",
        about: "Loop variables in place of counters, and all of cotree's optimisations: instructions over the build \
                without counters.",
        lines: vec![Line {
            quantity: "instructions that loop variables save",
            theirs: "increments of eqntott from 4.3 to 7.7 times fewer; matrix300 33 times fewer instructions of \
                     counters; xlisp little",
            ours: range(known(programs, |p| saved(p).map(|s| 1.0 - 1.0 / s)), share)
                .map(|ours| format!("of all instructions {ours}")),
            why: "Theirs is a share of the counters' work and ours of the program's. As there, matrix gains much, and \
                  what chases pointers nothing.",
        }, Line {
            quantity: "register scavenging",
            theirs: "6 to 21 % of some programs",
            ours: Some("Not done by cotree: an increment of memory needs no register on x86-64.".into()),
            why: "The machines differ.",
        }, Line {
            quantity: "jumps that are avoided",
            theirs: "10 % of xlisp",
            ours: Some("Not measured apart: a counter stands in an edge's only neighbour anyway.".into()),
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
            why: "Ours also tells the compiler the weights of branches, which makes some programs faster than without \
                  counters.",
        }],
        columns: vec![
            Column::new("heuristic", |p| p.over(EDGE).map(percent)),
            Column::new("exact", |p| p.over(WEIGHTED).map(percent)),
            Column::new("heuristic, time", |p| p.time(EDGE).map(percent)),
            Column::new("exact, time", |p| p.time(WEIGHTED).map(percent)),
        ],
        builds: &[EDGE, WEIGHTED],
            timed: true,
        ..Part::default()
    });
}
