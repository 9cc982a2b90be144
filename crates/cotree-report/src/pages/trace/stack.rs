//! What is under way at a moment.

use cotree_core::ids::{Block, FunctionId};

/// An activation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Activation {
    pub function: FunctionId,
    /// The block that was entered last; `None` before the first.
    pub block: Option<Block>,
    /// What the clock said when it began, and the number of its first block.
    pub clock: u64,
    pub first: u64,
}

/// Activations, outermost first.
#[derive(Clone, Debug, Default)]
pub(super) struct Stack(Vec<Activation>);

impl Stack {
    pub(super) fn begin(&mut self, function: FunctionId, clock: u64, first: u64) {
        self.0.push(Activation { function, block: None, clock, first });
    }

    pub(super) fn end(&mut self) {
        self.0.pop();
    }

    pub(super) fn enter(&mut self, block: Block) {
        if let Some(top) = self.0.last_mut() {
            top.block = Some(block);
        }
    }

    pub(super) fn depth(&self) -> usize {
        self.0.len()
    }

    pub(super) fn activations(&self) -> &[Activation] {
        &self.0
    }
}
