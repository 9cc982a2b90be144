//! Counts of an earlier build as weights for the next plan (`--weights`).
//!
//! The binary of the earlier build is usually gone, or about to be overwritten, when its counts are wanted. So they go
//! into a self-contained file: one JSON object per line, first the schema, then one function each, named by
//! symbol, module and shape. A function whose code has changed has another shape and gets no weights.

use crate::binary::BinaryFile;
use crate::recover::{UnitProfile, functions};
use cotree_core::facts::Function;
use cotree_core::profile::FunctionProfile;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::path::Path;

/// The schema that the first line names.
pub const SCHEMA: &str = "cotree-weights/1";

#[derive(Serialize, Deserialize)]
struct Head {
    schema: String,
}

#[derive(Serialize, Deserialize)]
struct Line {
    symbol: String,
    module: String,
    shape: u64,
    blocks: Vec<u64>,
    edges: Vec<u64>,
}

/// Why weights cannot be read from a file.
#[derive(Debug, thiserror::Error)]
pub enum WeightsError {
    /// It cannot be read.
    #[error("cannot read the weights {path}: {source}")]
    Read {
        /// The file.
        path: std::path::PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is no weights file, or a damaged one.
    #[error("{path} is not a weights file ({reason}): make one with `cotree export --format weights`")]
    Malformed {
        /// The file.
        path: std::path::PathBuf,
        /// What is wrong.
        reason: String,
    },
}

/// Weights by function.
#[derive(Clone, Debug, Default)]
pub struct Weights {
    by_symbol: HashMap<String, Vec<(String, u64, FunctionProfile)>>,
}

impl Weights {
    /// Reads a weights file.
    ///
    /// # Errors
    /// See [`WeightsError`].
    pub fn open(path: &Path) -> Result<Self, WeightsError> {
        let read = |source| WeightsError::Read { path: path.into(), source };
        let malformed = |reason: String| WeightsError::Malformed { path: path.into(), reason };
        let mut lines = io::BufReader::new(std::fs::File::open(path).map_err(read)?).lines();
        let head = lines.next().transpose().map_err(read)?.unwrap_or_default();
        let head: Head = serde_json::from_str(&head).map_err(|e| malformed(e.to_string()))?;
        if head.schema != SCHEMA {
            return Err(malformed(format!("its schema is {}, not {SCHEMA}", head.schema)));
        }
        let mut weights = Self::default();
        for line in lines {
            let line: Line = serde_json::from_str(&line.map_err(read)?).map_err(|e| malformed(e.to_string()))?;
            let profile =
                FunctionProfile { blocks: line.blocks, edges: Some(line.edges), ..FunctionProfile::default() };
            weights.by_symbol.entry(line.symbol).or_default().push((line.module, line.shape, profile));
        }
        Ok(weights)
    }

    /// The counts of all functions, in no order.
    pub fn functions(&self) -> impl Iterator<Item = &FunctionProfile> {
        self.by_symbol.values().flatten().map(|(_, _, profile)| profile)
    }

    /// Is there a function of this symbol, of whatever shape?
    #[must_use]
    pub fn knows(&self, symbol: &str) -> bool {
        self.by_symbol.contains_key(symbol)
    }

    /// The counts of the function of this symbol and shape. Of several modules that have one, the same module wins.
    #[must_use]
    pub fn of(&self, module: &str, function: &Function) -> Option<&FunctionProfile> {
        let shape = shape(function);
        let mut fitting = self.by_symbol.get(&function.symbol)?.iter().filter(|(_, s, _)| *s == shape).peekable();
        let first = fitting.peek().map(|(_, _, profile)| profile);
        let same_module = |name: &str| Path::new(name).file_name() == Path::new(module).file_name();
        fitting.find(|(name, _, _)| same_module(name)).map(|(_, _, profile)| profile).or(first)
    }
}

/// Writes the edge counts of recovered units as a weights file. Functions without edge counts are left out: vertex
/// methods cannot weight edges.
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut dyn Write, units: &[(BinaryFile, UnitProfile)]) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &Head { schema: SCHEMA.into() })?;
    writeln!(out)?;
    for (binary, unit) in units {
        let map = binary.map();
        let modules = map.program.functions().map(|(module, _)| &module.name);
        for ((function, module), profile) in functions(map).into_iter().zip(modules).zip(&unit.functions) {
            let Some(FunctionProfile { blocks, edges: Some(edges), .. }) = profile else { continue };
            let line = Line {
                symbol: function.symbol.clone(),
                module: module.clone(),
                shape: shape(function),
                blocks: blocks.clone(),
                edges: edges.clone(),
            };
            serde_json::to_writer(&mut *out, &line)?;
            writeln!(out)?;
        }
    }
    Ok(())
}

/// A number for the function's graph: blocks and edges with their kinds (FNV-1a, which is stable across releases).
fn shape(function: &Function) -> u64 {
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    let mut eat = |value: u64| {
        for byte in value.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
    };
    eat(function.blocks.len() as u64);
    for edge in &function.edges {
        eat(u64::from(edge.src.0));
        eat(u64::from(edge.dst.0));
        eat(u64::from(edge.successor));
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotree_core::facts::{BlockFacts, EdgeFacts, EdgeKind};
    use cotree_core::ids::Block;

    fn function(symbol: &str, successor: u32) -> Function {
        let edge = EdgeFacts { src: Block(0), dst: Block(1), kind: EdgeKind::Return, successor };
        Function {
            symbol: symbol.into(),
            blocks: vec![BlockFacts::default()],
            edges: vec![edge],
            ..Function::default()
        }
    }

    fn file(text: &str) -> Result<Weights, WeightsError> {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), text).expect("it can be written");
        Weights::open(file.path())
    }

    #[test]
    fn weights_are_found_by_symbol_shape_and_module() {
        let (f, changed) = (function("f", 0), function("f", 1));
        let line = |module: &str, count: u64| {
            format!(
                r#"{{"symbol":"f","module":"{module}","shape":{},"blocks":[{count}],"edges":[{count}]}}"#,
                shape(&f)
            )
        };
        let text = format!("{{\"schema\":\"{SCHEMA}\"}}\n{}\n{}\n", line("a/x.o", 1), line("b/y.o", 2));
        let weights = file(&text).expect("it is well-formed");
        assert_eq!(weights.of("elsewhere/y.o", &f).expect("it is there").blocks, [2]);
        assert_eq!(weights.of("z.o", &f).expect("any module will do").blocks, [1]);
        assert!(weights.of("x.o", &changed).is_none(), "another shape has no weights");
        assert!(weights.of("x.o", &function("g", 0)).is_none());
    }

    #[test]
    fn other_files_are_refused() {
        for text in [
            "",
            "COTREERW",
            "{\"schema\":\"cotree-weights/9\"}\n",
            "{\"schema\":\"cotree-weights/1\"}\n{\"symbol\":1}\n",
        ] {
            assert!(matches!(file(text), Err(WeightsError::Malformed { .. })), "{text:?}");
        }
    }
}
