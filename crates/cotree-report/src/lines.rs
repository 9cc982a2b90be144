//! How often source lines ran.
//!
//! A line's blocks cannot simply be summed: `if (a && b)` is two blocks and runs once. The rule is gcov's, so that
//! numbers agree with the tool that people know:
//!
//! - A block *ends* on the line of its last span. If some blocks end on a line, the line ran as often as control came
//!   into this set of blocks from outside of it, plus as often as it went round a loop within it
//!   (`for (…) x++;` in one line).
//! - If none does (the line is passed in the middle of longer blocks), the line ran as often as those blocks did.
//!
//! Where an activation was abandoned during a call, the block is two: what follows the call ran less often. A function's
//! first line is part of its first block. Inlined copies and other instances of a function are counted each by itself
//! and added up.
//!
//! One thing compilers do differently: clang gives the jump out of `{ … }` the position of the closing brace, which in
//! `} else if (x) {` is the line of another statement. Such a jump is no execution of the line and does not count.

use crate::flow::Flow;
use crate::source::SourceText;
use cotree_core::facts::{EdgeKind, LineSpan};
use cotree_core::ids::{Block, Edge};
use std::collections::{BTreeMap, HashMap};

/// Counts the lines of one function, in one file or in all.
///
/// `each` gets file, line and count, once per line and inlined copy. `text` is the file's source, if it is at hand: it
/// tells closing braces from statements for certain.
pub fn count(flow: &Flow<'_>, file: Option<u32>, text: Option<&SourceText>, mut each: impl FnMut(u32, u32, u64)) {
    let graph = Pieces::new(flow, text);
    let mut lines: BTreeMap<(u32, u32, Option<u32>), OnLine> = BTreeMap::new();
    for (index, piece) in graph.pieces.iter().enumerate() {
        let mut note = |at: (u32, u32, Option<u32>)| {
            if file.is_none_or(|f| f == at.0) {
                let line = lines.entry(at).or_default();
                if line.last_seen != Some(index) {
                    line.last_seen = Some(index);
                    line.passed = line.passed.saturating_add(piece.count);
                }
            }
        };
        for at in graph.positions(piece) {
            note(at);
        }
        if let Some(at) = graph.positions(piece).last()
            && let Some(line) = lines.get_mut(&at)
        {
            line.ending.push(index);
        }
    }
    let mut member = vec![false; graph.pieces.len()];
    for ((file, line, _), on) in lines {
        let count = if on.ending.is_empty() { on.passed } else { graph.rounds(&on.ending, &mut member) };
        each(file, line, count);
    }
}

/// What is known of one line in one copy of a function.
#[derive(Default)]
struct OnLine {
    /// The sum over the pieces that pass the line.
    passed: u64,
    last_seen: Option<usize>,
    /// The pieces that end on the line.
    ending: Vec<usize>,
}

/// A block, or the part of it between calls that did not return.
struct Piece {
    block: Block,
    /// It is the beginning of the block.
    first: bool,
    /// Spans of the block.
    spans: std::ops::Range<usize>,
    count: u64,
}

/// All pieces of a function and the flow between them.
struct Pieces<'a> {
    flow: &'a Flow<'a>,
    pieces: Vec<Piece>,
    /// The first piece of each block; that of the next one ends the list.
    first: Vec<usize>,
}

impl<'a> Pieces<'a> {
    fn new(flow: &'a Flow<'a>, text: Option<&SourceText>) -> Self {
        let mut pieces = Vec::new();
        let mut first = Vec::with_capacity(flow.function.blocks.len() + 1);
        for (index, facts) in flow.function.blocks.iter().enumerate() {
            let block = Block::new(index);
            first.push(pieces.len());
            let mut last = facts.lines.len();
            if leaves_a_brace(flow, block, text) {
                last -= 1;
            }
            let mut start = 0;
            let mut count = flow.block(block);
            // A piece without lines would only stand between those that have some; but the block must begin somewhere.
            let mut add = |spans: std::ops::Range<usize>, count: u64| {
                let first = spans.start == 0 && pieces.last().is_none_or(|p: &Piece| p.block != block);
                if first || !spans.is_empty() {
                    pieces.push(Piece { block, first, spans, count });
                }
            };
            for site in 0..flow.site_count(block) {
                if flow.early(flow.first_site(block) + site) != 0 {
                    let end = facts.lines.partition_point(|s| s.after_sites <= site).clamp(start, last);
                    add(start..end, count);
                    start = end;
                    count = flow.after(block, site + 1);
                }
            }
            add(start..last, count);
        }
        first.push(pieces.len());
        Self { flow, pieces, first }
    }

    /// The lines that a piece runs through, in order.
    fn positions(&self, piece: &Piece) -> impl Iterator<Item = (u32, u32, Option<u32>)> {
        let function = self.flow.function;
        let declared = function.position.filter(|_| piece.first && piece.block == Block(0)).map(|p| (p.file, p.line, None));
        let spans = &function.blocks[piece.block.index()].lines[piece.spans.clone()];
        declared.into_iter().chain(spans.iter().map(|s| (s.at.file, s.at.line, s.inlined)))
    }

