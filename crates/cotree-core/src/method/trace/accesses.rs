//! Which blocks tell addresses before anything of them may be a segment's end.

use super::types::TraceKey;
use crate::facts::{EdgeFacts, EdgeKind, Function};
use crate::ids::{Block, Edge, IdMap};

/// Per block, whether it tells addresses before its first call that ends a segment: the token of the path there must
/// stand before these.
fn telling(function: &Function, key: &TraceKey) -> IdMap<Block, bool> {
    let mut first_call = IdMap::filled(None, function.blocks.len());
    for (call, facts) in function.calls.numbered().filter(|&(call, _)| key.call(call).ends_segment()) {
        if let Some(first) = first_call.get_mut(facts.block) {
            first.get_or_insert(call);
        }
    }
    let mut tells = IdMap::filled(false, function.blocks.len());
    for access in &function.accesses {
        if let (Some(tells), Some(first)) = (tells.get_mut(access.block), first_call.get(access.block)) {
            *tells |= first.is_none_or(|call| access.before <= call);
        }
    }
    tells
}

/// The edges into blocks that tell addresses before their first call that ends a segment, in order. The exceptions of a
/// call that ends no segment never come.
pub(super) fn edges_to_accesses(function: &Function, key: &TraceKey) -> Vec<Edge> {
    if function.accesses.is_empty() {
        return Vec::new();
    }
    let tells = telling(function, key);
    let into = |(id, edge): (Edge, &EdgeFacts)| {
        let tells = tells.get(edge.dst).is_some_and(|&tells| tells);
        (tells && edge.kind != EdgeKind::InvokeUnwind).then_some(id)
    };
    function.edges.numbered().filter_map(into).collect()
}
