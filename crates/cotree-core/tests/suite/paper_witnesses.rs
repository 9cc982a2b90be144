//! Witnesses on edges, as the paper defines and places them in one function (Ball & Larus 1994, §4.1 and §4.2): an
//! oracle for what is shipped.
//!
//! Vertices that *end* what can be read from one's own witnesses are EXIT and those with calls that may write. The
//! virtual edge EXIT→entry is no part of the graph here.

use cotree_core::graph::cfg::Cfg;
use cotree_core::graph::union_find::UnionFind;
use cotree_core::ids::{Block, Edge, IdMap};
use cotree_core::weight::weighting::Weighting;
use std::collections::BTreeSet;

/// What may come next in a trace: a witness, by its edge, or the end.
type Next = Option<Edge>;

/// Two edges out of a predicate that the trace can't tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ambiguity {
    /// The predicate.
    pub predicate: Block,
    /// The two edges.
    pub edges: (Edge, Edge),
    /// What may come next on both: the witness of an edge, or the end.
    pub next: Next,
}

/// `Trace(Ewit)`: do these edges, each with a witness of its own, tell all executions apart? The witness sets of each
/// predicate's edges have to be disjoint.
///
/// # Errors
/// The first predicate with two edges that can't be told apart.
pub fn check(cfg: &Cfg, witnesses: &[Edge]) -> Result<(), Ambiguity> {
    let sets = sets(cfg, witnesses);
    for block in cfg.blocks() {
        let edges: Vec<Edge> = onward(cfg, block).collect();
        for (index, &a) in edges.iter().enumerate() {
            for &b in &edges[index + 1..] {
                if let Some(&next) = set(cfg, witnesses, &sets, a).intersection(&set(cfg, witnesses, &sets, b)).next() {
                    return Err(Ambiguity { predicate: block, edges: (a, b), next });
                }
            }
        }
    }
    Ok(())
}

/// The witness set of an edge out of a predicate, `witness(p, q)`.
#[must_use]
pub fn witness_set(cfg: &Cfg, witnesses: &[Edge], edge: Edge) -> BTreeSet<Option<Edge>> {
    set(cfg, witnesses, &sets(cfg, witnesses), edge)
}

fn set(cfg: &Cfg, witnesses: &[Edge], sets: &IdMap<Block, BTreeSet<Next>>, edge: Edge) -> BTreeSet<Next> {
    if witnesses.contains(&edge) { BTreeSet::from([Some(edge)]) } else { sets[cfg.dst(edge)].clone() }
}

/// Per vertex, what may come next from there.
fn sets(cfg: &Cfg, witnesses: &[Edge]) -> IdMap<Block, BTreeSet<Next>> {
    let mut sets = cfg.per_block(BTreeSet::new());
    sets[cfg.exit()].insert(None);
    let mut changed = true;
    while changed {
        changed = false;
        for block in cfg.blocks().rev() {
            let before = sets[block].len();
            for edge in onward(cfg, block) {
                let behind = set(cfg, witnesses, &sets, edge);
                sets[block].extend(behind);
            }
            changed |= sets[block].len() > before;
        }
    }
    sets
}

fn onward(cfg: &Cfg, block: Block) -> impl Iterator<Item = Edge> {
    cfg.succs(block).iter().copied().filter(|&edge| edge != cfg.exit_edge())
}

fn is_predicate(cfg: &Cfg, block: Block) -> bool {
    onward(cfg, block).nth(1).is_some()
}

/// Do the edges have the *blocking property*: does no path without a witness lead from a predicate to a vertex that
/// `ends`, or to EXIT?
#[must_use]
pub fn blocks(cfg: &Cfg, witnesses: &[Edge], ends: impl Fn(Block) -> bool) -> bool {
    let mut open: Vec<Block> = cfg.blocks().filter(|&block| block == cfg.exit() || ends(block)).collect();
    let mut seen = cfg.per_block(false);
    while let Some(block) = open.pop() {
        if std::mem::replace(&mut seen[block], true) {
            continue;
        }
        for &edge in cfg.preds(block).iter().filter(|&&edge| edge != cfg.exit_edge() && !witnesses.contains(&edge)) {
            if is_predicate(cfg, cfg.src(edge)) {
                return false;
            }
            open.push(cfg.src(edge));
        }
    }
    true
}

