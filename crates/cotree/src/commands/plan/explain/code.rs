//! Names of a function's blocks, edges and places in the text of `cotree plan --explain`.

use cotree_core::facts::Function;
use cotree_core::graph::cfg::Cfg;
use cotree_core::ids::{Block, CallId, Edge};
use cotree_core::probe::Place;

/// A function with its graph.
#[derive(Clone, Copy)]
pub(super) struct Code<'a> {
    pub(super) function: &'a Function,
    pub(super) cfg: &'a Cfg,
}

impl Code<'_> {
    /// `source → target`.
    pub(super) fn edge(&self, edge: Edge) -> String {
        format!("{} → {}", self.block(self.cfg.src(edge)), self.block(self.cfg.dst(edge)))
    }

    /// The block with its first line.
    pub(super) fn block(&self, block: Block) -> String {
        if block == self.cfg.exit() {
            return "EXIT".into();
        }
        match self.function.blocks[block].lines.first() {
            Some(span) => format!("{block} (line {})", span.at.line),
            None => block.to_string(),
        }
    }

    /// Where a probe stands.
    pub(super) fn place(&self, place: Place) -> String {
        match place {
            Place::Start(block) => format!("at the start of {}", self.block(block)),
            Place::End(block) => format!("at the end of {}", self.block(block)),
            Place::Edge(edge) => format!("on the edge {}", self.edge(edge)),
            Place::Call(call) => format!("before {call} of {}", self.block_of(call)),
            Place::After(call) => format!("behind {call} of {}", self.block_of(call)),
        }
    }

    fn block_of(&self, call: CallId) -> String {
        self.function.calls.get(call).map_or_else(String::new, |call| self.block(call.block))
    }
}
