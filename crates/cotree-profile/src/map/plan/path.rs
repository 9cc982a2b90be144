//! Path plans: where paths are cut, how many there are, and what the path register says at calls.
//!
//! The numbering follows from the cuts, and recovery needs nothing else. So the probes that keep the register and count
//! paths are left out; only those of self-loops are stored, like those of any other method.

use super::metric;
use crate::map::MapError;
use crate::map::sections::Stream;
use crate::wire::streams::{Reader, Writer};
use cotree_core::facts::Function;
use cotree_core::ids::{Block, Edge};
use cotree_core::method::path::{
    AtCalls, Cuts, MOST_PATH_ARRAY, MOST_PATHS, PathKey, PathMethod, PathPlan, UnitPathPlan, Window,
};
use cotree_core::plan::{CounterKey, CounterPlan};
use cotree_core::probe::Probe;

/// The part of a path plan that counts self-loops.
pub(in crate::map) fn counters(plan: &PathPlan) -> CounterPlan {
    let counts =
        |probe: &Probe| matches!(probe, Probe::Count(_) | Probe::CountIfTaken(..)) || probe.closing().is_some();
    CounterPlan {
        probes: plan.probes.iter().filter(|placed| counts(&placed.probe)).copied().collect(),
        key: plan.key.self_loops.clone(),
    }
}

/// A function's flags.
mod flag {
    /// The function has paths.
    pub(super) const PATHS: u64 = 1;
    /// With context.
    pub(super) const CONTEXT: u64 = 2;
    /// With windows.
    pub(super) const WINDOWS: u64 = 4;
    /// Their words lie after those of other functions.
    pub(super) const BEHIND: u64 = 8;
    /// Some of its arcs are rare: they are numbered after all others of their node.
    pub(super) const RARE: u64 = 16;
    /// Numbers rise with the arcs from ENTRY.
    pub(super) const BACKWARD: u64 = 32;
    /// All of them.
    pub(super) const ALL: u64 = 2 * BACKWARD - 1;
}

/// Kinds of [`AtCalls`].
mod kind {
    pub(super) const COUNTED: u64 = 0;
    pub(super) const KNOWN: u64 = 1;
    pub(super) const QUERY: u64 = 2;
}

pub(super) fn write(unit: &UnitPathPlan, w: &mut Writer) {
    w.put(Stream::PathArray, unit.array);
    metric::write(unit.metric, w);
    for PathPlan { key, .. } in &unit.functions {
        let Cuts { edges, blocks, loops, rare, backward } = &key.cuts;
        let lists = [
            edges.iter().map(|e| e.0).collect::<Vec<_>>(),
            blocks.iter().map(|b| b.0).collect(),
            loops.iter().map(|e| e.0).collect(),
        ];
        if key.paths == 0 && lists.iter().all(Vec::is_empty) && key.calls.is_empty() {
            w.put(Stream::Path, 0);
            continue;
        }
        let context = if key.context { flag::CONTEXT } else { 0 };
        let windows = if key.windows.is_empty() { 0 } else { flag::WINDOWS };
        let behind = if key.behind { flag::BEHIND } else { 0 };
        let order = if rare.is_empty() && !*backward { 0 } else { flag::RARE };
        let backward = if *backward { flag::BACKWARD } else { 0 };
        w.put(Stream::Path, flag::PATHS | context | windows | behind | order | backward);
        w.put(Stream::Path, key.paths);
        if windows != 0 {
            w.put(Stream::Window, key.windows.len() as u64);
            let mut last = 0;
            for window in &key.windows {
                w.put_signed(Stream::Window, window.first.wrapping_sub(last).cast_signed());
                w.put(Stream::Window, window.len);
                last = window.first;
            }
        }
        for list in lists {
            w.put(Stream::Cut, list.len() as u64);
            let mut last = 0;
            for id in list {
                w.put_step(Stream::Cut, last, id);
                last = id;
            }
        }
        if order != 0 {
            w.put(Stream::RareArcs, rare.len() as u64);
            let mut last = 0;
            for &arc in rare {
                w.put(Stream::RareArcs, (arc - last) as u64);
                last = arc;
            }
        }
        w.put(Stream::AtCalls, key.calls.len() as u64);
        let mut last = 0;
        for &(block, at_calls) in &key.calls {
            w.put_step(Stream::AtCalls, last, block.0);
            last = block.0;
            match at_calls {
                AtCalls::Counted => w.put(Stream::AtCalls, kind::COUNTED),
                AtCalls::Known(prefix) => {
                    w.put(Stream::AtCalls, kind::KNOWN);
                    w.put(Stream::Prefix, prefix);
                }
                AtCalls::Query(plus) => {
                    w.put(Stream::AtCalls, kind::QUERY);
                    w.put_signed(Stream::Prefix, plus);
                }
            }
        }
    }
}

/// Puts paths around the plans of self-loops.
pub(super) fn read(
    method: PathMethod,
    counters: Vec<CounterPlan>,
    r: &mut Reader<'_>,
) -> Result<UnitPathPlan, MapError> {
    let array = r.get(Stream::PathArray)?;
    let metric = metric::read(r)?;
    let plan = |CounterPlan { probes, key }| Ok(PathPlan { probes, key: read_key(key, r)?, ..PathPlan::default() });
    let functions = counters.into_iter().map(plan).collect::<Result<_, MapError>>()?;
    Ok(UnitPathPlan { method, functions, array, metric })
}

