//! Command lines for tests.

use crate::BuildOptions;
use clap::Parser;

/// A command line that has build options and nothing else.
#[derive(Parser)]
pub(crate) struct Line {
    #[command(flatten)]
    pub(crate) options: BuildOptions,
}

/// The options of a command line of these words.
pub(crate) fn read<'a>(words: impl IntoIterator<Item = &'a str>) -> BuildOptions {
    Line::parse_from(std::iter::once("x").chain(words)).options
}
