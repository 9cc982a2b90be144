//! Which paths of a function with too many for an array have words of their own nevertheless.
//!
//! Numbers are billions where few paths are taken, and a hash table costs several times what an array does. But numbers
//! rise with the number of ways on, so that inner loops and the short ways through a function come first: most of what runs
//! has small numbers. These are one *window*, with a word of the slab per path. Whoever counts a path looks whether it is
//! in there, if enough of the paths that come by there may be, and else takes it to the hash table. A path that is counted where its number is
//! known before the program runs has a window of its own.
//!
//! The same path may be counted in a window and in the hash table: its count is the sum.

use super::graph::{Arc, Node, PathGraph, Role};
use super::numbering::Numbering;
use super::{Cuts, PATH_TABLE, PathPlan};
use crate::cfg::Cfg;
use crate::facts::Function;
use crate::ids::{Edge, Table};
use crate::plan::MOST_PATH_ARRAY;
use crate::weighting::Weighting;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Paths of consecutive numbers that are counted in words of the slab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Window {
    /// The first number.
    pub first: u64,
    /// How many.
    pub len: u64,
}

impl Window {
    /// The paths' numbers.
    #[must_use]
    pub fn numbers(&self) -> std::ops::Range<u64> {
        self.first..self.first.saturating_add(self.len)
    }

    /// The table that stands for a plan's window of that index in [`crate::probe::Probe::CountPath`].
    #[must_use]
    pub fn table(index: usize) -> Table {
        Table::new(index + 1)
    }

    /// The window of a table; `None` if all paths go to the hash table.
    #[must_use]
    pub fn of(windows: &[Self], table: Table) -> Option<(usize, Self)> {
        let index = table.index().checked_sub(1)?;
        Some((index, *windows.get(index)?))
    }
}

/// Functions without loops run less often: their windows are this part of an array's length.
const STRAIGHT: u64 = 16;

/// What the words of large arrays cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// Memory and disk only where paths run: in executables.
    AsUsed,
    /// All of it, from the start.
    Whole,
}

impl Room {
    /// How many words the large arrays of a unit with so many blocks may have together, and one of them, where `array` words
    /// are any function's.
    fn words(self, array: u64, blocks: u64) -> [u64; 2] {
        match self {
            Self::AsUsed => [UNIT_WORDS, array.saturating_mul(MOST_TIMES_AS_USED)],
            Self::Whole => [blocks.saturating_mul(array / BLOCK_SHARE), array.saturating_mul(MOST_TIMES)],
        }
    }
}

/// The functions with too many paths for an array that get one nevertheless, by their numbers: nothing is as cheap, so all
/// words are given away that a unit of that size may have. The third says how many paths an activation may count, or so: the
/// functions with most of them per word come first. [`super::PathPlan::windows`] is to be all paths then.
#[must_use]
pub fn worth_arrays(functions: &[(&Function, &PathPlan, f64)], array: u64, room: Room) -> Vec<usize> {
    let blocks: usize = functions.iter().map(|(function, ..)| function.blocks.len()).sum();
    let [mut left, most] = room.words(array, blocks as u64);
    let most = most.min(MOST_PATH_ARRAY);
    let mut wanted: Vec<(f64, u64, usize)> = (0..)
        .zip(functions)
        .map(|(index, (_, plan, counts))| (counts / plan.paths.max(1) as f64, plan.paths, index))
        .filter(|&(_, paths, _)| paths > array && paths <= most)
        .collect();
    wanted.sort_unstable_by(|(a, _, i), (b, _, j)| b.total_cmp(a).then(i.cmp(j)));
    let mut chosen = Vec::new();
    for (_, paths, index) in wanted {
        if paths <= left {
            left -= paths;
            chosen.push(index);
        }
    }
    chosen
}

/// Larger arrays lie behind all others: LLVM reaches what is up to 16 MiB behind a symbol in one instruction.
pub const FRONT: u64 = 1 << 14;
/// 32 MiB of addresses.
const UNIT_WORDS: u64 = 1 << 22;
/// A function may have no more than so many times what any function may have.
const MOST_TIMES_AS_USED: u64 = 2048;
/// A unit may have a word for this part of an array per block: 16 where arrays have 1,024.
const BLOCK_SHARE: u64 = 64;
/// As [`MOST_TIMES_AS_USED`].
const MOST_TIMES: u64 = 64;

/// A window is looked into where at least this part of all paths that come by may be in it: to look in vain costs a
/// fraction of what is saved otherwise.
const WORTH_LOOKING: f64 = 0.6;

/// The windows of one function while probes are placed.
pub(super) struct Windows {
    list: Vec<Window>,
    /// Per arc to EXIT, where most paths that end there have begun.
    of_arc: Vec<Table>,
    /// Windows of one path.
    single: BTreeMap<u64, usize>,
    paths: u64,
    wanted: bool,
}

