//! `cotree export`: profiles for other programs.

use super::input::{Input, SourceArgs};
use super::output::Output;
use clap::{Args, ValueEnum};
use cotree_profile::weights;
use cotree_report::names::Names;
use cotree_report::{json, lcov};
use miette::Result;

/// Arguments of `cotree export`.
#[derive(Args, Debug)]
pub struct ExportArgs {
    #[command(flatten)]
    input: Input,
    /// The format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// lcov: only source files whose path contains this
    #[arg(long, value_name = "PART")]
    file: Option<String>,
    /// lcov: leave out the ways that only an exception takes
    #[arg(long)]
    no_exceptions: bool,
    /// lcov: write source names of functions instead of linker symbols
    #[arg(long)]
    demangle: bool,
    /// lcov: the test name
    #[arg(long, default_value = "", value_name = "NAME")]
    test_name: String,
    #[command(flatten)]
    sources: SourceArgs,
    #[command(flatten)]
    output: Output,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Everything, as described in docs/json.md
    #[default]
    Json,
    /// A tracefile for genhtml and coverage services
    Lcov,
    /// Edge counts for --weights, which then needs the binary no more
    Weights,
}

/// Runs `cotree export`.
pub fn run(args: &ExportArgs) -> Result<()> {
    let loaded = args.input.load()?;
    let units = loaded.units();
    match args.format {
        Format::Json => args.output.write(|out| json::write(&units, out)),
        Format::Weights => args.output.write(|out| weights::write(out, loaded.recovered())),
        Format::Lcov => {
            let options = lcov::Options {
                test_name: args.test_name.clone(),
                file: args.file.clone(),
                exceptions: !args.no_exceptions,
                names: if args.demangle { Names::Demangled } else { Names::Raw },
            };
            let sources = args.sources.sources();
            args.output.write(|out| lcov::write(&units, &sources, &options, out))
        }
    }
}
