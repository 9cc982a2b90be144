//! Profile files: the map and plan inside a binary, raw counts, merged profiles.

#![forbid(unsafe_op_in_unsafe_fn)]

pub mod binary;
