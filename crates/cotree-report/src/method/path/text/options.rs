//! What to show of path profiles, and how.

use crate::names::{Names, matches};
use crate::terminal::Style;

/// What makes a path hot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// The instructions that it executed.
    #[default]
    Instructions,
    /// How often it ran.
    Count,
    /// What its executions add up to.
    Metric,
}

/// What to show.
#[derive(Clone, Debug)]
pub struct PathsOptions {
    /// Rows per list; 0: all.
    pub top: usize,
    /// Only functions that match (see [`crate::names::matches`]).
    pub function: Option<String>,
    /// What the hottest paths are.
    pub by: By,
    /// As many paths as it takes to make up so many per cent of the instructions, instead of `top`.
    pub covering: Option<f64>,
    /// Also what edge counts would have predicted.
    pub predicted: bool,
    /// Also items of which only the number is shown otherwise, and long paths whole.
    pub verbose: bool,
    /// How to show names.
    pub names: Names,
    /// The terminal.
    pub style: Style,
}

impl Default for PathsOptions {
    fn default() -> Self {
        Self {
            top: 10,
            function: None,
            by: By::default(),
            covering: None,
            predicted: false,
            verbose: false,
            names: Names::Demangled,
            style: Style::default(),
        }
    }
}

impl PathsOptions {
    /// Is this function wanted?
    #[must_use]
    pub fn wanted(&self, symbol: &str) -> bool {
        self.function.as_ref().is_none_or(|p| matches(p, symbol))
    }

    /// How many of so many rows are shown.
    pub(in crate::method) fn shown(&self, all: usize) -> usize {
        if self.top == 0 { all } else { all.min(self.top) }
    }
}
