//! The page of an invented store.

use super::facts::{Facts, LoopsOfFile, OtherRun, Paths, Placement, Size};
use super::program::Program;
use super::sheet::NOT_MEASURED;
use super::{is_old, sheet, structure};
use crate::bench::across::Across;
use crate::bench::results::Measured;
use crate::bench::store::{Counted, Timed};
use crate::bench::traces::Traced;
use crate::bench::variants::{self, AFFINE, BLOCK, EDGE, NONE, PATH, PLAIN};
use std::collections::BTreeMap;

const NAMES: [&str; 17] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "chase"];

/// All tables and figures that the page has to have.
const PLACES: [(&str, &str); 25] = [
    ("Ball & Larus 1994", "Table 1"),
    ("Ball & Larus 1994", "Table 2"),
    ("Ball & Larus 1994", "Table 3"),
    ("Ball & Larus 1994", "Graph 1"),
    ("Ball & Larus 1994", "Graph 2"),
    ("Ball & Larus 1994", "Graph 3"),
    ("Ball & Larus 1994", "Graph 4"),
    ("Ball & Larus 1994", "Graph 5"),
    ("Ball & Larus 1994", "§6.3"),
    ("Ball 1994", "§3.1, zero chords"),
    ("Ball 1994", "§3.3, query increments"),
    ("Ball 1994", "§1, overhead"),
    ("Ball & Larus 1996", "Table 1"),
    ("Ball & Larus 1996", "Table 2"),
    ("Ball & Larus 1996", "Table 3"),
    ("Frenot & Pereira 2024", "Figure 9"),
    ("Frenot & Pereira 2024", "Figure 10"),
    ("Frenot & Pereira 2024", "Figure 11"),
    ("Frenot & Pereira 2024", "Figure 12, Ptrdist/ks"),
    ("Frenot & Pereira 2024", "Figure 13"),
    ("Melski & Reps 1998", "§9.1, paths that run"),
    ("Melski & Reps 1998", "§9.1, bits"),
    ("Melski & Reps 1998", "§5.5.1"),
    ("Zircon, ASPLOS 2026", "Summary"),
    ("Zircon, ASPLOS 2026", "Summary"),
];

/// A program of which everything is known, numbers growing with `size`.
fn measured(name: &'static str, size: u64) -> Measured {
    let mut measured = Measured {
        name,
        counted: BTreeMap::new(),
        timed: BTreeMap::new(),
        plans: crate::bench::plans::Plans::default(),
    };
    for (number, variant) in (0..).zip(variants::table()) {
        let counted = Counted {
            instructions: 1000 * size + if variant.name == NONE { 0 } else { 10 * size + number },
            bytes: None,
            build_ms: None,
            output: None,
            inputs: String::new(),
            code: None,
            across: Some(Across { possible: 1 << 20, run: 100 * size, calls: [3, 2, 1], text: 0, peak_kib: 0 }),
            traced: Some(Traced { blocks: 100, bytes: 50 + number, stored: 10 }),
            from: "2026-11-24".into(),
        };
        measured.counted.insert(variant.name.clone(), counted);
        let timed = Timed { over_base: Some(1.05), work_ms: None, ends_ms: None, from: "2026-11-23".into() };
        measured.timed.insert(variant.name, timed);
    }
    measured
}

