//! `cotree export`: writes profiles in formats for other programs.

use super::input::{Input, SourceArgs, file_pattern, no_lines};
use super::output::Output;
use crate::lines;
use clap::{Args, ValueEnum};
use cotree_profile::weights;
use cotree_report::names::Names;
use cotree_report::terminal::counted;
use cotree_report::{files::FilePattern, json, lcov, lcov::Tracefile};
use miette::{Result, miette};

/// Arguments of `cotree export`.
#[derive(Args, Debug)]
pub struct ExportArgs {
    #[command(flatten)]
    input: Input,
    /// The format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// lcov: only this source file (parser.c, src/parser.c), those of this folder, or those that match ('*/src/*.h')
    #[arg(long, value_name = "FILE", value_parser = file_pattern)]
    file: Option<FilePattern>,
    /// lcov: also source files that are not on this machine; genhtml stops at such a file
    #[arg(long)]
    absent_sources: bool,
    /// lcov: leave out branch outcomes that only an exception takes
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
    /// Edge counts for --weights, which then does not need the binary
    Weights,
}

/// Runs `cotree export`.
pub fn run(args: &ExportArgs) -> Result<()> {
    let loaded = args.input.load()?;
    let units = if args.format == Format::Json { loaded.units() } else { loaded.units_with_blocks()? };
    match args.format {
        Format::Json => args.output.write(|out| json::write(&units, out)),
        Format::Weights => args.output.write(|out| weights::write(out, loaded.recovered())),
        Format::Lcov => {
            let options = lcov::Options {
                test_name: args.test_name.clone(),
                file: args.file.clone(),
                absent: args.absent_sources,
                exceptions: !args.no_exceptions,
                names: if args.demangle { Names::Demangled } else { Names::Raw },
            };
            let sources = args.sources.sources();
            let tracefile = Tracefile::new(&units, &sources, &options);
            let left_out = tracefile.left_out();
            let note = || {
                let files = counted(left_out.len() as u128, "source file");
                let say = "--source-prefix OLD=NEW says where they are, --absent-sources keeps them";
                format!("left out {files} not on this machine, such as {}: {say}", left_out[0])
            };
            if tracefile.paths().is_empty() {
                return Err(if left_out.is_empty() { no_lines(&units, args.file.as_ref()) } else { miette!(note()) });
            }
            args.output.write(|out| tracefile.write(out))?;
            if !left_out.is_empty() {
                lines::note(format_args!("note: {}", note()));
            }
            Ok(())
        }
    }
}
