//! Path profiles: their counts, their sections of merged profiles, and their recovery.

mod counts;
mod merged;
mod notes;
mod recover;

pub(super) use counts::{BUCKET_SIZE, Buckets, metric};
pub use counts::{PathCounts, PathId, RegisterKey};
pub(super) use merged::{read as read_counts, write as write_counts};
pub use notes::PathNote;
pub(super) use notes::notes;
pub use recover::ForeignPaths;
pub(super) use recover::{abandoned, check as check_counts, check_metric, recover};
