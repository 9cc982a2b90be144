//! Names of symbols, as LLVM and as the linker writes them.

/// The linker's name of a symbol. If LLVM must not decorate a symbol, it begins with a byte 1, which the linker does
/// not see.
#[must_use]
pub fn linker_name(symbol: &str) -> &str {
    symbol.strip_prefix('\x01').unwrap_or(symbol)
}
