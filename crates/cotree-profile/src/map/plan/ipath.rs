//! Plans of paths across functions: where paths are cut, which calls they cross, and how activations begin.
//!
//! Numbers follow from these, and recovery needs nothing else, so no probes are stored.

use super::metric;
use crate::map::MapError;
use crate::map::sections::Stream;
use crate::wire::streams::{Reader, Writer};
use cotree_core::facts::{Function, ProgramMap};
use cotree_core::ids::{Block, CallId, Edge, FunctionId};
use cotree_core::method::ipath::{
    AtCall, Entry, FunctionKey, GroupId, Groups, IpathMethod, IpathPlan, MOST_GROUPS, MOST_PATHS, UnitIpathPlan,
};
use cotree_core::method::path::Cuts;

/// How activations begin.
mod entry {
    pub(super) const UNMEASURED: u64 = 0;
    pub(super) const ALONE: u64 = 1;
    pub(super) const CALLED: u64 = 2;
    pub(super) const CALLED_OR_CUT: u64 = 3;
    /// A flag: the paths that begin there have low numbers.
    pub(super) const FRONT: u64 = 4;
    pub(super) const OPEN: u64 = 8;
    /// A flag: callers could say with which path they call.
    pub(super) const ENTERABLE: u64 = 16;
}

/// What becomes of a path at a call.
mod at_call {
    pub(super) const CUT: u64 = 0;
    pub(super) const BEGIN: u64 = 1;
    pub(super) const CROSS: u64 = 2;
    pub(super) const PASS: u64 = 3;
    pub(super) const DESCEND: u64 = 4;
    pub(super) const REACH: u64 = 5;
}

pub(super) fn write(unit: &UnitIpathPlan, w: &mut Writer) {
    w.put(Stream::Ipath, unit.paths);
    w.put(Stream::Ipath, unit.array);
    metric::write(unit.metric, w);
    for IpathPlan { key, .. } in &unit.functions {
        w.put(
            Stream::Ipath,
            (if key.front { entry::FRONT } else { 0 })
                | (if key.enterable { entry::ENTERABLE } else { 0 })
                | match key.entry {
                    Entry::Unmeasured => entry::UNMEASURED,
                    Entry::Alone => entry::ALONE,
                    Entry::Called { cut: false } => entry::CALLED,
                    Entry::Called { cut: true } => entry::CALLED_OR_CUT,
                    Entry::Open => entry::OPEN,
                },
        );
        if key.entry == Entry::Unmeasured {
            continue;
        }
        write_list(key.cuts.edges.iter().map(|edge| edge.0), w);
        write_list(key.cuts.blocks.iter().map(|block| block.0), w);
        w.put(Stream::IpathCall, key.calls.len() as u64);
        let (mut last, mut last_callee) = (0, 0);
        for &(call, at) in &key.calls {
            w.put_step(Stream::IpathCall, last, call.0);
            last = call.0;
            let kind = match at {
                AtCall::Cut => at_call::CUT,
                AtCall::Begin(_) => at_call::BEGIN,
                AtCall::Cross(_) => at_call::CROSS,
                AtCall::Pass => at_call::PASS,
                AtCall::Descend(_) => at_call::DESCEND,
                AtCall::Reach(_) => at_call::REACH,
            };
            w.put(Stream::IpathCall, kind);
            if let Some(callee) = at.callee() {
                w.put_step(Stream::IpathCallee, last_callee, callee.0);
                last_callee = callee.0;
            }
            if let AtCall::Reach(group) = at {
                w.put(Stream::IpathCallee, group.0.into());
            }
        }
    }
    write_groups(&unit.groups, w);
}

fn write_groups(Groups(groups): &Groups, w: &mut Writer) {
    if groups.is_empty() {
        return;
    }
    w.put(Stream::IpathGroup, groups.len() as u64);
    for members in groups {
        w.put(Stream::IpathGroup, members.len() as u64);
        let mut last = 0;
        for member in members {
            w.put_step(Stream::IpathGroup, last, member.0);
            last = member.0;
        }
    }
}

fn read_groups(r: &mut Reader<'_>) -> Result<Groups, MapError> {
    if r.left(Stream::IpathGroup) == 0 {
        return Ok(Groups::default());
    }
    let count = r.get_count(Stream::IpathGroup, Stream::IpathGroup)?;
    let mut groups = Vec::with_capacity(count);
    for _ in 0..count {
        let members = r.get_count(Stream::IpathGroup, Stream::IpathGroup)?;
        let mut last = 0;
        let mut next = || {
            last = r.get_step(Stream::IpathGroup, last)?;
            Ok(FunctionId(last))
        };
        groups.push((0..members).map(|_| next()).collect::<Result<Vec<_>, MapError>>()?);
    }
    Ok(Groups(groups))
}

fn write_list(ids: impl ExactSizeIterator<Item = u32>, w: &mut Writer) {
    w.put(Stream::IpathCut, ids.len() as u64);
    let mut last = 0;
    for id in ids {
        w.put_step(Stream::IpathCut, last, id);
        last = id;
    }
}

