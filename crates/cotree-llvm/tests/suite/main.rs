//! The tests of this crate, one program: each links all below it, and linking is what takes long.

mod affine;
mod hints;
mod modules;
mod promotion;
