//! What is common to all formats: what they are made of, and what may be asked of them.

use crate::costs::Costs;
use crate::costs::contexts::Contexts;
use crate::files::FilePattern;
use crate::names::Names;
use crate::source::Sources;
use crate::unit::Unit;
use cotree_core::facts::events::EventKind;
use std::io::{self, Write};
use thiserror::Error;

/// A format that profiles are exported in. Each stands in a file of its own, and in the list [`super::FORMATS`].
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// The name on the command line.
    pub name: &'static str,
    /// A sentence for the help.
    pub summary: &'static str,
    /// What the profile must have.
    pub needs: Needs,
    /// Whether anything in it speaks of source lines.
    pub has_lines: bool,
    /// Whether it can hold any name as it is. Else control characters in names are made visible ([`crate::visible`]).
    pub escapes: bool,
    /// Writes it; gives remarks for the user.
    pub write: Writer,
}

/// What writes a format.
pub type Writer = fn(&Export<'_>, &mut dyn Write) -> Result<Vec<String>, ExportError>;

/// What a profile must have for a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing: any profile will do.
    Nothing,
    /// Counts of blocks.
    Blocks,
    /// Counts of blocks, or a trace, from which costs follow.
    Costs,
}

/// What may be asked of formats.
#[derive(Clone, Debug)]
pub struct ExportOptions {
    /// How names of functions are shown: those of costs,
    pub names: Names,
    /// and those of tracefiles.
    pub names_in_tracefiles: Names,
    /// The kinds of events; empty for what is usual in the format.
    pub kinds: Vec<EventKind>,
    /// The test name of a tracefile; may be empty.
    pub test_name: String,
    /// Only these source files.
    pub file: Option<FilePattern>,
    /// Also files whose sources are not there.
    pub absent: bool,
    /// Also the branches that only an exception takes.
    pub exceptions: bool,
    /// Also the checks of the compiler's own ([`crate::checks`]).
    pub checks: bool,
    /// Leave out what markers in the sources exclude ([`crate::exclusions`]).
    pub markers: bool,
    /// Write the last lines of functions, too, for lcov 2 alone.
    pub function_ends: bool,
    /// The folder that relative paths of sources start in, if it is known.
    pub folder: Option<String>,
}

/// What is exported.
pub struct Export<'a> {
    /// The link units.
    pub units: &'a [Unit<'a>],
    /// What they have cost, if the format needs that.
    pub costs: Option<&'a Costs<'a>>,
    /// The sources.
    pub sources: &'a dyn Sources,
    /// What is asked for.
    pub options: &'a ExportOptions,
}

/// Why nothing is exported.
#[derive(Debug, Error)]
pub enum ExportError {
    /// The profile does not have what the format holds.
    #[error("{0}")]
    Nothing(String),
    /// The output can't be written.
    #[error(transparent)]
    Write(#[from] io::Error),
}

impl<'a> Export<'a> {
    /// The costs, which are there for formats that need them.
    pub(super) fn costs(&self) -> Result<&'a Costs<'a>, ExportError> {
        let costs = self.costs.ok_or_else(|| ExportError::Nothing("the costs of this profile are not known".into()))?;
        match self.options.kinds.iter().find_map(|&kind| costs.why_unknown(kind)) {
            Some(why) => Err(ExportError::Nothing(why)),
            None => Ok(costs),
        }
    }

    /// The costs, and the stacks in which they arose.
    pub(super) fn stacks(&self) -> Result<(&'a Costs<'a>, Contexts), ExportError> {
        let costs = self.costs()?;
        Ok((costs, Contexts::new(costs, self.options.names)))
    }

    /// The kinds of events; all if none is named.
    pub(super) fn kinds(&self) -> Vec<EventKind> {
        let all = || self.costs.map_or(&EventKind::ALL[..], |costs| &costs.kinds).to_vec();
        if self.options.kinds.is_empty() { all() } else { self.options.kinds.clone() }
    }

    /// The only kind of events of formats that hold one; if none is named, instructions where they are known.
    pub(super) fn kind(&self) -> Result<EventKind, ExportError> {
        match self.options.kinds[..] {
            [] => {
                let known = self.costs.map_or(&EventKind::ALL[..], |costs| &costs.kinds);
                let usual = known.contains(&EventKind::Instructions).then_some(EventKind::Instructions);
                Ok(usual.or(known.first().copied()).unwrap_or(EventKind::Instructions))
            }
            [kind] => Ok(kind),
            _ => Err(ExportError::Nothing("this format holds events of one kind: name one with --event".into())),
        }
    }
}
