//! Exports for the viewers that users of profilers know, and for compilers and linkers: one file per format, and a
//! line of [`FORMATS`].
//!
//! Nearly all derive from [`crate::costs::Costs`]. Each writes to a stream, and says in its file, where the format has
//! a place for remarks, what a profile could not tell.

pub mod callgrind;
pub mod callgrind_jumps;
mod exact;
pub mod firefox_profiler;
pub mod flamegraph;
pub mod folded;
pub mod format;
mod gcov_json;
mod json;
mod lcov;
pub mod llvm_profdata;
pub mod llvm_sample;
pub mod pprof;
mod remarks;
pub mod speedscope;
pub mod symbol_order;
mod weights;

pub use format::{Export, ExportError, ExportOptions, Format, Needs};

/// All formats, the usual one first.
pub const FORMATS: [Format; 14] = [
    json::FORMAT,
    lcov::FORMAT,
    gcov_json::FORMAT,
    weights::FORMAT,
    callgrind::FORMAT,
    pprof::FORMAT,
    folded::FORMAT,
    flamegraph::FORMAT,
    speedscope::FORMAT,
    firefox_profiler::FORMAT,
    llvm_sample::FORMAT,
    llvm_profdata::FORMAT,
    symbol_order::FORMAT,
    symbol_order::SECTIONS,
];
