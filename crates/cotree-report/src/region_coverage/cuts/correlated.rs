//! Blocks that run as often as a region by what a variable tells of the path that was taken.
//!
//! Where a scope ends, all paths out of it go through one block that cleans up: that of a `return` and that of falling
//! off its end. Behind it they part again, by a variable of the compiler's that says where the path leads. No law of
//! the graph says how often each side runs, since the graph does not know the variable; the front end does, and counts
//! what follows without a counter of its own. So of a region whose text has blocks, none of which is known to run as
//! often as it does, while the counters leave open how often one of them does, the first such block is taken to: the
//! text is entered there. What follows for other blocks holds in all circulations in which this is so. A counter in
//! that block, as of a condition that the compiler knows to hold, leaves it as open.

use super::instances::Instance;
use super::layout::Layout;
use super::normal_flow::{NormalFlow, Numbers};
use super::points::{Point, Points};
use crate::flow::FlowBound;
use cotree_core::graph::dfs::Dfs;
use cotree_core::ids::Block;
use cotree_profile::coverage::{Counter, Region, RegionKind};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Random circulations in which this is so. `None`: the graph alone tells all that regions need.
pub(super) fn flow(layout: &Layout<'_>, instance: &Instance<'_, '_>, points: &Points) -> Option<NormalFlow> {
    let counts = instance.counts();
    let counts = layout.function.expressions.values_of(&counts);
    let lacks = |normal: &NormalFlow, region: usize, numbers: Numbers| {
        blocks_of(layout, points, region).all(|block| normal.block(block).equal(numbers).is_none())
    };
    let numbers = region_numbers(layout, instance);
    let regions: Vec<(usize, i128, Open)> = (0..)
        .zip(&layout.function.regions)
        .filter_map(|(index, region)| match region.kind {
            RegionKind::Code(counter) if counter != Counter::Zero => {
                let is_open =
                    lacks(instance.normal, index, numbers[index]?) && blocks_of(layout, points, index).next().is_some();
                Some((index, counts.get(counter)?, Open::Text)).filter(|_| is_open)
            }
            RegionKind::Branch { taken: Counter::Value(counter), not_taken: Counter::Zero } => {
                let around = layout.text_of(region)?;
                let block = instance.placed().find(|anchor| anchor.counter == counter)?.block;
                let is_open = instance.normal.block(block).equal(numbers[around]?).is_none();
                let count = counts.get(layout.function.regions[around].kind.counters().0)?;
                Some((around, count, Open::Holds(block))).filter(|_| is_open)
            }
            _ => None,
        })
        .collect();
    if regions.is_empty() {
        return None;
    }
    let order = Dfs::new(&instance.flow.cfg);
    let order: HashMap<Block, usize> = order.reverse_postorder().zip(0..).collect();
    let mut drawn = Drawn::new(layout, instance)?;
    let is_exact = instance.flow.bound == FlowBound::Exact && !instance.was_revived();
    for (index, count, open) in regions {
        let Some(wanted) = drawn.numbers[index] else { continue };
        let first = match open {
            Open::Holds(block) => Some(block).filter(|&block| drawn.one.block(block).equal(wanted).is_none()),
            Open::Text if !lacks(&drawn.one, index, wanted) => None,
            Open::Text => {
                let own: BTreeSet<Block> = own_blocks_of(layout, points, index).collect();
                // What cleans up for an exception may have a place in any text.
                let is_normal = |block: Block| drawn.one.block(block).may_return() || !wanted.may_return();
                let when = |block: &Block| order.get(block).copied().unwrap_or(usize::MAX);
                let blocks = || blocks_of(layout, points, index).filter(|&block| is_normal(block));
                let is_counted = |block: &Block| drawn.counted.contains(block) && own.contains(block);
                let with_counter = blocks().min_by_key(when).filter(is_counted);
                with_counter.or_else(|| blocks().filter(|&block| drawn.is_open(block, wanted)).min_by_key(when))
            }
        };
        if let Some(first) = first.filter(|&first| !is_exact || i128::from(instance.flow.block(first)) <= count) {
            drawn.put(layout, instance, first, index);
        }
    }
    Some(drawn.one)
}

