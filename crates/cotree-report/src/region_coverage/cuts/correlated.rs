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
    let expressions = &layout.function.expressions;
    let counts = instance.counts();
    let counts = expressions.values_of(&counts);
    let lacks = |normal: &NormalFlow, region: usize, numbers: Numbers| {
        blocks_of(layout, points, region).all(|block| normal.block(block).equal(numbers).is_none())
    };
    let numbers = region_numbers(layout, instance);
    let regions: Vec<(usize, Counter)> = (0..)
        .zip(&layout.function.regions)
        .filter_map(|(index, region)| match region.kind {
            RegionKind::Code(counter @ Counter::Expression(_)) => Some((index, counter)),
            _ => None,
        })
        .filter(|&(index, _)| numbers[index].is_some_and(|numbers| lacks(instance.normal, index, numbers)))
        .filter(|&(index, _)| blocks_of(layout, points, index).next().is_some())
        .collect();
    if regions.is_empty() {
        return None;
    }
    let order = Dfs::new(&instance.flow.cfg);
    let order: HashMap<Block, usize> = order.reverse_postorder().zip(0..).collect();
    let of_anchor = |block: Block| (block, instance.normal.block(block));
    let mut known: BTreeMap<Block, Numbers> = instance.placed().map(|anchor| of_anchor(anchor.block)).collect();
    let mut counted: BTreeSet<Block> = known.keys().copied().collect();
    let (mut one, mut other) = (instance.normal.with(&known, 1)?, instance.normal.with(&known, 2)?);
    let mut numbers = region_numbers(layout, &instance.with(&one));
    let is_exact = instance.flow.bound == FlowBound::Exact && !instance.was_revived();
    for (index, counter) in regions {
        let Some((count, wanted)) = counts.get(counter).zip(numbers[index]) else { continue };
        if !lacks(&one, index, wanted) {
            continue;
        }
        let own: BTreeSet<Block> = own_blocks_of(layout, points, index).collect();
        // What cleans up for an exception may have a place in any text.
        let is_normal = |block: Block| one.block(block).may_return() || !wanted.may_return();
        let is_drawn = |block: Block| one.block(block).wherever_drawn(wanted, other.block(block)).is_some();
        let when = |block: &Block| order.get(block).copied().unwrap_or(usize::MAX);
        let blocks = || blocks_of(layout, points, index).filter(|&block| is_normal(block));
        let with_counter = blocks().min_by_key(when).filter(|first| counted.contains(first) && own.contains(first));
        let first = with_counter.or_else(|| blocks().filter(|&block| is_drawn(block)).min_by_key(when));
        let Some(first) = first.filter(|&first| !is_exact || i128::from(instance.flow.block(first)) <= count) else {
            continue;
        };
        let of_first = one.block(first).wherever_drawn(wanted, other.block(first)).unwrap_or(wanted);
        let before = known.insert(first, of_first);
        let next = instance.normal.with(&known, 1).zip(instance.normal.with(&known, 2));
        let next = next.map(|(one, other)| (region_numbers(layout, &instance.with(&one)), one, other));
        // What the region counts as may not depend on the counter in its first block.
        match next.filter(|(numbers, ..)| numbers[index] == Some(wanted)) {
            Some(next) => {
                counted.remove(&first);
                (numbers, one, other) = next;
            }
            None => match before {
                Some(before) => _ = known.insert(first, before),
                None => _ = known.remove(&first),
            },
        }
    }
    Some(one)
}

/// What a macro has become whose text begins with this region: all of that has the place where the macro is used.
fn of_macro(layout: &Layout<'_>, points: &Points, region: usize) -> impl Iterator<Item = Point> {
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
fn region_numbers(layout: &Layout<'_>, instance: &Instance<'_, '_>) -> Vec<Option<Numbers>> {
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
