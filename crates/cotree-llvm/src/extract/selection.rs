//! Selects the functions that the user wants instrumented.

use crate::error::Error;
use cotree_profile::source_names::demangle;
use globset::{Glob, GlobMatcher, GlobSet, GlobSetBuilder};

/// Include and exclude patterns (shell globs) over function names, mangled and demangled, and over source files.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    include: Option<GlobSet>,
    exclude: GlobSet,
    exclude_files: GlobSet,
    patterns: Vec<Pattern>,
}

/// One of the patterns.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// The option that it was given by.
    pub option: &'static str,
    /// The text.
    pub text: String,
    glob: GlobMatcher,
    of_files: bool,
}

impl Pattern {
    /// Does the pattern match a function of this symbol, of this source file?
    #[must_use]
    pub fn takes(&self, symbol: &str, file: Option<&str>) -> bool {
        if self.of_files {
            return file.is_some_and(|file| self.glob.is_match(file));
        }
        self.glob.is_match(symbol) || self.glob.is_match(demangle(symbol))
    }
}

impl Selection {
    /// Builds the selection; no include pattern means all.
    ///
    /// # Errors
    /// A pattern is no glob.
    pub fn new(include: &[String], exclude: &[String], exclude_files: &[String]) -> Result<Self, Error> {
        let mut patterns = Vec::new();
        let options = [("include", include), ("exclude", exclude), ("exclude-file", exclude_files)];
        for (option, text) in
            options.into_iter().flat_map(|(option, texts)| texts.iter().map(move |text| (option, text)))
        {
            let glob = glob(text)?.compile_matcher();
            patterns.push(Pattern { option, text: text.clone(), glob, of_files: option == "exclude-file" });
        }
        Ok(Self {
            patterns,
            include: if include.is_empty() { None } else { Some(set(include)?) },
            exclude: set(exclude)?,
            exclude_files: set(exclude_files)?,
        })
    }

    /// All patterns, in the order of their options.
    pub fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        self.patterns.iter()
    }

    pub(super) fn excludes(&self, symbol: &str, file: Option<&str>) -> bool {
        let matches = |set: &GlobSet| set.is_match(symbol) || set.is_match(demangle(symbol));
        self.include.as_ref().is_some_and(|set| !matches(set))
            || (!self.exclude.is_empty() && matches(&self.exclude))
            || file.is_some_and(|f| self.exclude_files.is_match(f))
    }
}

fn glob(pattern: &str) -> Result<Glob, Error> {
    Glob::new(pattern).map_err(|e| Error::Option { option: pattern.into(), reason: e.to_string() })
}

fn set(patterns: &[String]) -> Result<GlobSet, Error> {
    let mut builder = GlobSetBuilder::new();
    for pattern in patterns {
        builder.add(glob(pattern)?);
    }
    builder.build().map_err(|e| Error::Option { option: patterns.join(", "), reason: e.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_take_names_of_either_form_and_no_types() {
        let selection = Selection::new(&["*oat".into(), "a::*".into(), "_ZN1b*".into()], &[], &[]).unwrap();
        assert!(selection.excludes("f", None), "`f` is a function and not `float`");
        assert!(!selection.excludes("afloat", None));
        assert!(!selection.excludes("_ZN1a1gEv", None) && !selection.excludes("_ZN1b1gEv", None));
    }
}
