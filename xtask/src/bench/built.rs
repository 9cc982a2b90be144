//! What was built last on this machine, and by which cotree: what the same cotree makes of the same inputs need not be
//! built again.

use super::store;
use super::subject::Subject;
use super::variants::Variant;
use crate::real::Context;
use crate::workspace;
use anyhow::{Context as _, Result};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// Hashes of builds, in a file of the target folder.
pub struct Built {
    file: PathBuf,
    /// The hash of the cotree that builds now. It carries its plugin and its runtime inside.
    cotree: String,
    /// By program and build: hashes of cotree, inputs and code.
    builds: BTreeMap<String, [String; 3]>,
}

impl Built {
    /// Reads what is known.
    pub fn open(context: &Context) -> Result<Built> {
        let file = workspace::scratch().join("bench-built.json");
        let builds = fs::read(&file).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
        let cotree = fs::read(&context.cotree).with_context(|| format!("can't read {}", context.cotree.display()))?;
        Ok(Built { file, cotree: store::hash(&cotree), builds })
    }

    /// The code that this cotree makes of these inputs, if it is known.
    pub fn code(&self, subject: &Subject, variant: &Variant, inputs: &str) -> Option<&str> {
        let [cotree, of, code] = self.builds.get(&key(subject, variant))?;
        (*cotree == self.cotree && of == inputs).then_some(code)
    }

    /// Remembers a build.
    pub fn keep(&mut self, subject: &Subject, variant: &Variant, inputs: &str, code: &str) -> Result<()> {
        self.builds.insert(key(subject, variant), [self.cotree.clone(), inputs.to_owned(), code.to_owned()]);
        store::replace(&self.file, &serde_json::to_vec(&self.builds)?)
    }
}

fn key(subject: &Subject, variant: &Variant) -> String {
    format!("{} | {}", subject.name(), variant.name)
}
