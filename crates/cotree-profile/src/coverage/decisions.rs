//! The section that cotree writes beside the compiler's map: decisions of Rust, and outcomes of those of C and C++
//! (docs/formats.md, "Decisions").

use super::error::CoverageFault;
use super::function::SourceFile;
use super::names::name_hash;
use super::outcomes::Outcomes;
use super::place::Place;
use cotree_core::decision::{Decision, Next};
use std::collections::{BTreeSet, HashMap};

/// The section of the executable.
pub const DECISIONS: &str = "__cotree_decisions";

/// A decision of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceDecision {
    /// The file that the decision is in.
    pub file: SourceFile,
    /// Where the decision begins.
    pub start: Place,
    /// Where it ends: behind its last character.
    pub end: Place,
    /// The conditions, in the order of the text.
    pub conditions: Vec<SourceCondition>,
    /// What follows each condition.
    pub graph: Decision,
    /// The name by which its counters are known: how often each condition was false and true.
    pub name: String,
    /// A hash of the places of its conditions.
    pub hash: u64,
}

/// A condition of a decision of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceCondition {
    /// Where the condition begins.
    pub start: Place,
    /// Where it ends: behind its last character.
    pub end: Place,
}

/// A decision that was not followed, in some code at least.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NotFollowed {
    /// The file.
    pub file: SourceFile,
    /// Where the decision begins. `None`: all decisions of the file.
    pub start: Option<Place>,
    /// The reason, in a word that the formats list.
    pub reason: String,
}

/// The name of a decision's counters.
#[must_use]
pub fn decision_name(path: &str, (line, column): (u32, u32)) -> String {
    format!("decision\t{path}\t{line}:{column}")
}

/// The hash of a decision's line in the section.
#[must_use]
pub fn decision_hash(line: &str) -> u64 {
    name_hash(line)
}

/// The MD5 of a text.
#[must_use]
pub fn md5(text: &[u8]) -> [u8; 16] {
    md5::compute(text).0
}

/// What the section says.
pub(super) struct Section {
    /// Decisions of Rust.
    pub(super) decisions: Vec<SourceDecision>,
    /// Decisions of Rust that were not followed.
    pub(super) not_followed: Vec<NotFollowed>,
    /// What clang's map lacks.
    pub(super) outcomes: Outcomes,
}

/// Reads the section. The files of Rust's decisions are added to those of the map.
pub(super) fn read(section: &[u8], names: &mut Vec<String>) -> Result<Section, CoverageFault> {
    let mut files: HashMap<String, SourceFile> =
        (0..).map(SourceFile).zip(&*names).map(|(file, name)| (name.clone(), file)).collect();
    let mut decisions = Vec::new();
    let mut file_of = |path: &str, names: &mut Vec<String>| {
        *files.entry(path.to_owned()).or_insert_with(|| {
            names.push(path.to_owned());
            SourceFile(u32::try_from(names.len() - 1).unwrap_or(u32::MAX))
        })
    };
    let text = String::from_utf8_lossy(section);
    let mut file: Option<(SourceFile, String)> = None;
    let mut failures = BTreeSet::new();
    let mut outcomes = Outcomes::default();
    // A linker may put zeros between parts.
    for line in text.lines().map(|line| line.trim_start_matches('\0')).filter(|line| !line.is_empty()) {
        let faulty = || CoverageFault::Invalid("a line of the section __cotree_decisions makes no sense");
        let (what, rest) = line.split_once('\t').ok_or_else(faulty)?;
        match what {
            "F" => {
                let path = unescaped(rest);
                file = Some((file_of(&path, names), path));
            }
            "D" => {
                let (file, path) = file.as_ref().ok_or_else(faulty)?;
                decisions.push(decision(line, *file, path).ok_or_else(faulty)?);
            }
            "M" => {
                let (file, _) = file.as_ref().ok_or_else(faulty)?;
                let start = Some(place(rest).ok_or_else(faulty)?);
                failures.insert(NotFollowed { file: *file, start, reason: "macro".into() });
            }
            "N" => {
                let mut parts = rest.split('\t');
                let path = unescaped(parts.next().ok_or_else(faulty)?);
                let start = place(parts.next().ok_or_else(faulty)?).ok_or_else(faulty)?;
                let reason = parts.next().ok_or_else(faulty)?.to_owned();
                let file = file_of(&path, names);
                failures.insert(NotFollowed { file, start: Some(start).filter(|at| at.line > 0), reason });
            }
            "C" => {}
            "O" => outcomes.add(rest).ok_or_else(faulty)?,
            _ => return Err(faulty()),
        }
    }
    Ok(Section { decisions, not_followed: failures.into_iter().collect(), outcomes })
}

fn decision(line: &str, file: SourceFile, path: &str) -> Option<SourceDecision> {
    let mut parts = line.split('\t').skip(1);
    let (start, end) = span(parts.next()?)?;
    let (mut conditions, mut graph) = (Vec::new(), Vec::new());
    for part in parts {
        let mut words = part.split(' ');
        let (start, end) = span(words.next()?)?;
        conditions.push(SourceCondition { start, end });
        let mut next = || match words.next()? {
            "t" => Some(Next::Made(true)),
            "f" => Some(Next::Made(false)),
            number => number.parse().ok().map(Next::Condition),
        };
        graph.push([next()?, next()?]);
    }
    let graph = Decision::new(graph).ok()?;
    let name = decision_name(path, (start.line, start.column));
    Some(SourceDecision { file, start, end, conditions, graph, name, hash: decision_hash(line) })
}

fn span(text: &str) -> Option<(Place, Place)> {
    let (start, end) = text.split_once('-')?;
    Some((place(start)?, place(end)?))
}

fn place(text: &str) -> Option<Place> {
    let (line, column) = text.split_once(':')?;
    Some(Place { line: line.parse().ok()?, column: column.parse().ok()? })
}

fn unescaped(path: &str) -> String {
    let mut out = String::new();
    let mut rest = path.chars();
    while let Some(sign) = rest.next() {
        match (sign, sign == '\\') {
            (_, true) => match rest.next() {
                Some('t') => out.push('\t'),
                Some('n') => out.push('\n'),
                Some(other) => out.push(other),
                None => {}
            },
            (sign, false) => out.push(sign),
        }
    }
    out
}
