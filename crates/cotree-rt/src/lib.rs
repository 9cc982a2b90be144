//! The runtime that is linked into profiled programs, and the memory layout that it shares with profile readers.
//!
//! Without the feature `runtime` this crate is only [`layout`]: what readers need.

#![no_std]

pub mod layout;

#[cfg(feature = "runtime")]
mod runtime;
