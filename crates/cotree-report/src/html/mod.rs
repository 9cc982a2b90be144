//! Pages for browsers: what those of all views share.
//!
//! A view gives its pages as files of one folder, which opens from a disk as it does from a web server. No page needs
//! the network. Each says by a policy (CSP) that nothing but the folder's own style sheet and scripts may be loaded or
//! run, so no text of a program can become code, and all text goes through `maud`, which escapes it. Without scripts
//! the pages are whole: scripts add sorting, filters, keys and the switch between light and dark.
//!
//! | question | module |
//! | --- | --- |
//! | what stands around the content of a page | [`frame`] |
//! | which files are the same in every folder | [`assets`] |
//! | what the page of a source file is called | [`file_names`] |
//! | how counts and shares look | [`figures`] |
//! | where pages go | [`put`] |

pub mod assets;
pub mod figures;
pub mod file_names;
pub mod frame;
pub mod put;
