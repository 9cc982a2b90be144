//! Profile files: the map and plan inside a binary, raw counts, merged profiles, and the recovery of whole link units.
//!
//! - [`binary`]: the map that a profiled binary carries; [`map`] is its wire form.
//! - [`coverage`]: the map of source regions that clang and rustc put into a binary.
//! - [`raw`]: what the runtime writes. [`merged`]: what `cotree merge` writes. [`mod@file`]: either of
//!   the two.
//! - [`recover`]: turns a binary and its counts into exact counts of every block and edge, and says which are not
//!   vouched for.
//! - [`method`]: the parts that depend on the method, a module per family of methods.
//! - [`entries`]: functions by name, and how a process is told to end where they are entered.
//! - [`stack`]: the stack of the thread that ended the process.
//! - [`regular`]: how files are opened whose names are not to be trusted; [`atomic`],
//!   [`atomic_folder`]: how files and folders are written.
//! - [`source_names`]: symbols as the source has them.
//! - [`snapshot`]: the counts of a process that still runs.
//! - [`wire`]: the packed form of maps and merged profiles.
//!
//! All formats are described in `docs/formats.md`.

#![forbid(unsafe_code)]

pub mod atomic;
pub mod atomic_folder;
pub mod binary;
pub mod bounds;
pub mod content;
pub mod counts;
pub mod coverage;
mod elf;
pub mod entries;
pub mod error;
mod exits;
pub mod file;
mod flaws;
pub mod held_path;
pub mod map;
pub mod merged;
pub mod method;
mod note;
mod notes;
pub mod path_notes;
mod placed;
pub mod raw;
pub mod recover;
pub mod regular;
mod runs;
pub mod snapshot;
mod source_lines;
pub mod source_names;
pub mod stack;
pub mod sums;
mod unit_error;
mod unit_profile;
pub mod used;
pub mod verify;
pub mod weights;
pub mod wire;