/// What is to be found for a region.
enum Open {
    /// Which block of its text runs as often.
    Text,
    /// The block behind a condition at the end of its text that is known to hold.
    Holds(Block),
}

/// Two draws of random circulations, in which some blocks have known numbers.
struct Drawn {
    known: BTreeMap<Block, Numbers>,
    /// The blocks of counters that have the numbers of the graph alone.
    counted: BTreeSet<Block>,
    one: NormalFlow,
    other: NormalFlow,
    /// The numbers of all regions.
    numbers: Vec<Option<Numbers>>,
}

impl Drawn {
    fn new(layout: &Layout<'_>, instance: &Instance<'_, '_>) -> Option<Self> {
        let of_anchor = |block: Block| (block, instance.normal.block(block));
        let known: BTreeMap<Block, Numbers> = instance.placed().map(|anchor| of_anchor(anchor.block)).collect();
        let (one, other) = (instance.normal.with(&known, 1)?, instance.normal.with(&known, 2)?);
        let numbers = region_numbers(layout, &instance.with(&one));
        Some(Self { counted: known.keys().copied().collect(), known, one, other, numbers })
    }

    /// Does nothing that is known say how often a block runs?
    fn is_open(&self, block: Block, wanted: Numbers) -> bool {
        self.one.block(block).wherever_drawn(wanted, self.other.block(block)).is_some()
    }

    /// Has a block run as often as a region, if it can. What the region counts as may not depend on a counter in it.
    fn put(&mut self, layout: &Layout<'_>, instance: &Instance<'_, '_>, block: Block, region: usize) {
        let Some(wanted) = self.numbers[region] else { return };
        let of_block = self.one.block(block).wherever_drawn(wanted, self.other.block(block)).unwrap_or(wanted);
        let mut known = self.known.clone();
        known.insert(block, of_block);
        let Some((one, other)) = instance.normal.with(&known, 1).zip(instance.normal.with(&known, 2)) else { return };
        let numbers = region_numbers(layout, &instance.with(&one));
        if numbers[region] == Some(wanted) {
            self.counted.remove(&block);
            *self = Self { known, counted: std::mem::take(&mut self.counted), one, other, numbers };
        }
    }
}

/// What a macro has become whose text begins with this region: all of that has the place where the macro is used.
pub(super) fn of_macro(layout: &Layout<'_>, points: &Points, region: usize) -> impl Iterator<Item = Point> {
    let host = layout.host(layout.function.regions[region].file).filter(|_| layout.begins_macro(region));
    host.into_iter().flat_map(|host| points.expanded(host))
}

/// The blocks with instructions in the text of a region, and of all within it.
fn blocks_of(layout: &Layout<'_>, points: &Points, region: usize) -> impl Iterator<Item = Block> {
    points.within(region).chain(of_macro(layout, points, region)).map(|point| point.block)
}

/// The blocks with instructions in the text of a region, but for regions within it with other counters.
fn own_blocks_of(layout: &Layout<'_>, points: &Points, region: usize) -> impl Iterator<Item = Block> {
    let others = layout.begins_of_others_within(region);
    let own = points.within(region).filter(move |point| !others.contains(&point.place));
    own.chain(of_macro(layout, points, region)).map(|point| point.block)
}

/// The numbers of all regions in the random circulations of an instance.
pub(super) fn region_numbers(layout: &Layout<'_>, instance: &Instance<'_, '_>) -> Vec<Option<Numbers>> {
    let all = instance.numbers();
    let [usual, without_ends, without_exceptions] =
        [0, 1, 2].map(|at: usize| layout.function.expressions.values_of(&all[at]));
    let of_region = |region: &Region| {
        let counter = region.kind.counters().0;
        let numbers = [usual.get(counter)?, without_ends.get(counter)?, without_exceptions.get(counter)?];
        Some(Numbers::new(numbers))
    };
    layout.function.regions.iter().map(of_region).collect()
}
