//! What the commands read: profiles with their binaries, and sources.

use super::told;
use clap::Args;
use cotree_profile::binary::BinaryFile;
use cotree_profile::file::ProfileFile;
use cotree_profile::recover::{UnitProfile, recover_file};
use cotree_report::source::{SourceText, Sources};
use cotree_report::unit::Unit;
use miette::{Result, miette};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A profile and where its binaries are.
#[derive(Args, Clone, Debug)]
pub struct Input {
    /// The profile; by default the newest *.cotree in the current directory
    pub profile: Option<PathBuf>,
    #[command(flatten)]
    pub binaries: Binaries,
}

/// Where the binaries of a profile are.
#[derive(Args, Clone, Debug)]
pub struct Binaries {
    /// The binary that was run, if it is no longer where it was (once for each link unit of the profile)
    #[arg(long = "binary", value_name = "FILE")]
    pub binaries: Vec<PathBuf>,
}

/// A recovered profile with the binaries that it is of.
pub struct Loaded {
    recovered: Vec<(BinaryFile, UnitProfile)>,
}

impl Loaded {
    /// As it was recovered.
    pub fn recovered(&self) -> &[(BinaryFile, UnitProfile)] {
        &self.recovered
    }

    /// Its link units.
    pub fn units(&self) -> Vec<Unit<'_>> {
        self.recovered.iter().map(|(binary, profile)| Unit::new(binary.map(), profile)).collect()
    }
}

impl Input {
    /// Opens the profile only.
    pub fn open(&self) -> Result<ProfileFile> {
        let path = match &self.profile {
            Some(path) => path.clone(),
            None => newest(Path::new("."))?,
        };
        ProfileFile::open(&path).map_err(told)
    }

    /// Opens and recovers the profile.
    pub fn load(&self) -> Result<Loaded> {
        load(&self.open()?, &self.binaries)
    }
}

/// Recovers a profile.
pub fn load(file: &ProfileFile, binaries: &Binaries) -> Result<Loaded> {
    recover_file(file, &binaries.binaries).map(|recovered| Loaded { recovered }).map_err(told)
}

/// The newest profile of a folder; those of runs that were cut off only if there is no other.
fn newest(folder: &Path) -> Result<PathBuf> {
    let mut best: Option<(bool, std::time::SystemTime, PathBuf)> = None;
    let entries =
        fs::read_dir(folder).map_err(|e| miette!("cannot look for profiles in the current directory: {e}"))?;
    for entry in entries.flatten() {
        let path = entry.path();
        let finished = match path.extension().and_then(|e| e.to_str()) {
            Some("cotree") => true,
            Some("live") => false,
            _ => continue,
        };
        let Ok(modified) = entry.metadata().and_then(|m| m.modified()) else { continue };
        let candidate = (finished, modified, path);
        if best.as_ref().is_none_or(|b| *b < candidate) {
            best = Some(candidate);
        }
    }
    let best = best.map(|(_, _, path)| path.strip_prefix(".").map(Path::to_owned).unwrap_or(path));
    best.ok_or_else(|| {
        miette!("there is no profile (*.cotree) in the current directory: run a program built with cotree first, or name its profile")
    })
}

/// Source files on this machine.
pub struct FileSources {
    /// Prefixes of recorded paths and what to put in their place.
    moved: Vec<(String, String)>,
    known: RefCell<HashMap<String, Option<Rc<SourceText>>>>,
}

/// Where sources are now.
#[derive(Args, Clone, Debug)]
pub struct SourceArgs {
    /// Sources that were at OLD when compiled are at NEW now
    #[arg(long = "source-prefix", value_name = "OLD=NEW", value_parser = parse_prefix)]
    moved: Vec<(String, String)>,
}

fn parse_prefix(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').filter(|(old, _)| !old.is_empty());
    parts.map(|(old, new)| (old.to_owned(), new.to_owned())).ok_or_else(|| "it must be OLD=NEW".into())
}

impl SourceArgs {
    /// The sources.
    pub fn sources(&self) -> FileSources {
        FileSources { moved: self.moved.clone(), known: RefCell::default() }
    }
}

/// What is larger is no source.
const LARGEST_SOURCE: u64 = 256 << 20;

impl Sources for FileSources {
    fn text(&self, path: &str) -> Option<Rc<SourceText>> {
        if let Some(known) = self.known.borrow().get(path) {
            return known.clone();
        }
        let moved =
            self.moved.iter().find_map(|(old, new)| path.strip_prefix(old.as_str()).map(|rest| format!("{new}{rest}")));
        let place = moved.unwrap_or_else(|| path.to_owned());
        let regular = fs::metadata(&place).ok().filter(|m| m.is_file() && m.len() <= LARGEST_SOURCE);
        let text = regular.and_then(|_| fs::read(&place).ok()).map(|bytes| Rc::new(SourceText::new(&bytes)));
        // Views go through the files in order: the last one is enough.
        let mut known = self.known.borrow_mut();
        known.clear();
        known.insert(path.to_owned(), text.clone());
        text
    }
}
