//! What the build script built for us and this executable carries.

/// `libcotree_lto.so`, the linker plugin.
pub static PLUGIN: &[u8] = include_bytes!(env!("COTREE_EMBEDDED_PLUGIN"));
