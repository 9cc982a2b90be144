//! The text on metrics: what is added up along paths.

use super::options::PathsOptions;
use crate::method::path::PathUnit;
use crate::method::path::totals::{Hot, Totals, What};
use crate::terminal::{grouped, percent};
use cotree_core::method::path::PathMetric;
use std::io::{self, Write};

/// What the sums are, and what is not in them.
pub fn totals(metric: PathMetric, whole: &Totals, rows: &mut Vec<[String; 3]>) {
    let mut row = |name: &str, value: String, more: &str| rows.push([name.to_owned(), value, more.to_owned()]);
    match metric {
        PathMetric::Count => return,
        PathMetric::Events => row("added up", "events".into(), "that the program reported, callees included"),
        PathMetric::Cycles => row("added up", "cycles".into(), "of the clock, callees included: measured, not exact"),
    }
    if whole.unfinished != 0 {
        let what = format!("unfinished paths, whose {} are in no sum", metric.of_what());
        row("left out", whole.unfinished.to_string(), &what);
    }
    if whole.revived != 0 {
        let what = format!("paths under way at a fork or reset, with all their {}", metric.of_what());
        row("begun before", whole.revived.to_string(), &what);
    }
}

/// The sum, that of one execution, and the share of all paths of the function.
pub fn cells(hot: &Hot, of_function: u128) -> [String; 3] {
    if matches!(hot.what, What::SelfLoop(_)) {
        return Default::default(); // The path around the loop has its sums.
    }
    [grouped(hot.sum.into()), each(hot.sum, hot.count), percent(hot.sum.into(), of_function)]
}

/// The part of a sum that one of so many executions has, on average.
pub fn each(sum: u64, count: u64) -> String {
    match count {
        0 => "0.0".into(),
        _ if sum.is_multiple_of(count) => grouped((sum / count).into()),
        _ => format!("{:.1}", sum as f64 / count as f64),
    }
}

/// Comparisons of runs ignore the sums.
pub fn ignored(units: [&PathUnit<'_>; 2], options: &PathsOptions, out: &mut dyn Write) -> io::Result<()> {
    let Some(metric) = units.iter().map(|unit| unit.metric()).find(|metric| metric.is_summed()) else { return Ok(()) };
    let what = format!("Paths are compared by their counts; {} are not.", metric.of_what());
    writeln!(out, "{}", options.style.faint(&options.style.wrap(&what, 0)))
}
