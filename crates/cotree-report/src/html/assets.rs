//! The files that are the same in every folder of pages.

use super::put::Put;
use std::io;

/// The style sheet of all pages.
pub const STYLE: &str = "style.css";
/// The script that runs before a page is shown: it chooses light or dark.
pub const THEME: &str = "theme.js";
/// The script that adds sorting, filters and keys.
pub const SCRIPT: &str = "page.js";

/// Writes them.
///
/// # Errors
/// If one can't be written.
pub fn write(put: &mut Put<'_>) -> io::Result<()> {
    put(STYLE, include_str!("style.css"))?;
    put(THEME, include_str!("theme.js"))?;
    put(SCRIPT, include_str!("page.js"))
}
