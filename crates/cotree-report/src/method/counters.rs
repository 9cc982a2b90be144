//! What views say only of profiles that count by counters.

use super::total::Total;
use crate::terminal::counted;
use crate::unit::{Unit, UnitFunction};

/// How many counters these functions have.
pub(super) fn total<'a>(unit: &Unit<'a>, functions: impl Iterator<Item = UnitFunction<'a>>) -> Total {
    let (mut counters, mut edges) = (0u128, 0u128);
    for function in functions {
        let plan = unit.map.plan.method.function(function.index);
        counters += plan.map_or(0, |plan| plan.counters as u128);
        edges += function.facts.edges.len() as u128;
    }
    ("counters", counters, format!("for {}", counted(edges, "edge")))
}
