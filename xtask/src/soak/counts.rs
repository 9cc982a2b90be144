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
    entries: BTreeMap<String, Count>,
    /// By the callee's symbol.
    calls: BTreeMap<String, Count>,
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
        for call in list(&function["calls"]) {
            let callee = call["callee"].as_str().unwrap_or_default();
            self.calls.entry(callee.into()).or_default().add(call["count"].as_u64().unwrap_or(0), declared);
        }
        for block in list(&function["blocks"]) {
            // A line that a block comes back to ran once all the same.
            let mut lines: BTreeMap<(&str, u64), u64> = BTreeMap::new();
            for line in list(&block["lines"]) {
                let file = line["file"].as_u64().and_then(|file| files.get(usize::try_from(file).ok()?));
                if let (Some(file), Some(line), Some(count)) = (file, line["line"].as_u64(), line["count"].as_u64()) {
                    let most = lines.entry((file, line)).or_default();
                    *most = count.max(*most);
                }
            }
            for ((file, line), count) in lines {
                self.lines.entry((file.into(), line)).or_default().add(count, declared);
            }
        }
    }

    /// Compares all slots; gives how many there are that agree, and what is wrong with the others.
    pub fn compare(&self, program: &Program, tally: &[u64], as_written: bool) -> (usize, Vec<String>) {
        let (mut agree, mut wrong) = (0, Vec::new());
        let mut check = |what: &str, slot: usize, found: Option<&Count>| {
            let expected = tally[slot];
            match found {
                Some(found) if found.declared => {}
                None if expected == 0 => {}
                Some(found) if found.count == expected => agree += 1,
                found => wrong.push(format!(
                    "{what} of {}: the tally says {expected}, the profile {}",
                    program.place(slot),
                    found.map_or("nothing".into(), |found| found.count.to_string())
                )),
            }
        };
        for (slot, Place { file, line, entries_of }) in program.places.iter().enumerate() {
            let of_blocks = !matches!(&*self.method, "calls" | "events" | "events-calls" | "none");
            if of_blocks && as_written {
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
