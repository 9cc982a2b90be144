//! Symbols as people write them.

/// How symbols are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// Rust and C++ names as in the source.
    Demangled,
    /// Linker symbols as they are.
    Raw,
}

impl Names {
    /// The symbol, shown this way.
    #[must_use]
    pub fn show(self, symbol: &str) -> String {
        match self {
            Self::Demangled => demangle(symbol),
            Self::Raw => symbol.to_owned(),
        }
    }
}

/// The source name of a Rust or C++ symbol; any other symbol is its own name.
#[must_use]
pub fn demangle(symbol: &str) -> String {
    // LLVM's mark for "use this name as it is".
    let symbol = symbol.strip_prefix('\u{1}').unwrap_or(symbol);
    if let Ok(name) = rustc_demangle::try_demangle(symbol) {
        return format!("{name:#}");
    }
    if symbol.starts_with("_Z") {
        // What the compiler appends to copies (`.cold`, `.llvm.123`) is no part of the mangling.
        let (mangled, suffix) = symbol.split_at(symbol.find('.').unwrap_or(symbol.len()));
        if let Ok(Ok(name)) = cpp_demangle::Symbol::new(mangled).map(|s| s.demangle()) {
            return if suffix.is_empty() { name } else { format!("{name} [{suffix}]") };
        }
    }
    symbol.to_owned()
}

/// Does a pattern mean this function? A pattern is part of the symbol or of the source name; `=name` is all of it.
#[must_use]
pub fn matches(pattern: &str, symbol: &str) -> bool {
    match pattern.strip_prefix('=') {
        Some(whole) => whole == symbol || whole == demangle(symbol),
        None => symbol.contains(pattern) || demangle(symbol).contains(pattern),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rust_and_cpp_names_are_read_and_c_names_kept() {
        assert_eq!(demangle("main"), "main");
        assert_eq!(demangle("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE"), "core::fmt::Formatter::pad");
        assert_eq!(demangle("_RNvCs1234_7mycrate3foo"), "mycrate::foo");
        assert_eq!(demangle("_ZN3foo3barEi"), "foo::bar(int)");
        assert_eq!(demangle("_ZN3foo3barEi.cold"), "foo::bar(int) [.cold]");
        assert_eq!(demangle("_Znonsense"), "_Znonsense");
        assert_eq!(demangle("\u{1}__plain"), "__plain");
    }

    #[test]
    fn patterns_match_either_form() {
        assert!(matches("foo::b", "_ZN3foo3barEi"));
        assert!(matches("3foo", "_ZN3foo3barEi"));
        assert!(matches("=foo::bar(int)", "_ZN3foo3barEi"));
        assert!(!matches("=foo", "foobar"));
    }
}
