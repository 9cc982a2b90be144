//! Where things are: the workspace, its target folder, and the cotree under test.

use crate::command;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the workspace.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the workspace")
}

/// Cargo's target folder.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |folder| root().join(folder))
}

/// Our own folder for all that is fetched and generated.
pub fn scratch() -> PathBuf {
    target().join("xtask")
}

/// A file of ours that becomes part of a test program.
pub fn program_file(name: &str) -> PathBuf {
    root().join("xtask/programs").join(name)
}

/// Makes a folder anew, empty.
pub fn fresh(folder: &Path) -> Result<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).with_context(|| format!("can't remove {}", folder.display()))?;
    }
    std::fs::create_dir_all(folder).with_context(|| format!("can't make {}", folder.display()))
}

/// The cargo that runs us.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// The cotree that a release build of this tree makes, and its tests, too.
pub fn built_cotree() -> PathBuf {
    target().join("release/cotree")
}

/// The cotree to test: the given one, or a release build of this tree.
pub fn cotree(given: Option<PathBuf>) -> Result<PathBuf> {
    if let Some(path) = given {
        return path.canonicalize().with_context(|| format!("no cotree at {}", path.display()));
    }
    println!("building cotree");
    command::succeed(cargo().args(["build", "--release", "--package", "cotree", "--quiet"]))?;
    Ok(built_cotree())
}