pub(super) fn read(method: IpathMethod, r: &mut Reader<'_>, program: &ProgramMap) -> Result<UnitIpathPlan, MapError> {
    let (paths, array) = (r.get(Stream::Ipath)?, r.get(Stream::Ipath)?);
    let metric = metric::read(r)?;
    let plan = |_| Ok(IpathPlan { key: read_key(r)?, ..IpathPlan::default() });
    let functions = program.functions().map(plan).collect::<Result<_, MapError>>()?;
    let groups = read_groups(r)?;
    Ok(UnitIpathPlan { method, functions, groups, paths, array, metric })
}

fn read_key(r: &mut Reader<'_>) -> Result<FunctionKey, MapError> {
    let number = r.get(Stream::Ipath)?;
    let entry = match number & !(entry::FRONT | entry::ENTERABLE) {
        entry::UNMEASURED if number == entry::UNMEASURED => return Ok(FunctionKey::default()),
        entry::ALONE => Entry::Alone,
        entry::CALLED => Entry::Called { cut: false },
        entry::CALLED_OR_CUT => Entry::Called { cut: true },
        entry::OPEN => Entry::Open,
        _ => return Err(MapError::Invalid("no such entry of a function")),
    };
    let edges = read_list(r)?.into_iter().map(Edge).collect();
    let blocks = read_list(r)?.into_iter().map(Block).collect();
    let count = r.get_count(Stream::IpathCall, Stream::IpathCall)?;
    let mut calls = Vec::with_capacity(count);
    let (mut last, mut callee) = (0, 0);
    for _ in 0..count {
        last = r.get_step(Stream::IpathCall, last)?;
        let kind = r.get(Stream::IpathCall)?;
        if matches!(kind, at_call::BEGIN | at_call::CROSS | at_call::DESCEND) {
            callee = r.get_step(Stream::IpathCallee, callee)?;
        }
        let at = match kind {
            at_call::CUT => AtCall::Cut,
            at_call::BEGIN => AtCall::Begin(FunctionId(callee)),
            at_call::PASS => AtCall::Pass,
            at_call::CROSS => AtCall::Cross(FunctionId(callee)),
            at_call::DESCEND => AtCall::Descend(FunctionId(callee)),
            at_call::REACH => AtCall::Reach(GroupId(r.get_u32(Stream::IpathCallee)?)),
            _ => return Err(MapError::Invalid("no such thing happens to a path at a call")),
        };
        calls.push((CallId(last), at));
    }
    let [front, enterable] = [entry::FRONT, entry::ENTERABLE].map(|flag| number & flag != 0);
    Ok(FunctionKey { entry, cuts: Cuts { edges, blocks, ..Cuts::default() }, calls, front, enterable })
}

fn read_list(r: &mut Reader<'_>) -> Result<Vec<u32>, MapError> {
    let count = r.get_count(Stream::IpathCut, Stream::IpathCut)?;
    let mut last = 0;
    let mut ids = Vec::with_capacity(count);
    for _ in 0..count {
        last = r.get_step(Stream::IpathCut, last)?;
        ids.push(last);
    }
    Ok(ids)
}

/// Checks the keys of all functions, one by one. Whether they go together shows when paths are numbered.
pub(super) fn check(unit: &UnitIpathPlan, functions: &[&Function]) -> Result<(), MapError> {
    if unit.paths > MOST_PATHS || unit.array > unit.paths {
        return Err(MapError::Invalid("it has more paths than there are numbers"));
    }
    if unit.functions.len() != functions.len() {
        return Err(MapError::Invalid("there is not one plan per function"));
    }
    let all = functions.len();
    let Groups(groups) = &unit.groups;
    let sorted = |members: &Vec<FunctionId>| {
        members.is_sorted_by(|a, b| a < b) && members.last().is_none_or(|last| last.index() < all)
    };
    if groups.len() > MOST_GROUPS || !groups.iter().all(sorted) {
        return Err(MapError::Invalid("a group of functions has one that is not there"));
    }
    for (number, (IpathPlan { key, .. }, function)) in unit.functions.iter().zip(functions).enumerate() {
        let rising =
            |ids: Vec<usize>, end: usize| ids.is_sorted_by(|a, b| a < b) && ids.last().is_none_or(|&id| id < end);
        let edges = rising(key.cuts.edges.iter().map(|e| e.index()).collect(), function.edges.len());
        let blocks = rising(key.cuts.blocks.iter().map(|b| b.index()).collect(), function.blocks.len());
        let calls = rising(key.calls.iter().map(|call| call.0.index()).collect(), function.calls.len());
        let callees = key.calls.iter().all(|&(_, at)| {
            at.callee().is_none_or(|callee| callee.index() < all)
                && !matches!(at, AtCall::Reach(group) if group.index() >= groups.len())
        });
        if !edges || !blocks || !calls || !callees {
            let what = "its paths are cut, or cross a call, where nothing is";
            return Err(MapError::InvalidFunction { function: number, what });
        }
        if key.entry != Entry::Unmeasured && (function.untouched.is_some() || function.blocks.is_empty()) {
            let what = "it has paths, but no probes";
            return Err(MapError::InvalidFunction { function: number, what });
        }
    }
    Ok(())
}
