//! The slabs, which are the counter arrays. Slab 0 is `__cotree_counters` itself. Every thread of a threaded unit has a
//! slab of its own, the first thread too, so counts in slab 0 are of threads that the runtime did not see start.
//!
//! Slabs come in [`chunks`] of the file, and so do the [`segments`] between them. The counts of slabs that are
//! not in the file are added to slab 0 at the end.

mod chunks;
pub mod copy;
mod counts;
mod growth;
mod holes;
mod mapping;
pub mod segments;
mod threads;

pub use chunks::{count, initial_count};
pub use counts::{add_orphans, are_orphaned, clear, each, fold_orphans, for_each};
pub use growth::{Place, go_on_growing, lock, lock_soon, lock_to_grow, make_first_room, stop_growing};
pub use holes::{allocate, forget_caches, give_up_page, take_back_pages};
#[cfg(feature = "shared-library")]
pub use mapping::let_go;
pub use mapping::{detach, keep_in_memory, lead_nowhere, map_initial};
pub use threads::{assign, claim, slab_zero_in_use, verify_own};
