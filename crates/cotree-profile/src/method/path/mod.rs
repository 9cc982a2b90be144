//! Path profiles.

pub(super) mod recover;
