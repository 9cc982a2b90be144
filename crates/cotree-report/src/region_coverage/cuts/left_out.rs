//! Counters that clang left out of the code, while the map has them.
//!
//! Behind a `try` in which nothing can throw, clang goes on in the block before it, and does not count there: by the
//! counters, what follows never ran (`llvm-cov` says so). The first block of the text that has such a counter stands
//! for it. All other counters that are left out are those of text without code, such as a `case` that clang knew not to
//! come: they are 0, as the map takes them to be.

use super::correlated::{of_macro, region_numbers};
use super::instances::Instance;
use super::layout::Layout;
use super::points::{Point, Points};
use cotree_core::facts::Anchor;
use cotree_core::graph::dfs::Dfs;
use cotree_core::ids::Block;
use cotree_profile::coverage::{Corrections, Counter, Excess, Place, Region, RegionKind};
use std::collections::{BTreeSet, HashMap};

/// Places for the counters that an instance lacks.
pub(super) fn places(layout: &Layout<'_>, instance: &Instance<'_, '_>, points: &Points) -> Vec<Anchor> {
    let placed: BTreeSet<u32> = instance.anchors.iter().map(|anchor| anchor.counter).collect();
    let Some(number) = instance.anchors.first().map(|anchor| anchor.function) else { return Vec::new() };
    if instance.copy.is_some() || instance.is_of_rust() || !instance.has_own_lines {
        return Vec::new();
    }
    let is_lacking = |counter: u32| !placed.contains(&counter);
    let lacking: Vec<u32> = (0..instance.counters())
        .filter(|&counter| is_lacking(counter) && is_behind_try((layout, instance, points), counter, is_lacking))
        .collect();
    if lacking.is_empty() {
        return Vec::new();
    }
    let order = Order::new(instance);
    let place = |regions: &[usize], counter: u32| {
        let text = regions.iter().flat_map(|&region| text_of(layout, points, region)).collect();
        let Point { block, after_sites, .. } = order.first(instance, text)?;
        Some(Anchor { block, after_sites, function: number, counter, inlined: None })
    };
    let regions = &layout.function.regions;
    let with_counter = |&counter: &u32| {
        let is_own = |&region: &usize| regions[region].kind.counters().0 == Counter::Value(counter);
        let own: Vec<usize> = (0..regions.len()).filter(is_own).collect();
        place(&own, counter)
    };
    let mut found: Vec<Anchor> = lacking.iter().filter_map(with_counter).collect();
    // A counter without text of its own is found by other text that it is part of.
    while let Some(anchor) = by_other_text(layout, &instance.with_found(found.clone()), points, &lacking, &order) {
        found.push(anchor);
    }
    found
}

/// Finds a place for one more of the counters that are lacking: text runs as often as its first block, and its
/// expression says how much of that the counter is. The block that runs that often is where the counter would stand.
fn by_other_text(
    layout: &Layout<'_>,
    instance: &Instance<'_, '_>,
    points: &Points,
    lacking: &[u32],
    order: &Order,
) -> Option<Anchor> {
    let is_found = |counter: u32| instance.found.iter().any(|found| found.counter == counter);
    let numbers = region_numbers(layout, instance);
    let function = instance.anchors.first()?.function;
    (0..layout.function.regions.len()).find_map(|region| {
        let summands = lacking.iter().filter(|&&counter| !is_found(counter));
        let mut summands = summands.filter(|&&counter| adds(layout, instance, counter, region));
        let (Some(&counter), None) = (summands.next(), summands.next()) else { return None };
        let known = numbers[region]?;
        let first = order.first(instance, text_of(layout, points, region))?;
        let (block, after_sites) = if known.is_never() {
            (first.block, first.after_sites)
        } else {
            let wanted = instance.normal.block(first.block).less(known);
            let is_wanted = |block: &Block| !wanted.is_never() && instance.normal.block(*block) == wanted;
            let blocks = instance.flow.function.blocks.numbered().map(|(block, _)| block);
            let block = blocks.filter(is_wanted).max_by_key(|&block| order.of(block))?;
            (block, instance.flow.function.calls.sites_of(block).count() as u32)
        };
        Some(Anchor { block, after_sites, function, counter, inlined: None })
    })
}

/// The order in which blocks run.
struct Order(HashMap<Block, usize>);

