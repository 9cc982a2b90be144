//! Ball & Larus 1996, *Efficient path profiling*: Tables 1 to 3. The text that we have has lost the digits of its
//! tables; the numbers here are those of its abstract and of the sentences about averages.

use super::facts::{OtherRun, Paths};
use super::program::{Program, known, mean, percent, range, ratio, share, times};
use super::sheet::{Column, Line, Part, Sheet};
use crate::bench::results::median;
use crate::bench::variants::{self, EDGE, PATH, PLAIN};

/// What stands for a number that our copy of the text lacks.
const LOST: &str = "The digits of this table are lost in the text that we have.";

/// All tables.
pub fn write(programs: &[Program<'_>], sheet: &mut Sheet) {
    sheet.paper("Ball & Larus 1996", "Efficient path profiling");
    table_1(programs, sheet);
    table_2(programs, sheet);
    table_3(programs, sheet);
}

fn paths<'a>(program: &'a Program<'_>) -> Option<&'a Paths> {
    Some(&program.facts?.paths)
}

fn other<'a>(program: &'a Program<'_>) -> Option<&'a OtherRun> {
    program.facts?.other_run.as_ref()
}

fn average(programs: &[Program<'_>], build: &str) -> Option<String> {
    let overheads = known(programs, |p| p.over(build));
    let count = overheads.len();
    (count > 0).then(|| format!("{} ({count} programs)", percent(overheads.iter().sum::<f64>() / count as f64)))
}

fn hashed(p: &Program<'_>) -> Option<f64> {
    let paths = paths(p)?;
    ratio(paths.hashed, paths.increments)
}

fn table_1(programs: &[Program<'_>], sheet: &mut Sheet) {
    let over = |build: &'static str| move |p: &Program<'_>| p.over(build).map(percent);
    let factor = |p: &Program<'_>| {
        let factor = ratio(p.over(PATH)? - 1.0, p.over(PLAIN)? - 1.0);
        Some(factor.map_or_else(|| "edges cost nothing".to_owned(), times))
    };
    let edges = |p: &Program<'_>| ratio(p.placed("edge")?.increments, paths(p)?.increments);
    sheet.part(
        programs,
        Part {
            place: "Table 1",
            about: "Path profiles beside edge profiles on plain spanning trees, as those of qpt are. A factor is left \
                    out where edge profiles cost nothing.",
            lines: vec![
                Line {
                    quantity: "overhead of path profiles, average",
                    theirs: "31 % in time (SPEC95)",
                    ours: average(programs, PATH).map(|ours| format!("{ours}, by instructions")),
                    why: "Theirs rewrites SPARC executables without a compiler behind it, and hashing is a call there.",
                },
                Line {
                    quantity: "overhead of edge profiles, average",
                    theirs: "16 % in time (SPEC95)",
                    ours: average(programs, PLAIN).map(|ours| format!("{ours}, by instructions")),
                    why: "An increment takes several SPARC instructions and one here. Much of ours is matrix, whose \
                          loop a counter keeps from being vectorised.",
                },
                Line {
                    quantity: "increments in hash tables, of all path increments",
                    theirs: LOST,
                    ours: range(known(programs, hashed), share),
                    why: "Ours also cuts paths at cold edges, so that few functions have more paths than an array can \
                          hold.",
                },
                Line {
                    quantity: "edge increments over path increments",
                    theirs: LOST,
                    ours: range(known(programs, edges), times),
                    why: "The digits are lost.",
                },
            ],
            columns: vec![
                Column::new("base, M instr.", |p| p.instructions(variants::NONE).map(|n| format!("{:.1}", n / 1e6))),
                Column::new("path", over(PATH)),
                Column::new("edge, plain", over(PLAIN)),
                Column::new("edge, default", over(EDGE)),
                Column::new("path / edge", factor),
                Column::new("path incr., M", |p| Some(times(paths(p)?.increments / 1e6))),
                Column::new("edge / path incr.", move |p| edges(p).map(times)),
                Column::new("hashed", |p| hashed(p).map(share)),
                Column::new("instr. per incr.", |p| {
                    ratio(p.instructions(variants::NONE)?, paths(p)?.increments).map(|n| format!("{n:.1}"))
                }),
            ],
            builds: &[PATH, PLAIN, EDGE],
            facts: true,
            ..Part::default()
        },
    );
}

fn correct(p: &Program<'_>) -> Option<f64> {
    let [right, all] = paths(p)?.foretold;
    ratio(right as f64, all as f64)
}

fn correct_executions(p: &Program<'_>) -> Option<f64> {
    let [right, all] = paths(p)?.foretold_executions;
    ratio(right, all)
}

fn table_2(programs: &[Program<'_>], sheet: &mut Sheet) {
    let pair = |pair: [f64; 2]| format!("{:.1}, {:.1}", pair[0], pair[1]);
    let instructions = |number: fn(&Paths) -> f64| {
        median(known(programs, |p| paths(p).map(number))).map(|median| format!("median {median:.1}"))
    };
    sheet.part(
        programs,
        Part {
            place: "Table 2",
            about: "The paths that ran, and those that the most frequent edge out of each block foretells. Lengths \
                    are in edges and in IR instructions, averages over executions. A foretold path is measured up to \
                    the first wrong edge. Turns of loops of one block are counted apart.",
            lines: vec![
                Line {
                    quantity: "instructions of an executed path, average",
                    theirs: "88 (SPEC95)",
                    ours: instructions(|paths| paths.average[1]),
                    why: "Fortran programs have blocks of hundreds of instructions. Ours are mostly integer code, in \
                          IR instructions.",
                },
                Line {
                    quantity: "instructions of a path that edges foretell, average",
                    theirs: "34 (SPEC95)",
                    ours: instructions(|paths| paths.foretold_average[1]),
                    why: "The first wrong edge comes as late or as early as there; the blocks are smaller.",
                },
                Line {
                    quantity: "different paths that edges foretell wholly, of all executed",
                    theirs: LOST,
                    ours: range(known(programs, correct), share),
                    why: "The digits are lost. Each beginning has one foretold path, however many of its paths run.",
                },
                Line {
                    quantity: "executions of paths that edges foretell wholly",
                    theirs: "The paper does not weigh paths in this.",
                    ours: range(known(programs, correct_executions), share),
                    why: "The most frequent paths are mostly those that edges foretell.",
                },
            ],
            columns: vec![
                Column::new("paths", |p| Some(paths(p)?.different.to_string())),
                Column::new("longest", |p| paths(p).map(|p| format!("{}, {}", p.longest[0], p.longest[1]))),
                Column::new("average", move |p| paths(p).map(|p| pair(p.average))),
                Column::new("foretold, average", move |p| paths(p).map(|p| pair(p.foretold_average))),
                Column::new("foretold wholly", |p| correct(p).map(share)),
                Column::new("of executions", |p| correct_executions(p).map(share)),
                Column::new("functions", |p| Some(paths(p)?.functions.to_string())),
                Column::new("most paths of one", |p| Some(paths(p)?.most.to_string())),
                Column::new("paths of each", |p| {
                    ratio(paths(p)?.different as f64, paths(p)?.functions as f64).map(|n| format!("{n:.1}"))
                }),
            ],
            facts: true,
            ..Part::default()
        },
    );
}

fn table_3(programs: &[Program<'_>], sheet: &mut Sheet) {
    let common = |pair: fn(&OtherRun) -> [f64; 2]| {
        move |p: &Program<'_>| {
            let [both, all] = pair(other(p)?);
            ratio(both, all)
        }
    };
    let of_paths = common(|run| run.paths);
    let of_executions = common(|run| run.executions);
    let of_instructions = common(|run| run.instructions);
    sheet.part(
        programs,
        Part {
            place: "Table 3",
            about: "The paths of a longer run that a shorter one took, too. The longer run is the workload for taking \
                    times, the shorter one the workload of all other tables.",
            lines: vec![
                Line {
                    quantity: "paths of ref that train took, too",
                    theirs: "most of the paths (SPEC95)",
                    ours: range(known(programs, of_paths), share),
                    why: "Short runs of ours mostly do the same work with other sizes. bzip2 compresses other data.",
                },
                Line {
                    quantity: "executions of paths of ref that train took, too",
                    theirs: LOST,
                    ours: mean(known(programs, of_executions), share),
                    why: "The digits are lost. As the paper says, the common paths are the important ones.",
                },
                Line {
                    quantity: "instructions in paths of ref that train took, too",
                    theirs: LOST,
                    ours: mean(known(programs, of_instructions), share),
                    why: "The digits are lost. As the paper says, the common paths are the important ones.",
                },
            ],
            columns: vec![
                Column::new("paths of the long run", |p| Some(format!("{:.0}", other(p)?.paths[1]))),
                Column::new("common", move |p| of_paths(p).map(share)),
                Column::new("executions", move |p| of_executions(p).map(share)),
                Column::new("instructions", move |p| of_instructions(p).map(share)),
            ],
            facts: true,
            ..Part::default()
        },
    );
}
