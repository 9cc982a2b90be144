//! Stale profiles: which blocks of a function are those of an earlier version of it (Ayupov, Panchenko & Pupyrev,
//! "Stale Profile Matching", 2024).
//!
//! A block is known by its *anchors*: the functions that it calls, the lines that it comes from, and the branches out
//! of it. Lines count from the beginning of the function, from the last pair, and within a block from its first line,
//! so that a function may move, and blocks in it. Blocks are aligned key by key, from the most telling to the least:
//! those that only one block of either version has, in the same order in both (a patience diff). Edges out of pairs
//! lead to more pairs, and so do edges into them.
//!
//! Matching is a guess. Its result only influences how the program is optimised, never what it computes.

use crate::facts::{Function, LineSpan};
use crate::ids::{Block, Edge, IdMap};
use crate::profile::FunctionProfile;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// What is kept of a function so that its blocks can be found in a later version of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outline {
    /// Each block, entry first.
    pub blocks: Vec<Anchors>,
    /// Each edge: the block that it leaves, the one that it enters (EXIT is one past the last), and which branch of the
    /// former it is.
    pub edges: Vec<(u32, u32, u32)>,
}

/// What a block is known by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "(u32, Option<i64>, u32)", from = "(u32, Option<i64>, u32)")]
pub struct Anchors {
    /// A number for the functions that it calls, in order; 0 if it calls none by name.
    pub calls: u32,
    /// The first line of the block, from the beginning of the function on; `None` where that is not known.
    pub line: Option<i64>,
    /// A number for its lines, from the first one on, and the functions that were inlined into it, each once.
    pub text: u32,
}

impl From<Anchors> for (u32, Option<i64>, u32) {
    fn from(Anchors { calls, line, text }: Anchors) -> Self {
        (calls, line, text)
    }
}

impl From<(u32, Option<i64>, u32)> for Anchors {
    fn from((calls, line, text): (u32, Option<i64>, u32)) -> Self {
        Self { calls, line, text }
    }
}

/// How much of two versions of a function is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Likeness {
    /// Not even the graph.
    None,
    /// The graph, but not what its blocks call.
    Graph,
    /// The graph and the calls, but not the lines that blocks come from.
    Calls,
    /// All that is known of both.
    All,
}

/// FNV-1a, which is stable across releases.
#[derive(Clone, Copy)]
pub struct Fnv(pub u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
}

impl Fnv {
    /// Adds bytes.
    pub fn eat(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }

    /// Adds a number.
    pub fn eat_number(&mut self, number: u64) {
        self.eat(&number.to_le_bytes());
    }

    /// Folds the number into 32 bits.
    fn folded(self) -> u32 {
        (self.0 >> 32) as u32 ^ self.0 as u32
    }
}

/// Functions of the runtime stand for builtins, in builds that count.
const OURS: &str = "__cotree_";

impl Outline {
    /// The outline of a function.
    #[must_use]
    pub fn of(function: &Function) -> Self {
        let mut blocks: Vec<Anchors> = vec![Anchors::default(); function.blocks.len()];
        let mut calls: Vec<Option<Fnv>> = vec![None; function.blocks.len()];
        for call in function.calls.iter().filter(|call| !call.is_marker()) {
            let Some(name) = call.callee_name().filter(|name| !name.starts_with(OURS)) else { continue };
            if let Some(calls) = calls.get_mut(call.block.index()) {
                let calls = calls.get_or_insert_default();
                calls.eat(name.as_bytes());
                calls.eat_number(0);
            }
        }
        for ((anchors, calls), facts) in blocks.iter_mut().zip(calls).zip(&function.blocks) {
            anchors.calls = calls.map_or(0, |calls| calls.folded().max(1));
            let mut text = Fnv::default();
            let mut seen = HashSet::new();
            for span in &facts.lines {
                let Some(line) = own_line(function, span) else { continue };
                let first = *anchors.line.get_or_insert(line);
                // Builds that count say of more places than others where a line is gone on with.
                if !seen.insert((line, span.inlined)) {
                    continue;
                }
                text.eat_number((line - first).cast_unsigned());
                if let Some(inlined) = span.inlined.and_then(|i| function.inlined.get(i as usize)) {
                    text.eat(inlined.symbol.as_bytes());
                }
            }
            anchors.text = text.folded();
        }
        let edges = function.edges.iter().map(|edge| (edge.src.0, edge.dst.0, edge.successor)).collect();
        Self { blocks, edges }
    }

    /// Does anything say which lines blocks come from?
    fn has_lines(&self) -> bool {
        self.blocks.iter().any(|block| block.line.is_some())
    }

    /// How much of the other one is the same.
    #[must_use]
    pub fn likeness(&self, other: &Self) -> Likeness {
        if self.blocks.len() != other.blocks.len() || self.edges != other.edges {
            return Likeness::None;
        }
        let both = || self.blocks.iter().zip(&other.blocks);
        let same_lines = || both().all(|(one, other)| (one.line, one.text) == (other.line, other.text));
        if both().any(|(one, other)| one.calls != other.calls) {
            Likeness::Graph
        } else if self.has_lines() && other.has_lines() && !same_lines() {
            Likeness::Calls
        } else {
            Likeness::All
        }
    }
}