/// `blockers(G, v)`: the edges out of the last predicates on all paths to the vertex, in order.
#[must_use]
pub fn blockers(cfg: &Cfg, vertex: Block) -> Vec<Edge> {
    let mut blockers = BTreeSet::new();
    let mut seen = cfg.per_block(false);
    let mut open = vec![vertex];
    while let Some(block) = open.pop() {
        for &edge in cfg.preds(block).iter().filter(|&&edge| edge != cfg.exit_edge()) {
            let src = cfg.src(edge);
            if is_predicate(cfg, src) {
                blockers.insert(edge);
            } else if !std::mem::replace(&mut seen[src], true) {
                open.push(src);
            }
        }
    }
    blockers.into_iter().collect()
}

/// Places witnesses: the blockers of all vertices that end, then whatever is off a maximum spanning forest of the other
/// edges. In order.
#[must_use]
pub fn place(cfg: &Cfg, weighting: &Weighting, ends: impl Fn(Block) -> bool) -> Vec<Edge> {
    let ending = cfg.blocks().filter(|&block| block == cfg.exit() || ends(block));
    let witnesses = ending.flat_map(|block| blockers(cfg, block)).collect();
    off_tree(cfg, weighting, witnesses)
}

/// Places witnesses in a function without calls, where the end of the trace is known.
#[must_use]
pub fn place_unblocked(cfg: &Cfg, weighting: &Weighting) -> Vec<Edge> {
    off_tree(cfg, weighting, BTreeSet::new())
}

fn off_tree(cfg: &Cfg, weighting: &Weighting, mut witnesses: BTreeSet<Edge>) -> Vec<Edge> {
    let mut trees = UnionFind::new(cfg.block_count());
    let mut others: Vec<Edge> =
        cfg.edges().filter(|edge| *edge != cfg.exit_edge() && !witnesses.contains(edge)).collect();
    others.sort_by(|&a, &b| weighting.edge(b).total_cmp(&weighting.edge(a)).then(a.cmp(&b)));
    for edge in others {
        if !trees.union(cfg.src(edge).index(), cfg.dst(edge).index()) {
            witnesses.insert(edge);
        }
    }
    witnesses.into_iter().collect()
}

/// Leaves out witnesses that are not needed, the costliest first: breaking all undirected cycles is more than enough.
/// In order.
#[must_use]
pub fn without_needless(
    cfg: &Cfg,
    weighting: &Weighting,
    mut witnesses: Vec<Edge>,
    suffice: impl Fn(&[Edge]) -> bool,
) -> Vec<Edge> {
    let mut costliest = witnesses.clone();
    costliest.sort_by(|&a, &b| weighting.edge(b).total_cmp(&weighting.edge(a)).then(a.cmp(&b)));
    for edge in costliest {
        let rest: Vec<Edge> = witnesses.iter().copied().filter(|&other| other != edge).collect();
        if suffice(&rest) && check(cfg, &rest).is_ok() {
            witnesses = rest;
        }
    }
    witnesses
}

/// Regenerates the execution of a function without calls from its trace (Ball & Larus 1994, Fig. 14); `None` if it is
/// no trace of this function.
#[must_use]
pub fn regenerate(cfg: &Cfg, witnesses: &[Edge], trace: &[Edge]) -> Option<Vec<Block>> {
    let sets = sets(cfg, witnesses);
    let mut trace = trace.iter().copied();
    let mut next = trace.next();
    let mut execution = vec![cfg.entry()];
    let mut without = 0;
    while let Some(&block) = execution.last().filter(|&&block| block != cfg.exit()) {
        let edge = match onward(cfg, block).nth(1) {
            None => onward(cfg, block).next()?,
            Some(_) => onward(cfg, block).find(|&edge| set(cfg, witnesses, &sets, edge).contains(&next))?,
        };
        if witnesses.contains(&edge) {
            if next != Some(edge) {
                return None;
            }
            (next, without) = (trace.next(), 0);
        }
        without += 1;
        if without > cfg.edge_count() {
            return None;
        }
        execution.push(cfg.dst(edge));
    }
    next.is_none().then_some(execution)
}
