//! Random functions and structured programs together.

use crate::{random, structured};
use cotree_core::facts::Function;
use proptest::prelude::*;

/// Any function or, so many times as often, a structured program with a call in every ninth block at most.
pub fn functions(programs: u32) -> impl Strategy<Value = Function> {
    let structured = (structured::programs(), 0..9usize).prop_map(|(cfg, call)| {
        let ends = |e| (cfg.src(e).index(), cfg.dst(e).index(), true);
        let edges: Vec<_> = cfg.edges().filter(|&e| e != cfg.exit_edge()).map(ends).collect();
        let blocks = cfg.block_count() - 1;
        let sites: Vec<_> = (0..blocks).filter(|b| b % 9 == call).map(|b| (b, false)).collect();
        random::function(blocks, &edges, &sites)
    });
    prop_oneof![1 => random::functions(9), programs => structured]
}
