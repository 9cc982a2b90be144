//! How runs ended.

use cotree_rt::layout::State;

/// How the counted runs ended, and how many did so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    /// Runs that ended by themselves.
    pub finished: u64,
    /// Runs that called `abort`.
    pub aborted: u64,
    /// Runs that were killed or crashed, or still run.
    pub cut_off: u64,
    /// Snapshots of processes.
    pub snapshots: u64,
}

impl Runs {
    /// One run that ended in a [`State`].
    #[must_use]
    pub fn one(state: u32) -> Option<Self> {
        let mut runs = Self::default();
        match state {
            State::FINISHED => runs.finished = 1,
            State::ABORTED => runs.aborted = 1,
            State::RUNNING => runs.cut_off = 1,
            State::SNAPSHOT => runs.snapshots = 1,
            _ => return None,
        }
        Some(runs)
    }

    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.finished.saturating_add(self.aborted).saturating_add(self.cut_off).saturating_add(self.snapshots)
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.finished = self.finished.saturating_add(other.finished);
        self.aborted = self.aborted.saturating_add(other.aborted);
        self.cut_off = self.cut_off.saturating_add(other.cut_off);
        self.snapshots = self.snapshots.saturating_add(other.snapshots);
    }
}
