//! `cotree annotate`: shows source lines with their counts.

use super::edited;
use super::input::{Input, Reader, file_pattern, means_a_function, no_such_function};
use super::output::{Looks, Output};
use super::sources::{FileSources, SourceArgs};
use clap::Args;
use cotree_report::annotate;
use cotree_report::files::{FilePattern, no_lines};
use miette::{Result, miette};

/// Arguments of `cotree annotate`.
#[derive(Args, Debug)]
pub struct AnnotateArgs {
    #[command(flatten)]
    input: Input,
    /// Only this source file (parser.c, src/parser.c), those in this folder, or those that match a pattern
    /// ('*/src/*.h')
    #[arg(long, value_name = "FILE", value_parser = file_pattern)]
    file: Option<FilePattern>,
    /// Only lines of functions whose symbol or name contains PATTERN (`=NAME`: is exactly NAME)
    #[arg(short, long, value_name = "PATTERN")]
    function: Option<String>,
    /// Leave out the outcomes of branches
    #[arg(long)]
    no_branches: bool,
    /// Also show how often calls threw
    #[arg(long)]
    exceptions: bool,
    /// Leave out branches of checks that the compiler adds: those of Rust for overflow, bounds, divisors and pointers
    #[arg(long)]
    no_checks: bool,
    #[command(flatten)]
    sources: SourceArgs,
    #[command(flatten)]
    looks: Looks,
    #[command(flatten)]
    output: Output,
}

/// Runs `cotree annotate`.
pub fn run(args: &AnnotateArgs) -> Result<()> {
    let loaded = args.input.load_with(Reader::Person, &args.sources)?;
    let options = annotate::AnnotateOptions {
        file: args.file.clone(),
        function: args.function.clone(),
        branches: !args.no_branches,
        exceptions: args.exceptions,
        checks: !args.no_checks,
        style: args.looks.style(&args.output),
    };
    let sources = FileSources::default();
    let units = loaded.units_with_blocks()?;
    if let Some(pattern) = args.function.as_ref().filter(|pattern| !means_a_function(&units, pattern)) {
        return Err(no_such_function(&units, pattern));
    }
    edited::note(loaded.binaries(), args.file.as_ref());
    let mut files = 0;
    args.output.write_text(|out| {
        files = annotate::write(&units, &sources, &options, out)?;
        Ok(())
    })?;
    if files > 0 { Ok(()) } else { Err(miette!("{}", no_lines(&units, args.file.as_ref()))) }
}
