//! The end of a run: the overheads of now beside those of the file that was committed.

use super::results::{Measured, Results};
use super::store::Store;
use super::subject::Workloads;
use super::variants::Variant;
use crate::table::Table;
use std::fmt::Write;

/// A difference of a program, in points, from which on it is named.
const WORTH_NAMING: f64 = 0.1;

/// Two states of the measurements.
pub struct Comparison {
    before: Option<Results>,
    now: Results,
}

/// A ratio as what it is more than one, in percent.
fn points(ratio: f64) -> f64 {
    (ratio - 1.0) * 100.0
}

fn row(build: &str, of: String, before: Option<f64>, now: f64) -> [String; 5] {
    [
        build.to_owned(),
        of,
        before.map_or("–".into(), |before| format!("{before:+.2} %")),
        format!("{now:+.2} %"),
        before.map_or("–".into(), |before| format!("{:+.2}", now - before)),
    ]
}

impl Comparison {
    /// Compares what two stores have of these programs, but for sets, which are in no total.
    pub fn new(programs: &[&Workloads], variants: &[Variant], before: Option<&Store>, now: &Store) -> Comparison {
        let programs: Vec<&Workloads> = programs.iter().copied().filter(|program| !program.is_set()).collect();
        let results = |store| Results::new(&programs, variants, store);
        Comparison { before: before.map(results), now: results(now) }
    }

    /// The totals of each build, then the programs that have changed; of peers only if they are asked for.
    pub fn write(&self, peers: bool, out: &mut String) -> std::fmt::Result {
        let mut totals = Table::new(["build", "programs", "total before", "total now", "difference, points"]);
        let mut changed = Table::new(["build", "program", "before", "now", "difference, points"]);
        let mut changes = 0;
        for variant in self.now.with_counters().filter(|variant| peers || !variant.is_peer()) {
            let Some(now) = self.now.instructions(variant) else { continue };
            let before = self.before.as_ref().and_then(|before| before.instructions(variant));
            let count = match &before {
                Some(before) if before.programs != now.programs => {
                    format!("{} (before: {})", now.programs, before.programs)
                }
                _ => now.programs.to_string(),
            };
            totals.row(row(&variant.name, count, before.map(|before| points(before.total)), points(now.total)));
            for (program, before, now) in self.programs(variant) {
                if (now - before).abs() >= WORTH_NAMING {
                    changed.row(row(&variant.name, program.to_owned(), Some(before), now));
                    changes += 1;
                }
            }
        }
        writeln!(out, "{totals}")?;
        if changes > 0 {
            writeln!(out, "Programs that differ by {WORTH_NAMING} points or more:\n\n{changed}")?;
        }
        Ok(())
    }

    /// The overheads of each program by a build, where both are known.
    fn programs(&self, variant: &Variant) -> Vec<(&'static str, f64, f64)> {
        let before = |name: &str| {
            let before = self.before.as_ref()?.programs.iter().find(|program| program.name == name)?;
            before.overhead(variant)
        };
        let both = |now: &Measured| Some((now.name, points(before(now.name)?), points(now.overhead(variant)?)));
        self.now.programs.iter().filter_map(both).collect()
    }
}
