//! The life of the process: its start, its threads, its forks, its end; and the link units in it.

pub mod end;
pub mod fork;
mod registry;
#[cfg(not(feature = "shared-library"))]
mod sanitizers;
#[cfg(not(feature = "shared-library"))]
pub mod signals;
pub mod snapshot;
pub mod start;
pub mod stop;
mod this_unit;
pub mod thread;
pub mod units;
