//! What two harnesses measure.

use std::hint::black_box;

/// A function that calls itself.
pub fn fibonacci(n: u64) -> u64 {
    if n < 2 { n } else { fibonacci(n - 1) + fibonacci(n - 2) }
}

/// A loop over memory, so many instructions for each number.
#[inline(never)]
pub fn sum(numbers: &[u64]) -> u64 {
    numbers.iter().map(|number| black_box(*number)).sum()
}

/// Numbers to add up.
pub fn prepare(count: u64) -> Vec<u64> {
    (0..count).map(|number| number * number).collect()
}