fn facts(size: u64) -> Facts {
    let placement = |increments: f64| Placement { counters: 40, jumps: 20, increments, jumps_executed: 5.0 };
    let methods =
        [("redundant", 400.0), ("edge", 100.0), ("edge_minimum", 200.0), ("vertex", 120.0), ("vertex_edge", 99.0)];
    let placements: BTreeMap<String, Placement> =
        methods.into_iter().map(|(name, increments)| (name.to_owned(), placement(increments))).collect();
    let build = |bytes| Size { bytes, text: bytes / 2, link_ms: 100 + size, distinct: Some(bytes / 10) };
    let builds = [(NONE, 1000), (BLOCK, 2000), (EDGE, 1400), (PLAIN, 1500), (AFFINE, 1600), (PATH, 1700)];
    Facts {
        graph: [60, 100],
        heuristic: placements.clone(),
        exact: placements,
        paths: Paths {
            functions: 10,
            different: 50,
            possible: 1e9,
            executions: 1000,
            increments: 90.0,
            foretold: [30, 50],
            foretold_executions: [800.0, 1000.0],
            ..Paths::default()
        },
        other_run: Some(OtherRun { paths: [9.0, 10.0], executions: [99.0, 100.0], instructions: [98.0, 100.0] }),
        files: vec![LoopsOfFile { loops: size, counters: 9, usable: size / 2, used: 1 }],
        builds: builds.into_iter().map(|(name, bytes)| (name.to_owned(), build(bytes))).collect(),
        events: Some(structure::Events { chords: 40, zero: 4, blocks: 60, exact: 20 }),
        across: Some(structure::Across { bits: 300.0, adding: 100, multiplying: 80, needed: 20 }),
        inputs: String::new(),
        from: "2026-11-28".into(),
    }
}

#[test]
fn the_page_has_every_table_with_all_programs_and_no_empty_cell() {
    let all: Vec<(Measured, Facts)> =
        (1..).zip(NAMES).map(|(size, name)| (measured(name, size), facts(size))).collect();
    let programs: Vec<Program<'_>> =
        all.iter().map(|(measured, facts)| Program { measured, facts: Some(facts), in_rust: false }).collect();
    let sets = ["small functions", "numeric kernels"].map(|name| measured(name, 20));
    let sets = sets.each_ref().map(|measured| Program { measured, facts: None, in_rust: false });
    let sheet = sheet(&programs, &sets);
    for place in PLACES {
        assert!(sheet.places().contains(&place), "{place:?}");
    }
    let text = sheet.text();
    assert!(!text.contains(NOT_MEASURED), "{text}");
    assert!(sheet.cells().all(|cell| !cell.trim().is_empty() && !cell.contains('|')));
    assert!(
        !text.lines().filter(|line| line.starts_with('|')).any(|line| line.contains("|  |") || line.contains("NaN"))
    );
    let parts = text.matches("\n### ").count();
    assert_eq!(text.matches("17 programs. Measurements are from 2026-11-").count(), parts - 1, "{text}");
    assert!(text.contains(
        "| Table 2 | profiled edges, of all edges | 39 to 46 % | 40.0 % to 40.0 %, median 40.0 % (17 programs) |"
    ));
    assert!(text.lines().filter(|line| !line.starts_with('|')).all(|line| line.chars().count() <= 120));
}

#[test]
fn what_is_missing_has_a_sentence() {
    let mut some = measured("a", 1);
    some.counted.remove(BLOCK);
    some.timed.clear();
    let mut other = measured("b", 2);
    other.counted.remove(AFFINE);
    let programs = [
        Program { measured: &some, facts: None, in_rust: false },
        Program { measured: &other, facts: None, in_rust: true },
    ];
    let text = sheet(&programs, &[]).text();
    assert!(text.contains(&format!("| Table 2 | profiled edges, of all edges | 39 to 46 % | {NOT_MEASURED} |")));
    assert!(text.contains("### Table 2\n\nEdges, those that have a counter"), "{text}");
    assert!(text.contains("not measured yet"), "a cell of the redundant build");
    assert!(text.contains("Without b: Rust programs are not built with loop variables alone."), "{text}");
    assert!(!text.contains("|  |") && !text.contains("NaN"), "{text}");
}

#[test]
fn old_measurements_are_told_by_their_day() {
    assert!(is_old("2026-11-26") && is_old("bench/RESULTS.md of 2026-11-23, rounded"));
    assert!(!is_old("2026-11-28") && !is_old("2027-01-01"));
}
