//! LLVM's C API without linking LLVM: types from `llvm-sys`, functions from the library of the Rust toolchain, loaded
//! when first needed.

mod load;
mod table;

pub use load::{ensure_loaded, keep_carried_in_registers, loaded_version};
pub use table::*;
