//! What a search over commits has found, for other programs.

use super::super::export::changes;
use super::{Commit, Found, History, Wanted};
use serde_json::{Value, json};
use std::io::{self, Write};

/// The schema of the JSON of a search.
pub const JSON_OF_BISECTION: &str = "cotree-bisect/1";

/// Writes the JSON of a search (docs/json.md).
///
/// # Errors
/// If the output can't be written.
pub fn write_bisection_json(
    history: &History,
    found: &[Found],
    wanted: &Wanted,
    out: &mut dyn Write,
) -> io::Result<()> {
    let commits: Vec<Value> = history.commits.iter().map(commit).collect();
    let benchmarks: Vec<Value> = found
        .iter()
        .map(|found| {
            json!({
                "name": found.name,
                "last_good": found.before,
                "first_bad": found.first,
                "differences": found.differences,
                "of_functions": found.of_functions,
                "changes": changes(&found.comparison),
                "amounts": found.amounts.iter().map(|(commit, amount)| json!({ "commit": commit, "amount": amount }))
                    .collect::<Vec<_>>(),
            })
        })
        .collect();
    let document = json!({
        "schema": JSON_OF_BISECTION,
        "event": wanted.kind.name(),
        "commits": commits,
        "skipped": history.skipped().collect::<Vec<_>>(),
        "benchmarks": benchmarks,
    });
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

fn commit(commit: &Commit) -> Value {
    let Commit { id, subject, author, day, parents, .. } = commit;
    json!({ "id": id, "subject": subject, "author": author, "day": day, "parents": parents })
}
