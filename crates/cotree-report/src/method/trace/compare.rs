//! Where two runs of one program part: the first event that differs, how the runs came there, and how each goes on.

use super::Traced;
use super::rows::{Row, Rows};
use super::text::write_stack;
use cotree_core::method::trace::Event;
use cotree_profile::method::trace::thread::Thread;
use std::collections::VecDeque;
use std::io::{self, Write};

/// Events of a thread are compared in batches of so many.
const BATCH: usize = 1 << 14;

/// The next events that happened for certain, from the block of a number on; those of the batch's last block are
/// complete.
fn batch(traced: &Traced<'_>, thread: &Thread<'_>, from: u64) -> Vec<(u64, Event)> {
    let mut events = Vec::new();
    for part in thread.parts.iter().filter(|part| part.last() >= from || part.blocks == 0) {
        let Ok(()) = part.follow(traced.tables, traced.streams, from, u64::MAX, |moment| {
            if events.len() >= BATCH && events.last().is_some_and(|&(block, _)| block != moment.block) {
                return Ok::<_, std::convert::Infallible>(false);
            }
            if moment.certain && !matches!(moment.event, Event::Time(_)) {
                events.push((moment.block, moment.event));
            }
            Ok(moment.leads_on)
        });
        if events.len() >= BATCH {
            break;
        }
    }
    events
}

/// The number of the block at which two threads part; `None` if they don't.
fn parting(a: (&Traced<'_>, &Thread<'_>), b: (&Traced<'_>, &Thread<'_>)) -> Option<u64> {
    let mut from = 0;
    loop {
        let (left, right) = (batch(a.0, a.1, from), batch(b.0, b.1, from));
        let common = left.iter().zip(&right).take_while(|(left, right)| left == right).count();
        if common < left.len() || common < right.len() {
            let blocks = [left.get(common), right.get(common)];
            return blocks.into_iter().flatten().map(|&(block, _)| block).min();
        }
        match left.last() {
            Some(&(block, _)) if left.len() >= BATCH => from = block + 1,
            _ => return None,
        }
    }
}

/// Writes where two runs part, thread by thread, with so many rows before and after. Gives whether they do.
///
/// # Errors
/// If the output can't be written.
pub fn write(
    before: &Traced<'_>,
    after: &Traced<'_>,
    rows: &Rows<'_>,
    context: u64,
    out: &mut dyn Write,
) -> io::Result<bool> {
    let mut differ = false;
    for thread in &before.threads {
        let number = thread.stream.number;
        let Some(other) = after.threads.iter().find(|other| other.stream.number == number) else {
            differ = true;
            writeln!(out, "thread {number} is only in the first trace")?;
            continue;
        };
        let Some(block) = parting((before, thread), (after, other)) else {
            writeln!(out, "thread {number}: the same {} blocks", thread.blocks())?;
            continue;
        };
        differ = true;
        writeln!(out, "thread {number}: the same up to block {}", block.saturating_sub(1))?;
        let excerpts =
            [(before, thread), (after, other)].map(|(traced, thread)| excerpt(traced, thread, rows, block, context));
        let [(first, stack), (second, _)] = &excerpts;
        let common = first.iter().zip(second).take_while(|(first, second)| first == second).count();
        first[..common].iter().try_for_each(|row| writeln!(out, "{}", rows.text(row)))?;
        if !stack.is_empty() {
            writeln!(out, "under way there, innermost first:")?;
            write_stack(stack, out)?;
        }
        for (name, (rows_of_one, _)) in
            ["the first trace goes on:", "the second trace goes on:"].into_iter().zip(&excerpts)
        {
            writeln!(out, "{name}")?;
            rows_of_one[common..].iter().try_for_each(|row| writeln!(out, "{}", rows.text(row)))?;
        }
    }
    for thread in &after.threads {
        if before.threads.iter().all(|other| other.stream.number != thread.stream.number) {
            differ = true;
            writeln!(out, "thread {} is only in the second trace", thread.stream.number)?;
        }
    }
    Ok(differ)
}

/// The rows around a block of a thread, and the stack just before it.
fn excerpt(
    traced: &Traced<'_>,
    thread: &Thread<'_>,
    rows: &Rows<'_>,
    block: u64,
    context: u64,
) -> (Vec<Row>, Vec<String>) {
    const MOST_ROWS: usize = 1 << 12;
    let (mut kept, mut stack) = (VecDeque::new(), Vec::new());
    let mut found = Vec::new();
    for part in &thread.parts {
        let (from, to) = (block.saturating_sub(context), block.saturating_add(context));
        let Ok(()) = part.follow(traced.tables, traced.streams, from, to, |moment| {
            found.clear();
            rows.add(&moment, &mut found);
            kept.extend(found.iter().copied());
            if moment.block + 1 >= block && moment.block < block {
                stack = rows.stack(traced.tables, moment.at);
            }
            Ok::<_, std::convert::Infallible>(kept.len() < MOST_ROWS)
        });
    }
    (kept.into(), stack)
}
