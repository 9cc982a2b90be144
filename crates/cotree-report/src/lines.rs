//! Counts of source lines.
//!
//! The counts of a line's blocks cannot simply be summed: `if (a && b)` is two blocks and runs once. We use gcov's
//! rule, so that numbers agree with the tool that people know:
//!
//! - A block *ends* on the line of its last span. If some blocks end on a line, the line ran as often as control
//!   entered this set of blocks from outside, plus as often as it went round a loop within the set
//!   (`for (…) x++;` in one line).
//! - If no block ends on the line (it lies in the middle of longer blocks), the line ran as often as the blocks that
//!   hold the same column of it, since blocks with other columns hold other parts of it (`f(x) +` with a condition on
//!   the next line). Blocks that are only a jump there do not count: these lead to the others.
//! - In any case the line ran at least as often as each of its blocks, and as any of its blocks together of which one
//!   pass through the function runs only one: compilers copy lines into several longer blocks.
//!
//! Where an activation was abandoned during a call, the block counts as two *pieces*, since the code after the call ran
//! less often. A function's first line is a piece before all others. Inlined copies and other instances of a function
//! are counted separately and added up.
//!
//! A line of which nothing is left but calls that were inlined ran as often as the copies were entered
//! ([`crate::functions::inlined_entries`]).
//!
//! An inlined call does not leave the line of the call: control that comes back from the copy does not enter
//! the line again. (Loops within the copy belong to the copy.)
//!
//! Compilers give some jumps positions at which nothing runs, and we ignore such jumps. clang puts the jump out of
//! `{ … }` at the closing brace, which in `} else if (x) {` is the line of another statement, and the branch of
//! `a && b` at the operator, which may be on the line of `b`. A block that is only a jump begins a round only on
//! a line without anything else (`break;`), or if it goes to the head of the line's loop (`while (1)`).

use crate::flow::Flow;
use crate::forward::Forward;
use crate::functions::inlined_entries;
use crate::source::SourceText;
use crate::unwinding;
use cotree_core::facts::{EdgeKind, LineSpan};
use cotree_core::ids::{Block, Edge};
use std::cell::LazyCell;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Counts the lines of one function, in one file or in all.
///
/// `each` gets file, line and count, once per line and inlined copy. `text` is the file's source, if available: with
/// it, closing braces and statements can be distinguished for certain.
pub fn count(flow: &Flow<'_>, file: Option<u32>, text: Option<&SourceText>, mut each: impl FnMut(u32, u32, u64)) {
    let graph = Pieces::new(flow, text);
    let mut lines: BTreeMap<LineKey, OnLine> = BTreeMap::new();
    let wanted = |at: &LineKey| file.is_none_or(|f| f == at.0);
    let unwinding = unwinding::blocks(flow.function, &flow.cfg);
    for (index, piece) in graph.pieces.iter().enumerate() {
        for (at, column) in graph.columns(piece).filter(|(at, _)| wanted(at)) {
            let line = lines.entry(at).or_default();
            line.own |= !piece.jump;
            line.normal |= !unwinding[piece.block.index()];
            if !piece.jump {
                line.add(column, index, piece.count);
            }
            if !piece.misplaced {
                line.most = line.most.max(piece.count);
            }
            if line.last_seen != Some(index) {
                line.last_seen = Some(index);
                line.passed = line.passed.saturating_add(piece.count);
                if !piece.jump && piece.count > 0 {
                    line.pieces.push(index);
                }
            }
        }
        if let Some(at) = graph.positions(piece).last() {
            if wanted(&at) {
                let line = lines.entry(at).or_default();
                line.ending.push((index, true));
                line.anchored = true;
            }
            for at in graph.callers(at.2).filter(wanted) {
                let line = lines.entry(at).or_default();
                line.anchored |= line.last_seen == Some(index);
                if line.ending.last().is_none_or(|&(last, _)| last != index) {
                    line.ending.push((index, false));
                }
            }
        }
    }
    for (at, count) in graph.operators.iter().filter(|(at, _)| wanted(at) && !lines.contains_key(at)) {
        each(at.0, at.1, *count);
    }
    lines.retain(|_, line| line.last_seen.is_some());
    for (at, count) in only_inlined(flow) {
        if wanted(&at) && !lines.contains_key(&at) && !graph.operators.contains_key(&at) {
            each(at.0, at.1, count);
        }
    }
    let mut member = vec![false; graph.pieces.len()];
    let forward = LazyCell::new(|| Forward::new(&flow.cfg));
    // Lines that hold nothing but unwinding code are no code that could have run and did not.
    lines.retain(|_, line| line.normal || line.passed > 0);
    for ((file, line, _), mut on) in lines {
        if on.own {
            on.ending.retain(|&(piece, _)| !graph.pieces[piece].jump);
            on.anchored &= !on.ending.is_empty();
        }
        let rounds = if on.ending.is_empty() { 0 } else { graph.rounds(&on.ending, &mut member) };
        let least = if on.anchored {
            on.most
        } else if on.own {
            on.columns.iter().map(|column| column.passed).max().unwrap_or(0)
        } else {
            on.passed
        };
        let ran = rounds.max(least);
        let known = if on.anchored { rounds } else { 0 };
        let apart = if on.pieces.len() > 1 { graph.in_other_passes(&on, known, ran, &forward) } else { 0 };
        each(file, line, ran.max(apart));
    }
}

