//! The packed form that the map of a binary and merged profiles share.
//!
//! - [`varint`]: numbers of as many bytes as they need.
//! - [`streams`]: each kind of number in a byte stream of its own.
//! - [`sections`]: the streams of one part of a file, under a tag. Each part is owned by one module that writes and
//!   reads it; a profiling method brings sections of its own and changes no other.
//! - [`container`]: the envelope around the sections: magic, version, lengths and a checksum.
//!
//! **Files are hostile.** Nothing is allocated before there are bytes to back it, and what a file may unpack to is
//! bounded by its length.

pub(crate) mod container;
mod error;
pub(crate) mod sections;
pub(crate) mod streams;
pub(crate) mod varint;

pub use error::{Tag, WireError};
