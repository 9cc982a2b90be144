//! Which paths an edge profile would have predicted (Ball & Larus 1996, §7, Table 2).
//!
//! The prediction starts at a function's entry, or at the block after a backedge, and follows the edge that ran most
//! often out of each block until a path ends. Of edges that ran equally often it follows the one that the path takes. A
//! path is predicted if this yields it. Otherwise the prediction is right up to the first edge where the two part.
//!
//! Paths that differ only in their context ([`cotree_core::method::path::context`]) count as one here, since edge
//! counts know no context.

use super::{Executed, Paths, head};
use cotree_core::facts::EdgeKind;
use cotree_core::ids::{Block, Edge};
use cotree_core::method::path::PathStart;
use cotree_core::method::path::graph::{Role, entered, left};
use std::collections::{BTreeMap, HashSet};

/// All paths that begin at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beginning {
    /// The place.
    pub start: PathStart,
    /// The path that edge counts predict: blocks and edges.
    pub predicted: (Vec<Block>, Vec<Edge>),
    /// How often that one ran.
    pub predicted_count: u64,
    /// The number of a path that ran most often from here.
    pub hottest: u64,
    /// How often.
    pub hottest_count: u64,
    /// How often paths began here.
    pub executions: u128,
    /// What they executed.
    pub instructions: u128,
}

impl Beginning {
    /// Is the predicted path one that ran most often?
    #[must_use]
    pub fn right(&self) -> bool {
        self.predicted_count == self.hottest_count
    }
}

/// How good predictions from edge counts are. Lengths are sums over all executions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Places where paths begin.
    pub beginnings: u64,
    /// Beginnings from which the hottest path is the predicted one.
    pub hottest_right: u64,
    /// Different paths.
    pub paths: u64,
    /// Paths that were predicted.
    pub paths_right: u64,
    /// Executions.
    pub executions: u128,
    /// Executions of predicted paths.
    pub executions_right: u128,
    /// Instructions.
    pub instructions: u128,
    /// Instructions in predicted paths.
    pub instructions_right: u128,
    /// Edges of all executions.
    pub edges: u128,
    /// Edges up to the first one that was predicted wrongly.
    pub edges_foretold: u128,
    /// Instructions up to there.
    pub instructions_foretold: u128,
}

impl Score {
    /// Adds another.
    pub fn add(&mut self, other: &Self) {
        self.beginnings += other.beginnings;
        self.hottest_right += other.hottest_right;
        self.paths += other.paths;
        self.paths_right += other.paths_right;
        self.executions += other.executions;
        self.executions_right += other.executions_right;
        self.instructions += other.instructions;
        self.instructions_right += other.instructions_right;
        self.edges += other.edges;
        self.edges_foretold += other.edges_foretold;
        self.instructions_foretold += other.instructions_foretold;
    }
}

/// The prediction for one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prediction {
    /// By beginning, the entry first.
    pub beginnings: Vec<Beginning>,
    /// The score.
    pub score: Score,
}

/// Predicts the paths of a function from its edge counts and compares with those that ran.
#[must_use]
pub fn predict(paths: &Paths<'_>) -> Prediction {
    type Turns = BTreeMap<Vec<Edge>, Executed>;
    let mut by_start: BTreeMap<PathStart, Turns> = BTreeMap::new();
    for executed in paths.executed().filter(|e| !e.path.blocks.is_empty()) {
        let same = by_start.entry(executed.path.start).or_default();
        match same.entry(executed.path.edges.clone()) {
            std::collections::btree_map::Entry::Occupied(mut known) => {
                let count = &mut known.get_mut().count;
                *count = count.saturating_add(executed.count);
            }
            std::collections::btree_map::Entry::Vacant(new) => {
                new.insert(executed);
            }
        }
    }
    let guide = Guide::new(paths);
    let mut prediction = Prediction::default();
    for (start, turns) in by_start {
        let predicted = guide.follow(start);
        let Some(hottest) = turns.values().max_by_key(|e| (e.count, std::cmp::Reverse(e.number))) else { continue };
        let beginning = Beginning {
            start,
            predicted_count: turns.get(&predicted.1).map_or(0, |e| e.count),
            hottest: hottest.number,
            hottest_count: hottest.count,
            executions: turns.values().map(|e| u128::from(e.count)).sum(),
            instructions: turns.values().map(Executed::executed).sum(),
            predicted,
        };
        let score = &mut prediction.score;
        score.beginnings += 1;
        score.hottest_right += u64::from(beginning.right());
        for turn in turns.values() {
            let times = u128::from(turn.count);
            let right = turn.path.edges == beginning.predicted.1;
            let foretold = turn.path.edges.iter().zip(&beginning.predicted.1).take_while(|(a, b)| a == b).count();
            // The block at whose end the prediction goes wrong is itself right.
            let blocks = turn.path.blocks.len().min(foretold + 1);
            score.paths += 1;
            score.paths_right += u64::from(right);
            score.executions += times;
            score.executions_right += if right { times } else { 0 };
            score.instructions += turn.executed();
            score.instructions_right += if right { turn.executed() } else { 0 };
            score.edges += times * turn.path.edges.len() as u128;
            score.edges_foretold += times * foretold as u128;
            score.instructions_foretold += times * u128::from(paths.instructions(&turn.path.blocks[..blocks]));
        }
        prediction.beginnings.push(beginning);
    }
    prediction
}

/// What edge counts say.
struct Guide<'a> {
    paths: &'a Paths<'a>,
    /// Edges on which paths end.
    ends: HashSet<Edge>,
    self_loops: HashSet<Edge>,
}

impl<'a> Guide<'a> {
    fn new(paths: &'a Paths<'a>) -> Self {
        let graph = paths.numbering.graph();
        let ends = (0..graph.arc_count()).filter_map(|arc| match graph.role(arc) {
            Role::EndOnEdge(edge) | Role::EndOfTurn(edge) => Some(edge),
            _ => None,
        });
        Self { paths, ends: ends.collect(), self_loops: graph.self_loops().iter().copied().collect() }
    }

    /// Does a path that enters this block end there?
    fn is_cut(&self, block: Block) -> bool {
        let graph = self.paths.numbering.graph();
        block == self.paths.cfg.exit() || !graph.out(entered(block)).iter().any(|&arc| graph.dst(arc) == left(block))
    }

    fn follow(&self, start: PathStart) -> (Vec<Block>, Vec<Edge>) {
        let cfg = &self.paths.cfg;
        let (mut blocks, mut edges) = (vec![head(start)], Vec::new());
        // Only cuts close cycles, so the walk ends; the bound makes sure of it.
        while edges.len() < cfg.edge_count() {
            let at = *blocks.last().expect("begins with one");
            let Some(edge) = self.likeliest(at) else { break };
            edges.push(edge);
            if self.ends.contains(&edge) || self.is_cut(cfg.dst(edge)) {
                break;
            }
            blocks.push(cfg.dst(edge));
        }
        (blocks, edges)
    }

    fn likeliest(&self, block: Block) -> Option<Edge> {
        let function = self.paths.of.function.facts;
        let taken = |e: Edge| function.edges.get(e).is_some_and(|e| e.kind == EdgeKind::True);
        let edges = self.paths.cfg.succs(block).iter().copied().filter(|e| !self.self_loops.contains(e));
        edges.max_by_key(|&e| (self.paths.of.edge(e), taken(e), std::cmp::Reverse(e)))
    }
}
