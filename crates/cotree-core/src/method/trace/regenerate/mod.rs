//! Regenerates an execution from the stream of a thread (Ball & Larus 1994, Fig. 14, with the stack of §4.2).
//!
//! A [`Reader`] has a stack of activations and yields what they do, one [`Event`] after the other. An activation is a
//! place in its function and what is left of its token: of constant size. Streams may be hostile or end anywhere: what
//! can't be is an error, and what is missing is the end.
//!
//! From below: [`input`] has the bytes, [`checkpoint`] the state, [`cursor`] both and the tables. [`engine`] is what
//! code writes, [`records`] and [`frames`] what the runtime does. [`spans`] remembers what the engine does again and
//! again.

mod checkpoint;
mod cursor;
mod engine;
mod event;
mod frames;
mod input;
mod reader;
mod records;
mod sink;
mod spans;

pub use checkpoint::Checkpoint;
pub use event::{Event, ReadError};
pub use input::Source;
pub use reader::Reader;
pub use sink::Skipped;
