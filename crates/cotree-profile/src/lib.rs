//! Profile files: the map and plan inside a binary, raw counts, merged profiles, and the recovery of whole link units.
//!
//! - [`binary`]: what a profiled binary says about itself; [`map`] is its wire form.
//! - [`raw`]: what the runtime writes. [`merged`]: what `cotree merge` writes. [`mod@file`]: either, opened the same way.
//! - [`recover`]: binary and counts in, exact counts of every block and edge out, with what cannot be vouched for.
//! - [`method`]: what is special to one family of methods, a room for each.
//! - [`snapshot`]: the counts of a process that still runs.
//!
//! - [`wire`]: the packed form of maps and merged profiles.
//!
//! All formats are described in `docs/formats.md`.

#![forbid(unsafe_code)]

pub mod atomic;
pub mod binary;
pub mod counts;
mod elf;
mod exits;
pub mod file;
mod flaws;
pub mod map;
pub mod merged;
pub mod method;
mod notes;
pub mod raw;
pub mod recover;
pub mod snapshot;
pub mod sums;
pub mod verify;
pub mod weights;
pub mod wire;
