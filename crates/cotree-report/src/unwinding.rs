//! Code that runs only while an exception passes: landing pads, the destructors that they call, and the search for the
//! handler. It is nobody's line. What a handler does is code as any other.

use cotree_core::facts::{Callee, EdgeKind, Function};
use cotree_core::graph::cfg::Cfg;
use cotree_core::ids::{Block, Edge};

/// Where a handler begins.
const BEGIN_CATCH: &str = "__cxa_begin_catch";

/// Per block: is it nothing but unwinding?
#[must_use]
pub fn blocks(function: &Function, cfg: &Cfg) -> Vec<bool> {
    let mut handler = vec![false; function.blocks.len()];
    for call in &function.calls {
        if matches!(&call.callee, Callee::Symbol(symbol) if symbol == BEGIN_CATCH) {
            handler[call.block.index()] = true;
        }
    }
    let unwinds = |edge: Edge| function.edges.get(edge).is_some_and(|e| e.kind == EdgeKind::InvokeUnwind);
    // What is reached without an exception, or behind the beginning of a handler, is the program's own.
    let mut own = vec![false; function.blocks.len()];
    let mut work: Vec<Block> = vec![cfg.entry()];
    work.extend((0..function.blocks.len()).map(Block::new).filter(|block| handler[block.index()]));
    while let Some(block) = work.pop() {
        if block == cfg.exit() || std::mem::replace(&mut own[block.index()], true) {
            continue;
        }
        work.extend(cfg.succs(block).iter().filter(|&&edge| !unwinds(edge)).map(|&edge| cfg.dst(edge)));
    }
    own.into_iter().map(|own| !own).collect()
}
