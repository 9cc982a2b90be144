//! What is read of a module.

use super::call_queries::CallQueriesOfModule;
use super::handles::Handles;
use cotree_core::facts::hints::Hints;
use cotree_core::facts::{self, Checksums, Function};
use cotree_core::place::affine::AffineVariable;
use std::collections::HashSet;

/// A module's facts with handles to the IR that they describe.
pub struct Extracted {
    /// The facts; file numbers are local to `files`.
    pub facts: facts::Module,
    /// Source files of this module.
    pub files: Vec<String>,
    /// The checksums of their texts.
    pub checksums: Checksums,
    /// One per function of `facts`, in the same order.
    pub(crate) handles: Vec<Handles>,
    /// Loop variables that could count, per function: none unless they were looked for ([`super::affine::find`]).
    pub affine: Vec<Vec<AffineVariable>>,
    /// What the code says about branches, per function.
    pub hints: Vec<Hints>,
    /// The module refers to a function that installs signal handlers.
    pub(crate) installs_handlers: bool,
    /// The calls of the module that ask what other calls have led to.
    pub(crate) call_queries: CallQueriesOfModule,
    /// The module asks for events while the program runs.
    pub(crate) queries_events: bool,
    /// The module changes stacks, or refers to a function that does.
    pub(crate) switches_stacks: bool,
    /// The module has a use of its own for the segment register GS.
    pub(crate) uses_segment: bool,
    /// Functions of other modules whose address this one takes.
    pub(crate) taken_elsewhere: HashSet<String>,
    /// Words of assembly, which may be names of functions that it calls.
    pub(crate) named_in_assembly: HashSet<String>,
}

impl Extracted {
    /// Replaces the facts by those of the same module before an optimisation that has left blocks, edges and calls as
    /// they were.
    ///
    /// # Errors
    /// The symbol of a function that has others since.
    pub(crate) fn take_facts_of(&mut self, before: Self) -> Result<(), String> {
        let (now, then) = (&self.facts.functions, &before.facts.functions);
        let same = |now: &Function, then: &Function| {
            let mut calls = now.calls.iter().zip(&then.calls);
            now.symbol == then.symbol
                && now.blocks.len() == then.blocks.len()
                && now.edges == then.edges
                && now.calls.len() == then.calls.len()
                && calls
                    .all(|(now, then)| (now.block, now.is_site, now.probe) == (then.block, then.is_site, then.probe))
        };
        if let Some((_, then)) = now.iter().zip(then).find(|(now, then)| !same(now, then)) {
            return Err(then.symbol.clone());
        }
        let Self { handles, affine, .. } = std::mem::replace(self, before);
        (self.handles, self.affine) = (handles, affine);
        Ok(())
    }
}
