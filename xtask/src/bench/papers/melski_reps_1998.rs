//! Melski & Reps 1998, *Interprocedural path profiling*: what their discussion leaves open. The paper has no
//! measurements.

use super::program::{Program, known, percent, range, ratio};
use super::sheet::{Column, Line, Part, Sheet};
use super::structure;
use crate::bench::across::Across;
use crate::bench::variants::{ACROSS, PATH};

/// What the paper has in place of numbers.
const NO_MEASUREMENT: &str = "The paper has no measurement.";

/// The share of paths that run, the bits of their numbers, and what factoring out saves.
pub fn write(programs: &[Program<'_>], sheet: &mut Sheet) {
    sheet.paper("Melski & Reps 1998", "Interprocedural path profiling");
    executed(programs, sheet);
    bits(programs, sheet);
    factored(programs, sheet);
}

fn planned<'a>(program: &'a Program<'_>) -> Option<&'a Across> {
    program.measured.counted.get(ACROSS)?.across.as_ref()
}

fn uncut<'a>(program: &'a Program<'_>) -> Option<&'a structure::Across> {
    program.facts?.across.as_ref()
}

fn of_possible(p: &Program<'_>) -> Option<f64> {
    let planned = planned(p)?;
    ratio(planned.run as f64, planned.possible as f64)
}

fn power(bits: f64) -> String {
    format!("2^{bits:.1}")
}

/// A share that may be tiny.
fn tiny(part: f64) -> String {
    let percent = 100.0 * part;
    if percent < 0.001 { format!("10^{:.0} %", percent.log10()) } else { format!("{percent:.3} %") }
}

fn executed(programs: &[Program<'_>], sheet: &mut Sheet) {
    sheet.part(
        programs,
        Part {
            place: "§9.1, paths that run",
            about: "Observable paths as cotree numbers them, calls cut where there would be too many, and those that \
                    ran; then paths within functions.",
            lines: vec![Line {
                quantity: "paths that run, of all observable paths",
                theirs: "“It remains to be seen” whether that is a small fraction, as it is within functions.",
                ours: range(known(programs, of_possible), tiny),
                why: "The paper leaves it open. Next to none run where numbers fill 62 bits. While calls were cut \
                      until all paths fit an array (before 2026-11-28), 0.5 % of SQLite's ran and 0.6 % of Lua's.",
            }],
            columns: vec![
                Column::new("observable", |p| Some(power((planned(p)?.possible as f64).log2()))),
                Column::new("run", |p| Some(planned(p)?.run.to_string())),
                Column::new("of all", |p| of_possible(p).map(tiny)),
                Column::new("calls crossed", |p| Some(planned(p)?.calls[0].to_string())),
                Column::new("calls cut", |p| Some(planned(p)?.calls[1].to_string())),
                Column::new("within functions", |p| {
                    planned(p).and(p.facts).map(|facts| power(facts.paths.possible.log2()))
                }),
                Column::new("run within", |p| planned(p).and(p.facts).map(|facts| facts.paths.different.to_string())),
                Column::new("overhead", |p| p.over(ACROSS).map(percent)),
            ],
            builds: &[ACROSS],
            facts: true,
            ..Part::default()
        },
    );
}

fn bits(programs: &[Program<'_>], sheet: &mut Sheet) {
    sheet.part(
        programs,
        Part {
            place: "§9.1, bits",
            about: "Bits of the largest path number if no call is cut but recursive ones and those through pointers, \
                    and no edge but those that end paths anyway; beside it the bits that cotree's cuts leave, with \
                    the paths that end in a call that never returns.",
            lines: vec![Line {
                quantity: "bits of a path number",
                theirs: "at most as many as the supergraph has vertices; more than a word is “possibly infeasible”",
                ours: range(known(programs, |p| Some(uncut(p)?.bits)), |bits| format!("{bits:.0}")),
                why: "A path goes through a callee as often as it is called, so its bits grow with the depth of calls \
                      and not with the size of the program alone. cotree cuts calls and cold edges until the number \
                      fits a word.",
            }],
            columns: vec![
                Column::new("blocks", |p| Some(p.facts?.graph[0].to_string())),
                Column::new("bits, uncut", |p| Some(format!("{:.0}", uncut(p)?.bits))),
                Column::new("bits, as planned", |p| Some(format!("{:.1}", (planned(p)?.possible as f64).log2()))),
                Column::new("bits per block", |p| {
                    ratio(uncut(p)?.bits, p.facts?.graph[0] as f64).map(|n| format!("{n:.2}"))
                }),
            ],
            builds: &[ACROSS],
            facts: true,
            ..Part::default()
        },
    );
}

fn factored(programs: &[Program<'_>], sheet: &mut Sheet) {
    let saved = |p: &Program<'_>| {
        let uncut = uncut(p)?;
        ratio(uncut.multiplying as f64, uncut.needed as f64)
    };
    sheet.part(
        programs,
        Part {
            place: "§5.5.1",
            about: "Edges of the uncut graph that add to the path number and those that multiply for it, beside the \
                    places that need the number: calls that paths cross, returns, and ends of paths. Factored out, \
                    there is one multiplication at each of these.",
            lines: vec![Line {
                quantity: "multiplications on edges, over places that need one when they are factored out",
                theirs: NO_MEASUREMENT,
                ours: range(known(programs, saved), |factor| format!("{factor:.2}")),
                why: "cotree always factors out, and also moves what is left to chords; the overhead of both is that \
                      of ipath. Where calls are many, as many places need the number as edges multiply.",
            }],
            columns: vec![
                Column::new("edges that add", |p| Some(uncut(p)?.adding.to_string())),
                Column::new("edges that multiply", |p| Some(uncut(p)?.multiplying.to_string())),
                Column::new("places of need", |p| Some(uncut(p)?.needed.to_string())),
                Column::new("multiply / need", move |p| saved(p).map(|factor| format!("{factor:.2}"))),
                Column::new("path", |p| p.over(PATH).map(percent)),
                Column::new("ipath", |p| p.over(ACROSS).map(percent)),
            ],
            builds: &[PATH, ACROSS],
            facts: true,
            ..Part::default()
        },
    );
}
