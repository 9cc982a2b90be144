//! The runtime in real programs, without LLVM: gcc compiles them, and they bump their counters by hand.

mod ends;
mod flavours;
mod leaves;
mod paths;
mod pools;
mod sparse;
mod starts;
mod support;
