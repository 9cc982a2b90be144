//! Which paths across functions an edge profile would have predicted, against those that ran (Ball & Larus 1996, §7,
//! Table 2, across functions).
//!
//! All paths that begin at one place are held against the one that counts of edges and calls predict from there
//! ([`cotree_core::method::ipath::predict`]). Edge counts know no context. So paths that differ only in what led to
//! them count as one here, and paths of context and piecewise profiles are predicted alike.

use super::IpathUnit;
use super::parts::{PathPart, path_parts};
use crate::flow::Flow;
use crate::method::path::predict::Score;
use cotree_core::facts::Function;
use cotree_core::graph::cfg::Cfg;
use cotree_core::ids::{Block, CallId, Edge, FunctionId};
use cotree_core::method::ipath::decode::Step;
use cotree_core::method::ipath::graph::{Arc, Role};
use cotree_core::method::ipath::numbering::Shape;
use cotree_core::method::ipath::predict::{EdgeCounts, Predictor, executed_steps};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// All paths that begin at one place.
#[derive(Clone, Debug)]
pub struct Beginning {
    /// The function in which they begin.
    pub function: FunctionId,
    /// The block with which they begin; `None`: the entry of the function.
    pub after_cut: Option<Block>,
    /// The call of that block behind which they begin, if it is one that returns twice.
    pub after_call: Option<CallId>,
    /// The path that edge counts predict.
    pub predicted: Vec<PathPart>,
    /// How often that one ran, by whatever led to it.
    pub predicted_count: u64,
    /// The number of a path that ran most often from here. Others that differ in their context alone count with it.
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

/// The prediction for one unit.
#[derive(Clone, Debug, Default)]
pub struct Prediction {
    /// By beginning: in the order of functions, the entry first.
    pub beginnings: Vec<Beginning>,
    /// The score.
    pub score: Score,
}

/// Paths with the same steps.
struct Same {
    /// The lowest of their numbers.
    number: u64,
    count: u64,
    instructions: u64,
}

/// Predicts the paths of a unit and compares with those that ran: from each place from which some path, one that ran or
/// the predicted one, executes something of a wanted function.
#[must_use]
pub fn predict(of: &IpathUnit<'_>, wanted: impl Fn(&str) -> bool) -> Prediction {
    let numbering = &of.profile.numbering;
    let known = Known::new(of);
    let cfgs: Vec<Option<Cfg>> = of.unit.functions().map(|function| function.facts.cfg().ok()).collect();
    let facts = of.unit.functions().map(|function| function.facts);
    let shapes: Vec<Option<Shape<'_>>> =
        facts.zip(&cfgs).map(|(function, cfg)| cfg.as_ref().map(|cfg| Shape { function, cfg })).collect();
    let predictor = Predictor { numbering, shapes: &shapes, counts: &known };
    let mut by_beginning: BTreeMap<(FunctionId, Arc), Vec<(u64, u64)>> = BTreeMap::new();
    for &(number, count) in &of.profile.paths {
        let Some(steps) = numbering.path(number) else { continue };
        if let Some(&Step::Along(function, arc)) = executed_steps(numbering, &steps).first() {
            by_beginning.entry((function, arc)).or_default().push((number, count));
        }
    }
    let mut prediction = Prediction::default();
    for ((function, arc), paths) in by_beginning {
        let predicted = predictor.follow(function, arc);
        if let Some((beginning, score)) = compare(of, (function, arc), &predicted, &paths, &wanted) {
            prediction.score.add(&score);
            prediction.beginnings.push(beginning);
        }
    }
    prediction
}

/// Holds the paths that begin with an arc, numbers and counts, against the predicted one. `None` where none of them
/// executes anything of a wanted function.
fn compare(
    of: &IpathUnit<'_>,
    (function, arc): (FunctionId, Arc),
    predicted: &[Step],
    paths: &[(u64, u64)],
    wanted: impl Fn(&str) -> bool,
) -> Option<(Beginning, Score)> {
    let numbering = &of.profile.numbering;
    let role = numbering.of(function)?.graph.role(arc);
    let wants = |parts: &[PathPart]| {
        parts.iter().any(|part| !part.context && of.facts(part.function).is_some_and(|facts| wanted(&facts.symbol)))
    };
    let start = Step::Start(function, role == Role::Enter);
    let parts = path_parts(of.unit, numbering, &[&[start], predicted].concat());
    let mut is_wanted = wants(&parts);
    let mut score = Score { beginnings: 1, ..Score::default() };
    let mut ran: BTreeMap<Vec<Step>, Same> = BTreeMap::new();
    for &(number, count) in paths {
        let Some(steps) = numbering.path(number) else { continue };
        let executed = executed_steps(numbering, &steps);
        let context = steps.len() - executed.len();
        let parts = path_parts(of.unit, numbering, &steps);
        is_wanted = is_wanted || wants(&parts);
        let same = executed.iter().zip(predicted).take_while(|(a, b)| a == b).count();
        // The block at whose end the prediction goes wrong is itself right.
        let foretold = of.instructions(&path_parts(of.unit, numbering, &steps[..context + same]));
        let (times, instructions) = (u128::from(count), of.instructions(&parts));
        score.edges += times * edges(of, executed);
        score.edges_foretold += times * edges(of, &executed[..same]);
        score.instructions += times * u128::from(instructions);
        score.instructions_foretold += times * u128::from(foretold);
        let same = ran.entry(executed.to_vec()).or_insert(Same { number, count: 0, instructions });
        same.count = same.count.saturating_add(count);
    }
    let hottest = ran.values().max_by_key(|same| (same.count, Reverse(same.number)));
    let hottest = hottest.filter(|_| is_wanted)?;
    let executed = |same: &Same| u128::from(same.count) * u128::from(same.instructions);
    let right = ran.get(predicted);
    let beginning = Beginning {
        function,
        after_cut: block_of(of.facts(function)?, role),
        after_call: if let Role::BeginAfterCall(call) = role { Some(call) } else { None },
        predicted: parts,
        predicted_count: right.map_or(0, |same| same.count),
        hottest: hottest.number,
        hottest_count: hottest.count,
        executions: ran.values().map(|same| u128::from(same.count)).sum(),
        instructions: ran.values().map(executed).sum(),
    };
    score.hottest_right = u64::from(beginning.right());
    score.paths = ran.len() as u64;
    score.paths_right = u64::from(right.is_some());
    score.executions = beginning.executions;
    score.executions_right = u128::from(beginning.predicted_count);
    score.instructions_right = right.map_or(0, executed);
    Some((beginning, score))
}

/// How many edges of functions these steps take.
fn edges(of: &IpathUnit<'_>, steps: &[Step]) -> u128 {
    let is_edge = |step: &&Step| {
        let &&Step::Along(function, arc) = step else { return false };
        let role = of.profile.numbering.of(function).map(|at| at.graph.role(arc));
        matches!(role, Some(Role::Real(_) | Role::Return(_) | Role::EndOnEdge(_) | Role::FromDispatch(_)))
    };
    steps.iter().filter(is_edge).count() as u128
}

/// The block with which paths begin.
fn block_of(facts: &Function, role: Role) -> Option<Block> {
    match role {
        Role::BeginAfterEdge(block) | Role::BeginAtBlock(block) => Some(block),
        Role::BeginAfterCall(call) => facts.calls.get(call).map(|call| call.block),
        Role::BeginOnEdge(edge) => facts.edges.get(edge).map(|edge| edge.dst),
        _ => None,
    }
}

/// What the edge profile of the unit tells.
struct Known<'a>(Vec<Option<Flow<'a>>>);

impl<'a> Known<'a> {
    fn new(of: &IpathUnit<'a>) -> Self {
        Self(of.unit.functions().map(|function| function.flow()).collect())
    }

    fn of(&self, function: FunctionId) -> Option<&Flow<'a>> {
        self.0.get(function.index())?.as_ref()
    }
}

impl EdgeCounts for Known<'_> {
    fn entries(&self, function: FunctionId) -> u64 {
        self.of(function).map_or(0, Flow::entries)
    }

    fn edge(&self, function: FunctionId, edge: Edge) -> u64 {
        self.of(function).and_then(|flow| flow.edge(edge)).unwrap_or(0)
    }

    fn call(&self, function: FunctionId, call: CallId) -> u64 {
        self.of(function).map_or(0, |flow| flow.call(call))
    }
}
