//! Machines on which profiles can be read, and no program can be profiled.

/// There are no vectors that this crate knows of.
pub mod vectors {
    /// How many blocks at the beginning are zero, if vectors could tell.
    pub fn leading<const BLOCK: usize>(_blocks: &[[u8; BLOCK]]) -> Option<usize> {
        None
    }

    /// A bit for each of the lines, if vectors could tell.
    pub fn lines<const LINE: usize>(_block: &[[u8; LINE]]) -> Option<u16> {
        None
    }
}
