//! The recorders: each method's reactions to events of the process, besides counting in slabs.
//!
//! Each recorder has a file of its own and implements [`Recorder`]; one line of the [`table`] enables
//! it. All calls are resolved when the runtime is compiled: a hook that a recorder does not implement costs
//! nothing, and the others are inlined. A table of function pointers would cost a jump per frame of every walk. It
//! would also need relocations, and nothing could be counted in a program that is being loaded before these are done.
//!
//! Most programs have counters and nothing else. With the feature `counters-alone` the table is without paths, traces
//! and queries.
//!
//! | when | hook |
//! | --- | --- |
//! | a file has been created for the profile | [`Recorder::make_room`], [`Recorder::begin`] |
//! | a thread starts or ends | [`Recorder::thread_starts`], [`Recorder::thread_ends`] |
//! | a signal handler begins or ends, if a unit is to know of it | [`Recorder::handler_begins`], [`Recorder::handler_ends`] |
//! | an activation ends without a return, at `exit`, by a jump or an exception | [`Recorder::frame`] |
//! | the process forks | [`Recorder::forked`] in the child, then what happens at every beginning |
//! | the process ends, or calls `exec` | [`Recorder::complete`], then [`Recorder::close`] |
//! | the process ends otherwise | before that, [`last_stack::write`], which is no recorder's |
//! | `exec` fails | the flags go back to what they were, but for [`Recorder::LASTING_FLAGS`] |
//! | `cotree_reset` | [`Recorder::clear`] |
//! | `cotree_dump` | [`Recorder::room_in_copy`], [`Recorder::copy`], [`Recorder::frame_in_copy`] |
//! | the process is killed, or copied from outside while it runs | none: what is in the file must make sense at any moment |

#[cfg(feature = "counters-alone")]
mod absent;
#[cfg(not(feature = "counters-alone"))]
mod addressees;
#[cfg(not(feature = "counters-alone"))]
mod call_queries;
#[cfg(not(feature = "counters-alone"))]
mod call_sums;
pub mod counters;
mod dispatch;
pub mod early;
pub mod events;
#[cfg(not(feature = "counters-alone"))]
mod handler_stack;
#[cfg(not(feature = "counters-alone"))]
pub mod last_stack;
#[cfg(not(feature = "counters-alone"))]
pub mod outermost;
#[cfg(not(feature = "counters-alone"))]
pub mod paths;
#[cfg(not(feature = "counters-alone"))]
mod queries;
mod recorder;
#[cfg(not(feature = "counters-alone"))]
mod registers;
#[cfg(not(feature = "counters-alone"))]
mod shares;
#[cfg(not(feature = "counters-alone"))]
mod slab_words;
mod table;
#[cfg(not(feature = "counters-alone"))]
mod trace;

#[cfg(not(feature = "counters-alone"))]
pub use queries::{NEVER, SHARE_USED_UP, change_shares, may_be_limited, total as total_of_events};
pub use recorder::{Activation, Child, Recorder};
pub use table::*;
