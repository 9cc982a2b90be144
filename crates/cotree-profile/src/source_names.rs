//! Names of symbols as their source has them. A symbol is read as a mangled name only if it begins as one does: `f`,
//! `i` and `v` are types to a demangler, and functions to C.

/// The source name of a Rust or C++ symbol; any other symbol is its own name.
#[must_use]
pub fn demangle(symbol: &str) -> String {
    // LLVM's mark for "use this name as it is".
    let symbol = symbol.strip_prefix('\u{1}').unwrap_or(symbol);
    rust_name(symbol).or_else(|| cpp_name(symbol)).unwrap_or_else(|| symbol.to_owned())
}

/// The source name of a Rust symbol, without the hash that tells builds apart; `None` for all other symbols.
#[must_use]
pub fn rust_name(symbol: &str) -> Option<String> {
    if !is_mangled(symbol, &["_R", "__R", "_ZN", "__ZN"]) {
        return None;
    }
    rustc_demangle::try_demangle(symbol).ok().map(|name| format!("{name:#}"))
}

/// The source name of a C++ symbol. What the compiler appends to copies (`.cold`, `.llvm.123`) is no part of the
/// mangling.
fn cpp_name(symbol: &str) -> Option<String> {
    if !is_mangled(symbol, &["_Z", "__Z"]) {
        return None;
    }
    let (mangled, suffix) = symbol.split_at(symbol.find('.').unwrap_or(symbol.len()));
    let name = cpp_demangle::Symbol::new(mangled).ok()?.demangle().ok()?;
    Some(if suffix.is_empty() { name } else { format!("{name} [{suffix}]") })
}

fn is_mangled(symbol: &str, prefixes: &[&str]) -> bool {
    prefixes.iter().any(|prefix| symbol.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rust_and_cpp_names_are_read() {
        assert_eq!(demangle("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE"), "core::fmt::Formatter::pad");
        assert_eq!(demangle("_RNvCs1234_7mycrate3foo"), "mycrate::foo");
        assert_eq!(demangle("_ZN3foo3barEi"), "foo::bar(int)");
        assert_eq!(demangle("_ZN3foo3barEi.cold"), "foo::bar(int) [.cold]");
        assert_eq!(demangle("__ZN3foo3barEi"), "foo::bar(int)");
        assert_eq!(demangle("\u{1}_ZN3foo3barEi"), "foo::bar(int)");
        assert_eq!(rust_name("_ZN3foo3barEi"), None);
    }

    /// C has functions of these names; demanglers take them for types, Rust paths and C++ names.
    #[test]
    fn names_of_c_are_kept() {
        for name in
            ["main", "f", "i", "v", "St", "Ss", "RC1a", "ZN3foo3barE", "R", "Z1fv", "_Znonsense", "_R", "a.cold"]
        {
            assert_eq!(demangle(name), name);
        }
        assert_eq!(demangle("\u{1}__plain"), "__plain");
    }
}
