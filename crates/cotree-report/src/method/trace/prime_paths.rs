//! How many of the prime paths of each function ran: the strongest of the usual criteria of coverage by graphs (Ammann
//! and Offutt 2016, §7.2.1), of which branches and pairs of branches are weaker forms.
//!
//! The graph is that of the function's blocks and EXIT, without what only unwinds ([`crate::unwinding`]) and without
//! the panics of Rust's own checks ([`crate::checks`]): a path begins where the function or a handler does, and ends
//! where it returns, throws or comes around.

use crate::checks;
use crate::method::path::route::Writer;
use crate::names::Names;
use crate::region_coverage::Ratio;
use crate::terminal::{Style, counted, grouped, number, percent, text};
use crate::unit::{Unit, UnitFunction};
use crate::unwinding;
use cotree_core::facts::{EdgeKind, Function};
use cotree_core::graph::prime_paths::{PrimePath, PrimePaths, TooManyPaths};
use cotree_core::ids::{Block, IdMap};
use cotree_profile::coverage::{CoverageMap, Region};
use cotree_profile::method::trace::prime_paths::{FollowedFunctions, FollowedPaths};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::{self, Write};

/// The prime paths of the functions of a unit.
#[derive(Clone, Debug)]
pub struct UnitPaths {
    /// By number: those of the functions that are asked for and have not too many.
    pub functions: FollowedFunctions,
    /// Functions that have too many.
    too_many: Vec<usize>,
}

impl UnitPaths {
    /// Finds the prime paths of the functions that are wanted and carry probes: in builds with the compiler's coverage
    /// map those that it knows, else all that have a place in the source.
    #[must_use]
    pub fn new(unit: &Unit<'_>, most: usize, wanted: impl Fn(&str) -> bool) -> Self {
        let has_map = unit.functions().any(|function| !function.facts.anchors.is_empty());
        let mut found = Self { functions: IdMap::default(), too_many: Vec::new() };
        for function in unit.functions() {
            let file = function.facts.position.map(|position| unit.file(position.file));
            let is_code = function.facts.untouched.is_none() && (!has_map || !function.facts.anchors.is_empty());
            let paths = (is_code && file.is_some_and(&wanted)).then(|| prime_paths(function.facts, most));
            found.functions.push(match paths {
                Some(Some(Ok(paths))) => Some(FollowedPaths::new(paths)),
                Some(Some(Err(TooManyPaths))) => {
                    found.too_many.push(function.index.index());
                    None
                }
                Some(None) | None => None,
            });
        }
        found
    }
}

/// The prime paths of a function; `None` if what a file says of it is no graph.
fn prime_paths(function: &Function, most: usize) -> Option<Result<PrimePaths, TooManyPaths>> {
    let cfg = function.cfg().ok()?;
    let unwinds = unwinding::blocks(function, &cfg);
    let fails = checks::failing_blocks(function);
    let exit = function.exit();
    let stays = |block: Block| block == exit || (!unwinds[block.index()] && !fails[block.index()]);
    let edges: Vec<(Block, Block)> = function
        .edges
        .iter()
        .filter(|edge| !edge.kind.exceptional() && edge.kind != EdgeKind::Unreachable)
        .filter(|edge| stays(edge.src) && stays(edge.dst))
        .map(|edge| (edge.src, edge.dst))
        .collect();
    let returns = edges.iter().any(|&(_, to)| to == exit);
    let vertices: IdMap<Block, bool> =
        cfg.blocks().map(|block| if block == exit { returns } else { stays(block) }).collect();
    Some(PrimePaths::new(&vertices, edges, most))
}

/// The prime paths of all units.
#[derive(Clone, Debug, Default)]
pub struct PrimePathTable {
    functions: Vec<FunctionPaths>,
    /// Functions that have more paths than are listed: where they are, and their names.
    too_many: Vec<(String, String)>,
    /// Places of functions that have code in some program.
    with_code: BTreeSet<MappedPlace>,
    /// Functions of the compiler's coverage map that have none in one, by place.
    without_code: BTreeMap<MappedPlace, String>,
    most: usize,
    /// All paths, and those that ran.
    pub total: Ratio,
}

/// Where a function of the compiler's coverage map begins: file, line and column. All its instances begin there.
type MappedPlace = (String, u32, u32);

/// The prime paths of a function.
#[derive(Clone, Debug)]
struct FunctionPaths {
    file: String,
    line: u32,
    name: String,
    ratio: Ratio,
    /// The shortest that did not run.
    missing: Vec<MissingPath>,
}

/// A path that did not run.
#[derive(Clone, Debug, Serialize)]
struct MissingPath {
    /// The numbers of its blocks.
    blocks: Vec<u32>,
    /// The lines that it runs through.
    lines: String,
    /// The outcomes of the conditions and switches on it: line, column, and `T`, `F`, `case N` or `default`.
    outcomes: Vec<Outcome>,
    /// Whether it ends where it began.
    is_cycle: bool,
    /// Whether the function returns at the end.
    returns: bool,
}

