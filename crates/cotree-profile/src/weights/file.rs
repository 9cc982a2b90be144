//! Files of weights. The format is described in `docs/formats.md`.

use super::targets::{BlockTargets, Names};
use super::{Build, Entry, Weights, shape};
use crate::binary::BinaryMap;
use crate::recover::{UnitProfile, functions};
use cotree_core::ids::{Block, Edge, IdMap};
use cotree_core::profile::FunctionProfile;
use cotree_core::weight::stale::Outline;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

/// The schema that the first line names.
pub const SCHEMA: &str = "cotree-weights/1";

#[derive(Serialize, Deserialize)]
struct Head {
    schema: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    profile: String,
    builds: Vec<Build>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    symbol: String,
    module: String,
    shape: u64,
    blocks: IdMap<Block, u64>,
    edges: IdMap<Edge, u64>,
    build: usize,
    outline: Outline,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    targets: Vec<BlockTargets>,
}

/// Why weights cannot be read from a file.
#[derive(Debug, thiserror::Error)]
pub enum WeightsError {
    /// The file cannot be read.
    #[error("cannot read the weights {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is no weights file, or a damaged one.
    #[error("{path} is not a weights file ({reason}): make one with `cotree export --format weights`")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

/// The builds that a weights file is of. The rest of the file is not read.
///
/// # Errors
/// See [`WeightsError`].
pub fn builds(path: &Path) -> Result<Vec<Build>, WeightsError> {
    open(path).map(|(head, _)| head.builds)
}

/// Opens a weights file: its first line, and those behind it.
fn open(path: &Path) -> Result<(Head, io::Lines<io::BufReader<File>>), WeightsError> {
    let read = |source| WeightsError::Read { path: path.into(), source };
    let malformed = |reason: String| WeightsError::Malformed { path: path.into(), reason };
    let mut lines = io::BufReader::new(crate::regular::open(path).map_err(read)?).lines();
    let head = lines.next().transpose().map_err(read)?.unwrap_or_default();
    let head: Head = serde_json::from_str(&head).map_err(|e| malformed(e.to_string()))?;
    if head.schema != SCHEMA {
        return Err(malformed(format!("its schema is {}, not {SCHEMA}", head.schema)));
    }
    Ok((head, lines))
}

/// Where the counters of a build are ([`Build::at`]).
fn place(map: &BinaryMap) -> Option<String> {
    let options = &map.program.build.options;
    let covers = || options.get("coverage").is_some_and(|value| value == "on").then(|| "early".to_owned());
    options.get("at").cloned().or_else(covers).filter(|at| at != "late")
}

impl Weights {
    /// Reads a weights file.
    ///
    /// # Errors
    /// See [`WeightsError`].
    pub fn open(path: &Path) -> Result<Self, WeightsError> {
        let read = |source| WeightsError::Read { path: path.into(), source };
        let malformed = |reason: String| WeightsError::Malformed { path: path.into(), reason };
        let (head, lines) = open(path)?;
        let mut weights = Self { profile: head.profile, builds: head.builds, ..Self::default() };
        for line in lines {
            let line: Line = serde_json::from_str(&line.map_err(read)?).map_err(|e| malformed(e.to_string()))?;
            let profile =
                FunctionProfile { blocks: line.blocks, edges: Some(line.edges), ..FunctionProfile::default() };
            let entry = Entry {
                module: line.module,
                shape: line.shape,
                outline: line.outline,
                builds: vec![line.build],
                profile,
                targets: line.targets,
            };
            weights.add(line.symbol, entry);
        }
        Ok(weights)
    }
}

/// Writes the edge counts of recovered units, and the targets of their indirect calls, as a weights file. Functions
/// without edge counts are left out: vertex methods cannot weight edges. `profile` is the name of the profile that they
/// are from, for people; it may be empty.
///
/// # Errors
/// Errors of `out`.
pub fn write(out: &mut dyn Write, units: &[(&BinaryMap, &UnitProfile)], profile: &str) -> io::Result<()> {
    let build = |(map, unit): &(&BinaryMap, &UnitProfile)| {
        let name = unit.binary.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Build { name, id: unit.unit.to_string(), runs: unit.runs.total(), at: place(map) }
    };
    let head = Head { schema: SCHEMA.into(), profile: profile.into(), builds: units.iter().map(build).collect() };
    serde_json::to_writer(&mut *out, &head)?;
    writeln!(out)?;
    for (build, &(map, unit)) in units.iter().enumerate() {
        let modules = map.program.functions().map(|(module, _)| &module.name);
        let names = Names::of(&map.program);
        let sites = |number: usize| unit.targets.as_ref()?.get(number);
        for (number, ((function, module), profile)) in
            functions(map).into_iter().zip(modules).zip(&unit.functions).enumerate()
        {
            let Some(FunctionProfile { blocks, edges: Some(edges), .. }) = profile else { continue };
            let line = Line {
                symbol: function.symbol.clone(),
                module: module.clone(),
                shape: shape(function),
                blocks: blocks.clone(),
                edges: edges.clone(),
                build,
                outline: Outline::of(function),
                targets: sites(number).map_or_else(Vec::new, |sites| names.targets(module, function, sites)),
            };
            serde_json::to_writer(&mut *out, &line)?;
            writeln!(out)?;
        }
    }
    Ok(())
}
