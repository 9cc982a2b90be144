//! Ball 1994, *Efficiently counting program events with support for on-line queries*: chords at which nothing is added,
//! and points at which a query has to add something. The paper has no measurements.

use super::program::{Program, known, percent, range, ratio, share};
use super::sheet::{Column, Line, Part, Sheet};
use super::structure::Events;
use crate::bench::variants::{EVENTS, NAIVE_EVENTS};

/// Zero chords, query increments, and what both cost.
pub fn write(programs: &[Program<'_>], sheet: &mut Sheet) {
    sheet.paper("Ball 1994", "Efficiently counting program events with support for on-line queries");
    chords(programs, sheet);
    queries(programs, sheet);
    costs(programs, sheet);
}

fn events<'a>(program: &'a Program<'_>) -> Option<&'a Events> {
    program.facts?.events.as_ref()
}

fn zero(program: &Program<'_>) -> Option<f64> {
    let events = events(program)?;
    ratio(events.zero as f64, events.chords as f64)
}

fn exact(program: &Program<'_>) -> Option<f64> {
    let events = events(program)?;
    ratio(events.exact as f64, events.blocks as f64)
}

fn chords(programs: &[Program<'_>], sheet: &mut Sheet) {
    sheet.part(
        programs,
        Part {
            place: "§3.1, zero chords",
            about: "Chords of the maximum spanning trees, and those of them at which a counter of IR instructions \
                    adds nothing.",
            lines: vec![Line {
                quantity: "chords that need no code, of all chords",
                theirs: "The paper says that there may be such chords (if Increment(f) = 0), and not how many.",
                ours: range(known(programs, zero), share),
                why: "Two ways through a program seldom have as many instructions as each other.",
            }],
            columns: vec![
                Column::new("chords", |p| Some(events(p)?.chords.to_string())),
                Column::new("zero", |p| Some(events(p)?.zero.to_string())),
                Column::new("of all", |p| zero(p).map(share)),
            ],
            facts: true,
            ..Part::default()
        },
    );
}

fn queries(programs: &[Program<'_>], sheet: &mut Sheet) {
    sheet.part(
        programs,
        Part {
            place: "§3.3, query increments",
            about: "Blocks, and those at whose beginning the counter is exact without a query increment.",
            lines: vec![Line {
                quantity: "accurate query points, of all blocks",
                theirs: "The paper says that fewer chords mean fewer accurate points, and not how many there are.",
                ours: range(known(programs, exact), share),
                why: "Besides entries only blocks behind chords can be accurate, since all others count ahead or \
                      behind.",
            }],
            columns: vec![
                Column::new("blocks", |p| Some(events(p)?.blocks.to_string())),
                Column::new("accurate", |p| Some(events(p)?.exact.to_string())),
                Column::new("of all", |p| exact(p).map(share)),
            ],
            facts: true,
            ..Part::default()
        },
    );
}

fn costs(programs: &[Program<'_>], sheet: &mut Sheet) {
    sheet.part(
        programs,
        Part {
            place: "§1, overhead",
            about: "One counter of IR instructions, on chords and by an addition in each block.",
            lines: vec![
                Line {
                    quantity: "overhead of an addition in each component",
                    theirs: "200 to 300 % for small blocks",
                    ours: range(known(programs, |p| p.over(NAIVE_EVENTS)), percent),
                    why: "A RISC machine needs several instructions for a counter in memory; one does it here.",
                },
                Line {
                    quantity: "overhead of additions on chords",
                    theirs: "The paper has no measurement.",
                    ours: range(known(programs, |p| p.over(EVENTS)), percent),
                    why: "The paper has nothing to compare with.",
                },
            ],
            columns: vec![
                Column::new("in each block", |p| p.over(NAIVE_EVENTS).map(percent)),
                Column::new("on chords", |p| p.over(EVENTS).map(percent)),
                Column::new("saved, of the overhead", |p| {
                    ratio(p.over(NAIVE_EVENTS)? - p.over(EVENTS)?, p.over(NAIVE_EVENTS)? - 1.0).map(share)
                }),
            ],
            builds: &[NAIVE_EVENTS, EVENTS],
            ..Part::default()
        },
    );
}