/// The line of the function itself that a span belongs to, from the function's own on: that of the outermost call, if
/// it was inlined.
fn own_line(function: &Function, span: &LineSpan) -> Option<i64> {
    let start = function.position?;
    let (mut at, mut inlined) = (span.at, span.inlined);
    while let Some(copy) = inlined {
        let copy = function.inlined.get(copy as usize)?;
        at = copy.call?;
        // Parents come before children: a file can't make this go on for ever.
        inlined = copy.parent.filter(|parent| Some(*parent) < inlined);
    }
    Some(i64::from(at.line) - i64::from(start.line))
}

/// Blocks of a function, each with that of an earlier version which it seems to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matching {
    /// Per block of the later version.
    pub earlier: Vec<Option<u32>>,
}

/// A key by which blocks are aligned.
type Key = (u32, Option<i64>, u32, u64);

/// The key of a block, of which there are: its anchors, its line from the last pair before it on, and its branches.
/// Lines alone come last: where code was put in, others come to stand in the old lines.
type KeyOf = fn(&Anchors, Option<i64>, u64) -> Option<Key>;

impl Matching {
    /// Matches the blocks of two versions. The entries are a pair.
    #[must_use]
    pub fn new(earlier: &Outline, later: &Outline) -> Self {
        if earlier.likeness(later) >= Likeness::Calls {
            return Self { earlier: (0..).map(Some).take(later.blocks.len()).collect() };
        }
        let mut search = Search {
            earlier: Side::new(earlier),
            later: Side::new(later),
            to_earlier: vec![None; later.blocks.len()],
            to_later: vec![None; earlier.blocks.len()],
        };
        search.pair(0, 0);
        let keys: [KeyOf; 5] = [
            |block, _, branches| (block.calls != 0).then_some((block.calls, None, block.text, branches)),
            |block, _, branches| (block.calls != 0).then_some((block.calls, None, 0, branches)),
            |block, _, _| (block.calls != 0).then_some((block.calls, None, 0, 0)),
            |block, line, branches| line.map(|line| (block.calls, Some(line), block.text, branches)),
            |block, _, branches| block.line.map(|_| (block.calls, None, block.text, branches)),
        ];
        for key in keys {
            search.align(key);
            search.follow_edges();
        }
        Self { earlier: search.to_earlier }
    }

    /// How many blocks have a pair.
    #[must_use]
    pub fn pairs(&self) -> usize {
        self.earlier.iter().flatten().count()
    }

    /// The counts of the earlier version as a guess for the later one: of blocks with a pair, and of the edges out
    /// of these, where their branches are alike. All others are 0, as if nothing were known of them.
    #[must_use]
    pub fn transfer(&self, earlier: &Outline, later: &Outline, counts: &FunctionProfile) -> FunctionProfile {
        let (old, new) = (Side::new(earlier), Side::new(later));
        let block = |own: &Option<u32>| own.and_then(|own| counts.blocks.get(Block(own)).copied()).unwrap_or(0);
        let mut edges: IdMap<Edge, u64> = IdMap::filled(0, later.edges.len());
        let of_edges = |edge: usize| counts.edges.as_ref().and_then(|edges| edges.get(Edge::new(edge))).copied();
        for (own, matched) in self.earlier.iter().enumerate() {
            let Some(matched) = *matched else { continue };
            let (from, to) = (&old.out[matched as usize], &new.out[own]);
            if old.branches[matched as usize] == new.branches[own] {
                for (&from, &to) in from.iter().zip(to) {
                    edges[Edge::new(to)] = of_edges(from).unwrap_or(0);
                }
            }
        }
        FunctionProfile {
            blocks: self.earlier.iter().map(block).collect(),
            edges: Some(edges),
            entries: counts.entries,
            ..FunctionProfile::default()
        }
    }
}

/// One version, with its edges by block.
struct Side<'a> {
    outline: &'a Outline,
    /// The edges out of each block, by the number of the branch.
    out: Vec<Vec<usize>>,
    /// The edges into each block.
    into: Vec<Vec<usize>>,
    /// A number for the branches of each block.
    branches: Vec<u64>,
}

impl<'a> Side<'a> {
    fn new(outline: &'a Outline) -> Self {
        let count = outline.blocks.len();
        let (mut out, mut into) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for (number, &(src, dst, _)) in outline.edges.iter().enumerate() {
            if let Some(out) = out.get_mut(src as usize) {
                out.push(number);
            }
            // EXIT is no block.
            if let Some(into) = into.get_mut(dst as usize) {
                into.push(number);
            }
        }
        for out in &mut out {
            out.sort_by_key(|&edge| outline.edges[edge].2);
        }
        let branches = |out: &Vec<usize>| {
            let mut hash = Fnv::default();
            for &edge in out {
                let (_, dst, branch) = outline.edges[edge];
                hash.eat_number(u64::from(branch) << 1 | u64::from(dst as usize >= count));
            }
            hash.0
        };
        Self { outline, branches: out.iter().map(branches).collect(), out, into }
    }
}

