//! The linker plugin: passes bitcode files and symbol resolutions to cotree, and native objects back to the linker.
//!
//! `libcotree_lto.so` is loaded by `ld.bfd`, gold and mold (`-plugin`), and by `ar` and `nm` (`--plugin`). It knows no
//! LLVM: [`bitstream`] finds the table of symbols that every bitcode file carries, [`symtab`] reads it, [`input`]
//! classifies files, [`libraries`] looks into shared ones, `plugin` talks to the linker in the terms of `api`, and
//! [`worker`] starts `cotree`, which does the work, once per link. [`protocol`] has the messages between the two.

#[allow(missing_docs, reason = "names and meanings are those of plugin-api.h")]
mod api;
pub mod bitstream;
pub mod input;
pub mod libraries;
mod plugin;
pub mod protocol;
pub mod symtab;
pub mod worker;
