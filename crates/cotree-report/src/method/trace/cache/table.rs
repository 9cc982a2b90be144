//! Costs under a model of caches, for people and for programs.

use super::super::rows::Rows;
use super::{CacheCosts, Cached};
use crate::terminal::{Style, grouped, number, text};
use serde_json::json;
use std::io::{self, Write};

/// The name and version of the JSON form.
pub const JSON: &str = "cotree-cache/1";

/// Writes the totals, and a table of functions or lines; `top`: at most so many rows, 0: all.
///
/// # Errors
/// If the output can't be written.
pub fn write(cached: &Cached, rows: &Rows<'_>, top: usize, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let Cached { first, last, total, .. } = cached;
    writeln!(out, "{}\n", style.heading("Accesses of memory under a model of data caches"))?;
    writeln!(out, "L1: {first}\nLL: {last}\n")?;
    let CacheCosts { instructions, accesses, first_misses, last_misses } = *total;
    let line = |title: &str, value: u64, remark: String| [title.to_owned(), grouped(value.into()), remark];
    let rows_of_totals = [
        line("instructions", instructions, String::new()),
        line("accesses", accesses, String::new()),
        line("L1 misses", first_misses, share(first_misses, accesses)),
        line("LL misses", last_misses, share(last_misses, accesses)),
        line("estimated cycles", total.estimated_cycles(), String::new()),
    ];
    writeln!(out, "{}", style.totals(&rows_of_totals))?;
    let named = cached.named(rows);
    let shown = if top == 0 { named.len() } else { top.min(named.len()) };
    let what = if cached.by_line { "line" } else { "function" };
    let columns = [number("accesses"), number("L1 misses"), number("share"), number("LL misses"), text(what)];
    let cells = named[..shown].iter().map(|(name, costs)| {
        vec![
            grouped(costs.accesses.into()),
            grouped(costs.first_misses.into()),
            share(costs.first_misses, costs.accesses),
            grouped(costs.last_misses.into()),
            name.clone(),
        ]
    });
    write!(out, "{}", style.table(&columns, cells.collect()))?;
    if shown < named.len() {
        writeln!(out, "({} more: --top 0 shows all)", grouped((named.len() - shown) as u128))?;
    }
    Ok(())
}

/// Writes the JSON form (docs/json.md).
///
/// # Errors
/// If the output can't be written.
pub fn write_json(cached: &Cached, rows: &Rows<'_>, out: &mut dyn Write) -> io::Result<()> {
    let form = |form: &super::CacheForm| json!({ "bytes": form.bytes, "ways": form.ways, "line": form.line });
    let part = |name: &str, costs: &CacheCosts| {
        json!({
            "name": name, "accesses": costs.accesses, "l1_misses": costs.first_misses, "ll_misses": costs.last_misses,
        })
    };
    let CacheCosts { instructions, accesses, first_misses, last_misses } = cached.total;
    let parts: Vec<_> = cached.named(rows).iter().map(|(name, costs)| part(name, costs)).collect();
    let document = json!({
        "schema": JSON, "l1": form(&cached.first), "ll": form(&cached.last), "instructions": instructions,
        "accesses": accesses, "l1_misses": first_misses, "ll_misses": last_misses,
        "estimated_cycles": cached.total.estimated_cycles(),
        if cached.by_line { "lines" } else { "functions" }: parts,
    });
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

fn share(part: u64, whole: u64) -> String {
    if whole == 0 { String::new() } else { format!("{:.2}%", part as f64 / whole as f64 * 100.0) }
}
