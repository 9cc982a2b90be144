//! Selects and orders source files.

use crate::unit::Unit;
use globset::{Glob, GlobMatcher};
use std::path::{Component, Path, PathBuf};

/// A file, a folder, or a shell pattern.
///
/// Without wildcards it matches whole components of a path: `parser.c` and `src/parser.c` match files of such names
/// anywhere, `src` matches everything below folders of that name, `/home/me/src` is one folder. With `*`, `?` or `[` it
/// is a pattern of the whole path, in which `*` matches slashes too.
#[derive(Clone, Debug)]
pub struct FilePattern {
    text: String,
    kind: Matcher,
}

#[derive(Clone, Debug)]
enum Matcher {
    Parts(PathBuf),
    Glob(GlobMatcher),
}

impl FilePattern {
    /// Reads a pattern. One that begins with `./` or `../` is relative to `folder`.
    ///
    /// # Errors
    /// If it is no valid pattern; the error says why.
    pub fn new(text: &str, folder: &Path) -> Result<Self, String> {
        let kind = if text.contains(['*', '?', '[']) {
            // The same options as for `--exclude-file`.
            Matcher::Glob(Glob::new(text).map_err(|error| error.to_string())?.compile_matcher())
        } else {
            let path = Path::new(text);
            let here = matches!(path.components().next(), Some(Component::CurDir | Component::ParentDir));
            let path = if here { plain(&folder.join(path)) } else { plain(path) };
            if path.as_os_str().is_empty() {
                return Err("it is empty".into());
            }
            Matcher::Parts(path)
        };
        Ok(Self { text: text.to_owned(), kind })
    }

    /// The pattern as the user wrote it.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Does the pattern match this file?
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        match &self.kind {
            Matcher::Glob(glob) => glob.is_match(path),
            Matcher::Parts(wanted) => {
                let path = plain(Path::new(path));
                if wanted.is_absolute() {
                    return path.starts_with(wanted);
                }
                let wanted: Vec<Component> = wanted.components().collect();
                let parts: Vec<Component> = path.components().collect();
                parts.windows(wanted.len()).any(|some| some == wanted)
            }
        }
    }
}

/// A path without `.`, and without each `..` that names alone resolve.
fn plain(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(result.components().next_back(), Some(Component::Normal(_))) => {
                result.pop();
            }
            _ => result.push(part),
        }
    }
    result
}

/// Is this a file of the system, of the Rust library or of a package from a registry, and not of the project itself?
#[must_use]
pub fn is_foreign(path: &str) -> bool {
    let roots = ["/usr/", "/lib/", "/opt/", "/rustc/", "/nix/store/"];
    let folders = ["/.cargo/registry/", "/.cargo/git/", "/lib/rustlib/src/"];
    roots.iter().any(|root| path.starts_with(root)) || folders.iter().any(|folder| path.contains(folder))
}

fn nothing_is_counted(unit: &Unit<'_>) -> bool {
    unit.functions().all(|function| function.facts.untouched.is_some())
}

/// What is wrong with a selection that holds no source line.
#[must_use]
pub fn no_lines(units: &[Unit<'_>], pattern: Option<&FilePattern>) -> String {
    let mut functions = units.iter().flat_map(|unit| unit.functions());
    let has_lines = functions.any(|function| function.facts.blocks.iter().any(|block| !block.lines.is_empty()));
    match pattern.filter(|_| has_lines && !units.iter().all(nothing_is_counted)) {
        Some(pattern) => format!(
            "no source line is of {0}: that is a file or folder with the whole of its name, or a pattern such as '*{0}*'; `cotree annotate` without it shows all files",
            pattern.text()
        ),
        _ if units.iter().all(nothing_is_counted) => {
            "nothing was counted: no function of the program has counters (`cotree report` says why)".into()
        }
        None if has_lines => {
            "the functions that are meant have no source lines: all of their code is the compiler's".into()
        }
        None => "the binary has no source lines: build it with debug information (-g, or debug = \"line-tables-only\")"
            .into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, path: &str) -> bool {
        FilePattern::new(pattern, Path::new("/home/me/project")).unwrap().matches(path)
    }

    #[test]
    fn components_are_whole() {
        assert!(matches("parser.c", "/home/me/src/parser.c"));
        assert!(!matches("parser.c", "/home/me/src/xparser.c"));
        assert!(matches("src/parser.c", "/home/me/./src/parser.c"));
        assert!(matches("src", "/home/me/src/a/b.c"));
        assert!(matches("src/", "src/b.c"));
        assert!(!matches("src", "/home/me/src2/b.c"));
        assert!(!matches("parser", "/home/me/src/parser.c"));
    }

    #[test]
    fn absolute_paths_are_anchored() {
        assert!(matches("/home/me", "/home/me/src/../lib/a.c"));
        assert!(!matches("/me", "/home/me/a.c"));
        assert!(matches("./src", "/home/me/project/src/a.c"));
        assert!(matches("../lib/a.c", "/home/me/lib/a.c"));
        assert!(!matches("./src", "/elsewhere/src/a.c"));
    }

    #[test]
    fn wildcards_mean_the_whole_path() {
        assert!(matches("*/third_party/*", "/x/third_party/y/a.c"));
        assert!(matches("*.h", "/usr/include/stdio.h"));
        assert!(!matches("a?.h", "/usr/ab.h"));
        assert!(FilePattern::new("[", Path::new("/")).is_err());
        assert!(FilePattern::new("", Path::new("/")).is_err());
    }
}
