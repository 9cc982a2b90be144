//! The plugin and the runtime objects, which the build script builds and this executable carries.

use cotree_lto::protocol::OutputKind;

/// `libcotree_lto.so`, the linker plugin.
pub static PLUGIN: &[u8] = include_bytes!(env!("COTREE_EMBEDDED_PLUGIN"));

/// The runtime for dynamically linked executables, for static ones, and for shared libraries, each a relocatable object.
static DYNAMIC_RUNTIME: &[u8] = include_bytes!(env!("COTREE_EMBEDDED_RUNTIME_DYNAMIC"));
static STATIC_RUNTIME: &[u8] = include_bytes!(env!("COTREE_EMBEDDED_RUNTIME_STATIC"));
static SHARED_RUNTIME: &[u8] = include_bytes!(env!("COTREE_EMBEDDED_RUNTIME_SHARED"));

/// The runtime for a kind of link.
pub fn runtime(kind: OutputKind, is_static: bool) -> &'static [u8] {
    match kind {
        OutputKind::Shared => SHARED_RUNTIME,
        _ if is_static => STATIC_RUNTIME,
        _ => DYNAMIC_RUNTIME,
    }
}

/// Symbols that the runtime exports in dynamically linked executables, one per line: its API, its replacements for
/// functions of the C library, and each `__wrap_X` to which the linker has to send references to X.
pub static DYNAMIC_EXPORTS: &str = include_str!(env!("COTREE_EMBEDDED_EXPORTS_DYNAMIC"));
/// The same for static executables.
pub static STATIC_EXPORTS: &str = include_str!(env!("COTREE_EMBEDDED_EXPORTS_STATIC"));

/// An archive with a weak `__wrap_X` for each of these, which only calls X.
pub static PASSTHROUGH: &[u8] = include_bytes!(env!("COTREE_EMBEDDED_PASSTHROUGH"));
/// The one of these that libgcc defines too, for linkers that have to be forced to take ours.
pub static PASSTHROUGH_THREADS: &[u8] = include_bytes!(env!("COTREE_EMBEDDED_PASSTHROUGH_THREADS"));
