//! What a report shows, and how.

use crate::names::Names;
use crate::terminal::Style;

/// What the list of functions is sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortBy {
    /// Instructions executed.
    #[default]
    Instructions,
    /// Entries, inlined ones included.
    Entries,
    /// Block executions.
    Blocks,
    /// Source name.
    Name,
}

/// What to show.
#[derive(Clone, Debug)]
pub struct ReportOptions {
    /// Rows per list; 0: all.
    pub top: usize,
    /// Only functions that match (see [`crate::names::matches`]).
    pub function: Option<String>,
    /// The order of functions.
    pub sort: SortBy,
    /// Also list items of which only the number is shown otherwise.
    pub verbose: bool,
    /// How to show names.
    pub names: Names,
    /// The terminal.
    pub style: Style,
}

impl Default for ReportOptions {
    fn default() -> Self {
        Self {
            top: 20,
            function: None,
            sort: SortBy::default(),
            verbose: false,
            names: Names::Demangled,
            style: Style::default(),
        }
    }
}
