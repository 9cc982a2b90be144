//! Programs of documentation tests.
//!
//! rustdoc makes a crate `rust_out` of each test, and its regions lie in the file of the documentation, where comments
//! stand. These are no code of the file. What the program has of the crate that is documented counts.

use cotree_profile::coverage::CoverageMap;

/// Leaves a test's own functions out of the map of its program.
pub fn leave_out(map: &mut CoverageMap) {
    map.functions.retain(|function| crate_of(&function.name) != Some("rust_out"));
}

/// The crate that a symbol of Rust's is defined in: the first one that its path names.
fn crate_of(symbol: &str) -> Option<&str> {
    // A symbol with the name of the file in front is local to it.
    let symbol = symbol.rsplit_once(':').map_or(symbol, |(_, symbol)| symbol);
    if let Some(path) = symbol.strip_prefix("_ZN") {
        return identifier(path);
    }
    let mut path = symbol.strip_prefix("_R")?;
    loop {
        let tag = path.chars().next()?;
        path = match tag {
            // What follows says in which name space the name is.
            'N' => path.get(2..)?,
            'C' => return identifier(without_disambiguator(&path[1..])),
            's' => without_disambiguator(path),
            _ => path.get(1..)?,
        };
    }
}

/// A path without the number that tells things of one name apart.
fn without_disambiguator(path: &str) -> &str {
    path.strip_prefix('s').and_then(|rest| rest.split_once('_')).map_or(path, |(_, rest)| rest)
}

fn identifier(path: &str) -> Option<&str> {
    let digits = path.bytes().take_while(u8::is_ascii_digit).count();
    let length: usize = path[..digits].parse().ok()?;
    let name = path[digits..].strip_prefix('_').unwrap_or(&path[digits..]);
    name.get(..length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_name_their_crate_first() {
        for (symbol, name) in [
            ("_RNvCs3QbbZ5Ym1vB_8rust_out4main", Some("rust_out")),
            ("_RNCNvCs3QbbZ5Ym1vB_8rust_out4main0B3_", Some("rust_out")),
            ("_RINvCsgXQkXYxwo7J_2dt7genericNtCs3QbbZ5Ym1vB_8rust_out3FooEB2_", Some("dt")),
            ("_RNvXs_Cs3QbbZ5Ym1vB_8rust_outNtB4_3FooNtCsgXQkXYxwo7J_2dt5Trait6method", Some("rust_out")),
            ("_RNvMs0_NtCsgXQkXYxwo7J_2dt3modNtB5_3Foo3new", Some("dt")),
            ("_ZN8rust_out4main17h0123456789abcdefE", Some("rust_out")),
            ("main", None),
            ("_R", None),
            ("_RC99x", None),
        ] {
            assert_eq!(crate_of(symbol), name, "{symbol}");
        }
    }
}
