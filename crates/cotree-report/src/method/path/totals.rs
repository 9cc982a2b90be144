//! Sums over paths, and the paths that ran most.

use super::{PathUnit, Paths};
use cotree_core::ids::{Block, Edge};
use cotree_core::method::path::{Path, PathClass, PathStart};

/// Sums over the paths of some functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Functions whose paths were counted.
    pub functions: u64,
    /// Paths that ran.
    pub run: u64,
    /// Paths that ran.
    pub executed: u64,
    /// Paths that exist.
    pub possible: u128,
    /// Executions of paths.
    pub executions: u128,
    /// Instructions executed, by block counts.
    pub instructions: u128,
    /// Instructions of the paths executed.
    pub in_paths: u128,
    /// Turns of loops of a single block.
    pub turns: u128,
    /// Instructions of those.
    pub in_self_loops: u128,
    /// Activations that ended with a known beginning of a path, minus those that were revived.
    pub pending: i128,
    /// Instructions of those beginnings.
    pub in_pending: i128,
    /// Activations that ended after their path had been counted.
    pub cut_short: i128,
    /// Instructions of those paths that they did not reach.
    pub not_reached: i128,
    /// Activations that ended in a path of which nothing is known.
    pub unresolved: i128,
    /// What the paths add up to, all callees included.
    pub sum: u128,
    /// Paths that were never finished: what they would have added up is in no sum.
    pub unfinished: i128,
    /// Activations that came to life amid a path, in a forked child or when counting began anew: what had been added
    /// before is in the sum of that path.
    pub revived: i128,
}

impl Totals {
    /// The totals of one function.
    #[must_use]
    pub fn of(paths: &Paths<'_>) -> Self {
        let of = &paths.of;
        let mut totals = Self { functions: 1, possible: of.key.paths.into(), ..Self::default() };
        let profile = of.profile;
        totals.run = of.ran().into();
        totals.executed = profile.paths.len() as u64;
        for path in paths.executed() {
            totals.executions += u128::from(path.count);
            totals.in_paths += path.executed();
            totals.sum += u128::from(path.sum.unwrap_or(0));
        }
        for found in paths.self_loops() {
            totals.turns += u128::from(found.count);
            totals.in_self_loops += u128::from(found.count) * u128::from(found.instructions);
        }
        let counts = of.function.profile.map_or(&[][..], |p| &p.blocks);
        for (block, &count) in counts.iter().enumerate() {
            totals.instructions += u128::from(of.instructions(Block::new(block))) * u128::from(count);
        }
        for pending in &profile.pending {
            let blocks = paths.pending(pending).map_or_else(Vec::new, |p| p.blocks);
            totals.pending += i128::from(pending.count);
            totals.in_pending += i128::from(paths.instructions(&blocks)) * i128::from(pending.count);
        }
        let sum = |ends: &[(cotree_core::ids::Site, i64)]| ends.iter().map(|e| i128::from(e.1)).sum::<i128>();
        totals.cut_short = sum(&profile.cut_short);
        for &(site, count) in &profile.cut_short {
            let Some(site) = of.function.facts.calls.site(site) else { continue };
            totals.not_reached += i128::from(paths.instructions(&paths.only_path_on(site.block))) * i128::from(count);
        }
        totals.unresolved = sum(&profile.unresolved);
        let ends = profile.pending.iter().map(|p| (p.site, p.count)).chain(profile.unresolved.iter().copied());
        for (site, count) in ends {
            // A call that returned once more continues the path that a jump broke off there.
            let again = of.function.facts.calls.site(site).is_some_and(|site| site.returns_twice);
            if count < 0 && !again {
                totals.revived -= i128::from(count);
            } else {
                totals.unfinished += i128::from(count);
            }
        }
        totals
    }

    /// Instructions executed along paths that were counted.
    #[must_use]
    pub fn along_paths(&self) -> u128 {
        self.in_paths.saturating_add_signed(self.not_reached.saturating_neg())
    }

