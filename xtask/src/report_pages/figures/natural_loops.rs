//! Natural loops of a function, found by dominators alone: the loops of the pages are found otherwise.
//!
//! An edge to a block that dominates its source is a back edge; the loop of a header is all that reaches a back edge to
//! it without passing the header.

use super::exported::Function;
use std::collections::BTreeSet;

/// The loops of a function.
pub struct NaturalLoops {
    pub loops: Vec<NaturalLoop>,
    /// There is no cycle besides: each has one header, through which all ways into it lead.
    pub reducible: bool,
}

/// A loop, and how it ran.
pub struct NaturalLoop {
    pub blocks: BTreeSet<usize>,
    pub entries: u128,
    pub trips: u128,
    pub instructions: u128,
    /// The loop stands in another one.
    pub nested: bool,
    /// File and line of the first block that has a line, the header before others; `None` where code was inlined.
    pub place: Option<(usize, u32)>,
}

impl NaturalLoops {
    /// Finds the loops; none where counts of edges are not known.
    pub fn of(function: &Function) -> NaturalLoops {
        let none = NaturalLoops { loops: Vec::new(), reducible: false };
        let count = function.blocks.len();
        let (mut next, mut before) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for edge in &function.edges {
            if let Some(to) = edge.to {
                next[edge.from].push(to);
                before[to].push(edge.from);
            }
        }
        let order = reverse_postorder(&next);
        let dominators = Dominators::new(&order, &before, count);
        let mut headers: BTreeSet<usize> = BTreeSet::new();
        let mut back: BTreeSet<(usize, usize)> = BTreeSet::new();
        for &block in &order {
            for &to in next[block].iter().filter(|&&to| dominators.dominates(to, block)) {
                headers.insert(to);
                back.insert((block, to));
            }
        }
        let reached: BTreeSet<usize> = order.iter().copied().collect();
        let mut loops = Vec::new();
        for &header in &headers {
            let mut blocks = BTreeSet::from([header]);
            let mut open: Vec<usize> = back.iter().filter(|(_, to)| *to == header).map(|&(from, _)| from).collect();
            while let Some(block) = open.pop() {
                if blocks.insert(block) {
                    open.extend(before[block].iter().filter(|from| reached.contains(from)));
                }
            }
            let Some(found) = ran(function, header, blocks) else { return none };
            loops.push(found);
        }
        for at in 0..loops.len() {
            let own = *headers.iter().nth(at).unwrap_or(&0);
            loops[at].nested = (0..loops.len()).any(|other| other != at && loops[other].blocks.contains(&own));
        }
        // Without its back edges a reducible graph has no cycle: its order is a topological one.
        let mut place = vec![0; count];
        order.iter().enumerate().for_each(|(at, &block)| place[block] = at);
        let goes_on =
            |&block: &usize| next[block].iter().all(|&to| place[to] > place[block] || back.contains(&(block, to)));
        NaturalLoops { reducible: order.iter().all(goes_on), loops }
    }
}

fn ran(function: &Function, header: usize, blocks: BTreeSet<usize>) -> Option<NaturalLoop> {
    let (mut entries, mut trips) = (0, 0);
    for edge in function.edges.iter().filter(|edge| edge.to == Some(header)) {
        let count = u128::from(edge.count?);
        trips += count;
        if !blocks.contains(&edge.from) {
            entries += count;
        }
    }
    let mut instructions = 0;
    for &block in &blocks {
        let block = &function.blocks[block];
        instructions += u128::from(block.count?) * u128::from(block.instructions.total);
    }
    let own = blocks.iter().all(|&block| function.blocks[block].lines.iter().all(|line| line.inlined.is_none()));
    let first = |block: usize| function.blocks[block].lines.first().map(|line| (line.file, line.line));
    let place = first(header).or_else(|| blocks.iter().find_map(|&block| first(block)));
    Some(NaturalLoop { blocks, entries, trips, instructions, nested: false, place: place.filter(|_| own) })
}

