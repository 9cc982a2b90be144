//! How often each outcome of a condition was seen.
//!
//! The map has a counter for one outcome, and takes the other one to be the rest of how often the condition was
//! evaluated. Executions that left while it was evaluated, or in a loop's body, are in that rest. The condition is the
//! block that branches as often as both outcomes together, with an edge for each, whenever every call returns.

use super::instances::Instance;
use cotree_core::facts::EdgeKind;
use cotree_core::ids::{Block, Edge};
use cotree_profile::coverage::{Counter, Excess, RegionKind};

/// By how much the outcomes of a condition are too many. Each comes with its count and its number in the circulation.
/// `None`: no branch of the code is known to be that of the condition.
pub(super) fn excess(
    instance: &Instance<'_, '_>,
    kind: RegionKind,
    (taken, true_number): (i128, i128),
    (not_taken, false_number): (i128, i128),
) -> Option<Excess> {
    let (of_true, of_false) = kind.counters();
    if of_true == Counter::Zero || of_false == Counter::Zero {
        return None;
    }
    let (seen_true, seen_false) = outcomes(instance, true_number, false_number)?;
    Some(Excess { count: taken - seen_true, not_taken: not_taken - seen_false })
}

/// How often the branch of a condition took each edge.
fn outcomes(instance: &Instance<'_, '_>, true_number: i128, false_number: i128) -> Option<(i128, i128)> {
    let flow = instance.flow;
    let blocks = flow.function.blocks.numbered().map(|(block, _)| block);
    for block in blocks.filter(|&block| instance.normal.usual_block(block) == true_number + false_number) {
        let edges: Vec<Edge> = leaving(instance, block);
        if edges.len() < 2 {
            continue;
        }
        let with = |number: i128| edges.iter().copied().find(|&edge| instance.normal.usual_edge(edge) == Some(number));
        let count = |edge: Edge| flow.edge(edge).map(i128::from);
        // What all edges but one were taken.
        let others = |edge: Edge| {
            let all = edges.iter().filter(|&&other| other != edge).map(|&other| count(other)).sum::<Option<i128>>();
            all.or_else(|| Some(i128::from(flow.left(block)) - count(edge)?))
        };
        match (with(true_number), with(false_number)) {
            (Some(on_true), Some(on_false)) if on_true != on_false => {
                return count(on_true).zip(count(on_false));
            }
            // A case of a switch: the others are its other outcome.
            (Some(edge), _) => return count(edge).zip(others(edge)),
            (None, Some(edge)) => return others(edge).zip(count(edge)),
            (None, None) => {}
        }
    }
    None
}

/// The edges on which control may go on from a block if every call returns.
fn leaving(instance: &Instance<'_, '_>, block: Block) -> Vec<Edge> {
    let flow = instance.flow;
    let goes_on = |edge: &Edge| flow.function.edges.get(*edge).is_some_and(|e| e.kind != EdgeKind::InvokeUnwind);
    flow.cfg.succs(block).iter().copied().filter(goes_on).collect()
}