/// Where a path takes one of several edges, and which.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Outcome {
    line: u32,
    column: u32,
    taken: String,
}

impl MissingPath {
    /// The path as text, with the outcomes of conditions where lines do not tell it from others.
    fn text(&self, others: &[Self]) -> String {
        let mut text = self.lines.clone();
        if others.iter().filter(|other| other.lines == self.lines).count() > 1 {
            let outcomes: Vec<String> = self
                .outcomes
                .iter()
                .map(|Outcome { line, column, taken }| format!("{line}:{column} {taken}"))
                .collect();
            text.push_str(&format!(" ({})", outcomes.join(", ")));
        }
        text.push_str(match (self.is_cycle, self.returns) {
            (true, _) => " and around",
            (_, true) => " and return",
            _ => "",
        });
        text
    }
}

impl PrimePathTable {
    /// A table without functions, which lists at most `missing` paths of each that did not run.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { most, ..Self::default() }
    }

    /// Adds the functions of a unit.
    pub fn add(&mut self, unit: &Unit<'_>, paths: &UnitPaths, names: Names, missing: usize) {
        for function in unit.functions() {
            if let Some(Some(followed)) = paths.functions.get(function.index) {
                let ratio = Ratio { covered: followed.ran() as u64, total: followed.paths().len() as u64 };
                self.total.add(ratio);
                let position = function.facts.position;
                self.functions.push(FunctionPaths {
                    file: position.map_or("?", |position| unit.file(position.file)).to_owned(),
                    line: position.map_or(0, |position| position.line),
                    name: names.show(&function.facts.symbol),
                    ratio,
                    missing: shortest_missing(unit, &function, followed, missing),
                });
            }
        }
        let too_many = paths.too_many.iter().filter_map(|&index| unit.functions().nth(index));
        self.too_many
            .extend(too_many.map(|function| (unit.brief(function.facts.position), names.show(&function.facts.symbol))));
        self.functions.sort_by(|a, b| (&a.file, a.line, &a.name).cmp(&(&b.file, b.line, &b.name)));
    }

    /// Adds what the compiler's coverage map knows of functions that have no code in the unit: the compiler made none,
    /// or put all of it into others.
    pub fn add_map(&mut self, unit: &Unit<'_>, map: &CoverageMap, names: Names, wanted: impl Fn(&str) -> bool) {
        let symbols: HashSet<&str> = unit.functions().map(|function| function.facts.symbol.as_str()).collect();
        for function in &map.functions {
            let begin = |region: &&Region| function.main_file() == Some(region.file);
            let Some(region) = function.regions.iter().find(begin) else { continue };
            let path = map.path(function.files[region.file.0 as usize]);
            let place = (path.to_owned(), region.start.line, region.start.column);
            if symbols.contains(function.symbol()) {
                self.with_code.insert(place);
            } else if wanted(path) {
                self.without_code.entry(place).or_insert_with(|| names.show(function.symbol()));
            }
        }
    }

    /// Functions that have no code in any unit: where they are, and their names.
    fn without_code(&self) -> impl Iterator<Item = (String, &str)> {
        let missing = self.without_code.iter().filter(|(place, _)| !self.with_code.contains(*place));
        missing.map(|((path, line, _), name)| {
            (format!("{}:{line}", path.rsplit('/').next().unwrap_or(path)), name.as_str())
        })
    }

    /// Whether there is nothing to show.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty() && self.too_many.is_empty()
    }

    /// Sentences on functions whose paths do not count.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let such_as = |count: usize, name: &str, place: &str| {
            let such = if count == 1 { "" } else { "such as " };
            (counted(count as u128, "function"), format!("({such}{name}, {place})"))
        };
        let mut remarks = Vec::new();
        if let Some((place, name)) = self.too_many.first() {
            let (functions, which) = such_as(self.too_many.len(), name, place);
            let most = grouped(self.most as u128);
            remarks.push(format!(
                "left out: {functions} with more than {most} prime paths {which}: --path-limit allows more"
            ));
        }
        if let Some((place, name)) = self.without_code().next() {
            let (functions, which) = such_as(self.without_code().count(), name, &place);
            remarks.push(format!("left out: {functions} without code of their own, whose paths are not known {which}"));
        }
        remarks
    }

    /// Writes the table for people, paths of files without what `prefix` says.
    ///
    /// # Errors
    /// If the output can't be written.
    pub fn write_text(&self, prefix: &str, style: Style, out: &mut dyn Write) -> io::Result<()> {
        let short = |path: &str| path.strip_prefix(prefix).map_or(path, |rest| rest.trim_start_matches('/')).to_owned();
        let cells = |ratio: Ratio| {
            let Ratio { covered, total } = ratio;
            [percent(covered.into(), total.into()), grouped(ratio.missed().into()), grouped(total.into())]
        };
        let mut rows: Vec<Vec<String>> = self
            .functions
            .iter()
            .map(|function| {
                let place = format!("{}:{}", short(&function.file), function.line);
                cells(function.ratio).into_iter().chain([function.name.clone(), place]).collect()
            })
            .collect();
        rows.push(cells(self.total).into_iter().chain(["total".into(), String::new()]).collect());
        let columns = [number("prime paths"), number("missed"), number("of"), text("function"), text("place")];
        write!(out, "{}", style.table(&columns, rows))?;
        let with_missing = || self.functions.iter().filter(|function| !function.missing.is_empty());
        if with_missing().next().is_some() {
            writeln!(out, "\n{}", style.heading("Shortest prime paths that did not run"))?;
        }
        for function in with_missing() {
            let Ratio { covered, total } = function.ratio;
            let head = format!("{}: {covered} of {total} ran", function.name);
            writeln!(out, "  {}", style.wrap(&head, 4))?;
            for path in &function.missing {
                writeln!(out, "    {}", style.wrap(&path.text(&function.missing), 6))?;
            }
        }
        Ok(())
    }

    /// Writes the table for programs (`cotree-prime-paths/1`, docs/json.md).
    ///
    /// # Errors
    /// If the output can't be written.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let document = Document {
            schema: "cotree-prime-paths/1",
            limit: self.most,
            ran: self.total.covered,
            total: self.total.total,
            functions: self
                .functions
                .iter()
                .map(|function| FunctionDocument {
                    function: &function.name,
                    file: &function.file,
                    line: function.line,
                    ran: function.ratio.covered,
                    total: function.ratio.total,
                    missing: &function.missing,
                })
                .collect(),
            too_many: self.too_many.iter().map(|(place, name)| LeftOut::new(name, place)).collect(),
            without_code: self.without_code().map(|(place, name)| LeftOut::new(name, &place)).collect(),
        };
        serde_json::to_writer_pretty(&mut *out, &document)?;
        writeln!(out)
    }
}