struct Search<'a> {
    earlier: Side<'a>,
    later: Side<'a>,
    /// Per block of the later version.
    to_earlier: Vec<Option<u32>>,
    /// Per block of the earlier version.
    to_later: Vec<Option<u32>>,
}

impl Search<'_> {
    /// Makes a pair, unless one of them has another partner, or there is no such block.
    fn pair(&mut self, earlier: usize, later: usize) -> bool {
        let (Some(to_later), Some(to_earlier)) = (self.to_later.get_mut(earlier), self.to_earlier.get_mut(later))
        else {
            return false;
        };
        if to_later.is_some() || to_earlier.is_some() {
            return false;
        }
        let number = |block| u32::try_from(block).ok();
        (*to_later, *to_earlier) = (number(later), number(earlier));
        true
    }

    /// Aligns the blocks between pairs by a key.
    fn align(&mut self, key: KeyOf) {
        let pairs = (0..).zip(&self.to_earlier).filter_map(|(later, earlier)| Some(((*earlier)? as usize, later)));
        let mut fixed = rising(pairs.collect());
        fixed.push((self.to_later.len(), self.to_earlier.len()));
        let mut from = (0, 0);
        for to in fixed {
            let only = |side: &Side<'_>, partners: &[Option<u32>], from: usize, to: usize| {
                let blocks = &side.outline.blocks;
                let base = from.checked_sub(1).and_then(|pair| blocks.get(pair)?.line);
                let mut seen: HashMap<Key, Option<usize>> = HashMap::new();
                for block in (from..to).filter(|&block| partners[block].is_none()) {
                    let line = blocks[block].line.zip(base).map(|(line, base)| line.saturating_sub(base));
                    if let Some(key) = key(&blocks[block], line, side.branches[block]) {
                        seen.entry(key).and_modify(|only| *only = None).or_insert(Some(block));
                    }
                }
                seen
            };
            let earlier = only(&self.earlier, &self.to_later, from.0, to.0);
            let later = only(&self.later, &self.to_earlier, from.1, to.1);
            let both = later.iter().filter_map(|(key, later)| Some((earlier.get(key).copied().flatten()?, (*later)?)));
            let mut both: Vec<(usize, usize)> = both.collect();
            both.sort_unstable_by_key(|&(_, later)| later);
            for (earlier, later) in rising(both) {
                self.pair(earlier, later);
            }
            from = (to.0 + 1, to.1 + 1);
        }
    }

    /// Pairs what the same branches of pairs lead to, and what alone leads to them, as long as there is more.
    fn follow_edges(&mut self) {
        let pairs = (0..).zip(&self.to_earlier).filter_map(|(later, earlier)| Some(((*earlier)? as usize, later)));
        let mut new: Vec<(usize, usize)> = pairs.collect();
        while let Some((earlier, later)) = new.pop() {
            let mut candidates = Vec::new();
            if self.earlier.branches[earlier] == self.later.branches[later] {
                let ends = |side: &Side<'_>, block: usize| -> Vec<usize> {
                    side.out[block].iter().map(|&edge| side.outline.edges[edge].1 as usize).collect()
                };
                candidates.extend(ends(&self.earlier, earlier).into_iter().zip(ends(&self.later, later)));
            }
            if let ([one], [other]) = (&*self.earlier.into[earlier], &*self.later.into[later]) {
                let start = |side: &Side<'_>, edge: usize| side.outline.edges[edge].0 as usize;
                candidates.push((start(&self.earlier, *one), start(&self.later, *other)));
            }
            for (earlier, later) in candidates {
                if self.alike(earlier, later) && self.pair(earlier, later) {
                    new.push((earlier, later));
                }
            }
        }
    }

    /// May blocks that lie alike in the graph be the same?
    fn alike(&self, earlier: usize, later: usize) -> bool {
        let branches = (self.earlier.branches.get(earlier), self.later.branches.get(later));
        let (Some(one), Some(other)) = branches else { return false };
        one == other && self.earlier.outline.blocks[earlier].calls == self.later.outline.blocks[later].calls
    }
}

/// A longest part of pairs, which rise by the second, in which the first rises as well.
fn rising(pairs: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    // Patience: per length, the last pair of the part of that length that ends lowest.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; pairs.len()];
    for (number, &(earlier, _)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|&end| pairs[end].0 < earlier);
        before[number] = length.checked_sub(1).map(|shorter| ends[shorter]);
        if length == ends.len() {
            ends.push(number);
        } else {
            ends[length] = number;
        }
    }
    let mut part = Vec::with_capacity(ends.len());
    let mut last = ends.last().copied();
    while let Some(number) = last {
        part.push(pairs[number]);
        last = before[number];
    }
    part.reverse();
    part
}

#[cfg(test)]
mod tests;
