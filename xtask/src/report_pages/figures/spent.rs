//! What lines have cost, from `cotree export --format callgrind`.
//!
//! The format has no place for costs without a line: they stand at the line where their function begins.

use crate::command;
use crate::real::Context;
use anyhow::{Context as _, Result};
use std::collections::HashMap;
use std::path::Path;

/// Instructions by path and line.
pub type Spent = HashMap<(String, u32), u128>;

/// Reads the export of a profile.
pub fn of(profile: &Path, context: &Context) -> Result<Spent> {
    let text = command::text(context.cotree().args(["export", "--format", "callgrind"]).arg(profile))?;
    let mut spent = Spent::default();
    let mut names: HashMap<String, String> = HashMap::new();
    let (mut column, mut file) = (0, String::new());
    let mut skips = false;
    for line in text.lines() {
        if let Some(list) = line.strip_prefix("events: ") {
            column = list.split(' ').position(|name| name == "instructions").context("no instructions")?;
        } else if let Some((key, value)) = line.split_once('=') {
            match key {
                "fl" | "fi" | "fe" => file = named(&mut names, value),
                "cfi" | "jfi" => drop(named(&mut names, value)),
                // What follows is the inclusive cost of the calls, or the line of the jumps.
                "calls" | "jcnd" | "jump" => skips = true,
                _ => {}
            }
        } else if line.starts_with(|c: char| c.is_ascii_digit()) {
            if std::mem::take(&mut skips) {
                continue;
            }
            let mut numbers = line.split(' ');
            let number: u32 = numbers.next().unwrap_or_default().parse()?;
            if let Some(amount) = numbers.nth(column) {
                *spent.entry((file.clone(), number)).or_default() += amount.parse::<u128>()?;
            }
        }
    }
    Ok(spent)
}

/// The name that `(number) name` gives to a number, or `(number)` refers to.
fn named(names: &mut HashMap<String, String>, value: &str) -> String {
    match value.split_once(' ') {
        Some((number, name)) => {
            names.insert(number.to_owned(), name.to_owned());
            name.to_owned()
        }
        None => names.get(value).cloned().unwrap_or_default(),
    }
}
