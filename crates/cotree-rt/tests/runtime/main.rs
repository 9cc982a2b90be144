//! The runtime in real programs, without LLVM: gcc compiles them, and they bump their counters by hand.

mod ends;
mod flavours;
mod holes;
mod leaves;
mod paths;
mod pools;
mod starts;
mod support;
