//! Turns instrumented modules into objects: runs the optimiser and the code generator, reads call addresses and places
//! of registers back from the objects, and makes the objects that a unit gets besides its code.

pub(crate) mod code_map;
mod codegen;
mod constructors;
mod crash;
mod machine;
mod method;
pub(crate) mod runtime_object;
pub(crate) mod sanitizer_object;
pub(crate) mod stack_maps;
mod target;
pub(crate) mod unit_object;
pub(crate) mod used_object;

pub use codegen::{Object, compile};
pub(crate) use codegen::{inline_small, promote_variables, simplify, split_coroutines};
pub use target::{Level, Target};
