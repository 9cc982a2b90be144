//! The two methods whose counters stand on chords of a spanning tree, and their plans for fast code: the tree is the
//! cheapest under [`Placer::prices`], loop variables count in place of counters wherever that is cheaper
//! (Frenot & Pereira 2024), and entries that are known from elsewhere need no counter.
//!
//! For `recover` these plans are like all others of the method.

use super::edge::{self, priority};
use super::error::CounterError;
use super::measured::Measured;
use super::{CounterMethod, vertex_edge};
use crate::facts::Function;
use crate::graph::cfg::Cfg;
use crate::ids::{Block, Edge, IdMap};
use crate::place::affine::{AffineVariable, Replacements};
use crate::place::placement::{Placer, add_block_counter, add_counter};
use crate::place::spanning::SpanningTree;
use crate::plan::CounterPlan;
use crate::profile::FunctionProfile;
use crate::weight::weighting::Weighting;

/// A method whose counters stand on chords.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChordMethod {
    /// Every chord is counted: [`edge`].
    Edge,
    /// Chords are counted that blocks need: [`vertex_edge`].
    VertexEdge,
}

impl From<ChordMethod> for CounterMethod {
    fn from(method: ChordMethod) -> Self {
        match method {
            ChordMethod::Edge => Self::Edge,
            ChordMethod::VertexEdge => Self::VertexEdge,
        }
    }
}

impl ChordMethod {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::Edge, Self::VertexEdge];

    /// The method, if it is one of these.
    #[must_use]
    pub fn of(method: CounterMethod) -> Option<Self> {
        Self::ALL.into_iter().find(|&one| CounterMethod::from(one) == method)
    }

    /// The chords that the method counts. Backedges of loops of known length follow from the edges that leave these
    /// loops, whose own flow must be known for that.
    fn counted(self, cfg: &Cfg, tree: &SpanningTree, replacements: &Replacements) -> Vec<Edge> {
        match self {
            Self::Edge => tree.chords().collect(),
            Self::VertexEdge => vertex_edge::counted_with(cfg, tree, &replacements.fixed.edges).collect(),
        }
    }

    /// The plan with these loop variables.
    #[must_use]
    pub fn plan_affine(
        self,
        function: &Function,
        cfg: &Cfg,
        weighting: &Weighting,
        variables: &[AffineVariable],
    ) -> CounterPlan {
        let replacements = Replacements::new(function, cfg, weighting, variables);
        self.plan_with_replacements(function, cfg, weighting, &replacements)
    }

    /// The plan for loop variables that have been judged.
    #[must_use]
    pub fn plan_with_replacements(
        self,
        function: &Function,
        cfg: &Cfg,
        weighting: &Weighting,
        replacements: &Replacements,
    ) -> CounterPlan {
        Chords::new(self, function, cfg, weighting, replacements).plan(false).0
    }

    /// The plan of a function whose entries are known from elsewhere, with what it saves per run; `None` if it would
    /// not save a counter (a function that never returns).
    #[must_use]
    pub fn plan_entered(
        self,
        function: &Function,
        cfg: &Cfg,
        weighting: &Weighting,
        replacements: &Replacements,
    ) -> Option<(CounterPlan, f64)> {
        self.plan_both(function, cfg, weighting, replacements).1
    }

    /// The plan of a function whose code counts its entries in any case: that counter is the last one, and one of the
    /// others is saved.
    #[must_use]
    pub fn plan_counting_entries(
        self,
        function: &Function,
        cfg: &Cfg,
        weighting: &Weighting,
        replacements: &Replacements,
    ) -> CounterPlan {
        let (alone, entered) = self.plan_both(function, cfg, weighting, replacements);
        match entered {
            Some((mut plan, _)) if cfg.preds(Block(0)) == [cfg.exit_edge()] => {
                add_block_counter(&mut plan, Block(0));
                plan
            }
            _ => alone,
        }
    }

    /// [`Self::plan_with_replacements`] and [`Self::plan_entered`] at once.
    #[must_use]
    pub fn plan_both(
        self,
        function: &Function,
        cfg: &Cfg,
        weighting: &Weighting,
        replacements: &Replacements,
    ) -> (CounterPlan, Option<(CounterPlan, f64)>) {
        let chords = Chords::new(self, function, cfg, weighting, replacements);
        let (alone, cost) = chords.plan(false);
        let (entered, less) = chords.plan(true);
        let entered = (entered.key.measures.len() < alone.key.measures.len()).then_some((entered, cost - less));
        (alone, entered)
    }

    /// Recovers a function by itself.
    ///
    /// # Errors
    /// See [`CounterError`].
    pub fn recover(self, cfg: &Cfg, measured: Measured<'_>) -> Result<FunctionProfile, CounterError> {
        match self {
            Self::Edge => edge::recover(cfg, measured),
            Self::VertexEdge => vertex_edge::recover(cfg, measured),
        }
    }

    /// Recovers a function whose entries are known from elsewhere.
    ///
    /// # Errors
    /// See [`CounterError`].
    pub fn recover_entered(
        self,
        cfg: &Cfg,
        measured: Measured<'_>,
        entries: i128,
    ) -> Result<FunctionProfile, CounterError> {
        match self {
            Self::Edge => edge::recover_entered(cfg, measured, entries),
            Self::VertexEdge => vertex_edge::recover_entered(cfg, measured, entries),
        }
    }

    /// The counts of those blocks that the counters determine without the function's entries; signed, as flows are.
    ///
    /// # Errors
    /// See [`CounterError`].
    pub fn foresee(self, cfg: &Cfg, measured: Measured<'_>) -> Result<IdMap<Block, Option<i128>>, CounterError> {
        match self {
            Self::Edge => edge::foresee(cfg, measured),
            Self::VertexEdge => vertex_edge::foresee(cfg, measured),
        }
    }
}

/// The input of a plan for fast code.
struct Chords<'a> {
    method: ChordMethod,
    cfg: &'a Cfg,
    replacements: &'a Replacements,
    placer: Placer<'a>,
    prices: Weighting,
}

impl<'a> Chords<'a> {
    fn new(
        method: ChordMethod,
        function: &'a Function,
        cfg: &'a Cfg,
        weighting: &Weighting,
        replacements: &'a Replacements,
    ) -> Self {
        let placer = Placer::new(function, cfg);
        let prices = replacements.prices(cfg, &placer.prices(cfg, weighting));
        Self { method, cfg, replacements, placer, prices }
    }

    /// A counter or a variable for each chord that is counted, with what they cost; `entered`: entries are known.
    fn plan(&self, entered: bool) -> (CounterPlan, f64) {
        let Self { method, cfg, replacements, placer, prices } = self;
        let tree = SpanningTree::nested(cfg, prices, entered, |edge| priority(placer, edge), &replacements.fixed);
        let counted = method.counted(cfg, &tree, replacements);
        let mut plan = CounterPlan::default();
        plan.key.fixed.clone_from(&replacements.fixed.edges);
        for &edge in &counted {
            match replacements.of(edge) {
                Some((_, replacement)) => replacement.add(&mut plan),
                None => add_counter(&mut plan, placer.edge(edge)),
            }
        }
        (plan, counted.into_iter().map(|edge| prices.edge(edge)).sum())
    }
}
