//! How often lines ran, from `cotree export --format lcov`.

use crate::command;
use crate::real::Context;
use anyhow::{Context as _, Result};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Counts of lines, by path.
#[derive(Default)]
pub struct Tracefile {
    lines: BTreeMap<String, HashMap<u32, u128>>,
}

impl Tracefile {
    /// Reads the export of a profile: of all files, and without regard to markers in them.
    pub fn of(profile: &Path, context: &Context) -> Result<Tracefile> {
        let mut cotree = context.cotree();
        cotree.args(["export", "--format", "lcov", "--absent-sources", "--no-markers"]).arg(profile);
        let text = command::text(&mut cotree)?;
        let mut tracefile = Tracefile::default();
        let mut lines = &mut HashMap::new();
        for record in text.lines() {
            match record.split_once(':') {
                Some(("SF", path)) => lines = tracefile.lines.entry(path.to_owned()).or_default(),
                Some(("DA", values)) => {
                    let (line, count) = values.split_once(',').context("a line and its count")?;
                    lines.insert(line.parse()?, count.parse()?);
                }
                _ => {}
            }
        }
        Ok(tracefile)
    }

    /// How often the lines of a file ran.
    pub fn lines(&self, path: &str) -> Option<&HashMap<u32, u128>> {
        self.lines.get(path)
    }

    /// Per file: how many of its lines ran, and how many there are.
    pub fn files(&self) -> impl Iterator<Item = (&str, [u128; 2])> {
        self.lines.iter().map(|(path, lines)| {
            let ran = lines.values().filter(|&&count| count > 0).count();
            (path.as_str(), [ran as u128, lines.len() as u128])
        })
    }
}
