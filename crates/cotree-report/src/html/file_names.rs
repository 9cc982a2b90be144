//! Names of pages that stand for source files.
//!
//! A path may have any characters, be very long, or differ from another one in nothing but the case of letters. A
//! page's name has letters, digits, `.`, `-` and `_` only, and a hash of the path, so that it is the same in every run.

use cotree_profile::coverage::name_hash;
use std::collections::HashSet;

/// How much of a path stands in the name.
const LONGEST: usize = 60;

/// Gives names, each once.
#[derive(Debug, Default)]
pub struct FileNames {
    taken: HashSet<String>,
}

impl FileNames {
    /// A name for the page of a path, without its ending.
    pub fn name(&mut self, path: &str) -> String {
        let safe = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_') { c } else { '-' };
        let all: Vec<char> = path.chars().map(safe).collect();
        let readable: String = all[all.len().saturating_sub(LONGEST)..].iter().collect();
        let name = format!("{}.{:012x}", readable.trim_matches(['-', '.']), name_hash(path) >> 16);
        let others = (2..).map(|number| format!("{name}-{number}"));
        let free = std::iter::once(name.clone()).chain(others).find(|name| !self.taken.contains(name));
        let free = free.expect("there are more numbers than names");
        self.taken.insert(free.clone());
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_and_differ() {
        let mut names = FileNames::default();
        let long = "x/".repeat(3000);
        let paths = ["src/a b.c", "src/a-b.c", "../../etc/passwd", "A.c", "a.c", "", "..", "%2e\n<script>", "ü", &long];
        let given: Vec<String> = paths.iter().map(|path| names.name(path)).collect();
        let apart: HashSet<String> = given.iter().map(|name| name.to_lowercase()).collect();
        assert_eq!(apart.len(), paths.len(), "{given:?}");
        for name in &given {
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')), "{name}");
            assert!(!name.starts_with("..") && name.len() < 80, "{name}");
        }
        assert_eq!(FileNames::default().name("src/a b.c"), given[0]);
        assert_eq!(names.name("src/a b.c"), format!("{}-2", given[0]));
    }
}
