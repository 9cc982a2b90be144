//! Zircon (ASPLOS 2026), the newest exact profiler that places counters by spanning trees, and Nisse before it.

use super::program::{Program, known, mean, percent, times};
use super::sheet::{Column, Line, Part, Sheet};
use crate::bench::variants::{AFFINE, EDGE, PLAIN};

/// Zircon's three numbers; `sets` are our sets of small functions.
pub fn write(programs: &[Program<'_>], sets: &[Program<'_>], sheet: &mut Sheet) {
    let small = sets.iter().find(|set| set.name() == "small functions");
    sheet.paper("Zircon, ASPLOS 2026", "the newest peer");
    sheet.part(
        programs,
        Part {
            place: "Summary",
            about: "Edge profiles as cotree makes them by default, those on spanning trees alone, and those with loop \
                    variables alone. Zircon's own programs (SPEC CPU) are not free, so ours stand beside them.",
            lines: vec![
                Line {
                    quantity: "time of edge profiles",
                    theirs: "+19 % (SPEC)",
                    ours: mean(known(programs, |p| p.time(EDGE)), percent),
                    why: "Other programs and another machine. Ours also knows entries from calls, and counts where it \
                          is cold.",
                },
                Line {
                    quantity: "instructions of small functions",
                    theirs: "1.13 times (Jotai)",
                    ours: small.and_then(|set| set.over(EDGE)).map(|ratio| format!("{} times", times(ratio))),
                    why: "Ours are over a hundred functions made of loops at -O1, not Jotai's.",
                },
                Line {
                    quantity: "Nisse, its predecessor, in time",
                    theirs: "+40 % (SPEC)",
                    ours: mean(known(programs, |p| p.time(PLAIN)), percent).map(|ours| {
                        format!(
                            "plain spanning trees: \
                                                                                                {ours}"
                        )
                    }),
                    why: "Nisse is Frenot & Pereira's profiler, and plain spanning trees are what it starts from.",
                },
            ],
            columns: vec![
                Column::new("default", |p| p.over(EDGE).map(percent)),
                Column::new("spanning trees alone", |p| p.over(PLAIN).map(percent)),
                Column::new("loop variables alone", |p| p.over(AFFINE).map(percent)),
                Column::new("default, time", |p| p.time(EDGE).map(percent)),
                Column::new("spanning trees alone, time", |p| p.time(PLAIN).map(percent)),
            ],
            builds: &[EDGE, PLAIN, AFFINE],
            timed: true,
            empty: "Rust programs are not built so.",
            ..Part::default()
        },
    );
}
