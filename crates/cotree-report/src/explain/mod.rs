//! What cotree's codes mean: why it happens, what to do, and what can still be trusted.
//!
//! A *code* is a short word for a reason that counts are not vouched for, for a note on a profile, or for an error.
//! Once released, a code keeps its meaning. Each file here has a table of explanations, and functions that say which of
//! them belongs to a value. These functions match every value, so that what has no explanation does not compile.

pub mod building;
mod entry;
mod errors;
mod flaws;
mod notes;
mod page;

pub use entry::Explanation;
pub use errors::{
    of_binary_error, of_coverage_error, of_profile_error, of_snapshot_error, of_unit_error, of_used_error,
    of_write_error,
};
pub use flaws::{of_doubt, of_flaw, of_untouched};
pub use notes::of_note;
pub use page::page;

use cotree_profile::recover::Note;

/// Explanations of one kind.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// What they explain.
    pub title: &'static str,
    /// The codes stand in profiles' reports, not behind errors.
    pub of_profiles: bool,
    /// The explanations, ordered as the report shows them.
    pub explanations: &'static [&'static Explanation],
}

/// All explanations.
pub const GROUPS: [Group; 5] = [
    Group { title: "Why counts of a function are not vouched for", of_profiles: true, explanations: flaws::FLAWS },
    Group { title: "Notes on the runs of a profile", of_profiles: true, explanations: notes::ALL },
    Group {
        title: "Functions with doubts of their own, or without counts",
        of_profiles: true,
        explanations: flaws::OTHERS,
    },
    Group { title: "Errors of reading profiles and programs", of_profiles: false, explanations: errors::ALL },
    Group { title: "Errors of building", of_profiles: false, explanations: building::ALL },
];

/// All explanations.
pub fn all() -> impl Iterator<Item = &'static Explanation> {
    GROUPS.iter().flat_map(|group| group.explanations.iter().copied())
}

/// What tells a reader of codes where they are explained.
pub const HINT: &str = "`cotree explain CODE` tells more";

/// A note with its code.
#[must_use]
pub fn note_line(note: &Note) -> String {
    format!("{note} [{}]", of_note(note).code)
}

/// The explanation of a code.
#[must_use]
pub fn find(code: &str) -> Option<&'static Explanation> {
    all().find(|explanation| explanation.code.eq_ignore_ascii_case(code.trim_matches(['[', ']'])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn codes_are_words_and_mean_one_thing() {
        let mut codes = BTreeSet::new();
        for explanation in all() {
            let code = explanation.code;
            assert!(code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{code}");
            assert!(codes.insert(code), "{code} stands twice");
            for text in [explanation.what, explanation.why, explanation.remedy, explanation.trusted] {
                assert!(!text.is_empty() && !text.contains("  ") && !text.contains('\n'), "{code}: {text}");
            }
            assert!(
                [explanation.why, explanation.remedy, explanation.trusted].iter().all(|t| t.ends_with('.')),
                "{code}"
            );
        }
    }

    #[test]
    fn codes_are_found_as_they_are_printed() {
        assert_eq!(find("[live-frames]").map(|found| found.code), Some("live-frames"));
        assert!(find("live").is_none());
    }

    /// `COTREE_WRITE_DOCS=1 cargo test -p cotree-report --lib explain` writes the page.
    #[test]
    fn the_page_is_what_the_table_says() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/explain.md");
        if std::env::var_os("COTREE_WRITE_DOCS").is_some() {
            std::fs::write(path, page()).expect("docs/ can be written");
        }
        let is = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            is == page(),
            "docs/explain.md is out of date: COTREE_WRITE_DOCS=1 cargo test -p cotree-report --lib explain"
        );
    }
}
