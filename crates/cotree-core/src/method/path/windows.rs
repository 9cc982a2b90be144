//! Which paths of a function with too many for an array have words of their own nevertheless.
//!
//! Numbers are billions where few paths are taken, and a hash table costs several times what an array does. But paths
//! that seldom run can go along rare arcs ([`super::rare_arcs`]), so that most of what runs has small numbers. These
//! are one *window*, with a word of the slab per path. Whoever counts a path looks whether it is in there, if enough of
//! the paths that come by there may be, and else takes it to the hash table. A path that is counted where its number is
//! known before the program runs has a window of its own.
//!
//! A path may be counted in a window and in the hash table: its count is the sum.

use super::graph::{DirectedView, PathGraph};
use super::numbering::Numbering;
use super::types::{Arc, Cuts, MOST_PATH_ARRAY, PATH_TABLE, PathKey, Window};
use crate::facts::Function;
use crate::ids::Table;
use std::collections::BTreeMap;

/// What the words of large arrays cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// Memory and disk only where paths run: in executables.
    AsUsed,
    /// All of it, from the start.
    Whole,
}

impl Room {
    /// How many words the large arrays of a unit with so many blocks may have together, and one of them, where `array`
    /// words are any function's.
    fn words(self, array: u64, blocks: u64) -> [u64; 2] {
        match self {
            Self::AsUsed => [UNIT_WORDS, array.saturating_mul(MOST_TIMES_AS_USED)],
            Self::Whole => [blocks.saturating_mul(array / BLOCK_SHARE), array.saturating_mul(MOST_TIMES)],
        }
    }
}

/// The functions with too many paths for an array that get one nevertheless, by their numbers. Nothing is as cheap as
/// an array, so all words that a unit of this size may have are used. The third value is about how many paths an
/// activation counts: functions with most of them per word come first. [`super::PathKey::windows`] must then be all
/// paths.
#[must_use]
pub fn worth_arrays(functions: &[(&Function, &PathKey, f64)], array: u64, room: Room) -> Vec<usize> {
    let blocks: usize = functions.iter().map(|(function, ..)| function.blocks.len()).sum();
    let [mut left, most] = room.words(array, blocks as u64);
    let most = most.min(MOST_PATH_ARRAY);
    let mut wanted: Vec<(f64, u64, usize)> = (0..)
        .zip(functions)
        .map(|(index, (_, key, counts))| (counts / key.paths.max(1) as f64, key.paths, index))
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

/// How many words the window of each function without an array may have, by about how many paths an activation counts:
/// functions with most of them come first.
#[must_use]
pub fn worth_windows(counts: &[f64], array: u64, room: Room) -> Vec<u64> {
    let mut order: Vec<usize> = (0..counts.len()).collect();
    order.sort_unstable_by(|&a, &b| counts[b].total_cmp(&counts[a]).then(a.cmp(&b)));
    let mut words = vec![0; counts.len()];
    for (place, index) in order.into_iter().enumerate() {
        let widest = WIDTHS.iter().find(|(functions, _)| place < *functions && room == Room::AsUsed);
        words[index] = match widest {
            _ if counts[index] <= 1.0 => array.div_ceil(STRAIGHT),
            Some((_, times)) => array.saturating_mul(*times).min(MOST_PATH_ARRAY),
            None => array,
        };
    }
    words
}

/// Functions that count at most one path per activation run less often: their windows are this part of an array's
/// length.
const STRAIGHT: u64 = 16;
/// At most this many functions get a window, each at most this many times as large as an array.
const WIDTHS: [(usize, u64); 2] = [(8, 256), (104, 64)];

/// Larger arrays lie after all others: LLVM reaches words up to 16 MiB after a symbol in one instruction.
pub const FRONT: u64 = 1 << 14;
/// 32 MiB of addresses.
const UNIT_WORDS: u64 = 1 << 22;
/// A function may have no more than so many times what any function may have.
const MOST_TIMES_AS_USED: u64 = 4096;
/// A unit may have a word for this part of an array per block: 16 where arrays have 1,024.
const BLOCK_SHARE: u64 = 64;
/// As [`MOST_TIMES_AS_USED`].
const MOST_TIMES: u64 = 64;

/// A window is searched where at least this part of all paths that end there may be in it: a search in vain costs a
/// fraction of what a hit saves.
const WORTH_LOOKING: f64 = 0.6;

/// The windows of one function while probes are placed.
#[derive(Clone)]
pub(super) struct Windows {
    list: Vec<Window>,
    /// Per arc to EXIT, where most paths that end there have begun.
    of_arc: Vec<Table>,
    /// Windows of one path.
    single: BTreeMap<u64, usize>,
    end: u64,
    wanted: bool,
    share: f64,
}

impl Windows {
    /// No windows: all paths in one table.
    pub(super) fn none(numbering: &Numbering) -> Self {
        let of_arc = vec![PATH_TABLE; numbering.graph().arc_count()];
        Self { list: Vec::new(), of_arc, single: BTreeMap::new(), end: numbering.end(), wanted: false, share: 0.0 }
    }

    /// A window for the first paths of a function with more than an array may have.
    pub(super) fn choose(cuts: &Cuts, numbering: &Numbering, frequency: &[f64], most: u64) -> Self {
        let mut windows = Self { wanted: true, ..Self::none(numbering) };
        let graph = numbering.graph();
        let words = numbering.window().min(most);
        let rare = DirectedView::new(graph, cuts.backward).all_rare(&cuts.rare);
        let all = flow(graph, frequency, |_| 1.0);
        let low = flow(graph, frequency, |arc| match () {
            () if rare[arc] => 0.0,
            () if cuts.rare.is_empty() && graph.src(arc) == graph.entry() => numbering.share_below(arc, words),
            () => 1.0,
        });
        windows.list.push(Window { first: 0, len: words });
        for arc in 0..graph.arc_count() {
            let node = graph.src(arc);
            if low[node] > 0.0 && low[node] >= all[node] * WORTH_LOOKING {
                windows.of_arc[arc] = Window::table(0);
            }
        }
        windows.share = low[graph.exit()] / all[graph.exit()].max(f64::MIN_POSITIVE);
        windows
    }

    /// The part of all paths, or so, that are in the window.
    pub(super) fn share(&self) -> f64 {
        self.share
    }

    /// Is there one for most of the paths that are expected to run?
    pub(super) fn is_wide(&self) -> bool {
        self.of_arc.contains(&Window::table(0))
    }

    /// Where a path is counted that ends, or can be known, on this arc.
    pub(super) fn of_arc(&self, arc: Arc) -> Table {
        self.of_arc[arc]
    }

    /// Where the path with this number is counted.
    pub(super) fn of_number(&mut self, number: i64) -> Table {
        let number = number.cast_unsigned();
        if !self.wanted || number >= self.end {
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

/// How often paths come to each node, if arcs let so much through.
fn flow(graph: &PathGraph, frequency: &[f64], through: impl Fn(Arc) -> f64) -> Vec<f64> {
    let mut flow = vec![0.0; graph.node_count()];
    flow[graph.entry()] = 1.0;
    for &node in graph.topological_order() {
        let all: f64 = graph.out(node).iter().map(|&arc| frequency[arc]).sum();
        if flow[node] <= 0.0 || all <= 0.0 {
            continue;
        }
        for &arc in graph.out(node) {
            flow[graph.dst(arc)] += flow[node] * through(arc) * (frequency[arc] / all);
        }
    }
    flow
}
