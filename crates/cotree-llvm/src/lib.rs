//! Extraction of program facts from LLVM bitcode, application of probe plans to it, and code generation.
//!
//! All FFI to LLVM, with its unsafe code, is in this crate; safe handles (`ir`) wrap LLVM's objects. A link
//! unit goes through [`link_unit`]. Every module is parsed in a context of its own ([`module`]), gets the linker's
//! verdicts on its symbols ([`link`]), is turned into facts ([`extract`]), planned together with all others (in
//! `cotree-core`), gets its probes ([`lower`]), and is optimised and emitted ([`emit`]).

mod branch_weights;
mod child;
mod coverage;
pub mod emit;
pub mod error;
pub mod extract;
mod ffi;
mod ir;
pub mod link;
pub mod lower;
mod module;
pub mod options;
mod profile_use;
mod stacks;
pub mod standard_output;

pub use child::refuse_damaged;
pub use error::Error;
pub use ir::LINES_FOR_REPORTS;
pub use link::{ASKED, Compiled, LinkJob, MARK, link_unit, standalone};
pub use module::Module;
