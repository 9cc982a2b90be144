//! The end of a run: the totals of now beside those of the file that was committed.

use super::results::Results;
use super::store::Store;
use super::subject::Workloads;
use super::variants::Variant;
use crate::table::Table;

/// The total overhead by instructions of each build, before and now; of peers only if they are asked for.
pub fn table(programs: &[&Workloads], variants: &[Variant], before: Option<&Store>, now: &Store, peers: bool) -> Table {
    let programs: Vec<&Workloads> = programs.iter().copied().filter(|program| !program.is_set()).collect();
    let now = Results::new(&programs, variants, now);
    let before = before.map(|before| Results::new(&programs, variants, before));
    let mut table = Table::new(["build", "programs", "total before", "total now", "difference, points"]);
    for variant in now.with_counters().filter(|variant| !variant.is_peer() || peers) {
        let points = |results: &Results| results.instructions(variant).map(|spread| (spread.total - 1.0) * 100.0);
        let Some(now_points) = points(&now) else { continue };
        let before_points = before.as_ref().and_then(points);
        let count = now.instructions(variant).map_or(0, |spread| spread.programs);
        let before_count = before.as_ref().and_then(|before| Some(before.instructions(variant)?.programs));
        let programs = match before_count {
            Some(before) if before != count => format!("{count} (before: {before})"),
            _ => count.to_string(),
        };
        table.row([
            variant.name.clone(),
            programs,
            before_points.map_or("–".into(), |points| format!("{points:+.2} %")),
            format!("{now_points:+.2} %"),
            before_points.map_or("–".into(), |before| format!("{:+.2}", now_points - before)),
        ]);
    }
    table
}