impl Windows {
    /// No windows: all paths in one table.
    pub(super) fn none(numbering: &Numbering) -> Self {
        let of_arc = vec![PATH_TABLE; numbering.graph().arc_count()];
        Self { list: Vec::new(), of_arc, single: BTreeMap::new(), paths: numbering.paths(), wanted: false }
    }

    /// Windows of up to `array` words for a function with more paths than that.
    pub(super) fn choose(cfg: &Cfg, cuts: &Cuts, numbering: &Numbering, weighting: &Weighting, array: u64) -> Self {
        let mut windows = Self::none(numbering);
        let straight = cuts.edges.is_empty() && cuts.loops.is_empty();
        let words = if straight { array.div_ceil(STRAIGHT) } else { array };
        if numbering.paths() <= array || array == 0 {
            return windows;
        }
        windows.wanted = true;
        let graph = numbering.graph();
        let beginnings = beginnings(cfg, cuts, numbering, weighting);
        let low = flow(graph, weighting, beginnings.iter().map(|b| (b.node, b.weight * b.share_below(words))));
        let all = flow(graph, weighting, beginnings.iter().map(|b| (b.node, b.weight)));
        windows.list.push(Window { first: 0, len: words });
        for arc in 0..graph.arc_count() {
            let node = graph.src(arc);
            if low[node] > 0.0 && low[node] >= all[node] * WORTH_LOOKING {
                windows.of_arc[arc] = Window::table(0);
            }
        }
        windows
    }

    /// Where a path is counted that ends, or can be known, on this arc.
    pub(super) fn of_arc(&self, arc: Arc) -> Table {
        self.of_arc[arc]
    }

    /// Where the path with this number is counted.
    pub(super) fn of_number(&mut self, number: i64) -> Table {
        let number = number.cast_unsigned();
        if !self.wanted || number >= self.paths {
            return PATH_TABLE;
        }
        if self.list.first().is_some_and(|low| low.numbers().contains(&number)) {
            return Window::table(0);
        }
        Window::table(*self.single.entry(number).or_insert_with(|| {
            self.list.push(Window { first: number, len: 1 });
            self.list.len() - 1
        }))
    }

    /// All of them.
    pub(super) fn into_list(self) -> Vec<Window> {
        self.list
    }
}

/// Where paths begin.
struct Beginning {
    node: Node,
    first: u64,
    paths: u64,
    weight: f64,
}

impl Beginning {
    /// The part of its paths, or so, with numbers below that.
    fn share_below(&self, words: u64) -> f64 {
        match words.saturating_sub(self.first) {
            0 => 0.0,
            some if some < self.paths => 0.5,
            _ => 1.0,
        }
    }
}

fn beginnings(cfg: &Cfg, cuts: &Cuts, numbering: &Numbering, weighting: &Weighting) -> Vec<Beginning> {
    let graph = numbering.graph();
    let mut beginnings: Vec<Beginning> = graph
        .out(graph.entry())
        .iter()
        .map(|&arc| {
            let cut = |e: &&Edge| cuts.edges.binary_search(e).is_ok();
            let weight = match graph.role(arc) {
                Role::BeginAfterEdge(block) => cfg.preds(block).iter().filter(cut).map(|&e| weighting.edge(e)).sum(),
                Role::BeginAtBlock(block) => weighting.block(block),
                _ => weighting.edge(cfg.exit_edge()),
            };
            Beginning { node: graph.dst(arc), first: numbering.value(arc), paths: 0, weight }
        })
        .collect();
    beginnings.sort_by_key(|beginning| beginning.first);
    let ends: Vec<u64> = beginnings.iter().skip(1).map(|b| b.first).chain([numbering.paths()]).collect();
    for (beginning, end) in beginnings.iter_mut().zip(ends) {
        beginning.paths = end - beginning.first;
    }
    beginnings
}

/// How often paths come to each node, as far as the weighting tells, by where they begin.
fn flow(graph: &PathGraph, weighting: &Weighting, beginnings: impl Iterator<Item = (Node, f64)>) -> Vec<f64> {
    let mut flow = vec![0.0; graph.node_count()];
    for (node, weight) in beginnings {
        flow[node] += weight;
    }
    let weight = |arc: Arc| match graph.role(arc) {
        Role::Real(edge) | Role::EndOnEdge(edge) | Role::EndOfTurn(edge) => weighting.edge(edge),
        _ => 1.0,
    };
    for &node in graph.topological_order() {
        let all: f64 = graph.out(node).iter().map(|&arc| weight(arc)).sum();
        if flow[node] <= 0.0 || all <= 0.0 || node == graph.entry() {
            continue;
        }
        for &arc in graph.out(node) {
            flow[graph.dst(arc)] += flow[node] * (weight(arc) / all);
        }
    }
    flow
}
