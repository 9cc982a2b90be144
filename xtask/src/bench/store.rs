//! Numbers of earlier runs, for builds in which cotree has no part: they are the same as long as compiler, program and options
//! are.

use super::build::Subject;
use super::campaign::{Cell, Times};
use super::variants::{Tool, Variant};
use crate::real::Context;
use crate::{tools, workspace};
use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What was measured, by what it depends on.
pub struct Store {
    file: PathBuf,
    tools: String,
    reuse: bool,
    cells: BTreeMap<String, Value>,
}

/// A build with what it printed.
pub struct Known {
    /// The numbers.
    pub cell: Cell,
    /// A hash of all output.
    pub output: u64,
}

/// Of anything.
pub fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

impl Store {
    /// What earlier runs left, to be told only if that is wanted.
    pub fn open(context: &Context, reuse: bool, quick: bool) -> Result<Store> {
        let file = workspace::scratch().join("bench-peers.json");
        let cells = match fs::read(&file) {
            Ok(text) => serde_json::from_slice(&text).with_context(|| format!("in {}", file.display()))?,
            Err(_) => BTreeMap::new(),
        };
        let names = [context.clang.c(), "gcc".into(), "ld".into(), "rustc".into(), "valgrind".into()];
        let tools = names.iter().map(|tool| tools::version(tool)).collect::<Vec<_>>().join(", ");
        Ok(Store { file, tools: format!("{tools}, quick: {quick}"), reuse, cells })
    }

    fn key(&self, subject: &Subject, content: u64, variant: &Variant) -> Option<String> {
        let alone = matches!(variant.tool, Tool::Llvm | Tool::Bolt | Tool::Gcc);
        let asked = format!("{:?} {:?} {:?}", variant.options, variant.rust, subject.runs());
        alone.then(|| format!("{} {content:016x} {} {:016x}", subject.name(), variant.name, hash((asked, &self.tools))))
    }

    /// What is known of a build.
    pub fn find(&self, subject: &Subject, content: u64, variant: &Variant) -> Option<Known> {
        let key = self.key(subject, content, variant).filter(|_| self.reuse)?;
        let value = self.cells.get(&key)?;
        let number = |name: &str| value[name].as_u64();
        let build = Duration::from_micros(number("build")?);
        let times = |name: &str| -> Option<Vec<Duration>> {
            value[name].as_array()?.iter().map(|time| time.as_u64().map(Duration::from_micros)).collect()
        };
        let times = Times { long: times("long")?, short: times("short")?, layouts: 1 };
        let cell = Cell { instructions: number("instructions")?, build, file: number("file")?, times };
        Some(Known { cell, output: number("output")? })
    }

    /// Remembers a build.
    pub fn keep(&mut self, subject: &Subject, content: u64, variant: &Variant, cell: &Cell, output: u64) {
        let Some(key) = self.key(subject, content, variant) else { return };
        let micros = |time: Duration| u64::try_from(time.as_micros()).expect("nothing takes that long");
        let value = json!({
            "instructions": cell.instructions,
            "build": micros(cell.build),
            "file": cell.file,
            "long": cell.times.long.iter().copied().map(micros).collect::<Vec<_>>(),
            "short": cell.times.short.iter().copied().map(micros).collect::<Vec<_>>(),
            "output": output,
        });
        self.cells.insert(key, value);
    }

    /// Writes all that is known.
    pub fn save(&self) -> Result<()> {
        fs::write(&self.file, serde_json::to_vec_pretty(&self.cells)?)
            .with_context(|| format!("can't write {}", self.file.display()))
    }
}

/// A hash of what the subject is made from, and of what is timed.
pub fn content(subject: &Subject, timed: Option<[&Subject; 2]>) -> Result<u64> {
    let mut hasher = DefaultHasher::new();
    timed.map(|timed| timed.map(Subject::runs)).hash(&mut hasher);
    let mut add = |path: &Path| -> Result<()> {
        fs::read(path).with_context(|| format!("can't read {}", path.display()))?.hash(&mut hasher);
        Ok(())
    };
    match subject {
        Subject::C(program) => {
            for source in &program.sources {
                add(source)?;
            }
            program.flags.hash(&mut hasher);
        }
        Subject::Rust(package) => {
            for file in ["Cargo.toml", "Cargo.lock", "src/main.rs"] {
                add(&package.source.join(file))?;
            }
        }
    }
    Ok(hasher.finish())
}
