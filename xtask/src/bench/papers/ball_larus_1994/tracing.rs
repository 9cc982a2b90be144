//! What traces take: Table 3.

use crate::bench::papers::program::{Program, known, percent, range, ratio, times};
use crate::bench::papers::sheet::{Column, Line, Part, Sheet};
use crate::bench::variants::{TRACE, TRACE_BRANCHES, TRACE_BY};

fn mega(number: f64) -> String {
    format!("{:.2}", number / 1e6)
}

fn bytes(p: &Program<'_>, build: &str) -> Option<f64> {
    p.traced(build).map(|traced| traced.bytes as f64)
}

fn smaller(p: &Program<'_>, new: &str) -> Option<f64> {
    ratio(bytes(p, TRACE_BRANCHES)?, bytes(p, new)?)
}

/// Witnesses in place of a record of each branch.
pub fn table_3(programs: &[Program<'_>], sheet: &mut Sheet) {
    let [witness, bits, _] = TRACE_BY;
    sheet.part(programs, Part {
        place: "Table 3",
        about: "Megabytes of the whole trace before compression, by a record of each branch, by witnesses of a byte, \
                by bits, and as cotree writes it; then instructions over the build without counters.",
        lines: vec![
            Line {
                quantity: "trace, old over new (a record per branch, witnesses)",
                theirs: "1.2 to 3.0",
                ours: range(known(programs, |p| smaller(p, witness)), times),
                why: "They agree. Numeric kernels with one way through a loop gain least.",
            },
            Line {
                quantity: "witnesses over bit tracing",
                theirs: "3 to 7",
                ours: range(known(programs, |p| ratio(bytes(p, witness)?, bytes(p, bits)?)), times),
                why: "Least where indirect branches and calls through pointers are many: they take a byte either way.",
            },
            Line {
                quantity: "run time, old over new",
                theirs: "0.9 to 1.2",
                ours: range(known(programs, |p| ratio(p.over(TRACE_BRANCHES)?, p.over(witness)?)), times)
                    .map(|ours| format!("{ours}, by instructions")),
                why: "Theirs is time with the writing of the file; ours counts instructions, those of the compression \
                      among them.",
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
