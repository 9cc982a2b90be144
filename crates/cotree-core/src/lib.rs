//! Probe planning and profile recovery on control-flow graphs.
//!
//! This crate is the heart of cotree: plain facts about a program go in ([`facts`]), probes come out ([`plan`],
//! in the language of [`probe`]), and after a run the raw counts become a full profile again ([`profile`]).
//! Each method of the papers is one module below [`method`], with its `plan` beside its `recover`.
//!
//! It knows no LLVM, no files and no unsafe code: a JIT or a Wasm engine could use it as it is.

#![forbid(unsafe_code)]

pub mod cfg;
pub mod dfs;
pub mod dominators;
pub mod facts;
mod flow;
pub mod forest;
pub mod heuristic;
pub mod ids;
pub mod interpret;
pub mod likelihood;
pub mod loops;
pub mod method;
pub mod placement;
pub mod plan;
pub mod probe;
pub mod profile;
pub mod spanning;
pub mod statistics;
pub mod union_find;
pub mod weighting;
