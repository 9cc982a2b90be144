//! The runtime that is linked into profiled programs, and the memory layout that it shares with profile readers.
//!
//! Without the feature `runtime` this crate is only [`layout`], which readers need.
//!
//! # How the runtime is linked
//!
//! Per flavour, `cargo rustc --lib --crate-type staticlib --features FEATURE` with fat LTO and `panic = "abort"` (the
//! build script of `cotree` has all settings), then one relocatable object, with everything local but the exports, so
//! that it can't clash with the program:
//!
//! ```text
//! ld -r --gc-sections $(sed 's/^/-u /' exports-FLAVOUR.txt) -o raw.o libcotree_rt.a
//! objcopy --keep-global-symbols=exports-FLAVOUR.txt raw.o rt.o
//! ```
//!
//! | flavour | feature | linked into | the link needs besides |
//! | --- | --- | --- | --- |
//! | `dynamic` | `runtime` | dynamic executables, PIE or not | `--wrap=` for each line of `wrap-dynamic.txt`, `--dynamic-list=dynamic-list.txt`, `-ldl` before glibc 2.34 |
//! | `static` | `static-executable` | static executables | `--wrap=` for each line of `wrap-static.txt`, `--eh-frame-hdr` |
//! | `shared` | `shared-library` | shared libraries | nothing |
//!
//! With `counters-alone` besides, each is smaller and records counters only; it refuses units that need more.
//!
//! In dynamic executables the loader finds our hooks first, but a program may bring a statically linked
//! `pthread_create` or unwinder of its own: then it takes `--wrap` to get in front of that. The dynamic list makes
//! hooks visible to libraries that are loaded later, and keeps `--gc-sections` from dropping those without references
//! at link time. Ordinary programs also work without the two. Every object needs `.eh_frame`: a frame without it ends a
//! walk, and the profile is flagged.
//!
//! The link unit provides `__cotree_unit`, `__cotree_counters` and the TLS word `__cotree_slab`, all hidden; the
//! runtime provides `__cotree_resuming`, which is hidden too in effect. It needs only libc.

#![no_std]

#[cfg(test)]
extern crate std;

mod arch;
mod checksum;
#[cfg(any(feature = "runtime", test))]
mod expression;
pub mod layout;
#[cfg(any(feature = "runtime", test))]
mod pool;
mod zeros;

#[cfg(feature = "runtime")]
mod runtime;