impl Order {
    fn new(instance: &Instance<'_, '_>) -> Self {
        Self(Dfs::new(&instance.flow.cfg).reverse_postorder().zip(0..).collect())
    }

    /// Text that nothing comes to has no order, and did not run.
    fn of(&self, block: Block) -> Option<usize> {
        self.0.get(&block).copied()
    }

    /// The instruction with which a text begins: of its first line, or before it, if what stands first within a
    /// statement does not run first.
    fn first(&self, instance: &Instance<'_, '_>, mut text: Vec<Point>) -> Option<Point> {
        let number = |point: &Point| instance.normal.block(point.block);
        let when = |point: &Point| (self.of(point.block), point.after_sites);
        // What cleans up for an exception may have a place in any text.
        let is_normal = |point: &Point| number(point).may_return() || self.of(point.block).is_none();
        if text.iter().any(is_normal) {
            text.retain(is_normal);
        }
        let of_line = text.iter().copied().min_by_key(|point| (point.place.line, when(point)))?;
        text.into_iter().filter(|point| number(point) == number(&of_line)).min_by_key(when)
    }
}

/// Does a counter that was left out count what follows a `try`? Clang numbers counters in the order of the text, but
/// for such a one, which comes before those of the statement's handlers; they have no code, either. Whatever else is
/// counted out of order is counted because a condition holds.
fn is_behind_try(
    (layout, instance, points): (&Layout<'_>, &Instance<'_, '_>, &Points),
    counter: u32,
    is_lacking: impl Fn(u32) -> bool,
) -> bool {
    let regions = &layout.function.regions;
    let of_condition = |counter: u32| {
        let is_outcome = |region: &Region| match (region.kind, region.kind.counters()) {
            (RegionKind::Branch { .. } | RegionKind::Condition { .. }, (Counter::Zero, not_taken)) => {
                share(layout, instance, counter, not_taken) == Some(-1)
            }
            (RegionKind::Branch { .. } | RegionKind::Condition { .. }, (taken, _)) => taken == Counter::Value(counter),
            _ => false,
        };
        regions.iter().any(is_outcome)
    };
    let code = |region: &&Region| matches!(region.kind, RegionKind::Code(_));
    if of_condition(counter) {
        return false;
    }
    let own = || regions.iter().filter(code).filter(|region| region.kind.counters().0 == Counter::Value(counter));
    // Behind a `try` at the end of a loop's body is what the loop goes on with, which stands before the body.
    let has_code = |region: &Region| {
        let index = regions.iter().position(|other| std::ptr::eq(other, region));
        region.start.line == region.end.line && index.is_some_and(|index| points.within(index).next().is_some())
    };
    let is_handler_before = |handler: &Region| {
        let Counter::Value(of_handler) = handler.kind.counters().0 else { return false };
        let of_file = || own().filter(|region| handler.file == region.file);
        let is_loop = |region: &Region| region.end <= handler.start && has_code(region);
        let before = of_file().any(|region| handler.end <= region.start || is_loop(region));
        before && of_handler > counter && is_lacking(of_handler) && !of_condition(of_handler)
    };
    own().next().is_none() || regions.iter().filter(code).any(is_handler_before)
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
    share(layout, instance, counter, layout.function.regions[region].kind.counters().0) == Some(1)
}

/// How often a counter is added in what counts something: -1 if it is subtracted.
fn share(layout: &Layout<'_>, instance: &Instance<'_, '_>, counter: u32, of: Counter) -> Option<i128> {
    let mut one = vec![0i128; instance.counters() as usize];
    one[counter as usize] = 1;
    layout.function.expressions.values_of(&one).get(of)
}

/// May text with such a counter have no code although other text behind it has? Its first line has none.
pub(super) fn is_doubtful(layout: &Layout<'_>, instance: &Instance<'_, '_>, points: &Points) -> bool {
    let regions = &layout.function.regions;
    let is_of = |counter: u32, region: usize| regions[region].kind.counters().0 == Counter::Value(counter);
    instance.found.iter().any(|found| {
        let of_counter = || (0..regions.len()).filter(|&region| is_of(found.counter, region));
        let first_line = of_counter().map(|region| regions[region].start.line).min();
        let mut text = of_counter().flat_map(|region| text_of(layout, points, region));
        first_line.is_some_and(|line| !text.any(|point| point.place.line == line))
    })
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
