//! Places in source files.

/// A place in a source file. Lines and columns begin at 1; a column counts bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column. `u32::MAX` is the end of the line.
    pub column: u32,
}
