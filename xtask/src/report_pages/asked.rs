//! Questions to pages: scripts that read them as a reader does.

use crate::browser::Browser;
use crate::web;
use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fs;
use std::path::Path;

/// What pages answer to a script that is added to theirs.
pub fn asked<T: DeserializeOwned>(browser: &Browser, pages: &Path, script: &str) -> Result<T> {
    let program = pages.join("report.js");
    let own = fs::read_to_string(&program)?;
    let reader = include_str!("../../programs/report_reader.js");
    fs::write(&program, format!("{own}\n{reader}\n{script}"))?;
    let answers = browser.answers(&pages.join("index.html"));
    fs::write(&program, own)?;
    serde_json::from_str(&plain(&answers?)).context("the answers of pages")
}

/// Text of an attribute as it was.
fn plain(attribute: &str) -> String {
    let text = attribute.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">");
    text.replace("&nbsp;", "\u{a0}").replace("&amp;", "&")
}

/// What axe finds in all views.
#[derive(Deserialize)]
struct Access {
    views: usize,
    found: Vec<String>,
}

/// Fails if axe finds something serious in a view. Gives how many views there are.
pub fn check_access(browser: &Browser, pages: &Path) -> Result<usize> {
    let access: Access = asked(browser, pages, &(web::axe()? + include_str!("../../programs/report_axe.js")))?;
    ensure!(access.found.is_empty(), "axe finds:\n{}", access.found.join("\n"));
    Ok(access.views)
}
