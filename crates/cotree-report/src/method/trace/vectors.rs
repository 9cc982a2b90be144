//! Basic-block vectors for [SimPoint](https://cseweb.ucsd.edu/~calder/simpoint/): how many instructions each block ran
//! in each interval of so many instructions.
//!
//! A line is an interval: `T:BLOCK:INSTRUCTIONS :BLOCK:INSTRUCTIONS …`. Blocks are numbered from 1, through the blocks
//! of all functions in the order of the map. An interval ends with the piece of code that fills it, so it may be a few
//! instructions longer than asked for.

use super::Traced;
use super::clock::Clock;
use cotree_profile::method::trace::thread::Thread;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Writes the vectors of one thread, of the blocks of these numbers. The last interval may be shorter than the others.
///
/// # Errors
/// If the output can't be written, and [`io::ErrorKind::Unsupported`] where the map does not say how many instructions
/// blocks have.
pub fn write(
    traced: &Traced<'_>,
    thread: &Thread<'_>,
    (from, to): (u64, u64),
    interval: u64,
    out: &mut dyn Write,
) -> io::Result<()> {
    let map = traced.binary.map();
    let mut first = Vec::new();
    let mut blocks = 1_u64;
    for (_, function) in map.program.functions() {
        first.push(blocks);
        blocks += function.blocks.len() as u64;
    }
    let mut vector: BTreeMap<u64, u64> = BTreeMap::new();
    let mut filled = 0;
    for part in &thread.parts {
        let mut clock = Clock::new(map);
        part.follow(traced.tables, traced.streams, from, to, |moment| {
            if !moment.leads_on {
                return Ok::<_, io::Error>(false);
            }
            if let Some(ran) = clock.advance(traced.tables, &moment) {
                *vector.entry(first[ran.function.index()] + u64::from(ran.block.0)).or_default() += ran.instructions;
                filled += ran.instructions;
                if filled >= interval {
                    write_vector(&vector, out)?;
                    vector.clear();
                    filled = 0;
                }
            }
            Ok(true)
        })?;
    }
    if filled > 0 { write_vector(&vector, out) } else { Ok(()) }
}

fn write_vector(vector: &BTreeMap<u64, u64>, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "T")?;
    vector.iter().try_for_each(|(block, instructions)| write!(out, ":{block}:{instructions} "))?;
    writeln!(out)
}
