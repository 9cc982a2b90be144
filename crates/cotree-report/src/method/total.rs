//! What each method counts, as a row of the report.

/// A row of a table of totals: what, how much, and a remark.
pub(crate) type Total = (&'static str, u128, String);
