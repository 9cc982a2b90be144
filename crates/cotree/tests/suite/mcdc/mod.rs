//! MC/DC: vectors of decisions, held against clang's own and against logs of every condition.

mod clang;
mod random;
mod rust;
mod threads;
mod views;
