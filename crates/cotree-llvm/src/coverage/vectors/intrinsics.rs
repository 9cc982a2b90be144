//! The intrinsics by which clang asks for bits of test vectors.

/// How many vectors the decisions of a function have: its name, its hash, and their number.
pub(super) const PARAMETERS: &str = "llvm.instrprof.mcdc.parameters";
/// The vector of a decision that was made: name and hash of the function, the number of the decision's first vector,
/// and the variable with what is to be added to it.
pub(in crate::coverage) const UPDATE: &str = "llvm.instrprof.mcdc.tvbitmap.update";