fn read_key(self_loops: CounterKey, r: &mut Reader<'_>) -> Result<PathKey, MapError> {
    let flags = r.get(Stream::Path)?;
    if flags == 0 {
        return Ok(PathKey { self_loops, ..PathKey::default() });
    }
    if flags & flag::PATHS == 0 || flags > flag::ALL {
        return Err(MapError::Invalid("no such flags of a path plan"));
    }
    let paths = r.get(Stream::Path)?;
    let windows = if flags & flag::WINDOWS == 0 { Vec::new() } else { read_windows(r)? };
    let mut list = || {
        let count = r.get_count(Stream::Cut, Stream::Cut)?;
        let mut last = 0;
        let mut ids = Vec::with_capacity(count);
        for _ in 0..count {
            last = r.get_step(Stream::Cut, last)?;
            ids.push(last);
        }
        Ok::<Vec<u32>, MapError>(ids)
    };
    let (edges, blocks, loops) = (list()?, list()?, list()?);
    let cuts = Cuts {
        edges: edges.into_iter().map(Edge).collect(),
        blocks: blocks.into_iter().map(Block).collect(),
        loops: loops.into_iter().map(Edge).collect(),
        backward: flags & flag::BACKWARD != 0,
        rare: if flags & flag::RARE == 0 { Vec::new() } else { read_rare(r)? },
    };
    let count = r.get_count(Stream::AtCalls, Stream::AtCalls)?;
    let mut calls = Vec::with_capacity(count);
    let mut last = 0;
    for _ in 0..count {
        last = r.get_step(Stream::AtCalls, last)?;
        let at_calls = match r.get(Stream::AtCalls)? {
            kind::COUNTED => AtCalls::Counted,
            kind::KNOWN => AtCalls::Known(r.get(Stream::Prefix)?),
            kind::QUERY => AtCalls::Query(r.get_signed(Stream::Prefix)?),
            _ => return Err(MapError::Invalid("no such state of a path register")),
        };
        calls.push((Block(last), at_calls));
    }
    let (context, behind) = (flags & flag::CONTEXT != 0, flags & flag::BEHIND != 0);
    Ok(PathKey { self_loops, cuts, paths, calls, context, windows, behind })
}

fn read_rare(r: &mut Reader<'_>) -> Result<Vec<usize>, MapError> {
    let count = r.get_count(Stream::RareArcs, Stream::RareArcs)?;
    let mut arcs = Vec::with_capacity(count);
    let mut last = 0usize;
    for _ in 0..count {
        let step = usize::try_from(r.get(Stream::RareArcs)?).ok();
        last = step.and_then(|step| last.checked_add(step)).ok_or(MapError::Invalid("no such rare arc"))?;
        arcs.push(last);
    }
    Ok(arcs)
}

fn read_windows(r: &mut Reader<'_>) -> Result<Vec<Window>, MapError> {
    let count = r.get_count(Stream::Window, Stream::Window)?;
    let mut windows = Vec::with_capacity(count);
    let mut last = 0u64;
    for _ in 0..count {
        let first = last.wrapping_add(r.get_signed(Stream::Window)?.cast_unsigned());
        windows.push(Window { first, len: r.get(Stream::Window)? });
        last = first;
    }
    Ok(windows)
}

/// Checks the keys of all functions.
pub(super) fn check(unit: &UnitPathPlan, functions: &[&Function]) -> Result<(), MapError> {
    if unit.array > MOST_PATH_ARRAY {
        return Err(MapError::Invalid("its path tables are too large"));
    }
    for (index, (plan, function)) in unit.functions.iter().zip(functions).enumerate() {
        check_paths(&plan.key, function).map_err(|what| MapError::InvalidFunction { function: index, what })?;
    }
    Ok(())
}

fn check_paths(key: &PathKey, function: &Function) -> Result<(), &'static str> {
    let rising = |ids: Vec<usize>, end: usize| ids.is_sorted_by(|a, b| a < b) && ids.last().is_none_or(|&id| id < end);
    let edges = |edges: &[Edge]| rising(edges.iter().map(|e| e.index()).collect(), function.edges.len());
    let blocks =
        |blocks: &mut dyn Iterator<Item = Block>| rising(blocks.map(Block::index).collect(), function.blocks.len());
    let cuts = &key.cuts;
    if !edges(&cuts.edges) || !edges(&cuts.loops) || !blocks(&mut cuts.blocks.iter().copied()) {
        return Err("its paths are cut where nothing is");
    }
    if !blocks(&mut key.calls.iter().map(|call| call.0)) {
        return Err("a path register is known where no call is");
    }
    if key.paths > MOST_PATHS {
        return Err("it has more paths than there are numbers");
    }
    if !cuts.rare.is_sorted_by(|a, b| a < b) {
        return Err("its rare arcs are out of order or beyond its graph");
    }
    let end = if cuts.rare.is_empty() { key.paths } else { MOST_PATHS };
    let inside = |window: &Window| window.first.checked_add(window.len).is_some_and(|last| last <= end);
    let words = key.windows.iter().fold(0u64, |sum, window| window.len.saturating_add(sum));
    if !key.windows.iter().all(inside)
        || words > MOST_PATH_ARRAY + (function.edges.len() + function.blocks.len()) as u64
    {
        return Err("its path tables are too large");
    }
    Ok(())
}
