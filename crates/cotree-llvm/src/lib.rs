//! Extraction of program facts from LLVM bitcode, application of probe plans to it, and code generation.
//!
//! All FFI to LLVM, and all its unsafe code, is in this crate: LLVM's objects are handled by safe handles ([`ir`]). A link unit goes through [`link_unit`]: every module is
//! parsed in a context of its own ([`module`]), told what the linker said of its symbols ([`linkage`]), turned into
//! facts ([`extract`]), planned together with all others (in `cotree-core`), given its probes ([`apply`]), optimised
//! and emitted ([`codegen`]).

mod callers;
mod constructors;
mod entries;
pub mod error;
mod ffi;
pub mod ir;
mod module;
mod runtime_object;
mod signals;
mod stack_maps;
mod stacks;
pub mod standalone;
mod unit_object;
mod unit_plan;
mod walk;

pub use error::Error;
pub use link::{JobModule, JobSymbol, LinkJob, LinkOutput, OutputKind, Resolution, link_unit};
pub use module::Module;
pub use stacks::NativeObject;
pub mod apply;
mod branch_weights;
mod code_map;
pub mod codegen;
pub mod extract;
pub mod link;
pub mod linkage;
pub mod options;