/// The shortest paths that did not run, with their lines.
fn shortest_missing(
    unit: &Unit<'_>,
    function: &UnitFunction<'_>,
    followed: &FollowedPaths,
    most: usize,
) -> Vec<MissingPath> {
    let blocks = |path: PrimePath| followed.paths().blocks(path);
    let mut missing: Vec<(usize, PrimePath)> =
        if most == 0 { Vec::new() } else { followed.missing().map(|path| (blocks(path).len(), path)).collect() };
    missing.sort_unstable();
    let writer = Writer::new(unit, function.facts);
    let exit = function.facts.exit();
    let shown = missing.into_iter().take(most).map(|(_, path)| {
        let blocks = blocks(path);
        MissingPath {
            lines: writer.blocks(&blocks, None),
            outcomes: outcomes(function.facts, &blocks),
            is_cycle: blocks.len() > 1 && blocks.first() == blocks.last(),
            returns: blocks.last() == Some(&exit),
            blocks: blocks.into_iter().map(|block| block.0).collect(),
        }
    });
    shown.collect()
}

/// The outcomes of the conditions and switches between these blocks.
fn outcomes(function: &Function, blocks: &[Block]) -> Vec<Outcome> {
    let between = |from: Block, to: Block| {
        let taken = function.edges.iter().filter(|edge| (edge.src, edge.dst) == (from, to));
        let mut taken = taken.filter_map(|edge| match edge.kind {
            EdgeKind::True => Some("T".to_owned()),
            EdgeKind::False => Some("F".to_owned()),
            EdgeKind::Case(value) | EdgeKind::Cases(_, value) => Some(format!("case {value}")),
            EdgeKind::Default => Some("default".to_owned()),
            _ => None,
        });
        let at = function.blocks.get(from)?.lines.last()?.at;
        Some(Outcome { line: at.line, column: at.column, taken: taken.next()? })
    };
    blocks.windows(2).filter_map(|pair| between(pair[0], pair[1])).collect()
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    limit: usize,
    ran: u64,
    total: u64,
    functions: Vec<FunctionDocument<'a>>,
    too_many: Vec<LeftOut<'a>>,
    without_code: Vec<LeftOut<'a>>,
}

#[derive(Serialize)]
struct FunctionDocument<'a> {
    function: &'a str,
    file: &'a str,
    line: u32,
    ran: u64,
    total: u64,
    missing: &'a [MissingPath],
}

#[derive(Serialize)]
struct LeftOut<'a> {
    function: &'a str,
    place: String,
}

impl<'a> LeftOut<'a> {
    fn new(function: &'a str, place: &str) -> Self {
        Self { function, place: place.to_owned() }
    }
}
