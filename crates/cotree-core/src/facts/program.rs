//! A link unit and its modules.

use super::{Callee, CoveredFunction, Function};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The MD5 sums of files, by their numbers.
pub type Checksums = BTreeMap<u32, BTreeSet<[u8; 16]>>;

/// One link unit: an executable or a shared library, as the linker saw it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramMap {
    /// The base name of the linked file.
    pub name: String,
    /// The target triple.
    pub target: String,
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