/// The lines of calls that were inlined, with how often the copies were entered: where nothing else of a line is left,
/// that is how often it ran. Copies at one place are parts of one call (the compiler may have made several paths of
/// one); of those at several places, as in `f(x) + g(y)`, all run when the line does.
fn only_inlined(flow: &Flow<'_>) -> BTreeMap<LineKey, u64> {
    let mut calls: BTreeMap<(LineKey, u32), u64> = BTreeMap::new();
    for copy in inlined_entries(flow) {
        let facts = &flow.function.inlined[copy.index as usize];
        if let Some(at) = facts.call {
            let entries = calls.entry(((at.file, at.line, facts.parent), at.column)).or_default();
            *entries = entries.saturating_add(copy.entries);
        }
    }
    let mut lines = BTreeMap::new();
    for ((at, _), entries) in calls {
        let count: &mut u64 = lines.entry(at).or_default();
        *count = entries.max(*count);
    }
    lines
}

/// A line of one file, in one inlined copy or in the function itself.
type LineKey = (u32, u32, Option<u32>);

/// What is known of one line in one copy of a function.
#[derive(Default)]
struct OnLine {
    /// The sum over the pieces that pass the line.
    passed: u64,
    /// The pieces that ran and are more than a jump.
    pieces: Vec<usize>,
    /// The columns at which these have something.
    columns: Vec<OnColumn>,
    last_seen: Option<usize>,
    /// The count of the busiest piece that passes the line: the line ran at least that often.
    most: u64,
    /// Something other than a mere jump is there.
    own: bool,
    /// Something other than unwinding code is there.
    normal: bool,
    /// Some of the pieces that end on the line, or in what was inlined there, have a part of the line itself.
    anchored: bool,
    /// The pieces that end on the line (`true`), or in what was inlined there (`false`).
    ending: Vec<(usize, bool)>,
}

impl OnLine {
    /// A piece has something at a column.
    fn add(&mut self, column: u32, piece: usize, count: u64) {
        match self.columns.iter_mut().find(|known| known.column == column) {
            Some(known) if known.last_seen != piece => {
                known.last_seen = piece;
                known.passed = known.passed.saturating_add(count);
            }
            Some(_) => {}
            None => self.columns.push(OnColumn { column, last_seen: piece, passed: count }),
        }
    }
}

/// What is known of a column of a line.
struct OnColumn {
    column: u32,
    last_seen: usize,
    /// The sum over the pieces with something there.
    passed: u64,
}

/// A block, or the part of it between calls that did not return.
struct Piece {
    block: Block,
    /// The block is the function's beginning, the line of its declaration.
    declaration: bool,
    /// The block is nothing but a jump, and not to the head of the line's loop.
    jump: bool,
    /// The block is nothing but a jump, at a place that says nothing about it.
    misplaced: bool,
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
    /// The lines of operators that the branches of conditions stand at, with the count of the busiest branch.
    operators: BTreeMap<LineKey, u64>,
}

