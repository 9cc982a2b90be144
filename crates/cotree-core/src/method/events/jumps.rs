//! Calls that the optimiser may make a jump of: the last thing that their function does.
//!
//! The activation ends with such a jump, and nothing tells of it afterwards. So if the callee never comes back, nobody
//! repairs what the counter lacked at the call, and whoever called the function does not see it return. Nothing but the
//! return itself may be lacking there: such a call, and a function that makes one, take no part in counting across
//! calls.
//!
//! Other calls might become jumps as well, when what stands behind them is found to be useless. Where something depends
//! on them they are forbidden to ([`EventPlan::framed`](super::EventPlan::framed)).

use crate::facts::{EdgeKind, Function};
use crate::ids::{Block, CallId, IdMap};

/// Which calls are followed by nothing but the function's return, and may never come back.
pub(super) fn may_jump(function: &Function) -> IdMap<CallId, bool> {
    let blocks = function.blocks.len();
    let mut leaving: IdMap<Block, u32> = IdMap::filled(0, blocks);
    let mut calling: IdMap<Block, bool> = IdMap::filled(false, blocks);
    let mut before: IdMap<Block, Vec<Block>> = IdMap::filled(Vec::new(), blocks);
    let mut work = Vec::new();
    for edge in &function.edges {
        let block = edge.src;
        leaving[block] += 1;
        match edge.kind {
            EdgeKind::Return => work.push(block),
            EdgeKind::Jump if edge.dst.index() < blocks => before[edge.dst].push(block),
            _ => {}
        }
    }
    let mut last: IdMap<Block, Option<CallId>> = IdMap::filled(None, blocks);
    for (call, facts) in function.calls.numbered() {
        calling[facts.block] = true;
        last[facts.block] = Some(call);
    }
    // Blocks behind whose calls the function returns.
    let mut returning: IdMap<Block, bool> = IdMap::filled(false, blocks);
    while let Some(block) = work.pop() {
        if leaving[block] == 1 && !std::mem::replace(&mut returning[block], true) && !calling[block] {
            work.append(&mut before[block]);
        }
    }
    let jumps = |(call, facts): (CallId, &crate::facts::Call)| {
        let block = facts.block;
        facts.is_site && returning[block] && last[block] == Some(call)
    };
    function.calls.numbered().map(jumps).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{BlockFacts, Call, Callee, EdgeFacts};
    use crate::ids::Block;

    fn function(blocks: usize, edges: &[(u32, u32, EdgeKind)], calls: &[u32]) -> Function {
        let edge = |&(src, dst, kind)| EdgeFacts { src: Block(src), dst: Block(dst), kind, successor: 0 };
        let call = |&block| Call::site(Block(block), Callee::Symbol("leaves".into()));
        Function {
            blocks: vec![BlockFacts::default(); blocks].into(),
            edges: edges.iter().map(edge).collect(),
            calls: calls.iter().map(call).collect(),
            ..Function::default()
        }
    }

    /// `if (x) { one(); two(); } else three(); four(); return;` and the same without the call of `four`.
    #[test]
    fn what_is_followed_by_the_return_alone_may_become_a_jump() {
        let edges = [
            (0, 1, EdgeKind::True),
            (0, 2, EdgeKind::False),
            (1, 3, EdgeKind::Jump),
            (2, 3, EdgeKind::Jump),
            (3, 4, EdgeKind::Return),
        ];
        assert_eq!(may_jump(&function(4, &edges, &[1, 1, 2, 3])), [false, false, false, true]);
        assert_eq!(may_jump(&function(4, &edges, &[1, 1, 2])), [false, true, true]);
        let mut known = function(4, &edges, &[1, 1, 2]);
        known.calls = known.calls.iter().map(|call| Call { is_site: false, ..call.clone() }).collect();
        assert_eq!(may_jump(&known), [false; 3]);
    }

    #[test]
    fn what_a_branch_follows_may_not() {
        let edges = [(0, 1, EdgeKind::True), (0, 2, EdgeKind::False), (1, 2, EdgeKind::Jump), (2, 3, EdgeKind::Return)];
        assert_eq!(may_jump(&function(3, &edges, &[0])), [false]);
        let endless = [(0, 1, EdgeKind::Jump), (1, 0, EdgeKind::Jump)];
        assert_eq!(may_jump(&function(2, &endless, &[0])), [false]);
    }
}
