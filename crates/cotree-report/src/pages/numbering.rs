//! Numbers of functions and files: all units' together.

use crate::functions::{FunctionSummary, summarize};
use crate::unit::Unit;
use cotree_core::facts::Position;
use cotree_core::ids::FunctionId;
use std::collections::HashMap;

/// A function of the source, in one unit.
pub(super) struct Function {
    /// The unit of the function.
    pub unit: usize,
    /// What is known of all of the function's bodies and copies together.
    pub summary: FunctionSummary,
}

/// The numbers.
pub(super) struct Numbering<'p> {
    /// Functions, by number.
    pub functions: Vec<Function>,
    /// Paths of files, by number.
    pub files: Vec<&'p str>,
    /// By unit and body.
    of_bodies: HashMap<(usize, FunctionId), usize>,
    of_files: HashMap<&'p str, usize>,
    units: &'p [Unit<'p>],
}

impl<'p> Numbering<'p> {
    pub(super) fn new(units: &'p [Unit<'p>]) -> Self {
        let mut numbering = Self {
            functions: Vec::new(),
            files: Vec::new(),
            of_bodies: HashMap::new(),
            of_files: HashMap::new(),
            units,
        };
        for (number, unit) in units.iter().enumerate() {
            for path in &unit.map.program.files {
                let next = numbering.files.len();
                if *numbering.of_files.entry(path.as_str()).or_insert(next) == next {
                    numbering.files.push(path);
                }
            }
            for summary in summarize(unit) {
                let function = numbering.functions.len();
                numbering.of_bodies.extend(summary.bodies.iter().map(|&body| ((number, body), function)));
                numbering.functions.push(Function { unit: number, summary });
            }
        }
        numbering
    }

    /// The number of the function that a body belongs to.
    pub(super) fn of_body(&self, unit: usize, body: FunctionId) -> Option<usize> {
        self.of_bodies.get(&(unit, body)).copied()
    }

    /// The number of a file.
    pub(super) fn of_path(&self, path: &str) -> Option<usize> {
        self.of_files.get(path).copied()
    }

    /// A place as the page has it: the number of the file, and the line.
    pub(super) fn place(&self, unit: usize, at: Option<Position>) -> Option<(usize, u32)> {
        let at = at?;
        Some((self.of_path(self.units[unit].file(at.file))?, at.line))
    }
}
