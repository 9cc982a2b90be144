//! A part of a whole.

/// How many there are, and how many of them ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ratio {
    /// How many ran.
    pub covered: u64,
    /// How many there are.
    pub total: u64,
}

impl Ratio {
    /// How many did not run.
    #[must_use]
    pub fn missed(self) -> u64 {
        self.total - self.covered
    }

    pub(super) fn count(&mut self, covered: bool) {
        self.total += 1;
        self.covered += u64::from(covered);
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.total += other.total;
        self.covered += other.covered;
    }

    pub(super) fn most(self, other: Self) -> Self {
        Self { covered: self.covered.max(other.covered), total: self.total.max(other.total) }
    }
}
