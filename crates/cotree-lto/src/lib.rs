//! The linker plugin: hands bitcode files and symbol resolutions to cotree, native objects back to the linker.

pub mod protocol;
