//! Loops that ran, the hottest first.

use super::content::Pages;
use super::data::Amount;
use super::numbering::Numbering;
use crate::loops;
use serde::Serialize;
use std::cmp::Reverse;

/// A loop that ran.
#[derive(Serialize)]
pub(super) struct LoopRow {
    function: usize,
    /// The inlined function that it belongs to.
    of: Option<String>,
    /// File and line.
    pub place: Option<(usize, u32)>,
    pub entries: Amount,
    pub trips: Amount,
    instructions: Amount,
    doubtful: bool,
}

/// The loops of all functions.
pub(super) fn of(pages: &Pages<'_>, numbering: &Numbering<'_>) -> Vec<LoopRow> {
    let mut rows = Vec::new();
    for (number, unit) in pages.units().iter().enumerate() {
        for body in unit.functions() {
            let Some((flow, function)) = body.flow().zip(numbering.of_body(number, body.index)) else { continue };
            let found = loops::of_function(&flow).into_iter().filter(|found| found.trips > 0);
            rows.extend(found.map(|found| {
                LoopRow {
                    function,
                    of: found
                        .inlined
                        .and_then(|copy| body.facts.inlined.get(copy as usize))
                        .map(|copy| pages.names.show(&copy.symbol)),
                    place: numbering.place(number, found.position),
                    entries: found.entries.into(),
                    trips: found.trips.into(),
                    instructions: Amount(found.instructions),
                    doubtful: !body.flaws().is_empty(),
                }
            }));
        }
    }
    rows.sort_by_key(|row| (Reverse(row.instructions), Reverse(row.trips)));
    rows
}
