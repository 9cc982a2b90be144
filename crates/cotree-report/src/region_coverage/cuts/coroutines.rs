//! Coroutines: LLVM makes several functions of each, one that starts it and others that go on with it.
//!
//! Control leaves one of these functions and enters another, so no law ties their counts together. All instructions of
//! a place count, those in different functions together; a region ran at most as often as its counters say.

use super::instances::Instance;
use super::layout::Layout;
use super::points;
use super::regions::{Reached, cuts};
use crate::flow::FlowBound;
use crate::unit::Unit;
use cotree_profile::coverage::{Corrections, Counter, Excess, Place, RegionKind};
use std::collections::BTreeMap;

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
    for (index, region) in function.regions.iter().enumerate() {
        let RegionKind::Code(counter) = region.kind else { continue };
        let Some(count) = counted.get(counter) else { continue };
        let mut by_place: BTreeMap<Place, i128> = BTreeMap::new();
        for (part, points) in &points {
            let mut of_part: BTreeMap<Place, i128> = BTreeMap::new();
            for point in points.within(index) {
                let most = of_part.entry(point.place).or_default();
                *most = part.count(point).max(*most);
            }
            for (place, most) in of_part {
                *by_place.entry(place).or_default() += most;
            }
        }
        let reached: Vec<Reached> = by_place
            .into_iter()
            .map(|(place, reached)| Reached {
                place,
                count: if at_most { reached } else { reached.min(count) },
                joined: false,
            })
            .collect();
        let most = reached.iter().map(|reached| reached.count).max();
        let start = match counter {
            Counter::Zero => 0,
            Counter::Value(_) if layout.is_first_with_counter(index) => count,
            _ => most.unwrap_or(if at_least { 0 } else { count }),
        };
        corrections.add(index as u32, None, Excess { count: count - start, not_taken: 0 });
        let mut before = start;
        for cut in cuts(layout, index, start, &reached) {
            corrections.add(index as u32, Some(cut.place), Excess { count: before - cut.count, not_taken: 0 });
            before = cut.count;
        }
    }
    points.iter().any(|(_, points)| points.are_known())
}
