//! cotree-llvm