    /// How often control came into a set of pieces, or went round in it. `member` is all false before and after.
    fn rounds(&self, set: &[usize], member: &mut [bool]) -> u64 {
        for &piece in set {
            member[piece] = true;
        }
        let mut entered = 0u64;
        let mut inner: HashMap<usize, Vec<(usize, u64)>> = HashMap::new();
        let mut unknown = false;
        for &index in set {
            let piece = &self.pieces[index];
            let mut arrive = |from: Option<usize>, count: Option<u64>| match (from.filter(|&f| member[f]), count) {
                (_, None) => unknown = true,
                (None, Some(count)) => entered = entered.saturating_add(count),
                (Some(from), Some(count)) => inner.entry(from).or_default().push((index, count)),
            };
            if index > self.first[piece.block.index()] {
                let before = self.pieces[index - 1].count;
                arrive(Some(index - 1), Some(before.min(piece.count)));
                arrive(None, Some(piece.count.saturating_sub(before)));
                continue;
            }
            for &edge in self.flow.cfg.preds(piece.block) {
                if edge == self.flow.cfg.exit_edge() {
                    arrive(None, Some(self.flow.entries()));
                } else {
                    let source = self.flow.cfg.src(edge);
                    arrive(Some(self.first[source.index() + 1] - 1), self.flow.edge(edge));
                }
            }
        }
        for &piece in set {
            member[piece] = false;
        }
        if unknown {
            // Some edges are not known: at least as often as the busiest of the blocks.
            return set.iter().map(|&p| self.pieces[p].count).max().unwrap_or(0);
        }
        entered.saturating_add(circulation(inner))
    }
}

/// Takes cycles out of a flow until none is left, and says how often they ran: each cycle as often as its least arc.
///
/// (gcov enumerates elementary cycles, which takes exponential time; walking until the walk meets itself, cancelling
/// that cycle and going on finds some decomposition, of the same total where loops have one entry.)
fn circulation(mut arcs: HashMap<usize, Vec<(usize, u64)>>) -> u64 {
    let mut total = 0u64;
    let mut starts: Vec<usize> = arcs.keys().copied().collect();
    starts.sort_unstable();
    let mut on_path: HashMap<usize, usize> = HashMap::new();
    for start in starts {
        // Pieces on the walk; the arc that leaves each of them is the last of its list.
        let mut path = vec![start];
        on_path.insert(start, 0);
        while let Some(&at) = path.last() {
            let leaving = arcs.get_mut(&at);
            let next = leaving.and_then(|out| {
                while out.last().is_some_and(|&(_, count)| count == 0) {
                    out.pop();
                }
                out.last().map(|&(to, _)| to)
            });
            let Some(next) = next else {
                // A dead end: no cycle passes here, so the arc that led here is of no use.
                path.pop();
                on_path.remove(&at);
                if let Some(out) = path.last().and_then(|before| arcs.get_mut(before)) {
                    out.pop();
                }
                continue;
            };
            let Some(&met) = on_path.get(&next) else {
                on_path.insert(next, path.len());
                path.push(next);
                continue;
            };
            let cycle = &path[met..];
            let least = cycle.iter().filter_map(|p| arcs[p].last()).map(|&(_, count)| count).min().unwrap_or(0);
            total = total.saturating_add(least);
            for piece in cycle {
                if let Some((_, count)) = arcs.get_mut(piece).and_then(|out| out.last_mut()) {
                    *count -= least;
                }
            }
            for piece in path.drain(met + 1..) {
                on_path.remove(&piece);
            }
        }
    }
    total
}

/// Is the last span of the block nothing but the jump that leaves `{ … }`?
fn leaves_a_brace(flow: &Flow<'_>, block: Block, text: Option<&SourceText>) -> bool {
    let [only] = flow.cfg.succs(block) else { return false };
    let lines = &flow.function.blocks[block.index()].lines;
    let (Some(last), true) = (lines.last(), kind(flow, *only) == Some(EdgeKind::Jump)) else { return false };
    if let Some(source) = text.and_then(|t| t.line(last.at.line)) {
        let column = (last.at.column as usize).saturating_sub(1);
        return source.as_bytes().get(column) == Some(&b'}');
    }
    // Without the source: a brace is the first thing on its line, what it is on the line of comes after it, in blocks
    // that this one does not go to; and the block has done something else before.
    let same_line = |s: &LineSpan| s.at.file == last.at.file && s.at.line == last.at.line && s.inlined == last.inlined;
    let begins_there = |b: Block| flow.function.blocks.get(b.index()).and_then(|b| b.lines.first()).is_some_and(same_line);
    let others = || {
        let blocks = flow.function.blocks.iter().enumerate().filter(|(b, _)| *b != block.index());
        blocks.flat_map(|(_, b)| &b.lines).filter(|s| same_line(s))
    };
    last.at.column > 0
        && lines.len() > 1
        && !lines[..lines.len() - 1].iter().any(same_line)
        && !begins_there(flow.cfg.dst(*only))
        && others().any(|s| s.at.column > last.at.column)
        && others().all(|s| s.at.column >= last.at.column)
}

fn kind(flow: &Flow<'_>, edge: Edge) -> Option<EdgeKind> {
    flow.function.edges.get(edge.index()).map(|e| e.kind)
}

#[cfg(test)]
mod tests {
    use super::circulation;
    use std::collections::HashMap;

    #[test]
    fn cycles_are_counted_by_their_least_arc() {
        let arcs = |list: &[(usize, usize, u64)]| {
            let mut arcs: HashMap<usize, Vec<(usize, u64)>> = HashMap::new();
            for &(from, to, count) in list {
                arcs.entry(from).or_default().push((to, count));
            }
            arcs
        };
        assert_eq!(circulation(arcs(&[])), 0);
        assert_eq!(circulation(arcs(&[(0, 1, 5), (1, 2, 5)])), 0);
        assert_eq!(circulation(arcs(&[(0, 0, 7)])), 7);
        assert_eq!(circulation(arcs(&[(0, 1, 10), (1, 0, 9)])), 9);
        // Two loops through one header.
        assert_eq!(circulation(arcs(&[(0, 1, 10), (1, 0, 4), (1, 2, 6), (2, 0, 6)])), 10);
        // An inner loop in an outer one.
        assert_eq!(circulation(arcs(&[(0, 1, 3), (1, 1, 12), (1, 0, 3)])), 15);
    }
}
