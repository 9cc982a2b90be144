//! A link unit and its modules.

use super::{Build, Callee, CoveredFunction, Function, Position};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The MD5 sums of files, by their numbers.
pub type Checksums = BTreeMap<u32, BTreeSet<[u8; 16]>>;

/// One link unit: an executable or a shared library, as the linker saw it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramMap {
    /// The base name of the linked file.
    pub name: String,
    /// The target triple.
    pub target: String,
    /// How the unit was built.
    pub build: Build,
    /// Source file paths; [`super::Position::file`] points in here.
    pub files: Vec<String>,
    /// Per source file, the MD5 of its text, as the compiler says; of several texts if modules were compiled at
    /// different times. Files are missing of which the compiler says nothing.
    pub checksums: Checksums,
    /// The modules, in link order.
    pub modules: Vec<Module>,
}

impl ProgramMap {
    /// Every function of the unit with its module, in module order: the order of plans and profiles.
    pub fn functions(&self) -> impl Iterator<Item = (&Module, &Function)> {
        self.modules.iter().flat_map(|m| m.functions.iter().map(move |f| (m, f)))
    }

    /// Changes every name and path: of the unit, its modules, sources and functions, of inlined copies and callees.
    pub fn for_each_text(&mut self, mut change: impl FnMut(&mut String)) {
        change(&mut self.name);
        change(&mut self.target);
        self.build.for_each_text(&mut change);
        self.files.iter_mut().for_each(&mut change);
        for module in &mut self.modules {
            change(&mut module.name);
            module.covered.iter_mut().for_each(|covered| change(&mut covered.name));
            for function in &mut module.functions {
                change(&mut function.symbol);
                function.inlined.iter_mut().for_each(|copy| change(&mut copy.symbol));
                for callee in function.calls.callees_mut() {
                    if let Callee::Symbol(symbol) = callee {
                        change(symbol);
                    }
                }
            }
        }
    }

    /// Gives source files new names, in the order of their numbers. Files that get one name become one.
    ///
    /// # Panics
    /// If there are not as many names as files.
    pub fn rename_files(&mut self, names: Vec<String>) {
        assert_eq!(names.len(), self.files.len(), "each file has one name");
        let mut files = Vec::new();
        let mut known: HashMap<String, u32> = HashMap::new();
        let mut number_of = Vec::with_capacity(names.len());
        for name in names {
            let next = u32::try_from(files.len()).unwrap_or(u32::MAX);
            let number = *known.entry(name).or_insert_with_key(|name| {
                files.push(name.clone());
                next
            });
            number_of.push(number);
        }
        let joined = files.len() < number_of.len();
        self.files = files;
        if !joined {
            return;
        }
        for (file, sums) in std::mem::take(&mut self.checksums) {
            if let Some(&number) = number_of.get(file as usize) {
                self.checksums.entry(number).or_default().extend(sums);
            }
        }
        let renumber = |at: &mut Position| {
            if let Some(&number) = number_of.get(at.file as usize) {
                at.file = number;
            }
        };
        for function in self.modules.iter_mut().flat_map(|module| &mut module.functions) {
            function.position.iter_mut().for_each(renumber);
            function.blocks.iter_mut().flat_map(|block| &mut block.lines).for_each(|span| renumber(&mut span.at));
            function.inlined.iter_mut().filter_map(|copy| copy.call.as_mut()).for_each(renumber);
        }
    }
}

/// One bitcode module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Module {
    /// The object file, or `archive(member)`.
    pub name: String,
    /// The functions that the module defines for this link unit.
    pub functions: Vec<Function>,
    /// The functions of the source whose coverage counters stand in these functions.
    pub covered: Vec<CoveredFunction>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_one_name_become_one() {
        let function = |file| Function { position: Some(Position { file, line: 1, column: 0 }), ..Function::default() };
        let functions = [0, 1, 2].map(function).to_vec();
        let sums = |byte| BTreeSet::from([[byte; 16]]);
        let mut map = ProgramMap {
            files: ["a.h", "b.c", "./a.h"].map(str::to_owned).to_vec(),
            checksums: [(0, sums(1)), (1, sums(2)), (2, sums(3))].into(),
            modules: vec![Module { functions, ..Module::default() }],
            ..ProgramMap::default()
        };
        map.rename_files(["/p/a.h", "/p/b.c", "/p/a.h"].map(str::to_owned).to_vec());
        assert_eq!(map.files, ["/p/a.h", "/p/b.c"]);
        assert_eq!(map.checksums, [(0, BTreeSet::from([[1; 16], [3; 16]])), (1, sums(2))].into());
        let files = map.functions().map(|(_, function)| function.position.map(|at| at.file));
        assert_eq!(files.collect::<Vec<_>>(), [Some(0), Some(1), Some(0)]);
    }
}
