//! What differs from another run, against `cotree diff --json`.

use super::shown::{Cell, Table, figure, same};
use crate::command;
use crate::real::Context;
use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use std::path::Path;

#[derive(Deserialize)]
struct Diff {
    functions: Vec<FunctionChange>,
    lines: Vec<LineChange>,
    calls: Option<Vec<CallChange>>,
}

#[derive(Deserialize)]
struct FunctionChange {
    change: String,
    entries: [u64; 2],
    instructions: [u64; 2],
    share: [f64; 2],
}

#[derive(Deserialize)]
struct LineChange {
    file: String,
    line: u32,
    change: String,
    counts: [u64; 2],
}

#[derive(Deserialize)]
struct CallChange {
    counts: [u64; 2],
}

/// Captions of tables of functions and lines, and the changes that they show.
const CAPTIONS: [(&str, &str); 6] = [
    ("Functions that run now and did not", "newly-run"),
    ("Functions that ran and no longer do", "no-longer-run"),
    ("Functions that changed, by the shift of their share", "changed"),
    ("Lines that run now and did not", "newly-run"),
    ("Lines that ran and no longer do", "no-longer-run"),
    ("Lines that run more or less often", "changed"),
];

/// Checks the page. Gives how many rows it has.
pub fn check(shown: &[Table], before: &Path, after: &Path, context: &Context) -> Result<usize> {
    let text = command::succeed(context.cotree().args(["diff", "--json"]).args([before, after]))?;
    let diff: Diff = serde_json::from_slice(&text).context("the difference")?;
    let mut rows = 0;
    for (caption, change) in CAPTIONS {
        let functions = caption.starts_with("Functions");
        let exported: Vec<Vec<String>> = if functions {
            let rows = diff.functions.iter().filter(|row| row.change == change);
            rows.map(|row| {
                let shares = row.share.map(|share| format!("{:.1}%", share * 100.0));
                [pair(row.instructions), shares.to_vec(), vec![difference(row.entries)]].concat()
            })
            .collect()
        } else {
            let rows = diff.lines.iter().filter(|row| row.change == change);
            rows.map(|row| [pair(row.counts), vec![format!("{}:{}", name(&row.file), row.line)]].concat()).collect()
        };
        let Some(table) = Table::find(shown, caption) else {
            ensure!(exported.is_empty(), "no table {caption:?}, and {} rows", exported.len());
            continue;
        };
        let columns: &[&str] = if functions {
            &["Instructions", "Before", "Now", "Share before", "Share now", "Entries"]
        } else {
            &["Runs", "Before", "Now", "Line"]
        };
        rows += compare(table, columns, exported)?;
    }
    let calls: Vec<Vec<String>> = diff.calls.iter().flatten().map(|row| pair(row.counts)).collect();
    if let Some(table) = Table::find(shown, "Calls that changed") {
        rows += compare(table, &["Calls", "Before", "Now"], calls)?;
    } else {
        ensure!(calls.is_empty(), "no table of {} calls that changed", calls.len());
    }
    ensure!(rows > 0, "nothing is compared");
    Ok(rows)
}

fn compare(table: &Table, columns: &[&str], exported: Vec<Vec<String>>) -> Result<usize> {
    let said = table.caption.rsplit_once('(').and_then(|(_, count)| figure(count.trim_end_matches(')')).ok());
    ensure!(said.flatten() == Some(exported.len() as u128), "{}, and {} exported", table.caption, exported.len());
    let places: Vec<usize> = columns.iter().map(|column| table.column(column)).collect::<Result<_>>()?;
    let text = |cell: &Cell| cell.text().replace(',', "");
    let shown: Vec<Vec<String>> =
        table.rows.iter().map(|row| places.iter().map(|&place| text(&row[place])).collect()).collect();
    if table.whole {
        return same(&table.caption, shown, exported);
    }
    let missing = shown.iter().find(|row| !exported.contains(row));
    ensure!(missing.is_none(), "{}: {missing:?} is shown, and not exported", table.caption);
    Ok(shown.len())
}

/// The difference, and the two.
fn pair(counts: [u64; 2]) -> Vec<String> {
    vec![difference(counts), counts[0].to_string(), counts[1].to_string()]
}

fn difference([before, after]: [u64; 2]) -> String {
    match after.cmp(&before) {
        std::cmp::Ordering::Equal => "0".to_owned(),
        std::cmp::Ordering::Greater => format!("+{}", after - before),
        std::cmp::Ordering::Less => format!("−{}", before - after),
    }
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
