//! Coroutines: LLVM makes several functions of each, one that starts it and others that go on with it.
//!
//! Control leaves one of these functions and enters another, so no law ties their counts together. All instructions of
//! a place count, those in different functions together; a region ran at most as often as its counters say.

use super::instances::Instance;
use super::layout::Layout;
use super::points;
use super::regions::{Reached, cuts, within_lines};
use crate::flow::FlowBound;
use crate::unit::Unit;
use cotree_core::ids::Block;
use cotree_profile::coverage::{Corrections, Counter, Excess, Place, RegionKind};
use std::collections::{BTreeMap, BTreeSet};

/// Corrects the counts of a coroutine's regions; tells whether its instructions have places.
pub(super) fn correct(
    unit: &Unit<'_>,
    layout: &Layout<'_>,
    parts: &[Instance<'_, '_>],
    corrections: &mut Corrections,
) -> bool {
    let function = layout.function;
    let at_least = parts.iter().any(|part| matches!(part.flow.bound, FlowBound::Least(_)));
    let at_most = parts.iter().any(|part| part.flow.bound == FlowBound::Most);
    let mut counts: Vec<i128> = Vec::new();
    for part in parts {
        let of_part = part.counts();
        counts.resize(counts.len().max(of_part.len()), 0);
        counts.iter_mut().zip(of_part).for_each(|(sum, count)| *sum += count);
    }
    let counted = function.expressions.values_of(&counts);
    let points: Vec<_> = parts.iter().map(|part| (part, points::of_instance(unit, layout, part))).collect();
    let starts = || parts.iter().filter(|part| part.starts());
    // clang bumps the counter of the whole where an exception leaves the coroutine, too.
    let entries = starts().next().map(|_| starts().map(|part| i128::from(part.flow.entries())).sum::<i128>());
    let mut began: Vec<Option<i128>> = vec![None; function.regions.len()];
    for (index, region) in function.regions.iter().enumerate() {
        let RegionKind::Code(counter) = region.kind else { continue };
        let Some(count) = counted.get(counter) else { continue };
        // What LLVM adds where a part begins, and to what starts it, has the place of some suspension.
        let added: BTreeSet<Place> = points
            .iter()
            .filter(|(part, _)| !part.starts())
            .flat_map(|(_, points)| points.within(index).filter(|point| point.block == Block(0)))
            .map(|point| point.place)
            .collect();
        let mut by_place: BTreeMap<Place, i128> = BTreeMap::new();
        // Who destroys a coroutine that is suspended only cleans up.
        for (part, points) in points.iter().filter(|(part, _)| !part.destroys()) {
            let mut of_part: BTreeMap<Place, (bool, i128)> = BTreeMap::new();
            let own = points.within(index).map(|point| (point.place, point));
            // Text of a macro has the place where it is used.
            let of_macro = layout.host(region.file).into_iter().flat_map(|host| points.expanded(host));
            for (place, point) in own.chain(of_macro.map(|point| (region.start, point))) {
                // Branches that join behind a suspension have its place, too.
                if point.block != Block(0) && !(part.starts() && added.contains(&place)) {
                    let works = part.flow.function.blocks[point.block].instructions.total > 1;
                    let most = of_part.entry(place).or_default();
                    *most = (*most).max((works, part.count(point)));
                }
            }
            for (place, (_, most)) in of_part {
                *by_place.entry(place).or_default() += most;
            }
        }
        let capped = |(place, here): (Place, i128)| {
            let count = if at_most { here } else { here.min(count) };
            Reached { place, count, joined: true }
        };
        let reached = within_lines(by_place.into_iter().map(capped).collect());
        let most = reached.iter().map(|reached| reached.count).max();
        let start = match counter {
            Counter::Zero => 0,
            Counter::Value(_) if layout.is_first_with_counter(index) => {
                entries.filter(|_| layout.begins_function(index)).unwrap_or(count)
            }
            _ => most.unwrap_or(if at_least { 0 } else { count }),
        };
        began[index] = Some(start);
        corrections.add(index as u32, None, Excess { count: count - start, not_taken: 0 });
        let mut before = start;
        for cut in cuts(layout, index, start, &reached) {
            corrections.add(index as u32, Some(cut.place), Excess { count: before - cut.count, not_taken: 0 });
            before = cut.count;
        }
    }
    for (index, region) in function.regions.iter().enumerate() {
        let (counter, otherwise) = region.kind.counters();
        let Some((count, other)) = counted.get(counter).zip(counted.get(otherwise)) else { continue };
        let excess = match region.kind {
            RegionKind::Expansion { .. } => {
                began[layout.first_of_expansion(index)].map(|began| Excess { count: count - began, not_taken: 0 })
            }
            RegionKind::Branch { .. } | RegionKind::Condition { .. } => {
                // One outcome has a counter. The other one is what remains of how often the condition was evaluated.
                let same = |other: &usize| {
                    let other = &function.regions[*other];
                    matches!(other.kind, RegionKind::Code(_))
                        && (other.file, other.start, other.end) == (region.file, region.start, region.end)
                };
                let evaluated = (0..function.regions.len()).find(same).and_then(|same| began[same]);
                // A counter of this outcome alone has no region before the condition.
                let own = |counter: Counter| {
                    let first = function.regions.iter().filter(|other| {
                        matches!(other.kind, RegionKind::Code(_))
                            && other.kind.counters().0 == counter
                            && other.file == region.file
                    });
                    matches!(counter, Counter::Value(_)) && first.into_iter().all(|other| other.start >= region.end)
                };
                evaluated.map(|evaluated| match (own(counter), own(otherwise)) {
                    (true, false) => Excess { count: 0, not_taken: other - (evaluated - count).max(0) },
                    (false, true) => Excess { count: count - (evaluated - other).max(0), not_taken: 0 },
                    _ => Excess::default(),
                })
            }
            _ => None,
        };
        corrections.add(index as u32, None, excess.unwrap_or_default());
    }
    points.iter().any(|(_, points)| points.are_known())
}
