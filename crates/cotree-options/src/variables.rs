//! The environment variables of cotree, and those that look like one and are none.

use crate::shape::{declared, name};
use crate::travel::{PREFIX, variable};

/// Environment variables that are no options of builds.
pub(crate) const VARIABLES: [(&str, &str); 13] = [
    ("COTREE_FILE", "where a profiled program writes its profile: `%n` program, `%p` process, `%h` host, `%m` build"),
    ("COTREE_TEST", "the name of the test that a profiled program runs in; its profile keeps it"),
    (
        "COTREE_PIN",
        "1: `getrandom` gives a profiled program fixed numbers, so that its hash tables are the same each time",
    ),
    ("COTREE_UNTIL", "the functions of a profiled program from where to where it counts (docs/formats.md)"),
    (
        "COTREE_SAVE_BASELINE",
        "the file in which `cotree stat` and `cargo cotree bench` record benchmarks (`cotree bisect` sets it)",
    ),
    ("COTREE_CC", "the clang that `cotree cc` runs, in place of the newest one in PATH"),
    ("COTREE_CXX", "the clang++ that `cotree c++` runs"),
    ("COTREE_LD", "the linker that cotree runs"),
    ("COTREE_LLVM", "the LLVM library that cotree loads, in place of that of the Rust toolchain"),
    ("COTREE_DRIVER", "the `cotree` that the linker plugin starts"),
    (
        "COTREE_KEEP_TEMPS",
        "keep the temporary folder of each link, with its modules as text before and after, and print where it is",
    ),
    ("XDG_CACHE_HOME", "where cotree unpacks its runtime, and keeps weights"),
    ("TMPDIR", "where links have their temporary files"),
];

/// What cotree tells itself from step to step of a build.
const INTERNAL: [&str; 6] = [
    "COTREE_COVERAGE_TARGET",
    "COTREE_HOST_TEST_FLAGS",
    "COTREE_HOST_TEST_KEY",
    "COTREE_MEMBERS",
    "COTREE_MEMBER_FLAGS",
    "COTREE_RUSTC_WRAPPER",
];

/// Names that are less alike are no slips of the pen.
const ALIKE: f64 = 0.75;

/// A variable whose name begins as ours do, and that nobody reads.
#[derive(Debug, PartialEq, Eq)]
pub struct UnknownVariable {
    /// The name.
    pub name: String,
    /// The name that was probably meant.
    pub meant: Option<String>,
}

/// The name of each option, and its variable.
#[must_use]
pub fn environment_variables() -> Vec<(String, String)> {
    declared().iter().map(|option| (name(option).to_owned(), variable(name(option)))).collect()
}

/// Names of variables, out of these, that look like ours and are not, in order.
#[must_use]
pub fn unknown_variables(names: impl Iterator<Item = String>) -> Vec<UnknownVariable> {
    let known: Vec<String> = declared().iter().map(|option| variable(name(option))).collect();
    let known = || known.iter().map(String::as_str).chain(VARIABLES.iter().map(|(name, _)| *name));
    let is_known = |name: &str| known().any(|known| known == name) || INTERNAL.contains(&name);
    let mut unknown: Vec<String> = names.filter(|name| name.starts_with(PREFIX) && !is_known(name)).collect();
    unknown.sort();
    let meant = |name: &str| {
        let own = |name: &str| name.strip_prefix(PREFIX).map(str::to_owned);
        let wrong = own(name)?;
        let alike =
            known().filter_map(|known| Some((strsim::normalized_damerau_levenshtein(&wrong, &own(known)?), known)));
        let (likeness, known) = alike.max_by(|a, b| a.0.total_cmp(&b.0))?;
        (likeness >= ALIKE).then(|| known.to_owned())
    };
    unknown.into_iter().map(|name| UnknownVariable { meant: meant(&name), name }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(names: &[&str]) -> Vec<(String, Option<String>)> {
        let unknown = unknown_variables(names.iter().map(|&name| name.to_owned()));
        unknown.into_iter().map(|variable| (variable.name, variable.meant)).collect()
    }

    #[test]
    fn misspelt_names_are_told_with_the_nearest() {
        for (wrong, meant) in [
            ("COTREE_PROFIL", "COTREE_PROFILE"),
            ("COTREE_PROFILES", "COTREE_PROFILE"),
            ("COTREE_FILES", "COTREE_FILE"),
            ("COTREE_FIEL", "COTREE_FILE"),
            ("COTREE_TRACERING", "COTREE_TRACE_RING"),
            ("COTREE_EXLCUDE", "COTREE_EXCLUDE"),
        ] {
            assert_eq!(said(&[wrong]), [(wrong.to_owned(), Some(meant.to_owned()))], "{wrong}");
        }
        assert_eq!(said(&["COTREE_METHOD"]), [("COTREE_METHOD".to_owned(), None)]);
    }

    #[test]
    fn known_names_and_those_of_others_are_none() {
        let names = ["COTREE_FILE", "COTREE_CARRY", "COTREE_HOST_TEST_KEY", "COTREE_KEEP_TEMPS", "PATH", "XCOTREE_A"];
        assert_eq!(said(&names), []);
    }
}
