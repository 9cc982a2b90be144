//! `cotree annotate`: source lines with their counts.

use super::input::{Input, SourceArgs};
use super::output::{Looks, Output};
use clap::Args;
use cotree_report::annotate;
use miette::{Result, miette};

/// Arguments of `cotree annotate`.
#[derive(Args, Debug)]
pub struct AnnotateArgs {
    #[command(flatten)]
    input: Input,
    /// Only source files whose path contains this
    #[arg(long, value_name = "PART")]
    file: Option<String>,
    /// Only lines of functions whose symbol or name contains this (`=NAME`: is this)
    #[arg(short, long, value_name = "PATTERN")]
    function: Option<String>,
    /// Leave out the outcomes of branches
    #[arg(long)]
    no_branches: bool,
    /// Also show how often calls threw
    #[arg(long)]
    exceptions: bool,
    #[command(flatten)]
    sources: SourceArgs,
    #[command(flatten)]
    looks: Looks,
    #[command(flatten)]
    output: Output,
}

/// Runs `cotree annotate`.
pub fn run(args: &AnnotateArgs) -> Result<()> {
    let loaded = args.input.load()?;
    let options = annotate::Options {
        file: args.file.clone(),
        function: args.function.clone(),
        branches: !args.no_branches,
        exceptions: args.exceptions,
        style: args.looks.style(&args.output),
    };
    let sources = args.sources.sources();
    let units = loaded.units();
    let mut files = 0;
    args.output.write(|out| {
        files = annotate::write(&units, &sources, &options, out)?;
        Ok(())
    })?;
    if files > 0 {
        Ok(())
    } else if args.file.is_some() || args.function.is_some() {
        Err(miette!(
            "no source line matches: `cotree report -v` lists functions, and `cotree annotate` without patterns all files"
        ))
    } else {
        Err(miette!(
            "the binary has no source lines: build it with debug information (-g, or debug = \"line-tables-only\")"
        ))
    }
}
