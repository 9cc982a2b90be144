//! Compilers and other tools that may or may not be installed.

use crate::command;
use anyhow::{Context, Result};
use std::path::PathBuf;
use std::process::Command;

/// The file of that name in PATH.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|candidate| candidate.is_file())
}

/// What the tool calls itself: the first line of `--version`.
pub fn version(tool: &str) -> String {
    let text = command::text(Command::new(tool).arg("--version")).unwrap_or_default();
    text.lines().next().unwrap_or("(not installed)").trim().to_owned()
}

/// A clang by its major version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clang(pub u32);

/// Versions that Debian 12 has or had, newest first.
pub const CLANG_VERSIONS: [u32; 5] = [22, 19, 16, 15, 14];

impl Clang {
    /// All that are installed, newest first.
    pub fn installed() -> Vec<Clang> {
        CLANG_VERSIONS.into_iter().filter(|v| find(&format!("clang-{v}")).is_some()).map(Clang).collect()
    }

    /// The newest, which is also the one that `cotree cc` is told to use.
    pub fn newest() -> Result<Clang> {
        Clang::installed().into_iter().next().context("no clang is installed: install clang, version 14 or newer")
    }

    /// `clang-N`
    pub fn c(self) -> String {
        format!("clang-{}", self.0)
    }

    /// `clang++-N`
    pub fn cxx(self) -> String {
        format!("clang++-{}", self.0)
    }

    /// `llvm-cov-N` and its like.
    pub fn llvm(self, tool: &str) -> String {
        format!("{tool}-{}", self.0)
    }
}
