//! The sections of merged profiles for paths: how often each path was taken, its sums, and path registers of abandoned
//! activations.

use super::counts::{PathCounts, PathId, RegisterKey};
use crate::merged::Stream;
use crate::sums::{Amount, Sums};
use crate::wire::WireError;
use crate::wire::streams::{Reader, Writer};
use cotree_core::ids::FunctionId;
use cotree_core::method::path::PathMetric;

/// The streams of a list of paths.
struct List {
    function: Stream,
    path: Stream,
    amount: Stream,
}

/// The first path of a list is written as its distance from this one.
const FIRST: PathId = PathId { function: FunctionId(0), path: 0 };

const COUNTS: List = List { function: Stream::PathFunction, path: Stream::Path, amount: Stream::PathCount };
const SUMS: List = List { function: Stream::SumFunction, path: Stream::SumPath, amount: Stream::Sum };

pub(crate) fn write(counts: &PathCounts, w: &mut Writer) {
    if !counts.counts.entries().is_empty() {
        write_list(&counts.counts, &COUNTS, w);
    }
    let registers = counts.registers.entries();
    if !registers.is_empty() {
        w.put(Stream::RegisterAddress, registers.len() as u64);
        let mut last = 0;
        for &(key, count) in registers {
            w.put(Stream::RegisterAddress, key.address - last);
            w.put(Stream::RegisterValue, key.value.into());
            w.put_signed(Stream::Register, key.register);
            w.put_signed(Stream::RegisterCount, count);
            last = key.address;
        }
    }
    if counts.metric.is_summed() {
        w.put(Stream::Metric, counts.metric.number().into());
        write_list(&counts.sums, &SUMS, w);
    }
}

pub(crate) fn read(r: &mut Reader<'_>) -> Result<PathCounts, WireError> {
    let mut counts = PathCounts::default();
    if r.left(COUNTS.function) > 0 {
        counts.counts = read_list(&COUNTS, r)?;
    }
    if r.left(Stream::RegisterAddress) > 0 {
        counts.registers = read_registers(r)?;
    }
    if r.left(Stream::Metric) > 0 {
        let metric = PathMetric::from_number(r.get(Stream::Metric)?);
        counts.metric = metric.ok_or(WireError::Invalid("its metric is unknown"))?;
        counts.sums = read_list(&SUMS, r)?;
    }
    Ok(counts)
}

fn write_list(paths: &Sums<PathId, u64>, list: &List, w: &mut Writer) {
    w.put(list.function, paths.entries().len() as u64);
    let mut last = FIRST;
    for &(key, amount) in paths.entries() {
        w.put(list.function, u64::from(key.function.0 - last.function.0));
        w.put(list.path, if key.function == last.function { key.path - last.path } else { key.path });
        w.put(list.amount, amount);
        last = key;
    }
}

fn read_list(list: &List, r: &mut Reader<'_>) -> Result<Sums<PathId, u64>, WireError> {
    const NO_FUNCTION: WireError = WireError::Invalid("a path belongs to no function");
    let count = r.get_count(list.function, list.function)?;
    let mut paths: Vec<(PathId, u64)> = Vec::new();
    for _ in 0..count {
        let last = paths.last().map_or(FIRST, |entry| entry.0);
        let step = u32::try_from(r.get(list.function)?).map_err(|_| NO_FUNCTION)?;
        let function = FunctionId(last.function.0.checked_add(step).ok_or(NO_FUNCTION)?);
        let base = if step == 0 { last.path } else { 0 };
        let path = base.checked_add(r.get(list.path)?).ok_or(WireError::Invalid("its paths are not in order"))?;
        paths.push((PathId { function, path }, r.get(list.amount)?));
    }
    each_once(Sums::new(paths), count)
}

fn read_registers(r: &mut Reader<'_>) -> Result<Sums<RegisterKey, i64>, WireError> {
    const ORDER: WireError = WireError::Invalid("its path registers are not in order");
    let count = r.get_count(Stream::RegisterAddress, Stream::RegisterAddress)?;
    let mut registers: Vec<(RegisterKey, i64)> = Vec::new();
    for _ in 0..count {
        let last = registers.last().map_or(0, |entry| entry.0.address);
        let address = last.checked_add(r.get(Stream::RegisterAddress)?).ok_or(ORDER)?;
        let value = u8::try_from(r.get(Stream::RegisterValue)?);
        let value = value.map_err(|_| WireError::Invalid("a path register has no place"))?;
        let register = r.get_signed(Stream::Register)?;
        registers.push((RegisterKey { address, value, register }, r.get_signed(Stream::RegisterCount)?));
    }
    each_once(Sums::new(registers), count)
}

/// Sums of as many entries as there were, none of them cut.
fn each_once<K: Copy + Ord, A: Amount>((sums, cut): (Sums<K, A>, bool), count: usize) -> Result<Sums<K, A>, WireError> {
    if cut || sums.entries().len() != count {
        return Err(WireError::Invalid("a path is in it twice, or without a count"));
    }
    Ok(sums)
}
