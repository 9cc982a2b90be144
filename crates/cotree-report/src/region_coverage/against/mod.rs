//! Coverage held against what it was before: what is lost, and what is gained, in the categories of genhtml.
//!
//! | question | module |
//! | --- | --- |
//! | what may become of code | [`category`] |
//! | which line is which after an edit | [`line_map`] |
//! | one file, now and before | [`compare`] |
//! | all files | [`comparison`] |
//! | for people, for programs, and beside the lines of a change | [`text`], [`json`], [`remarks`] |

pub mod category;
pub mod compare;
pub mod comparison;
pub mod json;
pub mod line_map;
pub mod remarks;
pub mod text;

pub use category::Category;
pub use compare::{Categories, Comparable, ComparedFile, ComparedFunction};
pub use comparison::{Comparison, FileOfBoth, Matched};
pub use line_map::LineMap;
