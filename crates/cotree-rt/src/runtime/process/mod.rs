//! The life of the process: its start, its threads, its forks, its end; and what happens in all link units of it.

pub mod counting;
mod debugger;
#[cfg(not(feature = "shared-library"))]
pub mod dispositions;
pub mod end;
pub mod fork;
#[cfg(not(feature = "shared-library"))]
pub mod handlers;
#[cfg(not(feature = "shared-library"))]
pub mod jumps;
#[cfg(not(feature = "shared-library"))]
pub mod pinned;
#[cfg(not(feature = "shared-library"))]
pub mod quick;
#[cfg(not(feature = "shared-library"))]
mod sanitizers;
#[cfg(not(feature = "shared-library"))]
mod signals;
mod snapshot;
mod start;
pub mod stop;
mod this_unit;
mod totals;
pub mod units;
#[cfg(not(any(feature = "shared-library", feature = "counters-alone")))]
mod until;
pub mod vm_children;
