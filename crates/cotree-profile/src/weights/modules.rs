//! Names of modules, which differ from build to build.

use std::path::Path;

/// The name of a module without its folder, and without what clang adds to the names of temporary objects: `f-` and six
/// digits for `f.c`.
#[must_use]
pub fn module_name(module: &str) -> &str {
    let name = Path::new(module).file_name().and_then(|name| name.to_str()).unwrap_or(module);
    let stem = name.strip_suffix(".o").and_then(|stem| stem.rsplit_once('-'));
    let temporary = |digits: &str| digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    stem.filter(|(_, digits)| temporary(digits)).map_or(name, |(stem, _)| stem)
}

/// Whether two names are of one module.
pub(super) fn same_module(one: &str, other: &str) -> bool {
    module_name(one) == module_name(other)
}
