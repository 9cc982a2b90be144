//! From instrumented modules to objects: the optimiser and the code generator, what is read back from the objects that they make,
//! and the objects that a unit gets besides its code.

pub(crate) mod code_map;
mod codegen;
mod constructors;
pub(crate) mod runtime_object;
pub(crate) mod stack_maps;
pub(crate) mod unit_object;

pub use codegen::{Level, Object, Target, compile};
