//! Numbers that readers take as they are.

use std::io;

/// An amount for JSON, whose readers take numbers for 64-bit floating-point ones.
///
/// # Errors
/// If they would round it.
pub(super) fn exact_in_json(amount: u128) -> io::Result<u64> {
    let amount = u64::try_from(amount).ok().filter(|&amount| amount <= 1 << 53);
    amount.ok_or_else(|| io::Error::other("an amount has more than 53 bits, which JSON readers would round"))
}
