//! Counters that clang left out of the code, while the map has them.
//!
//! Behind a `try` in which nothing can throw, clang goes on in the block before it, and does not count there: by the
//! counters, what follows never ran (`llvm-cov` says so). The first block of the text that has such a counter stands
//! for it. Where there is no such block, the text is not there, and never ran: clang knew which `case` comes, and left
//! out the others. Regions within that text are no part of it, since a `case` is left in front of the next.

use super::instances::Instance;
use super::layout::Layout;
use super::points::{Point, Points};
use cotree_core::facts::Anchor;
use cotree_core::graph::dfs::Dfs;
use cotree_core::ids::Block;
use cotree_profile::coverage::{Corrections, Counter, Excess, RegionKind};
use std::collections::{BTreeSet, HashMap};

/// Places for the counters that an instance lacks.
pub(super) fn places(layout: &Layout<'_>, instance: &Instance<'_, '_>, points: &Points) -> Vec<Anchor> {
    let placed: BTreeSet<u32> = instance.anchors.iter().map(|anchor| anchor.counter).collect();
    let Some(number) = instance.anchors.first().map(|anchor| anchor.function) else { return Vec::new() };
    if instance.copy.is_some() || instance.is_of_rust() || !instance.has_own_lines {
        return Vec::new();
    }
    let lacking: Vec<u32> = (0..instance.counters()).filter(|counter| !placed.contains(counter)).collect();
    if lacking.is_empty() {
        return Vec::new();
    }
    let order = Dfs::new(&instance.flow.cfg);
    let order: HashMap<Block, usize> = order.reverse_postorder().zip(0..).collect();
    let when = |point: &Point| (order.get(&point.block).copied().unwrap_or(usize::MAX), point.after_sites);
    let place = |counter: u32| {
        let regions = (0..).zip(&layout.function.regions);
        let regions = regions.filter(|(_, region)| region.kind.counters().0 == Counter::Value(counter));
        let first = regions.flat_map(|(index, region)| {
            let is_text = matches!(region.kind, RegionKind::Code(_) | RegionKind::Expansion { .. });
            let of_others = layout.begins_of_others_within(index);
            let own = points.within(index).filter(move |point| !of_others.contains(&point.place));
            let all = own.chain(points.expanded(index)).filter(move |_| is_text);
            // All that returns goes over the last brace of the function.
            let (end, is_expansion) = (region.end, matches!(region.kind, RegionKind::Expansion { .. }));
            all.filter(move |point| {
                is_expansion || (point.place.line, point.place.column + 1) != (end.line, end.column)
            })
        });
        let first = first.min_by_key(when)?;
        let (block, after_sites) = (first.block, first.after_sites);
        Some(Anchor { block, after_sites, function: number, counter, inlined: None })
    };
    lacking.into_iter().filter_map(place).collect()
}

/// Adds to regions what such counters would have said.
pub(super) fn correct(layout: &Layout<'_>, instance: &Instance<'_, '_>, corrections: &mut Corrections) {
    let expressions = &layout.function.expressions;
    let counts = instance.counts();
    let mut as_counted = counts.clone();
    instance.found.iter().for_each(|found| as_counted[found.counter as usize] = 0);
    let (counts, as_counted) = (expressions.values_of(&counts), expressions.values_of(&as_counted));
    let missing = |counter: Counter| Some(as_counted.get(counter)? - counts.get(counter)?);
    for (index, region) in (0..).zip(&layout.function.regions) {
        let (counter, otherwise) = region.kind.counters();
        if let Some((count, not_taken)) = missing(counter).zip(missing(otherwise)) {
            corrections.add(index, None, Excess { count, not_taken });
        }
    }
}
