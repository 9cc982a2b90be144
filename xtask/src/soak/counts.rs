//! The counts of profiles, held against the tally that the program kept.

use super::program::{Place, Program};
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// A number of a profile.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    count: u64,
    /// The profile says that it is not vouched for.
    declared: bool,
}

impl Count {
    fn add(&mut self, count: u64, declared: bool) {
        self.count += count;
        self.declared |= declared;
    }
}

/// What the profiles of one run say, added up.
#[derive(Default)]
pub struct Counts {
    method: String,
    lines: BTreeMap<(String, u64), Count>,
    /// Lines of functions; true: some function there is not vouched for.
    declared: BTreeMap<(String, u64), bool>,
    entries: BTreeMap<String, Count>,
    /// By the callee's symbol.
    calls: BTreeMap<String, Count>,
    /// Instructions, by symbol.
    instructions: BTreeMap<String, Count>,
    /// Instructions that a program counted with no more than one counter.
    total: Option<u64>,
    /// Names by symbols.
    names: BTreeMap<String, String>,
    /// Functions with flaws, and what these are.
    pub flaws: BTreeMap<String, String>,
}

impl Counts {
    /// Adds what `cotree export --format json` wrote.
    pub fn add(&mut self, json: &[u8]) -> Result<()> {
        let json: Value = serde_json::from_slice(json).context("the JSON export can't be read")?;
        for unit in list(&json["units"]) {
            self.method = unit["method"].as_str().unwrap_or_default().into();
            let files: Vec<&str> = list(&unit["files"]).filter_map(Value::as_str).map(base).collect();
            if let Some(total) = unit["events"].as_object() {
                let instructions = total.get("instructions").and_then(Value::as_u64).unwrap_or(0);
                *self.total.get_or_insert(0) += instructions;
            }
            for function in list(&unit["functions"]) {
                let text = |field: &str| function[field].as_str().unwrap_or_default();
                self.names.insert(text("symbol").into(), source_name(text("name")).into());
                self.add_function(function, &files);
            }
        }
        Ok(())
    }

    fn add_function(&mut self, function: &Value, files: &[&str]) {
        let flaws: Vec<&str> = list(&function["flaws"]).filter_map(Value::as_str).collect();
        let declared = !flaws.is_empty() || function.get("not_instrumented").is_some();
        let name = source_name(function["name"].as_str().unwrap_or_default());
        if !flaws.is_empty() {
            self.flaws.insert(name.into(), flaws.join(", "));
        }
        let entries = function["entries"].as_u64().or_else(|| function["events"]["entries"].as_u64());
        self.entries.entry(name.into()).or_default().add(entries.unwrap_or(0), declared);
        let events = function["events"].get("exclusive").unwrap_or(&function["events"]);
        let instructions = events["instructions"].as_u64().unwrap_or(0);
        let symbol = function["symbol"].as_str().unwrap_or_default();
        self.instructions.entry(symbol.into()).or_default().add(instructions, declared);
        for call in list(&function["calls"]) {
            let callee = call["callee"].as_str().unwrap_or_default();
            self.calls.entry(callee.into()).or_default().add(call["count"].as_u64().unwrap_or(0), declared);
        }
        for block in list(&function["blocks"]) {
            for line in list(&block["lines"]) {
                let file = line["file"].as_u64().and_then(|file| files.get(usize::try_from(file).ok()?));
                if let (Some(file), Some(line)) = (file, line["line"].as_u64()) {
                    *self.declared.entry(((*file).into(), line)).or_default() |= declared;
                }
            }
        }
    }

    /// The method counts lines.
    pub fn has_lines(&self) -> bool {
        !matches!(&*self.method, "calls" | "events" | "events-calls" | "none")
    }

    /// Adds what `cotree export --format lcov` wrote of the profile that was added last.
    pub fn add_lines(&mut self, lcov: &str) {
        let mut file = "";
        for record in lcov.lines() {
            if let Some(path) = record.strip_prefix("SF:") {
                file = base(path);
            } else if let Some((line, count)) = record.strip_prefix("DA:").and_then(|record| record.split_once(','))
                && let (Ok(line), Ok(count)) = (line.parse(), count.parse())
            {
                let at = (file.to_owned(), line);
                let declared = self.declared.get(&at).copied().unwrap_or(false);
                self.lines.entry(at).or_default().add(count, declared);
            }
        }
    }

    /// Compares all slots; gives how many there are that agree, and what is wrong with the others.
    pub fn compare(&self, program: &Program, tally: &[u64], merges_lines: bool) -> (usize, Vec<String>) {
        let (mut agree, mut wrong) = (0, Vec::new());
        // Each signal that ends something may have come between the count of an entry and its tally.
        let handles = |place: &Place| {
            place.interrupted && place.entries_of.as_ref().is_some_and(|name| name.starts_with("handler"))
        };
        let signals: u64 = program.places.iter().zip(tally).filter(|at| handles(at.0)).map(|at| at.1).sum();
        let mut check = |what: &str, slot: usize, found: Option<&Count>| {
            let expected = tally[slot];
            match found {
                Some(found) if found.declared => {}
                None if expected == 0 || (what == "executions" && merges_lines) => {}
                Some(found) if found.count == expected => agree += 1,
                Some(found) if program.places[slot].runs_on && found.count < expected => {}
                Some(found) if what == "calls" && found.count > expected && found.count - expected <= signals => {}
                found => wrong.push(format!(
                    "{what} of {}: the tally says {expected}, the profile {}",
                    program.place(slot),
                    found.map_or("nothing".into(), |found| found.count.to_string())
                )),
            }
        };
        for (slot, Place { file, line, entries_of, .. }) in program.places.iter().enumerate() {
            let of_blocks = self.has_lines();
            if of_blocks {
                check("executions", slot, self.lines.get(&((*file).to_owned(), *line as u64)));
            }
            let Some(function) = entries_of else { continue };
            if of_blocks || self.method == "events-calls" {
                check("entries", slot, self.entries.get(function));
            } else if self.method == "calls" && function.starts_with('m') {
                let symbol = |(symbol, name): (&'_ String, &String)| (name == function).then(|| symbol.clone());
                let symbol = self.names.iter().find_map(symbol);
                check("calls", slot, symbol.and_then(|symbol| self.calls.get(&symbol)));
            }
        }
        (agree, wrong)
    }
}

impl Counts {
    /// Compares counts of events with those that follow from a profile of edges of the same program.
    pub fn compare_events(&self, edges: &Counts) -> (usize, Vec<String>) {
        let is_declared = |counts: &Counts| counts.instructions.values().any(|count| count.declared);
        let (mut agree, mut wrong) = (0, Vec::new());
        let mut check = |what: &str, found: u64, expected: u64| {
            if found == expected {
                agree += 1;
            } else {
                wrong.push(format!("instructions of {what}: by edges {expected}, the profile {found}"));
            }
        };
        if let Some(total) = self.total.filter(|_| !is_declared(self) && !is_declared(edges)) {
            check("all", total, edges.instructions.values().map(|count| count.count).sum());
        }
        if self.method == "events-calls" {
            for (symbol, found) in &self.instructions {
                let expected = edges.instructions.get(symbol).copied().unwrap_or_default();
                if !found.declared && !expected.declared {
                    check(symbol, found.count, expected.count);
                }
            }
        }
        (agree, wrong)
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The name without the types of its parameters.
fn source_name(name: &str) -> &str {
    name.split('(').next().unwrap_or(name)
}

fn base(path: &str) -> &str {
    Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or(path)
}
