//! A unit and how its paths are written.

use super::options::PathsOptions;
use crate::method::path::route::{Writer, along};
use crate::method::path::totals::What;
use crate::method::path::{PathFunction, PathUnit, Paths};
use cotree_core::ids::{Block, Site};
use cotree_core::method::path::Path;

/// A unit and how to show it.
pub(super) struct View<'a> {
    pub(super) unit: &'a PathUnit<'a>,
    pub(super) options: &'a PathsOptions,
}

impl View<'_> {
    /// The functions that are wanted.
    pub(super) fn wanted(&self) -> impl Iterator<Item = &PathFunction<'_>> {
        self.unit.functions().iter().filter(|of| self.options.wanted(&of.function.facts.symbol))
    }

    /// The name of a function, as it is shown.
    pub(super) fn name(&self, of: &PathFunction<'_>) -> String {
        self.options.names.show(&of.function.facts.symbol)
    }

    /// What writes lines of a function.
    pub(super) fn writer<'b>(&'b self, of: &PathFunction<'b>) -> Writer<'b> {
        Writer::new(self.unit.unit, of.function.facts)
    }

    /// The function, the path's number, and its lines.
    pub(super) fn described(&self, paths: &Paths<'_>, what: &What) -> String {
        let name = self.name(&paths.of);
        let Some(path) = what.path(paths) else { return name };
        let route = self.route(paths, &path, None);
        match what {
            What::Path(number, _) => format!("{name} #{number}: {route}"),
            What::SelfLoop(_) => format!("{name}: {route}"),
        }
    }

    /// The lines of a path, after those of its context.
    pub(super) fn route(&self, paths: &Paths<'_>, path: &Path, until: Option<Site>) -> String {
        let writer = self.writer(&paths.of);
        let mut file = None;
        let mut write = |blocks: &[Block], until: Option<Site>| {
            writer.write_on(&along(paths.of.function.facts, blocks, until), &mut file)
        };
        if path.turns.is_empty() {
            return write(&path.blocks, until);
        }
        let context = paths.context(path);
        let mut words: Vec<String> = Vec::new();
        let mut rest = &context[..];
        while !rest.is_empty() {
            // A loop's later turn begins with its header.
            let next = 1 + rest[1..].iter().take_while(|block| !path.turns.contains(block)).count();
            let again = if path.turns.contains(&rest[0]) { "↻ " } else { "" };
            words.push(format!("{again}{}", write(&rest[..next], None)));
            rest = &rest[next..];
        }
        format!("({}) ↻ {}", words.join(" "), write(&path.blocks, until))
    }
}
