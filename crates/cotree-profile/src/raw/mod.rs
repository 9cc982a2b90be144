//! Reads raw profiles, which the runtime writes (see [`cotree_rt::layout`]).
//!
//! The file is streamed: memory is one counter array, the paths that were taken and a buffer, however many slabs there
//! are. Nothing in the header is trusted before it fits the file.

mod body;
mod header;
mod pool;
mod segments;

pub use body::read;
pub(crate) use header::HEADER_SIZE;
pub use header::{Header, is_finished};
pub(crate) use pool::read_with_left;
pub use pool::{joining, pool_of};
pub(crate) use segments::Segments;
