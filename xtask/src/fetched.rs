//! Programs that are fetched once, by version, and kept in a folder of their own.

use crate::{command, workspace};
use anyhow::Result;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// The folder of that name, filled by `get` unless it is already, with the same version.
pub fn once(name: &str, version: &str, get: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
    static GET: Mutex<()> = Mutex::new(());
    let _alone = GET.lock();
    let folder = workspace::scratch().join(name);
    let whole = folder.join("whole");
    if !fs::read_to_string(&whole).is_ok_and(|there| there == version) {
        workspace::fresh(&folder)?;
        get(&folder)?;
        // The last of all: it says that the rest is complete.
        fs::write(whole, version)?;
    }
    Ok(folder)
}

/// The programs of packages from PyPI, in an environment of that name.
pub fn python(name: &str, packages: &[&str]) -> Result<PathBuf> {
    let folder = once(name, &packages.join(" "), |folder| {
        command::succeed(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
        let mut pip = Command::new(folder.join("bin/pip"));
        command::succeed(pip.args(["install", "--quiet", "--disable-pip-version-check"]).args(packages))?;
        Ok(())
    })?;
    Ok(folder.join("bin"))
}
