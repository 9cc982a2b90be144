//! What a run has cost: events of each function by source line, and the calls between functions.
//!
//! The *exclusive* cost of a function is what its own instructions did: how often each block ran, times its events. It
//! is known from any profile that counts blocks. How often calls were made is known from the same counts; of calls
//! through pointers it is not known whom they called. What a call cost with all that it led to (*inclusive* cost) no
//! count of blocks can tell where a function has several callers: [`calls`] says where it follows all the same.

mod all;
pub mod calls;
pub mod contexts;
mod cost;
pub mod counted_calls;
mod error;
mod function;
pub mod summed;
mod sums;
pub mod totals;
pub mod traced;
mod tree;
pub mod view;

pub use all::Costs;
pub use cost::Cost;
pub use error::CostError;
pub use function::{FunctionCosts, Line, exclusive};
