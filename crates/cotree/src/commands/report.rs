//! `cotree report`: shows the profile at a glance.

use super::input::{Input, Reader, means_a_function, no_such_function};
use super::output::{Looks, Output};
use super::{edited, into_report};
use clap::{Args, ValueEnum};
use cotree_profile::used::Used;
use cotree_report::method::targets;
use cotree_report::names::Names;
use cotree_report::report::{self, SortBy};
use cotree_report::stale;
use miette::Result;

/// Arguments of `cotree report`.
#[derive(Args, Debug)]
pub struct ReportArgs {
    #[command(flatten)]
    input: Input,
    /// Rows per list; 0 shows all
    #[arg(short = 'n', long, default_value_t = 20, value_name = "N")]
    top: usize,
    /// Only functions whose symbol or name contains PATTERN (`=NAME`: is exactly NAME)
    #[arg(short, long, value_name = "PATTERN")]
    function: Option<String>,
    /// The order of functions
    #[arg(long, value_enum, default_value_t)]
    sort: Sort,
    /// Also list items of which only the number is shown otherwise
    #[arg(short, long)]
    verbose: bool,
    /// For a program built with --use: show which functions had counts in the profile, and for which they were guessed
    #[arg(long, conflicts_with_all = ["sort", "binaries"], requires = "profile")]
    stale: bool,
    /// Show which functions calls through pointers reached (build with --targets)
    #[arg(long, conflicts_with_all = ["sort", "stale"])]
    targets: bool,
    /// Show linker symbols as they are
    #[arg(long)]
    no_demangle: bool,
    #[command(flatten)]
    looks: Looks,
    #[command(flatten)]
    output: Output,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Sort {
    /// By instructions executed
    #[default]
    Instructions,
    /// By entries, inlined copies included
    Entries,
    /// By block executions
    Blocks,
    /// By name
    Name,
}

/// Runs `cotree report`.
pub fn run(args: &ReportArgs) -> Result<()> {
    let options = report::ReportOptions {
        top: args.top,
        function: args.function.clone(),
        sort: match args.sort {
            Sort::Instructions => SortBy::Instructions,
            Sort::Entries => SortBy::Entries,
            Sort::Blocks => SortBy::Blocks,
            Sort::Name => SortBy::Name,
        },
        verbose: args.verbose,
        names: if args.no_demangle { Names::Raw } else { Names::Demangled },
        style: args.looks.style(&args.output),
    };
    if let Some(program) = args.input.profile.as_ref().filter(|_| args.stale) {
        let all = Used::read(program).map_err(into_report)?;
        let name = program.display().to_string();
        return args.output.write_text(|out| all.iter().try_for_each(|used| stale::write(&name, used, &options, out)));
    }
    let loaded = args.input.load(Reader::Person)?;
    let units = loaded.units();
    if let Some(pattern) = args.function.as_ref().filter(|pattern| !means_a_function(&units, pattern)) {
        return Err(no_such_function(&units, pattern));
    }
    edited::note(loaded.binaries(), None);
    if args.targets {
        return args.output.write_text(|out| units.iter().try_for_each(|unit| targets::write(unit, &options, out)));
    }
    args.output.write_text(|out| units.iter().try_for_each(|unit| report::write(unit, &options, out)))
}
