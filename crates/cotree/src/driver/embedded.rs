//! The plugin and the runtime objects, which the build script builds and this executable carries.

use cotree_lto::protocol::OutputKind;

/// `libcotree_lto.so`, the linker plugin.
pub static PLUGIN: &[u8] = include_bytes!(env!("EMBEDDED_PLUGIN"));

/// `cotree.h`, what a C or C++ program may ask of its profile.
pub static HEADER: &[u8] = include_bytes!("../../carried/cotree.h");

/// The runtime for dynamically linked executables, for static ones, and for shared libraries, each a relocatable
/// object.
static DYNAMIC_RUNTIME: &[u8] = include_bytes!(env!("EMBEDDED_RUNTIME_DYNAMIC"));
static STATIC_RUNTIME: &[u8] = include_bytes!(env!("EMBEDDED_RUNTIME_STATIC"));
static SHARED_RUNTIME: &[u8] = include_bytes!(env!("EMBEDDED_RUNTIME_SHARED"));

/// The runtimes for link units that have counters and nothing else: a third smaller.
static DYNAMIC_COUNTERS_ALONE: &[u8] = include_bytes!(env!("EMBEDDED_RUNTIME_DYNAMIC_COUNTERS_ALONE"));
static STATIC_COUNTERS_ALONE: &[u8] = include_bytes!(env!("EMBEDDED_RUNTIME_STATIC_COUNTERS_ALONE"));
static SHARED_COUNTERS_ALONE: &[u8] = include_bytes!(env!("EMBEDDED_RUNTIME_SHARED_COUNTERS_ALONE"));

/// The runtime for a kind of link; of programs that have `counters_alone`, the small one.
pub fn runtime(kind: OutputKind, is_static: bool, counters_alone: bool) -> &'static [u8] {
    let [alone, all] = match kind {
        OutputKind::Shared => [SHARED_COUNTERS_ALONE, SHARED_RUNTIME],
        _ if is_static => [STATIC_COUNTERS_ALONE, STATIC_RUNTIME],
        _ => [DYNAMIC_COUNTERS_ALONE, DYNAMIC_RUNTIME],
    };
    if counters_alone { alone } else { all }
}

/// Symbols that the runtime exports in dynamically linked executables, one per line: its API, its replacements for
/// functions of the C library, and each `__wrap_X` to which the linker has to send references to X.
pub static DYNAMIC_EXPORTS: &str = include_str!(env!("EMBEDDED_EXPORTS_DYNAMIC"));
/// The exports for static executables.
pub static STATIC_EXPORTS: &str = include_str!(env!("EMBEDDED_EXPORTS_STATIC"));

/// An archive with a weak `__wrap_X` for each of these, which only calls X.
pub static PASSTHROUGH: &[u8] = include_bytes!(env!("EMBEDDED_PASSTHROUGH"));
/// The one of these that libgcc defines too, for linkers that have to be forced to take ours.
pub static PASSTHROUGH_THREADS: &[u8] = include_bytes!(env!("EMBEDDED_PASSTHROUGH_THREADS"));
