//! What was done before: a JSON file, by the executables and the command that it was done with. A file that cannot be
//! read is an empty one: then everything is done anew.

use cotree_core::weight::stale::Fnv;
use cotree_profile::atomic::{self, WriteError};
use miette::{IntoDiagnostic, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Default, Serialize, Deserialize)]
struct Done {
    /// Files of weights, by what they were made with.
    weights: BTreeMap<String, String>,
    /// Instructions, and who counted them, by what they were counted of.
    instructions: BTreeMap<String, (u64, String)>,
}

/// The journal.
pub(super) struct Journal {
    file: PathBuf,
    done: Done,
}

impl Journal {
    /// The journal in a file.
    pub(super) fn open(file: &Path) -> Self {
        let done = fs::read(file).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
        Self { file: file.to_owned(), done }
    }

    /// The file of weights.
    pub(super) fn weights(&self, key: &str) -> Option<&String> {
        self.done.weights.get(key)
    }

    /// Notes a file of weights, which is the only one from here on.
    pub(super) fn note_weights(&mut self, key: String, file: String) -> Result<(), WriteError> {
        self.done.weights = BTreeMap::from([(key, file)]);
        self.write()
    }

    /// Instructions, and who counted them.
    pub(super) fn instructions(&self, key: &str) -> Option<(u64, String)> {
        self.done.instructions.get(key).cloned()
    }

    /// Notes instructions.
    pub(super) fn note_instructions(&mut self, key: String, count: u64, by: &str) -> Result<(), WriteError> {
        self.done.instructions.insert(key, (count, by.to_owned()));
        self.write()
    }

    fn write(&self) -> Result<(), WriteError> {
        atomic::write(&self.file, |out| Ok(serde_json::to_writer(out, &self.done)?))
    }
}

/// A name for these executables with a command: other contents make another name.
pub(super) fn stamp(executables: &[PathBuf], command: &str) -> Result<String> {
    let mut hash = Fnv::default();
    hash.eat(command.as_bytes());
    for executable in executables {
        hash.eat(executable.as_os_str().as_encoded_bytes());
        hash.eat(&fs::read(executable).into_diagnostic()?);
    }
    Ok(format!("{:016x}", hash.0))
}
