//! Where exceptions land.

use crate::ir::{Block as IrBlock, Instruction};

/// Where exceptions land, and from where.
pub(super) struct LandingPad<'m> {
    /// The blocks that unwind to it. Each ends in an invoke and so appears once. Unreachable ones have no probes, but
    /// phis need an entry for them, too.
    pub(super) predecessors: Vec<IrBlock<'m>>,
    /// The first instruction of the landing pad: phis go before it.
    pub(super) first: Instruction<'m>,
    /// Where its code begins.
    pub(super) behind: Instruction<'m>,
}
