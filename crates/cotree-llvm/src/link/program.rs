//! The program map of a unit, joined from the facts of its modules.

use super::prepared::Prepared;
use crate::options::LinkOptions;
use cotree_core::facts::{Build, Checksums, Doubt, Function, ProgramMap, Untouched};
use cotree_core::method::Method;
use std::collections::HashMap;

/// Joins the modules' facts. Source files are numbered over the unit. Code that changes stacks concerns the whole unit,
/// whether it is in a module or in native objects.
pub(super) fn program_map(
    name: String,
    method: Method,
    modules: &mut [Prepared],
    natives_switch_stacks: bool,
) -> ProgramMap {
    let mut files = FileNumbers::default();
    let mut facts = Vec::new();
    let mut checksums = Checksums::new();
    let switches_stacks = natives_switch_stacks || modules.iter().any(|p| p.extracted.switches_stacks);
    for Prepared { extracted, .. } in modules.iter_mut() {
        let numbers: Vec<u32> = extracted.files.iter().map(|path| files.number(path)).collect();
        for (&file, sums) in &extracted.checksums {
            checksums.entry(numbers[file as usize]).or_default().extend(sums.iter().copied());
        }
        for function in &mut extracted.facts.functions {
            renumber_files(function, &numbers);
            if switches_stacks && !function.doubts.contains(&Doubt::SwitchesStacks) {
                function.doubts.push(Doubt::SwitchesStacks);
            }
            if method.is_none() && function.untouched.is_none() {
                function.untouched = Some(Untouched::NotAsked);
            }
        }
        facts.push(extracted.facts.clone());
    }
    let target = modules.first().map(|p| p.module.triple()).unwrap_or_default();
    ProgramMap { name, target, build: Build::default(), files: files.paths, checksums, modules: facts }
}

/// How the unit is built.
pub(super) fn build(options: &LinkOptions, modules: &[Prepared]) -> Build {
    Build {
        compilers: modules.iter().flat_map(|prepared| prepared.module.compilers()).collect(),
        options: options.described(),
    }
}

/// The unit's source files.
#[derive(Default)]
struct FileNumbers {
    paths: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl FileNumbers {
    fn number(&mut self, path: &str) -> u32 {
        if let Some(&number) = self.numbers.get(path) {
            return number;
        }
        let number = u32::try_from(self.paths.len()).unwrap_or(u32::MAX);
        self.paths.push(path.to_owned());
        self.numbers.insert(path.to_owned(), number);
        number
    }
}

/// Replaces a module's file numbers by the unit's.
fn renumber_files(function: &mut Function, numbers: &[u32]) {
    let positions = function
        .position
        .iter_mut()
        .chain(function.inlined.iter_mut().filter_map(|i| i.call.as_mut()))
        .chain(function.blocks.iter_mut().flat_map(|b| &mut b.lines).map(|l| &mut l.at));
    for position in positions {
        position.file = numbers[position.file as usize];
    }
}
