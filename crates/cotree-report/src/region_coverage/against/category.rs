//! The categories of genhtml's differential coverage (lcov 2, `--baseline-file`): what became of a line, a function or
//! an outcome, from the coverage before to the one now.

/// What became of a line, a function or an outcome of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// Lost baseline coverage.
    Lbc,
    /// Uncovered new code.
    Unc,
    /// Uncovered included code.
    Uic,
    /// Uncovered baseline code.
    Ubc,
    /// Gained baseline coverage.
    Gbc,
    /// Gained included coverage.
    Gic,
    /// Gained new coverage.
    Gnc,
    /// Covered baseline code.
    Cbc,
    /// Excluded covered baseline code.
    Ecb,
    /// Excluded uncovered baseline code.
    Eub,
    /// Deleted covered baseline code.
    Dcb,
    /// Deleted uncovered baseline code.
    Dub,
}

/// Each category with its code, its name, and what it says.
const ALL: [(Category, &str, &str, &str); 12] = [
    (Category::Lbc, "LBC", "lost baseline coverage", "ran before, and does not now"),
    (Category::Unc, "UNC", "uncovered new code", "is new, and did not run"),
    (Category::Uic, "UIC", "uncovered included code", "is old, was not counted before, and did not run"),
    (Category::Ubc, "UBC", "uncovered baseline code", "ran neither before nor now"),
    (Category::Gbc, "GBC", "gained baseline coverage", "did not run before, and does now"),
    (Category::Gic, "GIC", "gained included coverage", "is old, was not counted before, and ran"),
    (Category::Gnc, "GNC", "gained new coverage", "is new, and ran"),
    (Category::Cbc, "CBC", "covered baseline code", "ran before and now"),
    (Category::Ecb, "ECB", "excluded covered baseline", "ran before, and is not counted now"),
    (Category::Eub, "EUB", "excluded uncovered baseline", "did not run before, and is not counted now"),
    (Category::Dcb, "DCB", "deleted covered baseline", "ran before, and is gone"),
    (Category::Dub, "DUB", "deleted uncovered baseline", "did not run before, and is gone"),
];

impl Category {
    /// All categories, in the order of genhtml.
    pub fn all() -> impl Iterator<Item = Self> {
        ALL.into_iter().map(|(category, ..)| category)
    }

    fn row(self) -> (&'static str, &'static str, &'static str) {
        let (_, code, name, meaning) = ALL[self as usize];
        (code, name, meaning)
    }

    /// The three letters that genhtml uses.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.row().0
    }

    /// The name that genhtml uses.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// What it says of code, in words.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        self.row().2
    }

    /// Whether the code is not there any more, or not counted: its line is one of the sources before.
    #[must_use]
    pub fn is_of_before(self) -> bool {
        matches!(self, Self::Ecb | Self::Eub | Self::Dcb | Self::Dub)
    }

    /// Code that is counted now: whether it ran, whether it did before (`None`: it was not counted), and whether it is
    /// new.
    pub(super) fn of_counted(now: bool, before: Option<bool>, is_new: bool) -> Self {
        match (now, before) {
            (true, Some(true)) => Self::Cbc,
            (true, Some(false)) => Self::Gbc,
            (false, Some(true)) => Self::Lbc,
            (false, Some(false)) => Self::Ubc,
            (true, None) if is_new => Self::Gnc,
            (true, None) => Self::Gic,
            (false, None) if is_new => Self::Unc,
            (false, None) => Self::Uic,
        }
    }

    /// Code that is not counted any more: whether it ran before, and whether it is gone from the source.
    pub(super) fn of_uncounted(before: bool, is_gone: bool) -> Self {
        match (before, is_gone) {
            (true, true) => Self::Dcb,
            (false, true) => Self::Dub,
            (true, false) => Self::Ecb,
            (false, false) => Self::Eub,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_in_the_order_of_the_categories() {
        for (index, (category, ..)) in ALL.into_iter().enumerate() {
            assert_eq!(category as usize, index);
        }
    }
}
