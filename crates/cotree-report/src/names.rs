//! Names of symbols: how they are shown, and how people's patterns match them.

use cotree_core::facts::{Call, Callee};
pub use cotree_profile::source_names::demangle;
use cotree_profile::source_names::rust_name;

/// How symbols are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// Rust and C++ names as in the source.
    Demangled,
    /// Linker symbols as they are.
    Raw,
}

impl Names {
    /// The symbol as this shows it. What people read has no control characters by then ([`crate::visible`]).
    #[must_use]
    pub fn show(self, symbol: &str) -> String {
        match self {
            Self::Demangled => demangle(symbol),
            Self::Raw => symbol.to_owned(),
        }
    }

    /// Whom a call calls, as people write it.
    #[must_use]
    pub fn callee(self, call: &Call) -> String {
        match &call.callee {
            Callee::Symbol(symbol) => self.show(symbol),
            Callee::Indirect => "(through a pointer)".to_owned(),
            Callee::Assembly => "(assembly)".to_owned(),
            Callee::Fault => "(a fault)".to_owned(),
        }
    }
}

/// The name of a function that is the same in every build: the symbol, for Rust without its hash.
#[must_use]
pub fn across_builds(symbol: &str) -> String {
    rust_name(symbol).unwrap_or_else(|| symbol.to_owned())
}

/// Does a pattern match this function? A pattern is part of the symbol or of the source name; `=name` is all of it.
#[must_use]
pub fn matches(pattern: &str, symbol: &str) -> bool {
    match pattern.strip_prefix('=') {
        Some(whole) => whole == symbol || whole == demangle(symbol),
        None => symbol.contains(pattern) || demangle(symbol).contains(pattern),
    }
}

/// The names that a pattern without a match may have been meant for, the likeliest first.
#[must_use]
pub fn similar_names<'a>(pattern: &str, symbols: impl Iterator<Item = &'a str>) -> Vec<String> {
    let pattern = pattern.strip_prefix('=').unwrap_or(pattern).to_lowercase();
    let parts = pattern.split("::").count();
    let mut found: Vec<(f64, String)> = symbols
        .filter_map(|symbol| {
            let name = demangle(symbol);
            let path = name.split(['(', '<']).next().unwrap_or_default().to_lowercase();
            // Compare as many components of the path as the pattern has.
            let start = path.rmatch_indices("::").nth(parts - 1).map_or(0, |(at, _)| at + 2);
            let contains = path.contains(&*pattern);
            let likeness = strsim::normalized_damerau_levenshtein(&pattern, &path[start..]);
            let likeness = if contains { likeness.max(0.9) } else { likeness };
            (likeness >= 0.6).then_some((likeness, name))
        })
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    found.dedup_by(|a, b| a.1 == b.1);
    found.truncate(3);
    found.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_meant_is_near() {
        let symbols =
            ["main", "parse_value", "parse_values", "_ZN3foo3barEi", "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE"];
        let similar_names = |pattern| similar_names(pattern, symbols.into_iter());
        assert_eq!(similar_names("parse_vlaue"), ["parse_value", "parse_values"]);
        assert_eq!(similar_names("Main"), ["main"]);
        assert_eq!(similar_names("=bar"), ["foo::bar(int)"]);
        assert_eq!(similar_names("Formatter::padd"), ["core::fmt::Formatter::pad"]);
        assert!(similar_names("nosuch").is_empty());
    }

    #[test]
    fn patterns_match_either_form() {
        assert!(matches("foo::b", "_ZN3foo3barEi"));
        assert!(matches("3foo", "_ZN3foo3barEi"));
        assert!(matches("=foo::bar(int)", "_ZN3foo3barEi"));
        assert!(!matches("=foo", "foobar"));
        assert!(!matches("float", "f"), "a name of C, and no type");
    }
}
