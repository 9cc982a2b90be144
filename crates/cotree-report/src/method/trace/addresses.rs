//! Addresses of one thread in the format `din` of [Dinero IV](https://pages.cs.wisc.edu/~markhill/DineroIV/), which
//! other simulators of caches read as well: a line for each access, `0 ADDRESS` for a load and `1 ADDRESS` for a store,
//! in hexadecimal digits.
//!
//! An atomic operation is both. An access of many bytes is one line, with the address of the first.

use super::Traced;
use super::rows::Rows;
use cotree_core::facts::AccessKind;
use cotree_profile::method::trace::thread::Thread;
use std::io::{self, Write};

/// Writes the accesses in the blocks of these numbers, as far as the rows are wanted and they have happened for
/// certain.
///
/// # Errors
/// If the output can't be written.
pub fn write(
    traced: &Traced<'_>,
    thread: &Thread<'_>,
    rows: &Rows<'_>,
    (from, to): (u64, u64),
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut found = Vec::new();
    for part in &thread.parts {
        part.follow(traced.tables, traced.streams, from, to, |moment| {
            found.clear();
            if moment.certain {
                rows.add(&moment, &mut found);
            }
            for (kind, address) in found.iter().filter_map(|row| rows.access_of(row)) {
                let labels: &[u8] = match kind {
                    AccessKind::Load => &[0],
                    AccessKind::Store => &[1],
                    AccessKind::Update => &[0, 1],
                };
                labels.iter().try_for_each(|label| writeln!(out, "{label} {address:x}"))?;
            }
            Ok::<_, io::Error>(moment.leads_on)
        })?;
    }
    Ok(())
}
