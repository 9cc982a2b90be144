//! The `cotree` command.
fn main() {}
