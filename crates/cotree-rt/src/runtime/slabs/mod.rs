//! The slabs, which are the counter arrays. Slab 0 is `__cotree_counters` itself. Every thread of a threaded unit has a
//! slab of its own, the first thread too, so counts in slab 0 are of threads that the runtime did not see start.
//!
//! Slabs come in [`chunks`] of the file, and so do the [`segments`] between them. The counts of slabs that are
//! not in the file are added to slab 0 at the end.

mod chunks;
pub mod copy;
mod counts;
mod growth;
mod mapping;
#[cfg(not(feature = "counters-alone"))]
pub mod segments;
mod sparse;
mod threads;

pub use chunks::{count, initial_count};
#[cfg(not(feature = "counters-alone"))]
pub use counts::each;
pub use counts::{add_from_memory, any_in_memory, clear, for_each, move_into_file};
#[cfg(not(feature = "counters-alone"))]
pub use growth::lock_to_grow;
pub use growth::{go_on_growing, lock, lock_soon, stop_growing};
#[cfg(feature = "shared-library")]
pub use mapping::let_go;
pub use mapping::{detach, keep_in_memory, map_initial, replace_by_memory};
#[cfg(not(feature = "counters-alone"))]
pub use segments::{Storage, make_first_room};
pub use sparse::{allocate, forget_caches, give_up_page, take_back_pages};
pub use threads::{assign, claim, slab_zero_in_use, verify_own};
