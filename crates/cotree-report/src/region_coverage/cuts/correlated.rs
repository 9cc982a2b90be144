//! Blocks that run as often as a region by what a variable tells of the path that was taken.
//!
//! Where a scope ends, all paths out of it go through one block that cleans up: that of a `return` and that of falling
//! off its end. Behind it they part again, by a variable of the compiler's that says where the path leads. No law of
//! the graph says how often each side runs, since the graph does not know the variable; the front end does, and counts
//! what follows without a counter of its own. So of a region whose text has blocks, none of which is known to run as
//! often as it does, while the counters leave open how often one of them does, the first such block is taken to: the
//! text is entered there. What follows for other blocks holds in all circulations in which this is so.

use super::instances::Instance;
use super::layout::Layout;
use super::normal_flow::{NormalFlow, Numbers};
use super::points::Points;
use crate::flow::FlowBound;
use cotree_core::graph::dfs::Dfs;
use cotree_core::ids::Block;
use cotree_profile::coverage::{Counter, RegionKind};
use std::collections::{BTreeMap, HashMap};

/// Random circulations in which this is so. `None`: the graph alone tells all that regions need.
pub(super) fn flow(layout: &Layout<'_>, instance: &Instance<'_, '_>, points: &Points) -> Option<NormalFlow> {
    let expressions = &layout.function.expressions;
    let (counts, numbers) = (instance.counts(), instance.numbers());
    let counts = expressions.values_of(&counts);
    let [usual, without_ends, without_exceptions] = [0, 1, 2].map(|at: usize| expressions.values_of(&numbers[at]));
    let value = |counter: Counter| {
        let numbers = [usual.get(counter)?, without_ends.get(counter)?, without_exceptions.get(counter)?];
        Some((counts.get(counter)?, Numbers::new(numbers)))
    };
    // The text of a macro has the place where the macro is used, of which its first region is the beginning.
    let blocks_of = |region: usize| {
        let host = layout.host(layout.function.regions[region].file).filter(|_| layout.begins_macro(region));
        let of_macro = host.into_iter().flat_map(|host| points.expanded(host));
        points.within(region).chain(of_macro).map(|point| point.block)
    };
    let lacks = |normal: &NormalFlow, region: usize, numbers: Numbers| {
        blocks_of(region).all(|block| normal.block(block).equal(numbers).is_none())
    };
    let regions: Vec<(usize, i128, Numbers)> = (0..)
        .zip(&layout.function.regions)
        .filter_map(|(index, region)| match region.kind {
            RegionKind::Code(counter @ Counter::Expression(_)) => {
                value(counter).map(|(count, numbers)| (index, count, numbers))
            }
            _ => None,
        })
        .filter(|&(index, _, numbers)| lacks(instance.normal, index, numbers))
        .filter(|&(index, ..)| blocks_of(index).next().is_some())
        .collect();
    if regions.is_empty() {
        return None;
    }
    let order = Dfs::new(&instance.flow.cfg);
    let order: HashMap<Block, usize> = order.reverse_postorder().zip(0..).collect();
    let of_anchor = |block: Block| (block, instance.normal.block(block));
    let mut known: BTreeMap<Block, Numbers> = instance.placed().map(|anchor| of_anchor(anchor.block)).collect();
    let (mut one, mut other) = (instance.normal.with(&known, 1)?, instance.normal.with(&known, 2)?);
    let is_exact = instance.flow.bound == FlowBound::Exact && !instance.was_revived();
    for (index, count, numbers) in regions {
        if !lacks(&one, index, numbers) {
            continue;
        }
        // What cleans up for an exception may have a place in any text.
        let is_normal = |block: Block| one.block(block).may_return() || !numbers.may_return();
        let is_drawn = |block: Block| one.block(block).wherever_drawn(numbers, other.block(block)).is_some();
        let open = |&block: &Block| is_normal(block) && is_drawn(block);
        let first = blocks_of(index).filter(open).min_by_key(|block| order.get(block).copied().unwrap_or(usize::MAX));
        let Some(first) = first.filter(|&first| !is_exact || i128::from(instance.flow.block(first)) <= count) else {
            continue;
        };
        let of_first = one.block(first).wherever_drawn(numbers, other.block(first)).unwrap_or(numbers);
        known.insert(first, of_first);
        if let Some((next, after)) = instance.normal.with(&known, 1).zip(instance.normal.with(&known, 2)) {
            (one, other) = (next, after);
        } else {
            known.remove(&first);
        }
    }
    Some(one)
}