    /// Adds those of other functions.
    pub fn add(&mut self, other: &Self) {
        self.functions += other.functions;
        self.run += other.run;
        self.executed += other.executed;
        self.possible += other.possible;
        self.executions += other.executions;
        self.instructions += other.instructions;
        self.in_paths += other.in_paths;
        self.turns += other.turns;
        self.in_self_loops += other.in_self_loops;
        self.pending += other.pending;
        self.in_pending += other.in_pending;
        self.cut_short += other.cut_short;
        self.not_reached += other.not_reached;
        self.unresolved += other.unresolved;
        self.sum += other.sum;
        self.unfinished += other.unfinished;
        self.revived += other.revived;
    }
}

/// What was executed as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A path, by number.
    Path(u64, PathClass),
    /// Turns of a loop of a single block.
    SelfLoop(Edge),
}

/// A path, or a loop of a single block, among all of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hot {
    /// The function, by its place in [`PathUnit::functions`].
    pub function: usize,
    /// Which.
    pub what: What,
    /// How often it ran.
    pub count: u64,
    /// What it adds up to; loops of a single block are part of the path around them.
    pub sum: u64,
    /// The blocks of the path.
    pub blocks: usize,
    /// The edges of the path.
    pub edges: usize,
    /// Instructions of one execution.
    pub instructions: u64,
}

impl Hot {
    /// Instructions of all executions.
    #[must_use]
    pub fn executed(&self) -> u128 {
        u128::from(self.count) * u128::from(self.instructions)
    }
}

/// All that ran, by instructions executed, and the sums per function (those that are not wanted, `None`).
#[must_use]
pub fn gather(unit: &PathUnit<'_>, wanted: impl Fn(&str) -> bool) -> (Vec<Hot>, Vec<Option<Totals>>) {
    let mut hot = Vec::new();
    let totals = unit.functions().iter().enumerate().map(|(function, of)| {
        let of = Some(*of).filter(|of| wanted(&of.function.facts.symbol))?;
        if !of.ran() {
            return Some(Totals { functions: 1, possible: of.key.paths.into(), ..Totals::default() });
        }
        let paths = of.numbered()?;
        hot.extend(paths.executed().map(|e| Hot {
            function,
            what: What::Path(e.number, e.path.class()),
            count: e.count,
            sum: e.sum.unwrap_or(0),
            blocks: e.path.blocks.len(),
            edges: e.path.edges.len(),
            instructions: e.instructions,
        }));
        hot.extend(paths.self_loops().map(|l| Hot {
            function,
            what: What::SelfLoop(l.edge),
            count: l.count,
            sum: 0,
            blocks: 1,
            edges: 1,
            instructions: l.instructions,
        }));
        Some(Totals::of(&paths))
    });
    let totals = totals.collect();
    // The sort is stable: equal ones stay in the order of functions and numbers.
    hot.sort_by_key(|h| std::cmp::Reverse((h.executed(), h.count)));
    (hot, totals)
}

/// How many of the first entries make up a share of all.
#[must_use]
pub fn covering(hot: &[Hot], whole: u128, percent: f64) -> usize {
    let enough = whole as f64 * percent / 100.0;
    let mut sum = 0u128;
    hot.iter()
        .position(|h| {
            sum += h.executed();
            sum as f64 >= enough
        })
        .map_or(hot.len(), |at| at + 1)
}

impl What {
    /// As a path. A turn of a loop of a single block is one too, from its backedge to its backedge.
    #[must_use]
    pub fn path(&self, paths: &Paths<'_>) -> Option<Path> {
        match *self {
            Self::Path(number, _) => paths.path(number),
            Self::SelfLoop(edge) => {
                let block = paths.cfg.src(edge);
                Some(Path {
                    start: PathStart::Cut(block),
                    blocks: vec![block],
                    edges: vec![edge],
                    to_exit: false,
                    context: Vec::new(),
                    turns: Vec::new(),
                })
            }
        }
    }
}
