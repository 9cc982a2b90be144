//! The tables of the papers, of our programs: paths, increments, loops.

use super::across;
use super::events;
use super::results::{Measured, Results, percent};
use super::traces;
use super::variants::{self, Variant};
use crate::table::Table;
use std::fmt::Write;

fn millions(number: f64) -> String {
    format!("{:.2}", number / 1e6)
}

fn share(part: f64, whole: f64) -> String {
    if whole > 0.0 { format!("{:.1} %", 100.0 * part / whole) } else { "–".into() }
}

/// All of them, once anything is known of paths and plans.
pub fn write(results: &Results, out: &mut String) -> std::fmt::Result {
    if results.programs.iter().all(|program| program.plans.paths.is_none()) {
        return Ok(());
    }
    write_paths(results, out)?;
    across::write(results, out)?;
    events::write(results, out)?;
    traces::write(results, out)?;
    write_increments(&results.programs, out)?;
    write_loops(&results.programs, out)
}

fn write_paths(results: &Results, out: &mut String) -> std::fmt::Result {
    let named = [variants::EDGE, variants::PATH].map(|name| results.named(name));
    let [Some(edge), Some(path)] = named else { return Ok(()) };
    let overhead = |program: &Measured, variant: &Variant| percent(program.overhead(variant));
    let mut costs = Table::new([
        "program",
        "base, M instr.",
        "path",
        "edge",
        "path/edge",
        "path increments, M",
        "edge/path increments",
        "hashed",
        "instr. per increment",
    ]);
    let mut lengths = Table::new([
        "program",
        "paths run",
        "most of a function",
        "executions, M",
        "average blocks",
        "average instr.",
        "longest, blocks",
        "longest, instr.",
    ]);
    for program in &results.programs {
        if let Some(increments) = &program.plans.increments {
            let base = program.counted.get(path.tool.base()).map_or(0.0, |cell| cell.instructions as f64);
            let factor = program.overhead(path).zip(program.overhead(edge)).map(|(p, e)| (p - 1.0) / (e - 1.0));
            costs.row([
                program.name.to_owned(),
                format!("{:.1}", base / 1e6),
                overhead(program, path),
                overhead(program, edge),
                factor.map_or("–".into(), |f| format!("{f:.2}")),
                millions(increments.paths),
                format!("{:.2}", increments.heuristic[0] / increments.paths.max(1.0)),
                share(increments.hashed, increments.paths),
                format!("{:.1}", base / increments.paths.max(1.0)),
            ]);
        }
        if let Some(paths) = &program.plans.paths {
            lengths.row([
                program.name.to_owned(),
                paths.different.to_string(),
                paths.most.to_string(),
                millions(paths.executions as f64),
                format!("{:.1}", paths.average[0]),
                format!("{:.1}", paths.average[1]),
                paths.longest[0].to_string(),
                paths.longest[1].to_string(),
            ]);
        }
    }
    writeln!(out, "## Path profiles\n\nWhat they cost (Ball & Larus 1996, Table 1):\n\n{costs}")?;
    writeln!(
        out,
        "The paths that ran (the same, Table 2); instructions are LLVM's, averages are over executions, and turns of loops of a \
         single block, which are counted apart, are no paths:\n\n{lengths}"
    )
}

fn write_increments(programs: &[Measured], out: &mut String) -> std::fmt::Result {
    let header = ["program", "every block, M", "heuristic-max", "heuristic-min", "exact-max", "exact-min"];
    let mut table = Table::new(header);
    let mut sums = [0.0; 5];
    let row = |name: &str, numbers: [f64; 5]| {
        let [redundant, rest @ ..] = numbers;
        let cells = rest.into_iter().map(|n| share(n, redundant));
        [name.to_owned(), millions(redundant)].into_iter().chain(cells).collect::<Vec<String>>()
    };
    for program in programs {
        let Some(i) = &program.plans.increments else { continue };
        let numbers = [i.redundant, i.heuristic[0], i.heuristic[1], i.exact[0], i.exact[1]];
        for (sum, number) in sums.iter_mut().zip(numbers) {
            *sum += number;
        }
        table.row(row(program.name, numbers));
    }
    table.row(row("total", sums));
    writeln!(
        out,
        "## Increments that spanning trees leave\n\nExecuted increments as a share of those of a counter in every block, with \
         counters on the chords of the maximum and the minimum spanning tree, by the static heuristic and by the counts of the \
         very run (Ball & Larus 1994, Graph 4). Loop variables that count are not considered here.\n\n{table}"
    )
}

fn write_loops(programs: &[Measured], out: &mut String) -> std::fmt::Result {
    let mut table =
        Table::new(["program", "loops", "spanning-tree counters", "affine variables", "usable", "counters replaced"]);
    let mut sums = [0; 5];
    for program in programs {
        let Some(l) = &program.plans.loops else { continue };
        let numbers = [l.loops, l.counters, l.variables, l.usable, l.used];
        for (sum, number) in sums.iter_mut().zip(numbers) {
            *sum += number;
        }
        table.row(std::iter::once(program.name.to_owned()).chain(numbers.map(|n| n.to_string())));
    }
    table.row(std::iter::once("total".to_owned()).chain(sums.map(|n| n.to_string())));
    writeln!(
        out,
        "## Loops that count by themselves\n\nOf all code of the C and C++ programs, run or not (Frenot & Pereira 2024, Fig. 11): \
         affine variables of loops, those that could take the place of a counter exactly, and counters that are replaced \
         since that is expected to pay.\n\n{table}"
    )
}
