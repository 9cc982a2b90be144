//! Views of path profiles (Ball & Larus 1996): which paths through its functions a program took, and how often.
//!
//! A profile holds numbers of paths with counts; [`Paths`] turns them into blocks, edges and instructions. From these
//! we derive:
//!
//! | what | module |
//! | --- | --- |
//! | the source lines of a path | [`route`] |
//! | sums, and paths by what they executed | [`totals`] |
//! | which paths edge counts would have predicted (Table 2) | [`predict`] |
//! | how much of one run another one covered (Table 3) | [`cover`] |
//! | paths that only one of two runs took | [`spectrum`] |
//! | all of it for people and for programs | [`text`], [`json`] |
//!
//! A loop of a single block is not counted as a path but as its edge; the views show it beside the paths.

pub mod cover;
pub mod json;
pub mod predict;
pub mod route;
pub mod spectrum;
pub mod text;
pub mod totals;

use super::total::Total;
use crate::unit::{Unit, UnitFunction};
use cotree_core::graph::cfg::Cfg;
use cotree_core::ids::{Block, Edge};
use cotree_core::method::path::graph::{Role, left};
use cotree_core::method::path::numbering::Numbering;
use cotree_core::method::path::{
    Arc, Path, PathClass, PathKey, PathMethod, PathMetric, PathProfile, PathStart, PendingPath, UnitPathPlan,
};

/// A link unit whose paths were counted.
#[derive(Clone, Debug)]
pub struct PathUnit<'a> {
    /// The unit.
    pub unit: &'a Unit<'a>,
    /// The method of the unit.
    pub method: PathMethod,
    metric: PathMetric,
    functions: Vec<PathFunction<'a>>,
}

/// A function whose paths were counted.
#[derive(Clone, Copy, Debug)]
pub struct PathFunction<'a> {
    /// The function.
    pub function: UnitFunction<'a>,
    /// What recovers its paths.
    pub key: &'a PathKey,
    /// The paths of the function.
    pub profile: &'a PathProfile,
    /// What is added up along them.
    pub metric: PathMetric,
}

/// What is added up along paths, as a suffix of the profile's title.
pub(super) fn measured(metric: PathMetric) -> &'static str {
    match metric {
        PathMetric::Count => "",
        PathMetric::Events => " with the events reported along paths (cotree paths --by metric)",
        PathMetric::Cycles => " with the time spent along paths (cotree paths --by metric)",
    }
}

/// How many paths of these functions ran.
pub(super) fn total<'a>(unit: &Unit<'a>, functions: impl Iterator<Item = UnitFunction<'a>>) -> Total {
    let paths = |function: UnitFunction<'a>| unit.profile.method.paths().get(function.index.index())?.as_ref();
    let run: usize = functions.filter_map(paths).map(|paths| paths.paths.len()).sum();
    ("paths run", run as u128, "cotree paths shows them".into())
}

impl<'a> PathUnit<'a> {
    /// The paths of a unit; `None` if none were counted.
    #[must_use]
    pub fn new(unit: &'a Unit<'a>) -> Option<Self> {
        let UnitPathPlan { method, functions: plans, metric, .. } = unit.map.plan.method.paths()?;
        let functions =
            unit.functions().zip(plans).zip(unit.profile.method.paths()).filter_map(|((function, plan), profile)| {
                let profile = profile.as_ref()?;
                let function = PathFunction { function, key: &plan.key, profile, metric: *metric };
                function.function.profile.is_some().then_some(function)
            });
        Some(Self { unit, method: *method, metric: *metric, functions: functions.collect() })
    }

    /// What is added up along its paths.
    #[must_use]
    pub fn metric(&self) -> PathMetric {
        self.metric
    }

    /// The functions of the unit.
    #[must_use]
    pub fn functions(&self) -> &[PathFunction<'a>] {
        &self.functions
    }
}

impl<'a> PathFunction<'a> {
    /// Did anything happen in it?
    #[must_use]
    pub fn ran(&self) -> bool {
        self.function.profile.is_some_and(|p| p.blocks.iter().any(|&count| count > 0)) || !self.profile.paths.is_empty()
    }

