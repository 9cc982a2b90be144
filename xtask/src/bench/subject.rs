//! What is measured: real programs, kernels and sets of small functions, each with its workloads.

use super::variants::Variant;
use crate::programs::{self, Program, Workload};
use crate::rust_programs::{self, Package};
use crate::sources::{PINNED, Sources};
use crate::workspace;
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::Xxh3;

/// A program with one workload.
pub enum Subject {
    /// C or C++.
    C(Program),
    /// Rust.
    Rust(Package),
}

impl Subject {
    /// The name of the subject in tables and folders.
    pub fn name(&self) -> &'static str {
        match self {
            Subject::C(program) => program.name,
            Subject::Rust(package) => package.name,
        }
    }

    /// The argument lists to run it with.
    pub fn runs(&self) -> Vec<Vec<String>> {
        match self {
            Subject::C(program) => program.runs.clone(),
            Subject::Rust(package) => package.runs.iter().map(|(arguments, _)| arguments.clone()).collect(),
        }
    }

    /// Whether the variant can build it.
    pub fn has(&self, variant: &Variant) -> bool {
        matches!(self, Subject::C(_)) || variant.rust.is_some()
    }

    /// A hash of the sources, the workload, and the options of one build: the same on every machine.
    pub fn inputs(&self, variant: &Variant) -> Result<String> {
        let mut inputs = Inputs::default();
        let options = match self {
            Subject::C(program) => {
                inputs.text(if program.cxx { "C++" } else { "C" });
                inputs.texts(&program.flags);
                inputs.texts(&program.libraries);
                for source in &program.sources {
                    inputs.file(source)?;
                }
                &variant.options
            }
            Subject::Rust(package) => {
                inputs.tree(&package.source)?;
                inputs.texts(variant.rust.as_deref().unwrap_or_default());
                &variant.options
            }
        };
        inputs.texts(options);
        // Without any, the hash is what it was before there were such options.
        if !variant.linking.is_empty() {
            inputs.texts(&variant.linking);
        }
        inputs.text(if variant.weights { "weights" } else { "" });
        for run in self.runs() {
            for argument in &run {
                if Path::new(argument).is_file() {
                    inputs.file(Path::new(argument))?;
                }
            }
            inputs.texts(&run);
        }
        Ok(inputs.hash())
    }
}

/// A hash over what a build depends on. Paths count without the folders of this machine.
#[derive(Default)]
struct Inputs(Xxh3);

impl Inputs {
    fn text(&mut self, text: &str) {
        let scratch = workspace::scratch().display().to_string();
        let text = text.replace(&scratch, "SCRATCH").replace(&workspace::root().display().to_string(), "ROOT");
        // Headers are not hashed one by one: they change with the version of the package.
        for (name, version) in PINNED.iter().filter(|(name, _)| text.contains(&format!("/{name}/"))) {
            self.0.update(name.as_bytes());
            self.0.update(version.as_bytes());
        }
        self.0.update(&(text.len() as u64).to_le_bytes());
        self.0.update(text.as_bytes());
    }

    fn texts<S: AsRef<str>>(&mut self, texts: &[S]) {
        self.0.update(&(texts.len() as u64).to_le_bytes());
        texts.iter().for_each(|text| self.text(text.as_ref()));
    }

    fn file(&mut self, path: &Path) -> Result<()> {
        let bytes = fs::read(path).with_context(|| format!("can't read {}", path.display()))?;
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(&bytes);
        Ok(())
    }

    /// All files of a package but for what cargo built there.
    fn tree(&mut self, folder: &Path) -> Result<()> {
        let entries = fs::read_dir(folder).with_context(|| format!("no folder {}", folder.display()))?;
        let mut paths: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
        paths.sort();
        for path in paths.iter().filter(|path| !path.ends_with("target")) {
            if path.is_dir() { self.tree(path)? } else { self.file(path)? }
        }
        Ok(())
    }

    fn hash(&self) -> String {
        format!("{:016x}", self.0.digest())
    }
}

/// A program with all of its workloads.
pub struct Workloads {
    /// For counting instructions.
    pub counted: Subject,
    /// For taking times: work of a twentieth of a second, and next to none. Sets of small functions are not timed.
    pub timed: Option<[Subject; 2]>,
}

impl Workloads {
    /// The name of the subject in tables and folders.
    pub fn name(&self) -> &'static str {
        self.counted.name()
    }

    /// Whether it is a set of small functions, which has a table of its own.
    pub fn is_set(&self) -> bool {
        self.timed.is_none()
    }
}

/// Everything that is measured, in the order of the tables; with smaller workloads for `quick`.
pub fn all(sources: &Sources, quick: bool) -> Result<Vec<Workloads>> {
    let counted = programs(sources, if quick { Workload::Tiny } else { Workload::Small })?;
    let (long, short) = (programs(sources, Workload::Long)?, programs(sources, Workload::Start)?);
    let names = |subjects: &[Subject]| subjects.iter().map(Subject::name).collect::<Vec<_>>();
    ensure!(names(&counted) == names(&long) && names(&counted) == names(&short), "workloads are of the same programs");
    let timed = long.into_iter().zip(short).map(|(long, short)| Some([long, short]));
    let programs = counted.into_iter().zip(timed).map(|(counted, timed)| Workloads { counted, timed });
    let sets = programs::kernels::sets().map(|set| Workloads { counted: Subject::C(set), timed: None });
    Ok(programs.chain(sets).collect())
}

fn programs(sources: &Sources, workload: Workload) -> Result<Vec<Subject>> {
    let mut all: Vec<Subject> = programs::all(sources, workload)?.into_iter().map(Subject::C).collect();
    all.push(Subject::Rust(rust_programs::json_regex(sources, workload)));
    all.push(Subject::Rust(rust_programs::iterators(workload)));
    Ok(all)
}
