//! The file of the raw profile, in the format of [`crate::layout`]: its names, its header and the table of early exits.

pub mod current;
mod earlier;
pub mod early_table;
pub mod identity;
pub mod names;
pub mod naming;
pub mod pool;
pub mod room;
pub mod test_name;
