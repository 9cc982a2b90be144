//! Decisions and MC/DC: expressions of several conditions, and what shows that each condition matters.
//!
//! A *decision* is an expression made of *conditions* by `&&`, `||` and `!`. It is evaluated from left to right, and no
//! further than is needed, so which condition comes next depends on the outcome of the last one: a decision is a graph
//! without circles. A *test vector* is a path through that graph: the outcome of each condition that was evaluated, and
//! that of the decision. A condition is *independent* if two vectors that occurred show that it alone decides:
//!
//! - by *unique cause*, they have different outcomes, the condition differs, and no other condition that both have
//!   evaluated does. This is what `llvm-cov` tells, too;
//! - by *masking*, the condition differs, and in each of them the decision's outcome would have been another one had
//!   the condition been (for some values of what was not evaluated). Other conditions may differ if they are masked.
//!   Whatever is independent by unique cause is so by masking.
//!
//! References: Hayhurst, Veerhusen, Chilenski & Rierson, "A Practical Tutorial on Modified Condition/Decision Coverage"
//! (NASA/TM-2001-210876); Chilenski, "An Investigation of Three Forms of the MC/DC Criterion" (DOT/FAA/AR-01/18).
//!
//! | question | module |
//! | --- | --- |
//! | what a decision is | [`structure`] |
//! | which number each vector has, and which vector each number | [`numbering`] |
//! | which conditions are independent, and what is missing for the others | [`independence`] |

pub mod independence;
pub mod numbering;
pub mod structure;

#[cfg(test)]
mod tests;

pub use independence::{Table, Verdict};
pub use numbering::Numbering;
pub use structure::{Decision, DecisionError, Next, Vector};
