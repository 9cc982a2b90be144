//! How a link unit was built.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What counts depend on besides the sources: who compiled them, and by which options. All empty: not known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// The compilers of all modules, as they name themselves: `clang version 22.1.2`, `rustc version 1.95.0`.
    pub compilers: BTreeSet<String>,
    /// The options of the build that were given, as the command line spells them, the level of optimisation (`level`)
    /// and the processor (`cpu`). Of files there is the name without folders.
    pub options: BTreeMap<String, String>,
}

impl Build {
    /// Changes every name and value.
    pub fn for_each_text(&mut self, mut change: impl FnMut(&mut String)) {
        let mut changed = |mut text: String| {
            change(&mut text);
            text
        };
        self.compilers = std::mem::take(&mut self.compilers).into_iter().map(&mut changed).collect();
        let options = std::mem::take(&mut self.options).into_iter();
        self.options = options.map(|(option, value)| (changed(option), changed(value))).collect();
    }
}
