//! The tests of this crate, one program: each links all below it, and linking is what takes long.

mod callers;
mod calls;
mod golden;
mod paths;
mod profiles;
#[path = "../../../cotree-core/tests/suite/random/mod.rs"]
mod random;
mod unit;
mod units;