    /// Prepares to turn numbers into paths; `None` if plan and function do not belong together.
    #[must_use]
    pub fn numbered(self) -> Option<Paths<'a>> {
        let cfg = self.function.facts.cfg().ok()?;
        let numbering = Numbering::new(self.function.facts, &cfg, &self.key.cuts).ok()?;
        (numbering.paths() == self.key.paths).then_some(Paths { of: self, cfg, numbering })
    }

    /// What the executions of a path add up to; `None` without a metric.
    #[must_use]
    pub fn sum(&self, number: u64) -> Option<u64> {
        let sums = &self.profile.sums;
        let sum = || sums.binary_search_by_key(&number, |sum| sum.0).map_or(0, |at| sums[at].1);
        self.metric.is_summed().then(sum)
    }

    /// The count of an edge.
    #[must_use]
    pub fn edge(&self, edge: Edge) -> u64 {
        let edges = self.function.profile.and_then(|p| p.edges.as_ref());
        edges.and_then(|e| e.get(edge)).copied().unwrap_or(0)
    }

    /// Instructions of one execution of a block.
    #[must_use]
    pub fn instructions(&self, block: Block) -> u64 {
        self.function.facts.blocks.get(block).map_or(0, |b| b.instructions.total.into())
    }
}

/// A function with its paths numbered.
#[derive(Clone, Debug)]
pub struct Paths<'a> {
    /// The function.
    pub of: PathFunction<'a>,
    /// The graph of the function.
    pub cfg: Cfg,
    /// The numbers of its paths.
    pub numbering: Numbering,
}

/// A path that was executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executed {
    /// The number of the path.
    pub number: u64,
    /// How often.
    pub count: u64,
    /// What the executions add up to, all callees included; `None` without a metric.
    pub sum: Option<u64>,
    /// The path.
    pub path: Path,
    /// Instructions of one execution.
    pub instructions: u64,
}

impl Executed {
    /// Instructions of all its executions.
    #[must_use]
    pub fn executed(&self) -> u128 {
        u128::from(self.count) * u128::from(self.instructions)
    }
}

/// A loop of a single block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelfLoop {
    /// The edge of the step.
    pub edge: Edge,
    /// The block of the step.
    pub block: Block,
    /// How often the edge was taken.
    pub count: u64,
    /// Instructions of one turn.
    pub instructions: u64,
}

impl<'a> Paths<'a> {
    /// One path.
    #[must_use]
    pub fn path(&self, number: u64) -> Option<Path> {
        self.numbering.path(&self.cfg, number)
    }

    /// All executed paths, by number.
    pub fn executed(&self) -> impl Iterator<Item = Executed> + use<'_, 'a> {
        self.of.profile.paths.iter().filter_map(|&(number, count)| self.with_count(number, count))
    }

    /// A path with a count.
    #[must_use]
    pub fn with_count(&self, number: u64, count: u64) -> Option<Executed> {
        let path = self.path(number)?;
        let instructions = self.instructions(&path.blocks);
        Some(Executed { number, count, sum: self.of.sum(number), path, instructions })
    }

    /// The beginning of a path that was not finished.
    #[must_use]
    pub fn pending(&self, pending: &PendingPath) -> Option<Path> {
        let block = self.of.function.facts.calls.site(pending.site)?.block;
        let arcs: Vec<Arc> = self.numbering.arcs_up_to(block, pending.prefix)?;
        Some(self.numbering.path_along(&self.cfg, &arcs))
    }

    /// Instructions of some blocks, each executed once.
    #[must_use]
    pub fn instructions(&self, blocks: &[Block]) -> u64 {
        blocks.iter().map(|&b| self.of.instructions(b)).sum()
    }

    /// The blocks after `block` as long as paths do not branch.
    #[must_use]
    pub fn only_path_on(&self, block: Block) -> Vec<Block> {
        let graph = self.numbering.graph();
        let (mut node, mut blocks) = (left(block), Vec::new());
        while let [arc] = *graph.out(node) {
            if let Role::Inside(block) = graph.role(arc) {
                blocks.push(block);
            }
            node = graph.dst(arc);
        }
        blocks
    }

    /// The loops of a single block that ran.
    pub fn self_loops(&self) -> impl Iterator<Item = SelfLoop> + use<'_, 'a> {
        let loops = self.numbering.graph().self_loops().iter().map(|&edge| {
            let block = self.cfg.src(edge);
            SelfLoop { edge, block, count: self.of.edge(edge), instructions: self.of.instructions(block) }
        });
        loops.filter(|l| l.count > 0)
    }

    /// The blocks of its context, which led to the first block of the path.
    #[must_use]
    pub fn context(&self, path: &Path) -> Vec<Block> {
        path.context.iter().map(|&edge| self.cfg.src(edge)).collect()
    }
}

/// A class of paths, for people.
#[must_use]
pub fn class_name(class: PathClass) -> &'static str {
    match class {
        PathClass::EntryToExit => "entry→exit",
        PathClass::EntryToBackedge => "entry→back",
        PathClass::BackedgeToBackedge => "back→back",
        PathClass::BackedgeToExit => "back→exit",
    }
}

/// The block that a path starts with.
#[must_use]
pub fn head(start: PathStart) -> Block {
    match start {
        PathStart::Entry => Block(0),
        PathStart::Cut(block) => block,
    }
}
