//! A browser that opens pages from a disk.

use crate::{command, tools};
use anyhow::{Context as _, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Chromium without a window.
pub struct Browser {
    /// Where what it keeps goes.
    pub folder: PathBuf,
}

impl Browser {
    /// The page when its scripts have run. Fails if the console of the page says anything.
    pub fn dom(&self, page: &Path, size: &str) -> Result<String> {
        self.dom_after(page, size, 5)
    }

    /// The page after this many seconds of its own clock, which waits for nothing but what the page does.
    fn dom_after(&self, page: &Path, size: &str, seconds: u32) -> Result<String> {
        let browser = tools::find("chromium").context("no chromium is installed")?;
        let mut chromium = Command::new(browser);
        chromium.args(["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"]);
        chromium.arg(format!("--window-size={size}")).arg(format!("--virtual-time-budget={}", seconds * 1000));
        chromium.arg(format!("--user-data-dir={}", self.folder.join("browser").display()));
        let output = command::output(chromium.arg(format!("file://{}", page.display())))?;
        let said = String::from_utf8_lossy(&output.stderr);
        let console = said.lines().find(|line| line.contains(":CONSOLE"));
        ensure!(console.is_none(), "{}: {}", page.display(), console.unwrap_or_default());
        Ok(String::from_utf8(output.stdout)?)
    }

    /// What a page answers to a reader.
    pub fn answers(&self, page: &Path) -> Result<String> {
        let dom = self.dom_after(page, "400,850", 60)?;
        let answers = dom.split_once("data-answers=\"").and_then(|(_, rest)| rest.split_once('"'));
        Ok(answers.context("no answers")?.0.to_owned())
    }
}
