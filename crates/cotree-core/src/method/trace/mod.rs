//! Tracing: the whole execution of each thread, to the last block, from a few bytes (Ball & Larus 1994, §4 and §6.2).
//!
//! [`TracePlan`] cuts a function into *segments* and has code write a *token* for each: a number that says which path
//! the segment took. The reader ([`regenerate`]) is the inverse: it follows tokens through the graphs of all functions,
//! with a stack of activations, and yields every block and call in order.
//!
//! # Segments
//!
//! The trace is read forwards, and callees write while their caller is in the midst of its own path. So a token must
//! stand before whatever the calls on its path write: §4.2 calls that blocking. Here it is a cut. A segment *starts*
//! where the function is entered, behind a call that may write, at a landing pad, and behind a *cut edge*; it
//! *ends* before the next call that may write, on a cut edge, and where the function is left. Retreating edges of a
//! depth-first search over what calls leave of the graph are cut, so there are finitely many segments. A loop that
//! calls somebody on all paths through it needs no cut.
//!
//! # Tokens
//!
//! The register [`Reg::Token`](crate::probe::Reg::Token) becomes the token along the segment. How it is numbered is the
//! [`Encoding`] of the function. The token is written as soon as only one path is left, on the edge that decides, and
//! not at the segment's end: where a start has one segment only, nothing is written, and calls in tail position stay
//! there. All tokens that one write may produce have the same width, so that the reader knows it from the start.
//!
//! Two encodings make no token along a segment ([`Encoding::has_register`]). With [`Encoding::EachWitness`] the witness
//! on an edge is the token, so segments end on these edges and loops are cut nowhere else. With
//! [`Encoding::EachBranch`] each edge out of a branch writes its bits.
//!
//! # Calls
//!
//! [`CallKind`] says what a call means to the stream. Whatever is not a call by name of a function of the unit is
//! *opaque*: the reader can't know what comes. Functions that opaque calls may reach record their entries when they
//! begin, and a control byte follows when an opaque call returns ([`stream`]).
//!
//! # Indirect branches
//!
//! No probe fits on the edges of a computed goto. A block that one may lead to is cut, and its number among these
//! blocks is written when it is entered, from wherever.

mod accesses;
mod calls;
mod cost;
mod cuts;
mod each_witness;
mod layout;
mod links;
mod place;
mod plan;
pub mod regenerate;
mod segments;
pub mod stream;
mod tables;
mod token;
mod types;
mod unit;
mod witness_sets;
mod witness_values;
mod witnesses;

pub use cost::TraceCost;
pub(crate) use layout::lay_out;
pub use layout::{HEADER, SLACK, TraceWords, WINDOW};
pub use plan::{TraceCalls, plan};
pub use regenerate::{Checkpoint, Event, ReadError, Reader, Skipped, Source};
pub use tables::Tables;
pub use types::{CallKind, Encoding, Packing, TraceBy, TraceError, TraceKey, TraceOptions, TracePlan, UnitTracePlan};
pub use unit::{plan_functions, plan_unit};
