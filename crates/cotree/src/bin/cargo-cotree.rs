//! `cargo cotree`.
fn main() {}
