//! What the lowering of a method has to do.

use crate::lower::block_notes::BlockNotes;
use crate::lower::code::Code;
use crate::lower::landing_pad::LandingPad;
use cotree_core::probe::{PlacedProbe, Probe};

/// One function's lowering by one method. It begins with [`super::begin`]; what is here is called in this order.
pub(in crate::lower) trait MethodLowering<'m> {
    /// Emits a probe where the function's builder stands; false if the method has no code for it.
    fn probe(&self, code: &Code<'_, 'm>, base: u64, placed: PlacedProbe) -> bool;

    /// Emits what the unwind edges into one landing pad ask for, behind the pad: which of them was taken is known by
    /// phis only. `None` stands for an edge without probes of the method; `Err` names a probe that can't be on such an
    /// edge.
    ///
    /// # Errors
    /// The method has no code for the probe there.
    fn on_unwind_edges(
        &self,
        code: &Code<'_, 'm>,
        base: u64,
        pad: &LandingPad<'m>,
        probes: &[Option<Vec<Probe>>],
    ) -> Result<(), Probe>;

    /// Whether paths change within blocks, at calls.
    fn changes_paths_in_calls(&self) -> bool {
        false
    }

    /// Has debug information say on which path each block is. All probes are there by then.
    fn note_paths(&self, _code: &Code<'_, 'm>, _notes: &BlockNotes<'m>) {}

    /// Has the function's calls note what the runtime must know if they don't come back. All other code is there by
    /// then.
    fn at_calls(&self, _code: &Code<'_, 'm>) {}
}