impl<'a> Pieces<'a> {
    fn new(flow: &'a Flow<'a>, text: Option<&SourceText>) -> Self {
        let mut pieces = Vec::new();
        let mut first = Vec::with_capacity(flow.function.blocks.len() + 1);
        let mut operators: BTreeMap<LineKey, u64> = BTreeMap::new();
        let heads = loop_heads(flow);
        for (index, facts) in flow.function.blocks.iter().enumerate() {
            let block = Block::new(index);
            first.push(pieces.len());
            let mut last = facts.lines.len();
            if ends_in_a_mere_jump(flow, block, text) {
                last -= 1;
                if kind_of_exit(flow, block) == Some(EdgeKind::True) {
                    let at = &facts.lines[last];
                    let ran = operators.entry((at.at.file, at.at.line, at.inlined)).or_default();
                    *ran = flow.block(block).max(*ran);
                }
            }
            let jump = facts.instructions.total == 1
                && jump_of(flow, block).is_some_and(|(to, at)| !heads.contains(&(to, at)));
            let misplaced = jump && is_misplaced(flow, block, text);
            let mut start = 0;
            let mut count = flow.block(block);
            if index == 0 && flow.function.position.is_some() {
                pieces.push(Piece { block, declaration: true, jump: false, misplaced: false, spans: 0..0, count });
            }
            // A piece without lines would only stand between those that have some; but the block must begin somewhere.
            let mut add = |spans: std::ops::Range<usize>, count: u64| {
                if !spans.is_empty() || pieces.last().is_none_or(|p: &Piece| p.block != block) {
                    pieces.push(Piece { block, declaration: false, jump, misplaced, spans, count });
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
        Self { flow, pieces, first, operators }
    }

    /// The lines that a piece runs through, in order.
    fn positions(&self, piece: &Piece) -> impl Iterator<Item = LineKey> {
        self.columns(piece).map(|(line, _)| line)
    }

    /// The lines that a piece runs through, and the columns in them, in order.
    fn columns(&self, piece: &Piece) -> impl Iterator<Item = (LineKey, u32)> {
        let function = self.flow.function;
        let declared = function.position.filter(|_| piece.declaration).map(|p| ((p.file, p.line, None), p.column));
        let spans = &function.blocks[piece.block].lines[piece.spans.clone()];
        declared.into_iter().chain(spans.iter().map(|s| ((s.at.file, s.at.line, s.inlined), s.at.column)))
    }

    /// How often a line ran, as pieces tell of which one pass through the function runs only one. Those that end on the
    /// line ran `known` times together. Nothing is looked for that can't come to more than `ran`.
    fn in_other_passes(&self, on: &OnLine, known: u64, ran: u64, forward: &Forward<'_>) -> u64 {
        let ends: HashSet<usize> = on.ending.iter().map(|&(piece, _)| piece).collect();
        let mut others: Vec<usize> = on.pieces.iter().copied().filter(|piece| !ends.contains(piece)).collect();
        let most = others.iter().fold(known, |sum, &piece| sum.saturating_add(self.pieces[piece].count));
        if most <= ran {
            return known;
        }
        others.sort_by_key(|&piece| std::cmp::Reverse(self.pieces[piece].count));
        let mut chosen: HashSet<Block> = ends.iter().map(|&piece| self.pieces[piece].block).collect();
        let mut sum = known;
        for piece in others {
            let Piece { block, count, .. } = self.pieces[piece];
            if forward.excludes(block, &chosen) {
                chosen.insert(block);
                sum = sum.saturating_add(count);
            }
        }
        sum
    }

    /// The lines of the calls around an inlined copy, from the inside out.
    fn callers(&self, copy: Option<u32>) -> impl Iterator<Item = LineKey> {
        let inlined = &self.flow.function.inlined;
        let copies = std::iter::successors(copy, |&c| inlined[c as usize].parent);
        copies.map_while(|c| inlined[c as usize].call.map(|at| (at.file, at.line, inlined[c as usize].parent)))
    }

    /// Adds pieces to the members that have no line of their own, or are only a jump, and whose predecessors are all
    /// members: control that passes through them does not leave the line.
    fn pass_through(&self, set: &[(usize, bool)], member: &mut [bool]) -> Vec<usize> {
        let cfg = &self.flow.cfg;
        let mut through = Vec::new();
        let mut work: Vec<usize> = set.iter().map(|&(piece, _)| piece).collect();
        while let Some(index) = work.pop() {
            let block = self.pieces[index].block;
            if index + 1 < self.first[block.index() + 1] {
                continue;
            }
            for &edge in cfg.succs(block).iter().filter(|&&e| cfg.dst(e) != cfg.exit()) {
                let next = self.first[cfg.dst(edge).index()];
                let piece = &self.pieces[next];
                let inside = |&e: &Edge| {
                    let source = cfg.src(e);
                    source != cfg.exit() && member[self.first[source.index() + 1] - 1]
                };
                if !member[next] && (piece.jump || piece.spans.is_empty()) && cfg.preds(piece.block).iter().all(inside)
                {
                    member[next] = true;
                    through.push(next);
                    work.push(next);
                }
            }
        }
        through
    }

    /// How often control came into a set of pieces, or went round in it. `member` is all false before and after.
    fn rounds(&self, set: &[(usize, bool)], member: &mut [bool]) -> u64 {
        for &(piece, _) in set {
            member[piece] = true;
        }
        let through = self.pass_through(set, member);
        let members = || set.iter().map(|&(piece, _)| piece).chain(through.iter().copied());
        let mut entered = 0u64;
        let mut inner: HashMap<usize, Vec<(usize, u64)>> = HashMap::new();
        let mut unknown = false;
        for index in members() {
            let piece = &self.pieces[index];
            let mut arrive = |from: Option<usize>, count: Option<u64>| match (from.filter(|&f| member[f]), count) {
                (_, None) => unknown = true,
                (None, Some(count)) => entered = entered.saturating_add(count),
                (Some(from), Some(count)) => inner.entry(from).or_default().push((index, count)),
            };
            if index > self.first[piece.block.index()] {
                // Activations that were revived in the call (the second return of `setjmp`) are still on its line.
                arrive(Some(index - 1), Some(piece.count));
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
        for piece in members() {
            member[piece] = false;
        }
        if unknown {
            // Some edges are unknown, so take the lower bound: the count of the busiest block.
            return set.iter().map(|&(p, _)| self.pieces[p].count).max().unwrap_or(0);
        }
        let own: HashSet<usize> = set.iter().filter(|(_, own)| *own).map(|&(piece, _)| piece).collect();
        entered.saturating_add(circulation(inner, &own))
    }
}

/// Takes cycles out of a flow until none is left, and says how often they ran: each cycle as often as its least arc.
/// Only cycles that pass a piece of `counted` are counted.
///
/// (gcov enumerates elementary cycles, which takes exponential time; walking until the walk meets itself, cancelling
/// that cycle and going on finds some decomposition, of the same total where loops have one entry.)
fn circulation(mut arcs: HashMap<usize, Vec<(usize, u64)>>, counted: &HashSet<usize>) -> u64 {
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
                // A dead end: no cycle passes here, so drop the arc that led here.
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
            if cycle.iter().any(|p| counted.contains(p)) {
                total = total.saturating_add(least);
            }
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

/// Is the last span of the block nothing but the jump or branch that leaves it, at a place where nothing runs?
fn ends_in_a_mere_jump(flow: &Flow<'_>, block: Block, text: Option<&SourceText>) -> bool {
    let lines = &flow.function.blocks[block].lines;
    let (Some(last), Some(exit)) = (lines.last(), kind_of_exit(flow, block)) else { return false };
    // A destructor is called at the closing brace, and so is the end of a handler.
    if flow.calls_in_span(block, lines.len() - 1) {
        return false;
    }
    let marks: &[&str] = match exit {
        EdgeKind::Jump => &["}"],
        EdgeKind::True => &["&&", "||"],
        _ => return false,
    };
    let same_line = |s: &LineSpan| s.at.file == last.at.file && s.at.line == last.at.line && s.inlined == last.inlined;
    if let Some(source) = text.and_then(|t| t.line(last.at.line)) {
        let column = (last.at.column as usize).saturating_sub(1);
        let rest = source.as_bytes().get(column..).unwrap_or_default();
        return last.at.column > 0 && marks.iter().any(|m| rest.starts_with(m.as_bytes()));
    }
    // Without the source. Both are the first thing on their lines, and the block has done something on a line before.
    let block_on_line = |b: Block| flow.function.blocks.get(b).and_then(|b| b.lines.first()).is_some_and(same_line);
    let others = || {
        let blocks = flow.function.blocks.iter().enumerate().filter(|(b, _)| *b != block.index());
        blocks.flat_map(|(_, b)| &b.lines).filter(|s| same_line(s))
    };
    let first_on_line = last.at.column > 0
        && lines.len() > 1
        && !lines[..lines.len() - 1].iter().any(same_line)
        && others().any(|s| s.at.column > last.at.column)
        && others().all(|s| s.at.column >= last.at.column);
    let goes_there = flow.cfg.succs(block).iter().any(|&e| block_on_line(flow.cfg.dst(e)));
    // What follows `}` on its line is not where the jump goes; what follows `&&` is where the branch may go.
    first_on_line && goes_there == (exit == EdgeKind::True)
}

/// The heads of loops: where jumps go back to, and the line that they are on. (`while (1)` and `for (;;)` are nothing
/// but such jumps.)
fn loop_heads(flow: &Flow<'_>) -> HashSet<(Block, Option<LineKey>)> {
    let blocks = (0..flow.function.blocks.len()).map(Block::new);
    blocks.filter_map(|b| jump_of(flow, b).filter(|(to, _)| to.index() <= b.index())).collect()
}

/// Where a block jumps to, and from which line.
fn jump_of(flow: &Flow<'_>, block: Block) -> Option<(Block, Option<LineKey>)> {
    if kind_of_exit(flow, block) != Some(EdgeKind::Jump) {
        return None;
    }
    let to = flow.cfg.dst(*flow.cfg.succs(block).first()?);
    let at = flow.function.blocks[block].lines.last().map(|s| (s.at.file, s.at.line, s.inlined));
    Some((to, at))
}

/// Is the position of a block that is nothing but a jump that of something else? Where control falls from one label to
/// the next with no statement between, clang leaves the jump at the position that it wrote last.
fn is_misplaced(flow: &Flow<'_>, block: Block, text: Option<&SourceText>) -> bool {
    let is_label = |e: &Edge| {
        let edge = flow.function.edges.get(*e);
        edge.is_some_and(|e| matches!(e.kind, EdgeKind::Case(_) | EdgeKind::Cases(..) | EdgeKind::Default))
    };
    if flow.cfg.succs(block).iter().any(|&e| flow.cfg.preds(flow.cfg.dst(e)).iter().any(is_label)) {
        return true;
    }
    let Some(last) = flow.function.blocks[block].lines.last() else { return true };
    if let Some(source) = text.and_then(|t| t.line(last.at.line)) {
        // Statements begin with a word.
        let start = source.as_bytes().get((last.at.column as usize).saturating_sub(1));
        return !start.is_some_and(|&c| c == b'_' || c.is_ascii_alphabetic() || !c.is_ascii());
    }
    // Without the source: a macro, all of which is at one place, has more there than jumps.
    let same = |s: &LineSpan| s.at == last.at && s.inlined == last.inlined;
    !flow.function.blocks.iter().any(|b| b.instructions.total > 1 && b.lines.iter().any(same))
}

/// The kind of the first way out of a block.
fn kind_of_exit(flow: &Flow<'_>, block: Block) -> Option<EdgeKind> {
    let first = flow.cfg.succs(block).first()?;
    flow.function.edges.get(*first).map(|e| e.kind)
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
        let all = (0..9).collect();
        let circulation = |arcs| circulation(arcs, &all);
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
