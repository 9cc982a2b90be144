//! Debian's source packages, by version, with Debian's patches.
//!
//! The lists that apt needs for that are our own: those of the machine may have no sources.

use crate::{command, workspace};
use anyhow::{Context as _, Result};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

const ARCHIVE: &str =
    "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main\n";

/// Unpacks a version of a source package of Debian 12 as `folder/source`.
pub fn source(package: &str, version: &str, folder: &Path) -> Result<()> {
    let lists = lists()?;
    let apt = || {
        let mut apt = Command::new("apt-get");
        let of = |option: &str, path: &str| format!("{option}={}", lists.join(path).display());
        apt.args(["--quiet=2", "-o", &of("Dir::Etc::SourceList", "sources.list"), "-o", "Dir::Etc::SourceParts=-"]);
        apt.args(["-o", &of("Dir::State::Lists", "lists"), "-o", &of("Dir::Cache", "cache")]);
        apt.current_dir(folder);
        apt
    };
    {
        static UPDATE: Mutex<bool> = Mutex::new(false);
        let mut updated = UPDATE.lock().expect("nobody panics with it");
        if !*updated {
            command::succeed(apt().arg("update"))?;
            *updated = true;
        }
    }
    let wanted = format!("{package}={version}");
    command::succeed(apt().args(["source", "--download-only", &wanted])).context("Debian 12 has it")?;
    // A version's epoch is in no name of a file.
    let description = format!("{package}_{}.dsc", version.split_once(':').map_or(version, |(_, rest)| rest));
    let mut unpack = Command::new("dpkg-source");
    command::succeed(unpack.args(["--no-check", "--extract", &description, "source"]).current_dir(folder))?;
    Ok(())
}

/// The folder with apt's lists.
fn lists() -> Result<std::path::PathBuf> {
    let lists = workspace::scratch().join("debian");
    fs::create_dir_all(lists.join("lists/partial"))?;
    fs::create_dir_all(lists.join("cache/archives/partial"))?;
    fs::write(lists.join("sources.list"), ARCHIVE)?;
    Ok(lists)
}
