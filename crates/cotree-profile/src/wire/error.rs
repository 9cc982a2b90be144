//! Why a packed file cannot be read.

use std::fmt;

/// The name of a section: four ASCII characters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tag(pub [u8; 4]);

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.escape_ascii())
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Why a packed file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The file begins with other bytes.
    #[error("it does not begin as it should")]
    NoMagic,
    /// Shorter than it says.
    #[error("it is cut off: {have} of {need} bytes are there")]
    Truncated {
        /// Bytes present.
        have: u64,
        /// Bytes that it says it has.
        need: u64,
    },
    /// From another version of cotree.
    #[error("its format has version {found}, this cotree reads version {expected}")]
    Version {
        /// The version found.
        found: u32,
        /// The version that is read.
        expected: u32,
    },
    /// Damaged.
    #[error("its checksum is wrong")]
    Checksum,
    /// The file claims to unpack to more than it may.
    #[error("it claims to unpack to {0} bytes")]
    TooLarge(u64),
    /// A section that this cotree does not know, or that says more than it knows.
    #[error("its section `{0}` holds what this cotree does not know: use a newer cotree")]
    NewerSection(Tag),
    /// A section is there twice.
    #[error("its section `{0}` is there twice")]
    RepeatedSection(Tag),
    /// A stream does not unpack.
    #[error("its stream {0} does not unpack")]
    Unpack(&'static str),
    /// A stream ends too early.
    #[error("its stream {0} ends too early")]
    Ends(&'static str),
    /// Some value makes no sense.
    #[error("{0}")]
    Invalid(&'static str),
}
