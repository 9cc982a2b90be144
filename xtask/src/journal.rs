//! Which cases have passed on the present sources, so that a long run can be resumed, or be made in parts.

use crate::{command, workspace};
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::process::Command;

/// A file of the target folder: a line about the sources, and one per case that passed.
pub struct Journal {
    file: PathBuf,
    sources: String,
    passed: BTreeSet<String>,
}

impl Journal {
    /// Reads what passed, if the sources are still the same.
    pub fn open() -> Result<Journal> {
        let (file, sources) = (workspace::scratch().join("passed.txt"), sources()?);
        let before = fs::read_to_string(&file).unwrap_or_default();
        let mut lines = before.lines();
        let same = lines.next() == Some(&sources);
        let passed = lines.filter(|_| same).map(str::to_owned).collect();
        Ok(Journal { file, sources, passed })
    }

    /// Whether the case passed when it ran last.
    pub fn has(&self, name: &str) -> bool {
        self.passed.contains(name)
    }

    /// Writes down how a case ended.
    pub fn note(&mut self, name: &str, passed: bool) -> Result<()> {
        if passed {
            self.passed.insert(name.to_owned());
        } else {
            self.passed.remove(name);
        }
        let text: String = std::iter::once(&self.sources).chain(&self.passed).map(|line| format!("{line}\n")).collect();
        fs::create_dir_all(workspace::scratch())?;
        fs::write(&self.file, text).with_context(|| format!("can't write {}", self.file.display()))
    }
}

/// The commit, and a hash of what has been changed since.
fn sources() -> Result<String> {
    let git = |arguments: &[&str]| command::text(Command::new("git").args(arguments).current_dir(workspace::root()));
    let mut hasher = DefaultHasher::new();
    (git(&["diff", "HEAD"])?, git(&["status", "--porcelain"])?).hash(&mut hasher);
    Ok(format!("{} {:016x}", git(&["rev-parse", "HEAD"])?.trim(), hasher.finish()))
}
