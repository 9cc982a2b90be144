//! Which outcomes of conditions make a decision of clang's map true: what the map does not say (docs/formats.md,
//! "Decisions").
//!
//! The map tells that an outcome of a condition makes the decision, and readers take the condition's outcome for the
//! decision's. Where a part of several conditions is negated, it may be the opposite one. cotree reads it off the code
//! and writes it beside the map.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

/// The decisions of a map whose outcomes are not always those of their last conditions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// By hash of the function's name, its structural hash and the number of the decision's first vector.
    decisions: HashMap<(u64, u64, u32), Known>,
}

/// What is known of a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Known {
    /// Vectors of which the decision's outcome is the opposite of the last condition's, and so is that of all vectors
    /// that end like them.
    Opposite(BTreeSet<u32>),
    /// The code has not told.
    Nothing,
}

/// The line of a decision in the section: the function's name and structural hash, the number of the first vector, and
/// vectors that have the opposite outcome of their last condition. `None`: they are not known.
#[must_use]
pub fn outcomes_line(name: &str, structural_hash: u64, first: u32, opposite: Option<&BTreeSet<u32>>) -> String {
    let mut line = format!("O\t{:016x}\t{structural_hash:016x}\t{first}", super::name_hash(name));
    match opposite {
        Some(numbers) => {
            for number in numbers {
                let _ = write!(line, "\t{number}");
            }
        }
        None => line.push_str("\t?"),
    }
    line.push('\n');
    line
}

impl Outcomes {
    /// Vectors, counted from the first of the decision, whose outcome is the opposite of that of their last condition.
    /// `None`: which they are is not known.
    #[must_use]
    pub fn opposite(&self, name_hash: u64, structural_hash: u64, first: u32) -> Option<&BTreeSet<u32>> {
        static NONE: BTreeSet<u32> = BTreeSet::new();
        match self.decisions.get(&(name_hash, structural_hash, first)) {
            Some(Known::Opposite(numbers)) => Some(numbers),
            Some(Known::Nothing) => None,
            None => Some(&NONE),
        }
    }

    /// Takes the parts of a line behind its `O`.
    pub(super) fn add(&mut self, parts: &str) -> Option<()> {
        let mut parts = parts.split('\t');
        let mut hash = || u64::from_str_radix(parts.next()?, 16).ok();
        let key = (hash()?, hash()?);
        let first = parts.next()?.parse().ok()?;
        let rest: Vec<&str> = parts.collect();
        let known = match rest.as_slice() {
            ["?"] => Known::Nothing,
            numbers => Known::Opposite(numbers.iter().map(|number| number.parse()).collect::<Result<_, _>>().ok()?),
        };
        let key = (key.0, key.1, first);
        // Copies of a function that differ in what they tell should not be: then nothing is known.
        match self.decisions.get(&key) {
            Some(before) if *before != known => self.decisions.insert(key, Known::Nothing),
            _ => self.decisions.insert(key, known),
        };
        Some(())
    }
}
