//! Source files on this machine: where they are, and what is in them.

use super::source_names::SourceNames;
use clap::Args;
use cotree_profile::regular;
use cotree_report::source::{SourceText, Sources};
use cotree_report::visible;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::time::SystemTime;

/// Source files on this machine, by the names that [`SourceArgs::names`] gives them.
#[derive(Default)]
pub struct FileSources {
    known: RefCell<HashMap<String, Option<Rc<SourceText>>>>,
}

/// Where sources are now.
#[derive(Args, Clone, Debug, Default)]
pub struct SourceArgs {
    /// Sources that were at OLD when compiled are at NEW now
    #[arg(long = "source-prefix", value_name = "OLD=NEW", value_parser = parse_prefix)]
    moved: Vec<(String, String)>,
    /// Names that lead to one source file by symbolic links are one file
    #[arg(long, hide_short_help = true)]
    resolve_symlinks: bool,
}

fn parse_prefix(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').filter(|(old, _)| !old.is_empty());
    parts.map(|(old, new)| (old.to_owned(), new.to_owned())).ok_or_else(|| "it must be OLD=NEW".into())
}

impl SourceArgs {
    /// What source files are called, and where they are.
    pub fn names(&self) -> SourceNames {
        SourceNames::new(self.moved.clone(), self.resolve_symlinks)
    }
}

/// Larger files are not taken for sources.
const LARGEST_SOURCE: u64 = 256 << 20;

impl FileSources {
    /// Where a file is now.
    fn place(path: &str) -> String {
        // The map may have been made for people.
        let original = visible::original(path);
        if original != path && !Path::new(path).exists() { original } else { path.to_owned() }
    }
}

impl FileSources {
    /// What is in a file now.
    pub fn bytes(path: &str) -> Option<Vec<u8>> {
        regular::read(Path::new(&Self::place(path)), LARGEST_SOURCE).ok()
    }

    /// When a file was last written to.
    pub fn modified(path: &str) -> Option<SystemTime> {
        let data = fs::metadata(Self::place(path)).ok()?;
        data.modified().ok().filter(|_| data.is_file())
    }
}

impl Sources for FileSources {
    fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        Self::bytes(path)
    }

    fn exists(&self, path: &str) -> bool {
        fs::metadata(Self::place(path)).is_ok_and(|data| data.is_file())
    }

    fn text(&self, path: &str) -> Option<Rc<SourceText>> {
        if let Some(known) = self.known.borrow().get(path) {
            return known.clone();
        }
        let text = Self::bytes(path).map(|bytes| Rc::new(SourceText::new(&bytes)));
        // Views go through the files in order, so caching the last one is enough.
        let mut known = self.known.borrow_mut();
        known.clear();
        known.insert(path.to_owned(), text.clone());
        text
    }
}
