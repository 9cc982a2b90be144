//! `cotree html`: pages that show a whole profile in a browser.
//!
//! The folder has one page, which draws what the address says: the overview, a function with its graph, a source file,
//! a flame graph. What it draws is data ([`data`]): an index of all functions and files, loaded at once, and the
//! details of functions and files in parts, loaded when they are looked at. So the first page of a large program is
//! small. The page's program is `web/`, bundled into `report.js`.
//!
//! | question | module |
//! | --- | --- |
//! | which files there are, and what the whole program did | [`index`] |
//! | what is known of each function | [`functions`] |
//! | what is known of each source file | [`files`] |
//! | which loops ran, and how long | [`hot_loops`] |
//! | the stacks in which costs arose | [`flame`] |
//! | which paths ran | [`paths`] |
//! | what each thread did | [`trace`] |
//! | what another run did otherwise | [`compare`] |

mod compare;
mod content;
mod data;
mod files;
mod flame;
mod functions;
mod hot_loops;
mod index;
mod numbering;
mod paths;
mod remarks;
mod trace;

pub use content::{Before, Pages, TraceContent};

use crate::html::assets::{STYLE, THEME};
use crate::html::put::Put;
use numbering::Numbering;
use std::io;

/// The page.
pub const PAGE: &str = "index.html";

/// Writes the pages, file by file.
///
/// # Errors
/// If one can't be written.
pub fn write(pages: &Pages<'_>, put: &mut Put<'_>) -> io::Result<()> {
    let numbering = Numbering::new(pages.units());
    put(PAGE, include_str!("page.html"))?;
    put("report.js", include_str!("report.js"))?;
    put("report.css", include_str!("report.css"))?;
    put(STYLE, include_str!("../html/style.css"))?;
    put(THEME, include_str!("../html/theme.js"))?;
    let mut add = |name: String, script: String| put(&format!("data/{name}.js"), &script);
    let loops = hot_loops::of(pages, &numbering);
    let totals = files::write(pages, &numbering, &loops, &mut add)?;
    functions::write(pages, &numbering, &mut add)?;
    flame::write(pages, &mut add)?;
    if let Some(before) = &pages.before {
        compare::write(pages, before, &numbering, &mut add)?;
    }
    let trace = pages.trace.as_ref().map(|content| trace::write(pages, content, &numbering, &mut add)).transpose()?;
    let paths = paths::write(pages, &numbering, &mut add)?;
    add(
        "index".to_owned(),
        data::script("index", &index::of(pages, &numbering, &totals, &loops, paths, trace.as_ref()))?,
    )
}
