//! `cotree export`: writes profiles in formats for other programs.

use super::edited;
use super::input::{Input, Loaded, Reader, file_pattern};
use super::into_report;
use super::output::Output;
use super::sources::{FileSources, SourceArgs};
use super::vouched::Vouched;
use crate::lines;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use cotree_core::facts::events::EventKind;
use cotree_profile::coverage::{CoverageMap, CoverageMapError};
use cotree_report::costs::Costs;
use cotree_report::export::{Export, ExportError, ExportOptions, FORMATS, Format, Needs, llvm_profdata};
use cotree_report::files::FilePattern;
use cotree_report::names::Names;
use cotree_report::region_coverage::cuts;
use cotree_report::unit::Unit;
use miette::{Result, miette};
use std::io;

/// Arguments of `cotree export`.
#[derive(Args, Debug)]
pub struct ExportArgs {
    #[command(flatten)]
    input: Input,
    /// The format
    #[arg(long, default_value = FORMATS[0].name, value_parser = format())]
    format: Format,
    /// lcov, gcov-json: only this source file (parser.c, src/parser.c), those in this folder, or those that match a
    /// pattern ('*/src/*.h')
    #[arg(long, value_name = "FILE", value_parser = file_pattern)]
    file: Option<FilePattern>,
    /// lcov, gcov-json: also source files that are not on this machine; genhtml stops at such a file
    #[arg(long)]
    absent_sources: bool,
    /// lcov, gcov-json: leave out branch outcomes that only an exception takes
    #[arg(long)]
    no_exceptions: bool,
    /// lcov, gcov-json: leave out branches of checks that the compiler adds: those of Rust for overflow, bounds,
    /// divisors and pointers
    #[arg(long)]
    no_checks: bool,
    /// lcov, gcov-json: count lines, branches and functions that markers in the sources exclude (LCOV_EXCL_LINE,
    /// GCOVR_EXCL_START and the like)
    #[arg(long)]
    no_markers: bool,
    /// lcov: write the last lines of functions, too, as only lcov 2 reads them
    #[arg(long)]
    function_ends: bool,
    /// lcov: write source names of functions instead of linker symbols
    #[arg(long)]
    demangle: bool,
    /// Costs: only these kinds of events (folded, flamegraph: one of them) [default: all; folded, flamegraph:
    /// instructions]
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_parser = event_kind)]
    event: Vec<EventKind>,
    /// Costs: show linker symbols as they are
    #[arg(long)]
    no_demangle: bool,
    /// lcov: the test name
    #[arg(long, default_value = "", value_name = "NAME")]
    test_name: String,
    #[command(flatten)]
    vouched: Vouched,
    #[command(flatten)]
    sources: SourceArgs,
    #[command(flatten)]
    output: Output,
}

/// Reads the name of a format.
fn format() -> impl TypedValueParser<Value = Format> {
    let names = FORMATS.map(|format| PossibleValue::new(format.name).help(format.summary));
    let by_name = |name: String| FORMATS.into_iter().find(|format| format.name == name).unwrap_or(FORMATS[0]);
    PossibleValuesParser::new(names).map(by_name)
}

/// Reads the name of a kind of events.
pub fn event_kind(text: &str) -> Result<EventKind, String> {
    EventKind::of_name(text).ok_or_else(|| format!("the kinds are {}", EventKind::ALL.map(EventKind::name).join(", ")))
}

/// Runs `cotree export`.
pub fn run(args: &ExportArgs) -> Result<()> {
    let loaded = args.input.load_with(Reader::of(args.format.escapes), &args.sources)?;
    if args.vouched.strict {
        args.vouched.check(loaded.recovered())?;
    }
    if args.format.has_lines {
        edited::note(loaded.binaries(), None);
    }
    match args.format.needs {
        Needs::Nothing => write(args, &loaded.units(), None)?,
        Needs::Blocks => {
            let units = loaded.units_with_blocks()?;
            write(args, &units, None)?;
            if args.format.name == llvm_profdata::NAME {
                remark_on_cuts(&loaded, &units)?;
            }
        }
        Needs::Costs => loaded.with_costs(|costs| {
            check_whole(args, costs)?;
            write(args, costs.units, Some(costs))
        })?,
    }
    args.vouched.check(loaded.recovered())
}

/// Says how much of the coverage map a profile for LLVM can't say.
fn remark_on_cuts(loaded: &Loaded, units: &[Unit<'_>]) -> Result<()> {
    let mut regions = 0;
    for (unit, binary) in units.iter().zip(loaded.binaries()) {
        match CoverageMap::open(binary.path()) {
            Ok(map) => regions += cuts(unit, &map).regions(),
            Err(CoverageMapError::NoMap { .. }) => {}
            Err(error) => return Err(into_report(error)),
        }
    }
    llvm_profdata::remark_on_cuts(regions).iter().for_each(|remark| lines::note(format_args!("note: {remark}")));
    Ok(())
}

/// A trace may lack some of the execution.
fn check_whole(args: &ExportArgs, costs: &Costs<'_>) -> Result<()> {
    const SENTENCE: &str = "the trace does not have the whole execution: what is not in it is not counted";
    if costs.missing && args.vouched.strict {
        return Err(miette!(SENTENCE));
    }
    if costs.missing {
        lines::note(format_args!("note: {SENTENCE}"));
    }
    Ok(())
}

fn write(args: &ExportArgs, units: &[Unit<'_>], costs: Option<&Costs<'_>>) -> Result<()> {
    let options = ExportOptions {
        names: if args.no_demangle { Names::Raw } else { Names::Demangled },
        names_in_tracefiles: if args.demangle { Names::Demangled } else { Names::Raw },
        kinds: args.event.clone(),
        test_name: args.test_name.clone(),
        file: args.file.clone(),
        absent: args.absent_sources,
        exceptions: !args.no_exceptions,
        checks: !args.no_checks,
        markers: !args.no_markers,
        function_ends: args.function_ends,
        folder: std::env::current_dir().ok().map(|folder| folder.display().to_string()),
    };
    let sources = FileSources::default();
    let export = Export { units, costs, sources: &sources, options: &options };
    let mut remarks = Ok(Vec::new());
    let written = args.output.write(|out| match (args.format.write)(&export, out) {
        Ok(said) => {
            remarks = Ok(said);
            Ok(())
        }
        Err(ExportError::Write(error)) => Err(error),
        Err(ExportError::Nothing(why)) => {
            remarks = Err(why.clone());
            Err(io::Error::other(why))
        }
    });
    // What a profile lacks is no trouble of the file that is written.
    let remarks = remarks.map_err(|why| miette!("{why}"))?;
    written?;
    remarks.iter().for_each(|remark| lines::note(format_args!("note: {remark}")));
    Ok(())
}