/// The blocks that are reached, each before those that are first reached from it.
fn reverse_postorder(next: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; next.len()];
    let mut order = Vec::new();
    let mut open = Vec::new();
    if !next.is_empty() {
        seen[0] = true;
        open.push((0, 0));
    }
    while let Some((block, at)) = open.last_mut() {
        let block = *block;
        match next[block].get(*at) {
            Some(&to) => {
                *at += 1;
                if !seen[to] {
                    seen[to] = true;
                    open.push((to, 0));
                }
            }
            None => {
                order.push(block);
                open.pop();
            }
        }
    }
    order.reverse();
    order
}

/// Immediate dominators (Cooper, Harvey and Kennedy: "A Simple, Fast Dominance Algorithm").
struct Dominators {
    /// By block: its place in the order.
    place: Vec<Option<usize>>,
    /// By place: that of the immediate dominator.
    immediate: Vec<usize>,
}

impl Dominators {
    fn new(order: &[usize], before: &[Vec<usize>], count: usize) -> Dominators {
        let mut place = vec![None; count];
        order.iter().enumerate().for_each(|(at, &block)| place[block] = Some(at));
        let mut immediate = vec![usize::MAX; order.len()];
        if let Some(entry) = immediate.first_mut() {
            *entry = 0;
        }
        let mut changed = true;
        while changed {
            changed = false;
            for (at, &block) in order.iter().enumerate().skip(1) {
                let known = before[block].iter().filter_map(|&from| place[from]);
                let known = known.filter(|&from| immediate[from] != usize::MAX);
                let found = known.reduce(|a, b| common(&immediate, a, b));
                if let Some(found) = found.filter(|&found| found != immediate[at]) {
                    immediate[at] = found;
                    changed = true;
                }
            }
        }
        Dominators { place, immediate }
    }

    fn dominates(&self, above: usize, block: usize) -> bool {
        let (Some(above), Some(mut at)) = (self.place[above], self.place[block]) else { return false };
        while at > above {
            at = self.immediate[at];
        }
        at == above
    }
}

fn common(immediate: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        if a > b { a = immediate[a] } else { b = immediate[b] }
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// A function of blocks of one instruction each, and of edges with their counts. The first block is entered once.
    fn function(blocks: usize, edges: &[(usize, usize, u64)]) -> Function {
        let entered = |block: usize| edges.iter().filter(|edge| edge.1 == block).map(|edge| edge.2).sum::<u64>();
        let block = |block: usize| {
            let count = if block == 0 { 1 } else { entered(block) };
            json!({ "count": count, "instructions": { "total": 1 }, "lines": [{ "file": 0, "line": block, "column": 0 }] })
        };
        let edge = |&(from, to, count): &(usize, usize, u64)| json!({ "from": from, "to": to, "kind": "jump", "count": count });
        let blocks: Vec<Value> = (0..blocks).map(block).collect();
        let edges: Vec<Value> = edges.iter().map(edge).collect();
        let function = json!({
            "symbol": "f", "name": "f", "module": "m", "linkage": "external", "flaws": [], "inlined": [],
            "blocks": blocks, "edges": edges,
        });
        serde_json::from_value(function).expect("a function")
    }

    #[test]
    fn loops_in_loops() {
        // 1 is the header of the outer loop, 2 the inner one by itself.
        let found = NaturalLoops::of(&function(4, &[(0, 1, 1), (1, 2, 3), (2, 2, 12), (2, 1, 2), (2, 3, 1)]));
        assert!(found.reducible);
        let figures: Vec<_> = found.loops.iter().map(|l| (l.entries, l.trips, l.instructions, l.nested)).collect();
        assert_eq!(figures, [(1, 3, 18, false), (3, 15, 15, true)]);
        assert_eq!(found.loops[1].place, Some((0, 2)));
    }

    #[test]
    fn a_cycle_with_two_ways_in_is_no_natural_loop() {
        let found = NaturalLoops::of(&function(3, &[(0, 1, 1), (0, 2, 0), (1, 2, 4), (2, 1, 3)]));
        assert!(!found.reducible && found.loops.is_empty());
    }
}
