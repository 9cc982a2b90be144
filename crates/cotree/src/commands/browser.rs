//! Opens a page in the user's browser.

use miette::{Result, miette};
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// Opens a page: by `$BROWSER`, a list of commands separated by colons, or else as the desktop does. `%s` in a command
/// is the page, which otherwise stands at its end.
pub fn open(page: &Path) -> Result<()> {
    let own = std::env::var("BROWSER").unwrap_or_default();
    let named = own.split(':').filter(|command| !command.trim().is_empty());
    let mut last = None;
    for command in named.chain(["xdg-open", "gio open", "wslview"]) {
        let mut words = command.split_whitespace();
        let mut browser = Command::new(words.next().unwrap_or_default());
        let arguments: Vec<OsString> = words.map(|word| with_page(word, page)).collect();
        browser.args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
        if !command.contains("%s") {
            browser.arg(page);
        }
        match browser.status() {
            Ok(status) if status.success() => return Ok(()),
            Ok(status) => last = Some(format!("{command} ended with {status}")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => last = Some(format!("{command}: {error}")),
        }
    }
    let why = last.unwrap_or_else(|| "there is none ($BROWSER is not set, and there is no xdg-open)".into());
    Err(miette!("cannot open a browser: {why}; open {} yourself", page.display()))
}

/// A word of a command, in which `%s` is the page.
fn with_page(word: &str, page: &Path) -> OsString {
    let mut pieces = word.split("%s");
    let mut whole = OsString::from(pieces.next().unwrap_or_default());
    for piece in pieces {
        whole.push(page);
        whole.push(piece);
    }
    whole
}
