//! What `cotree export --format json` says, and how pages number the functions in it.

use crate::command;
use crate::real::Context;
use anyhow::{Context as _, Result};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// A profile.
#[derive(Deserialize)]
pub struct Export {
    units: Vec<Unit>,
    /// Functions of the source, by the numbers of their pages.
    #[serde(skip)]
    pub sources: Vec<Source>,
}

#[derive(Deserialize)]
pub struct Unit {
    files: Vec<String>,
    functions: Vec<Function>,
}

/// A body in one unit.
#[derive(Deserialize)]
pub struct Function {
    pub symbol: String,
    pub name: String,
    pub module: String,
    linkage: String,
    pub position: Option<Position>,
    pub not_instrumented: Option<String>,
    pub entries: Option<u64>,
    #[serde(default)]
    events: BTreeMap<String, serde_json::Value>,
    pub flaws: Vec<String>,
    pub inlined: Vec<Inlined>,
    pub blocks: Vec<Block>,
    pub edges: Vec<Edge>,
    /// Counted calls; only profiles of calls have them.
    #[serde(default)]
    pub calls: Vec<Call>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash)]
pub struct Position {
    pub file: usize,
    pub line: u32,
    pub column: u32,
}

#[derive(Deserialize)]
pub struct Inlined {
    pub symbol: String,
    pub name: String,
    pub call: Option<Position>,
    pub entries: Option<u64>,
}

#[derive(Deserialize)]
pub struct Block {
    pub count: Option<u64>,
    pub instructions: Instructions,
    pub lines: Vec<Line>,
}

#[derive(Deserialize)]
pub struct Instructions {
    pub total: u64,
}

#[derive(Deserialize)]
pub struct Line {
    pub file: usize,
    pub line: u32,
    pub column: u32,
    pub inlined: Option<u32>,
    pub count: Option<u64>,
}

#[derive(Deserialize)]
pub struct Edge {
    pub from: usize,
    /// `None` is the way out of the function.
    pub to: Option<usize>,
    pub kind: String,
    pub value: Option<i64>,
    pub cases: Option<u32>,
    pub count: Option<u64>,
}

#[derive(Deserialize)]
pub struct Call {
    pub callee: Option<String>,
    pub position: Option<Position>,
    pub count: u64,
}

/// A function of the source: all of its bodies in one unit, and its inlined copies.
pub struct Source {
    pub unit: usize,
    pub symbol: String,
    pub name: String,
    /// Bodies, by their place in the unit.
    pub bodies: Vec<usize>,
    /// Entries of copies.
    pub inlined: u128,
}

/// What a function of the source did.
pub struct Sums {
    pub instructions: u128,
    /// Entries of bodies and copies together.
    pub entries: u128,
    pub executions: u128,
    pub blocks: u128,
    pub ran: u128,
}

impl Function {
    /// Instructions that it executed itself.
    pub fn instructions(&self) -> u128 {
        self.events.get("instructions").and_then(serde_json::Value::as_u64).unwrap_or(0).into()
    }
}

impl Export {
    /// Exports a profile.
    pub fn of(profile: &Path, context: &Context) -> Result<Export> {
        let file = profile.with_extension("json");
        let mut cotree = context.cotree();
        command::succeed(cotree.args(["export", "--format", "json", "-o"]).arg(&file).arg(profile))?;
        let text = std::fs::read(&file)?;
        let mut export: Export = serde_json::from_slice(&text).context("the export")?;
        std::fs::remove_file(&file)?;
        let units = export.units.iter().enumerate();
        export.sources = units.flat_map(|(number, unit)| sources_of(number, unit)).collect();
        Ok(export)
    }

    /// The bodies of a function of the source.
    pub fn bodies<'a>(&'a self, source: &'a Source) -> impl Iterator<Item = &'a Function> {
        source.bodies.iter().map(|&body| &self.units[source.unit].functions[body])
    }

    /// All bodies, with the paths of their unit's files.
    pub fn functions(&self) -> impl Iterator<Item = (&Function, &[String])> {
        self.units.iter().flat_map(|unit| unit.functions.iter().map(|function| (function, &unit.files[..])))
    }

    /// The path of a file of the unit that a function is in.
    pub fn path(&self, source: &Source, file: usize) -> &str {
        self.units[source.unit].files.get(file).map_or("?", String::as_str)
    }

    /// What a function of the source did.
    pub fn sums(&self, source: &Source) -> Sums {
        let mut sums = Sums { instructions: 0, entries: source.inlined, executions: 0, blocks: 0, ran: 0 };
        for body in self.bodies(source) {
            sums.instructions += body.instructions();
            sums.entries += u128::from(body.entries.unwrap_or(0));
            sums.blocks += body.blocks.len() as u128;
            let counts = body.blocks.iter().filter_map(|block| block.count);
            sums.executions += counts.clone().map(u128::from).sum::<u128>();
            // Of a body without counts nothing is told, and none of it is called unreached.
            let unreached = counts.filter(|&count| count == 0).count();
            sums.ran += (body.blocks.len() - unreached) as u128;
        }
        sums
    }

    /// All instructions that ran.
    pub fn whole(&self) -> u128 {
        self.functions().map(|(function, _)| function.instructions()).sum()
    }
}

/// Bodies of one symbol that begin at one place are one function. Local ones without a place are so in each module.
fn sources_of(number: usize, unit: &Unit) -> Vec<Source> {
    type Body<'a> = (&'a str, Option<Position>, Option<&'a str>);
    let mut sources: Vec<Source> = Vec::new();
    let mut of_bodies: HashMap<Body<'_>, usize> = HashMap::new();
    let mut in_module: HashMap<(&str, &str), usize> = HashMap::new();
    let mut anywhere: HashMap<&str, usize> = HashMap::new();
    let source = |symbol: &str, name: &str| Source {
        unit: number,
        symbol: symbol.to_owned(),
        name: name.to_owned(),
        bodies: Vec::new(),
        inlined: 0,
    };
    for (at, body) in unit.functions.iter().enumerate() {
        let local = (body.linkage == "internal" && body.position.is_none()).then_some(body.module.as_str());
        let known = *of_bodies.entry((&body.symbol, body.position, local)).or_insert(sources.len());
        if known == sources.len() {
            sources.push(source(&body.symbol, &body.name));
        }
        sources[known].bodies.push(at);
        in_module.entry((&body.module, &body.symbol)).or_insert(known);
        anywhere.entry(&body.symbol).or_insert(known);
    }
    for body in &unit.functions {
        for copy in &body.inlined {
            let Some(entries) = copy.entries else { continue };
            let symbol = copy.symbol.as_str();
            let known = in_module.get(&(body.module.as_str(), symbol)).or_else(|| anywhere.get(symbol)).copied();
            let known = known.unwrap_or_else(|| {
                sources.push(source(symbol, &copy.name));
                anywhere.insert(symbol, sources.len() - 1);
                sources.len() - 1
            });
            sources[known].inlined += u128::from(entries);
        }
    }
    sources
}
