//! Counts of source lines.
//!
//! The counts of a line's blocks cannot simply be summed: `if (a && b)` is two blocks and runs once. We use gcov's
//! rule, so that numbers agree with the tool that people know:
//!
//! - A block *ends* on the line of its last span. If some blocks end on a line, the line ran as often as control
//!   entered this set of blocks from outside, plus as often as it went round a loop within the set
//!   (`for (…) x++;` in one line). Unlike gcov, we do not count control that comes back from another line of one
//!   statement: `return a ||` runs once, though the value of `b` on the next line comes back to it.
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
use crate::functions::inlined_entries;
use crate::jumps::{
    LineKey, ends_in_a_mere_jump, is_an_operator, is_at_the_word_of_a_loop, is_misplaced, jump_of, kind_of_exit,
    loop_heads,
};
use crate::passes::Passes;
use crate::source::SourceText;
use crate::unwinding;
use cotree_core::facts::EdgeKind;
use cotree_core::ids::{Block, Edge};
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

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
            line.placed |= !piece.misplaced;
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
    let passes = LazyCell::new(|| Passes::new(&flow.cfg));
    // Lines that hold nothing but unwinding code are no code that could have run and did not.
    lines.retain(|_, line| line.normal || line.passed > 0);
    for ((file, line, _), mut on) in lines {
        if on.placed {
            on.ending.retain(|&(piece, _)| !graph.pieces[piece].misplaced);
        }
        if on.own {
            on.ending.retain(|&(piece, _)| !graph.pieces[piece].jump);
            on.anchored &= !on.ending.is_empty();
        }
        let rounds = if on.ending.is_empty() { 0 } else { graph.rounds(&on.ending, &mut member, &passes) };
        let least = if on.anchored {
            on.most
        } else if on.own {
            on.columns.iter().map(|column| column.passed).max().unwrap_or(0)
        } else {
            on.passed
        };
        let ran = rounds.max(least);
        let known = if on.anchored { rounds } else { 0 };
        let in_others = if on.pieces.len() > 1 { graph.in_other_passes(&on, known, ran, &passes) } else { 0 };
        each(file, line, ran.max(in_others));
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
    /// Something other than a jump at the place of something else is there.
    placed: bool,
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
    /// The block is nothing but a jump, and not to the head of the line's loop, or the branch of a whole condition.
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
                && (jump_of(flow, block).is_some_and(|(to, at)| !heads.contains(&(to, at)))
                    || is_at_the_word_of_a_loop(flow, block, text));
            let misplaced = jump && is_misplaced(flow, block, text);
            let mut start = usize::from(last > 1 && is_an_operator(&facts.lines[0], text));
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
    fn in_other_passes(&self, on: &OnLine, known: u64, ran: u64, passes: &Passes<'_>) -> u64 {
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
            if passes.excludes(block, &chosen) {
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

    /// The pieces that control passes between two visits of a line by one statement, when `member` says which pieces
    /// are on the line. Control that passes through them does not leave the line.
    fn between_visits(&self, line: &[usize], member: &[bool], passes: &Passes<'_>) -> BTreeSet<usize> {
        let cfg = &self.flow.cfg;
        let blocks: HashSet<Block> = line.iter().map(|&piece| self.pieces[piece].block).collect();
        let mut between = BTreeSet::new();
        for &block in blocks.iter().filter(|block| member[self.first[block.index()]]) {
            for &edge in cfg.preds(block).iter().filter(|&&e| e != cfg.exit_edge() && !blocks.contains(&cfg.src(e))) {
                for passed in passes.between(edge, &blocks).into_iter().flatten() {
                    between.extend(self.first[passed.index()]..self.first[passed.index() + 1]);
                }
            }
        }
        between
    }

    /// How often a line ran on which these pieces end. `member` is all false before and after.
    fn rounds<'f>(
        &self,
        set: &[(usize, bool)],
        member: &mut [bool],
        passes: &LazyCell<Passes<'f>, impl FnOnce() -> Passes<'f>>,
    ) -> u64 {
        let mut line: Vec<usize> = set.iter().map(|&(piece, _)| piece).collect();
        line.iter().for_each(|&piece| member[piece] = true);
        line.extend(self.pass_through(set, member));
        let own: HashSet<usize> = set.iter().filter(|(_, own)| *own).map(|&(piece, _)| piece).collect();
        let on_line = line.len();
        if on_line > 1 {
            line.extend(self.between_visits(&line, member, passes));
        }
        line[on_line..].iter().for_each(|&piece| member[piece] = true);
        let mut rounds = self.rounds_within(&line, &own, member);
        line[on_line..].iter().for_each(|&piece| member[piece] = false);
        if rounds.is_none() && line.len() > on_line {
            rounds = self.rounds_within(&line[..on_line], &own, member);
        }
        line.iter().for_each(|&piece| member[piece] = false);
        // Where edges are unknown, the count of the busiest block is a lower bound.
        rounds.or_else(|| set.iter().map(|&(piece, _)| self.pieces[piece].count).max()).unwrap_or(0)
    }

    /// How often control came into a set of pieces, or went round in it by an own piece. None if an edge is unknown.
    fn rounds_within(&self, set: &[usize], own: &HashSet<usize>, member: &[bool]) -> Option<u64> {
        let mut entered = 0u64;
        let mut inner: HashMap<usize, Vec<(usize, u64)>> = HashMap::new();
        for &index in set {
            let piece = &self.pieces[index];
            let mut arrive = |from: Option<usize>, count: u64| match from.filter(|&f| member[f]) {
                None => entered = entered.saturating_add(count),
                Some(from) => inner.entry(from).or_default().push((index, count)),
            };
            if index > self.first[piece.block.index()] {
                // Activations that were revived in the call (the second return of `setjmp`) are still on its line.
                arrive(Some(index - 1), piece.count);
                continue;
            }
            for &edge in self.flow.cfg.preds(piece.block) {
                if edge == self.flow.cfg.exit_edge() {
                    arrive(None, self.flow.entries());
                } else {
                    let source = self.flow.cfg.src(edge);
                    arrive(Some(self.first[source.index() + 1] - 1), self.flow.edge(edge)?);
                }
            }
        }
        Some(entered.saturating_add(circulation(inner, own)))
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
