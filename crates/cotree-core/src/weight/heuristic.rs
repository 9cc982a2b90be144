//! The static weighting, which estimates from the shape of the graph how often edges run (Ball & Larus 1994, §5).
//!
//! Every loop is taken to iterate [`LOOP_MULTIPLIER`] times and every branch to take each edge equally often, except
//! that the edges that leave a loop share among them what entered it. One topological traversal of the graph without
//! its backedges applies three rules; EXIT→entry weighs 1:
//!
//! 1. A block weighs what its incoming edges weigh that are not backedges.
//! 2. If a loop-entry weighs *W* and its loop has *N* exits, each exit weighs *W*/*N*.
//! 3. Let *W* be the block's weight, times the multiplier for a loop-entry, and *E* the weight of its outgoing loop
//!    exits. Each of its *N* other outgoing edges weighs (*W* − *E*)/*N*.
//!
//! The weighting should obey Kirchhoff's law. As printed, the rules break it in two common shapes, and in one
//! of them give negative weights. So we depart from the rules there:
//!
//! - An edge may leave several loops at once (a `return` in a nest). It gets its weight from the outermost of them,
//!   whose header is visited first; rule 2 then gives the *other* exits of an inner loop what is left, so that the
//!   inner loop's exits still weigh *W* together. (Only if the outer exits take all of *W* is each of the others
//!   given *W*/*N*.)
//! - A loop exit deep in conditionals may get more than its block weighs. Then (*W* − *E*) would be negative. Instead
//!   all edges out of that block share its weight equally, and the law holds there, but not at the loop's header
//!   and at EXIT.
//!
//! A loop without exits breaks the law in any case.
//!
//! "None of the heuristics mentioned above nor our heuristic attempts to predict branch directions" (§7.1.4), but
//! some are easy to see, bounds checks that panic first of all. [`weights`] takes a likelihood
//! per edge ([`crate::weight::prediction`]), and shares are in proportion to it; with all likelihoods equal it is the
//! heuristic above.

use crate::graph::cfg::Cfg;
use crate::graph::dfs::Dfs;
use crate::graph::loops::LoopForest;
use crate::ids::{Block, Edge, IdMap, Loop};

/// The assumed number of iterations of a loop.
pub const LOOP_MULTIPLIER: f64 = 10.0;

/// The greatest weight that is multiplied further. Heavier blocks are in very deep nests, and weights must stay finite.
const CEILING: f64 = 1e100;

/// Computes the static weights of all edges under likelihoods of edges, EXIT→entry included. Likelihoods are positive
/// and finite, and only the proportions of those that compete matter. The paper takes all edges of a branch to be
/// equally likely: all likelihoods are 1.
#[must_use]
pub fn weights(cfg: &Cfg, likelihood: impl Fn(Edge) -> f64) -> IdMap<Edge, f64> {
    let dfs = Dfs::new(cfg);
    let loops = LoopForest::new(cfg, &dfs);
    let mut exits_of: IdMap<Loop, Vec<Edge>> = IdMap::filled(Vec::new(), loops.len());
    for edge in cfg.edges() {
        if let Some(left) = loops.outermost_left(edge) {
            exits_of[left].push(edge);
        }
    }
    let mut assigned_exits = NestSums::new(&loops);
    let mut weights = cfg.per_edge(0.0);
    weights[cfg.exit_edge()] = 1.0;

    for block in dfs.reverse_postorder().filter(|&b| b != cfg.exit()) {
        let forward = cfg.preds(block).iter().filter(|&&e| !dfs.is_backedge(e));
        let weight: f64 = forward.map(|&e| weights[e]).sum();
        let mut total = weight;
        if let Some(l) = loops.headed_by(block) {
            if weight < CEILING {
                total *= LOOP_MULTIPLIER;
            }
            let exits = &exits_of[l];
            let mut left = weight - assigned_exits.within(l);
            if left <= 0.0 {
                #[allow(clippy::cast_precision_loss, reason = "edge numbers are 32 bits wide")]
                let part = exits.len() as f64 / f64::from(loops.exit_count(l));
                left = weight * part;
            }
            let all: f64 = exits.iter().map(|&e| likelihood(e)).sum();
            for &exit in exits {
                let share = left * (likelihood(exit) / all);
                weights[exit] = share;
                assigned_exits.add(loops.innermost(cfg.src(exit)).unwrap_or(l), share);
            }
        }
        share_out(cfg, &loops, block, total, &likelihood, &mut weights);
    }
    weights
}

/// Rule 3.
fn share_out(
    cfg: &Cfg,
    loops: &LoopForest,
    block: Block,
    total: f64,
    likelihood: impl Fn(Edge) -> f64,
    weights: &mut IdMap<Edge, f64>,
) {
    let is_exit = |e: Edge| loops.outermost_left(e).is_some();
    let (mut exits, mut others, mut all) = (0.0, 0.0, 0.0);
    for &edge in cfg.succs(block) {
        all += likelihood(edge);
        if is_exit(edge) {
            exits += weights[edge];
        } else {
            others += likelihood(edge);
        }
    }
    let left = total - exits;
    for &edge in cfg.succs(block) {
        if left <= 0.0 {
            weights[edge] = total * (likelihood(edge) / all);
        } else if !is_exit(edge) {
            weights[edge] = left * (likelihood(edge) / others);
        }
    }
}

/// Numbers attached to loops, and their sums over a loop with all that it contains.
///
/// A tree of partial sums over the loops in nesting order: sums of like-signed numbers only, since differences of
/// prefix sums would drown small weights in large ones.
struct NestSums {
    /// The loops within loop `l` (itself included) are `first[l]..end[l]` of the leaves.
    first: IdMap<Loop, usize>,
    end: IdMap<Loop, usize>,
    /// Node `i` sums nodes `2 * i` and `2 * i + 1`; leaves come last.
    sums: Vec<f64>,
}

impl NestSums {
    fn new(loops: &LoopForest) -> Self {
        let count = loops.len();
        let mut size: IdMap<Loop, usize> = IdMap::filled(1, count);
        for l in loops.loops().rev() {
            if let Some(outer) = loops.parent(l) {
                let inside = size[l];
                size[outer] += inside;
            }
        }
        let mut first: IdMap<Loop, usize> = IdMap::filled(0, count);
        let mut next_within: IdMap<Loop, usize> = IdMap::filled(0, count);
        let mut next_root = 0;
        for l in loops.loops() {
            let next = loops.parent(l).map_or(&mut next_root, |outer| &mut next_within[outer]);
            first[l] = *next;
            *next += size[l];
            next_within[l] = first[l] + 1;
        }
        let end = first.iter().zip(size).map(|(first, size)| first + size).collect();
        Self { first, end, sums: vec![0.0; 2 * count] }
    }

    fn add(&mut self, l: Loop, value: f64) {
        let mut node = self.sums.len() / 2 + self.first[l];
        while node > 0 {
            self.sums[node] += value;
            node /= 2;
        }
    }

    fn within(&self, l: Loop) -> f64 {
        let leaves = self.sums.len() / 2;
        let (mut low, mut high) = (leaves + self.first[l], leaves + self.end[l]);
        let mut sum = 0.0;
        while low < high {
            if low % 2 == 1 {
                sum += self.sums[low];
                low += 1;
            }
            if high % 2 == 1 {
                high -= 1;
                sum += self.sums[high];
            }
            low /= 2;
            high /= 2;
        }
        sum
    }
}
