//! Counters that clang left out of the code, while the map has them.
//!
//! Behind a `try` in which nothing can throw, clang goes on in the block before it, and does not count there: by the
//! counters, what follows never ran (`llvm-cov` says so). The first block of the text that has such a counter stands
//! for it. Where there is no such block, the text is not there, and never ran: clang knew which `case` comes, and left
//! out the others. Regions within that text are no part of it, since a `case` is left in front of the next.

use super::correlated::{of_macro, region_numbers};
use super::instances::Instance;
use super::layout::Layout;
use super::normal_flow::Numbers;
use super::points::{Point, Points};
use cotree_core::facts::Anchor;
use cotree_core::graph::dfs::Dfs;
use cotree_core::ids::Block;
use cotree_profile::coverage::{Corrections, Counter, Excess, Place, RegionKind};
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
    // Text that nothing comes to has no order, and did not run.
    let when = |point: &Point| (order.get(&point.block).copied(), point.after_sites);
    let place = |regions: &[usize], counter: u32| {
        // What cleans up for an exception may have a place in any text.
        let is_normal = |point: &Point| instance.normal.block(point.block).may_return() || when(point).0.is_none();
        let text = || regions.iter().flat_map(|&region| text_of(layout, points, region));
        let first = text().filter(is_normal).min_by_key(when).or_else(|| text().min_by_key(when))?;
        let (block, after_sites) = (first.block, first.after_sites);
        Some(Anchor { block, after_sites, function: number, counter, inlined: None })
    };
    let regions = &layout.function.regions;
    let with_counter = |&counter: &u32| {
        let is_own = |&region: &usize| regions[region].kind.counters().0 == Counter::Value(counter);
        let own: Vec<usize> = (0..regions.len()).filter(is_own).collect();
        place(&own, counter)
    };
    let mut found: Vec<Anchor> = lacking.iter().filter_map(with_counter).collect();
    // Without text of its own, a counter may be all that is counted of other text.
    let without: Vec<u32> =
        lacking.into_iter().filter(|counter| found.iter().all(|found| found.counter != *counter)).collect();
    let numbers = region_numbers(layout, &instance.with_found(found.clone()));
    let is_never = |region: &usize| numbers[*region].is_some_and(Numbers::is_never);
    let summands = |region: usize| {
        let counts = |counter: &&u32| adds(layout, instance, **counter, region);
        without.iter().filter(counts).copied().collect::<Vec<u32>>()
    };
    for region in (0..regions.len()).filter(is_never) {
        if let &[counter] = summands(region).as_slice()
            && found.iter().all(|found| found.counter != counter)
        {
            found.extend(place(&[region], counter));
        }
    }
    found
}

/// The instructions that stand in the text of a region itself.
fn text_of(layout: &Layout<'_>, points: &Points, index: usize) -> Vec<Point> {
    let region = &layout.function.regions[index];
    let is_expansion = match region.kind {
        RegionKind::Code(_) => false,
        RegionKind::Expansion { .. } => true,
        _ => return Vec::new(),
    };
    let of_others = layout.begins_of_others_within(index);
    let is_brace = |place: Place| layout.is_last_brace(index, place);
    let own = points.within(index).filter(|point| !of_others.contains(&point.place));
    let of_macro = of_macro(layout, points, index);
    own.chain(points.expanded(index)).chain(of_macro).filter(|point| is_expansion || !is_brace(point.place)).collect()
}

/// Is a counter a summand of what counts a region?
fn adds(layout: &Layout<'_>, instance: &Instance<'_, '_>, counter: u32, region: usize) -> bool {
    let mut one = vec![0i128; instance.counters() as usize];
    one[counter as usize] = 1;
    let values = layout.function.expressions.values_of(&one);
    values.get(layout.function.regions[region].kind.counters().0) == Some(1)
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
