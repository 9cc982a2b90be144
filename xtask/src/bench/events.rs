//! What one counter of events takes, beside edge profiles and an addition at every stretch of code.

use super::results::{Results, percent};
use super::variants::{self, Variant};
use crate::table::Table;
use std::fmt::Write;

/// The columns: their titles, and the builds that they are of.
const COLUMNS: [(&str, &str); 5] = [
    ("edge", variants::EDGE),
    ("edge, plain", variants::PLAIN),
    ("events", variants::EVENTS),
    ("events, naive", variants::NAIVE_EVENTS),
    ("events, --event-limit", variants::EVENT_LIMITS),
];

/// The table, if anything is known: of the programs that were measured with [`variants::EVENTS`].
pub fn write(results: &Results, out: &mut String) -> std::fmt::Result {
    let Some(events) = results.named(variants::EVENTS) else { return Ok(()) };
    let builds: Vec<Option<&Variant>> = COLUMNS.iter().map(|(_, name)| results.named(name)).collect();
    let mut table = Table::new(["program"].into_iter().chain(COLUMNS.map(|(title, _)| title)));
    let measured: Vec<_> = results.programs.iter().filter(|program| program.overhead(events).is_some()).collect();
    if measured.is_empty() {
        return Ok(());
    }
    for program in &measured {
        let cells = builds.iter().map(|build| percent(build.and_then(|build| program.overhead(build))));
        table.row(std::iter::once(program.name.to_owned()).chain(cells));
    }
    // Of these programs alone, so that the columns are of the same ones.
    let total = |build: Option<&Variant>| {
        let build = build?;
        let of = |name: &str| -> Option<u64> {
            measured.iter().map(|program| Some(program.counted.get(name)?.instructions)).sum()
        };
        Some(of(&build.name)? as f64 / of(build.tool.base())? as f64)
    };
    table.row(std::iter::once("total".to_owned()).chain(builds.into_iter().map(|build| percent(total(build)))));
    writeln!(
        out,
        "## Event counts\n\nOne counter of IR instructions (Ball 1994), beside edge profiles of the same programs and the naive way, an \
         addition at every stretch of code: instructions over the build without counters. With `--event-limit` there are safe points, \
         and the count is exact wherever unknown code is called.\n\n{table}"
    )
}
