//! `cotree export`: writes profiles in formats for other programs.

use super::edited;
use super::input::{Input, SourceArgs, file_pattern, no_lines};
use super::output::Output;
use super::vouched::Vouched;
use crate::lines;
use clap::{Args, ValueEnum};
use cotree_core::facts::events::EventKind;
use cotree_core::method::Method;
use cotree_profile::recover::UnitProfile;
use cotree_profile::weights;
use cotree_report::costs::Costs;
use cotree_report::costs::contexts::Contexts;
use cotree_report::export::symbol_order::{self, Of};
use cotree_report::export::{callgrind, flamegraph, folded, llvm_sample, pprof, speedscope};
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
    /// lcov: leave out branches that are checks of the compiler's own: Rust's of overflow, bounds, divisors and
    /// pointers
    #[arg(long)]
    no_checks: bool,
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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Everything, as described in docs/json.md
    #[default]
    Json,
    /// A tracefile for genhtml and coverage services
    Lcov,
    /// Edge counts for --weights, which then does not need the binary
    Weights,
    /// Costs by line for KCachegrind and callgrind_annotate
    Callgrind,
    /// Costs by line, for pprof
    Pprof,
    /// Stacks, one per line, for flamegraph.pl and inferno
    Folded,
    /// A flame graph, an SVG image
    Flamegraph,
    /// Stacks, for speedscope
    Speedscope,
    /// A sample profile (AutoFDO's text) with exact counts, for clang -fprofile-sample-use; best of a build --at early
    LlvmSample,
    /// Symbols that ran, hot ones first and callers beside callees, for --symbol-ordering-file of lld
    SymbolOrder,
    /// The order of symbols as sections (-ffunction-sections), for --section-ordering-file of gold
    SectionOrder,
}

impl Format {
    fn holds_costs(self) -> bool {
        matches!(
            self,
            Self::Callgrind
                | Self::Pprof
                | Self::Folded
                | Self::Flamegraph
                | Self::Speedscope
                | Self::SymbolOrder
                | Self::SectionOrder
        )
    }
}

/// Reads the name of a kind of events.
pub fn event_kind(text: &str) -> Result<EventKind, String> {
    EventKind::of_name(text).ok_or_else(|| format!("the kinds are {}", EventKind::ALL.map(EventKind::name).join(", ")))
}

/// Runs `cotree export`.
pub fn run(args: &ExportArgs) -> Result<()> {
    let loaded = args.input.load()?;
    if args.vouched.strict {
        args.vouched.check(loaded.recovered())?;
    }
    // Weights go by functions and blocks, which lines only help to find.
    if args.format != Format::Weights {
        edited::note(loaded.binaries(), &args.sources.sources(), None);
    }
    if args.format.holds_costs() {
        loaded.with_costs(|costs| write_costs(args, costs))?;
        return args.vouched.check(loaded.recovered());
    }
    let units = if args.format == Format::Json { loaded.units() } else { loaded.units_with_blocks()? };
    if args.format == Format::Weights
        && let Some((_, profile)) = loaded.recovered().iter().find(|(_, profile)| !has_edges(profile))
    {
        return Err(miette!(
            "weights are counts of edges, and the {} of {} has none: build it with --profile {}",
            profile.method.method().title(),
            profile.binary.display(),
            Method::names(|entry| entry.promises.edges)
        ));
    }
    match args.format {
        Format::Json => args.output.write(|out| json::write(&units, out))?,
        Format::Weights => args.output.write(|out| weights::write(out, loaded.recovered(), ""))?,
        Format::Lcov => {
            let options = lcov::Options {
                test_name: args.test_name.clone(),
                file: args.file.clone(),
                absent: args.absent_sources,
                exceptions: !args.no_exceptions,
                checks: !args.no_checks,
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
        }
        Format::LlvmSample => {
            let mut left_out = llvm_sample::LeftOut::default();
            args.output.write(|out| {
                left_out = llvm_sample::write(&units, out)?;
                Ok(())
            })?;
            if left_out != llvm_sample::LeftOut::default() {
                let places = counted(left_out.0.into(), "place");
                lines::note(format_args!(
                    "note: left out what was inlined at {places}, as nothing else is left of these functions: a build --at early has all of it"
                ));
            }
        }
        // See `Format::holds_costs`.
        _ => {}
    }
    args.vouched.check(loaded.recovered())
}

/// Are edges of any function counted? None of an empty program are.
fn has_edges(profile: &UnitProfile) -> bool {
    let mut functions = profile.functions.iter().flatten().peekable();
    functions.peek().is_none() || functions.any(|function| function.edges.is_some())
}

/// Writes what lines and functions have cost.
fn write_costs(args: &ExportArgs, costs: &Costs<'_>) -> Result<()> {
    if costs.missing {
        const SENTENCE: &str = "the trace does not have the whole execution: what is not in it is not counted";
        if args.vouched.strict {
            return Err(miette!(SENTENCE));
        }
        lines::note(format_args!("note: {SENTENCE}"));
    }
    let names = if args.no_demangle { Names::Raw } else { Names::Demangled };
    let kinds = if args.event.is_empty() { EventKind::ALL.to_vec() } else { args.event.clone() };
    let one_kind = || match args.event[..] {
        [] => Ok(EventKind::Instructions),
        [kind] => Ok(kind),
        _ => Err(miette!("this format holds events of one kind: name one with --event")),
    };
    let contexts = || Contexts::new(costs, names);
    match args.format {
        Format::Callgrind => {
            if costs.inclusive().is_none() {
                lines::note(format_args!(
                    "note: the profile does not tell inclusive costs: the file has functions' own costs"
                ));
            }
            args.output.write(|out| callgrind::write(costs, &kinds, names, out))?;
        }
        Format::Pprof => args.output.write(|out| pprof::write(costs, &contexts(), &kinds, out))?,
        Format::Speedscope => args.output.write(|out| speedscope::write(costs, &contexts(), &kinds, out))?,
        Format::SymbolOrder => args.output.write(|out| symbol_order::write(costs, Of::Symbols, out))?,
        Format::SectionOrder => args.output.write(|out| symbol_order::write(costs, Of::Sections, out))?,
        Format::Flamegraph => {
            let kind = one_kind()?;
            args.output.write(|out| flamegraph::write(costs, &contexts(), kind, out))?;
        }
        _ => {
            let kind = one_kind()?;
            args.output.write(|out| folded::write(&contexts(), kind, out))?;
        }
    }
    Ok(())
}
