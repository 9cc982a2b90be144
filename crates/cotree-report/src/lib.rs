//! Views and exports of recovered profiles.
//!
//! Every view derives from a binary's map and a recovered profile ([`unit::Unit`]). Source texts come through
//! [`source::Sources`]; nothing else is read.
//!
//! | what is derived | module | who shows it |
//! | --- | --- | --- |
//! | counts within blocks, at calls that did not return | [`flow`] | all |
//! | counts of source lines | [`lines`] | [`annotate`], [`lcov`], [`diff`] |
//! | outcomes of branches | [`branches`] | [`annotate`], [`lcov`] |
//! | both, file by file | [`coverage`] | the same |
//! | regions, lines and branches by the compiler's own map | [`region_coverage`] | |
//! | entries of functions, with their inlined copies | [`functions`] | [`report`], [`lcov`], [`diff`] |
//! | trip counts of loops | [`loops`] | [`report`] |
//! | executed paths, which only path methods count | [`method::path`] | [`method::path::text`], [`method::path::json`] |
//! | what lines, functions and calls have cost | [`costs`] | [`export`] |
//! | which files and lines are asked for | [`files`], [`selection`] | [`annotate`], [`lcov`] |
//! | records of tracefiles | [`tracefile`], [`tracefile_reader`] | [`lcov`], [`region_coverage`] |
//! | what markers in the sources exclude | [`exclusions`] | the same |
//! | what a program was compiled by (`--use`) | | [`stale`] |
//! | what runs of a benchmark have cost, and against a baseline | [`benchmark`] | |
//! | the whole profile, for other programs | | [`json`] |
//! | one function's graph | | [`dot`] |
//! | what codes of flaws, notes and errors mean | [`explain`] | all |
//! | what all pages for browsers share | | [`html`] |

#![forbid(unsafe_code)]

pub mod annotate;
pub mod benchmark;
pub mod branches;
pub mod checks;
pub mod costs;
pub mod coverage;
pub mod covered;
pub mod diff;
pub mod dot;
pub mod exclusions;
pub mod explain;
pub mod export;
pub mod files;
mod filtered;
pub mod flow;
pub mod functions;
pub mod harness;
pub mod html;
pub mod json;
mod jumps;
pub mod lcov;
pub mod lines;
pub mod loops;
pub mod method;
pub mod names;
pub mod pages;
mod passes;
pub mod region_coverage;
pub mod report;
pub mod selection;
pub mod shell;
pub mod source;
pub mod stale;
pub mod terminal;
pub mod tracefile;
pub mod tracefile_reader;
pub mod unit;
pub mod unwinding;
pub mod visible;
