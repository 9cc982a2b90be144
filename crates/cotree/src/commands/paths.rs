//! `cotree paths`: shows the paths that a program took through its functions.

use super::edited;
use super::input::{Binaries, Input, Loaded, Reader, load, means_a_function, no_such_function};
use super::output::{Looks, Output};
use crate::folder;
use clap::{Args, ValueEnum};
use cotree_profile::file::ProfileFile;
use cotree_report::method::ipath::{self, IpathUnit};
use cotree_report::method::path::{PathUnit, json, text};
use cotree_report::method::pending;
use cotree_report::names::{Names, matches};
use cotree_report::unit::Unit;
use miette::{Result, bail, miette};
use std::path::{Path, PathBuf};

/// Arguments of `cotree paths`.
#[derive(Args, Debug)]
pub struct PathsArgs {
    #[command(flatten)]
    input: Input,
    /// Rows per list; 0 shows all
    #[arg(short = 'n', long, default_value_t = 10, value_name = "N")]
    top: usize,
    /// Only functions whose symbol or name contains PATTERN (`=NAME`: is exactly NAME)
    #[arg(short, long, value_name = "PATTERN")]
    function: Option<String>,
    /// What makes a path hot: instructions executed, executions, or what is added up along it (build with
    /// --path-metric)
    #[arg(long, value_enum, default_value_t = By::Instructions, conflicts_with_all = ["against", "json"])]
    by: By,
    /// List as many of the hottest paths as make up this percentage of the instructions executed
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent, conflicts_with_all = ["against", "by"])]
    covering: Option<f64>,
    /// Also compare with the paths that edge counts would have predicted
    #[arg(long, conflicts_with = "against")]
    predicted: bool,
    /// Instead, show what the program was doing when it crashed, aborted, called exit or took a snapshot: each
    /// activation from main on, and its path
    #[arg(long, conflicts_with_all = ["against", "by", "covering", "predicted", "function"])]
    pending: bool,
    /// Show how many of these paths another run of the same build took, too, by its profile
    #[arg(long, value_name = "PROFILE")]
    against: Option<PathBuf>,
    /// Write JSON
    #[arg(long)]
    json: bool,
    /// Also list items of which only the number is shown otherwise, and show long paths whole
    #[arg(short, long)]
    verbose: bool,
    /// Show linker symbols as they are
    #[arg(long)]
    no_demangle: bool,
    #[command(flatten)]
    looks: Looks,
    #[command(flatten)]
    output: Output,
}

/// `--by`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    /// Instructions executed
    Instructions,
    /// Executions
    Count,
    /// What --path-metric adds up
    Metric,
}

fn parse_percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').parse().ok().filter(|n| (0.0..=100.0).contains(n));
    number.ok_or_else(|| "it must be a number from 0 to 100".into())
}

/// Runs `cotree paths`.
pub fn run(args: &PathsArgs) -> Result<()> {
    let options = text::PathsOptions {
        top: args.top,
        function: args.function.clone(),
        by: match args.by {
            By::Instructions => text::By::Instructions,
            By::Count => text::By::Count,
            By::Metric => text::By::Metric,
        },
        covering: args.covering,
        predicted: args.predicted,
        verbose: args.verbose,
        names: if args.no_demangle { Names::Raw } else { Names::Demangled },
        style: args.looks.style(&args.output),
    };
    if let Some(other) = &args.against {
        return against(args, other, &options);
    }
    let loaded = args.input.load(Reader::of(args.json))?;
    edited::note(loaded.binaries(), None);
    let units = loaded.units();
    let across: Vec<IpathUnit<'_>> = units.iter().filter_map(IpathUnit::new).collect();
    if args.pending {
        if across.is_empty() {
            with_paths(&units)?;
        }
        return args.output.write_either(args.json, |out| {
            if args.json {
                return pending::json::write(&units, out);
            }
            units.iter().try_for_each(|unit| pending::text::write(unit, &options, out))
        });
    }
    if !across.is_empty() {
        return across_functions(args, &options, &units, &across);
    }
    let paths = with_paths(&units)?;
    if args.by == By::Metric
        && let Some(unit) = paths.iter().find(|unit| !unit.metric().is_summed())
    {
        bail!(nothing_added_up(unit.unit));
    }
    known(&units, args.function.as_deref())?;
    args.output.write_either(args.json, |out| {
        if args.json {
            return json::write(&paths, |symbol| options.wanted(symbol), out);
        }
        paths.iter().try_for_each(|unit| text::write(unit, &options, out))
    })
}

/// Why paths can't be sorted by what is added up along them.
fn nothing_added_up(unit: &Unit<'_>) -> String {
    format!(
        "nothing is added up along the paths of {}: build it with --path-metric events or cycles, or sort by \
         instructions or count",
        unit.profile.binary.display()
    )
}

/// Paths that go on in callees.
fn across_functions(
    args: &PathsArgs,
    options: &text::PathsOptions,
    units: &[Unit<'_>],
    across: &[IpathUnit<'_>],
) -> Result<()> {
    if args.by == By::Metric
        && let Some(unit) = across.iter().find(|unit| !unit.metric().is_summed())
    {
        bail!(nothing_added_up(unit.unit));
    }
    known(units, args.function.as_deref())?;
    args.output.write_either(args.json, |out| {
        if args.json {
            return ipath::json::write(across, |symbol| options.wanted(symbol), options.predicted, out);
        }
        across.iter().try_for_each(|unit| ipath::text::write(unit, options, out))
    })
}

fn against(args: &PathsArgs, other: &Path, options: &text::PathsOptions) -> Result<()> {
    let file = args.input.open()?;
    let loaded = load(&file, &args.input.binaries, Reader::of(args.json))?;
    let units = loaded.units();
    let across: Vec<IpathUnit<'_>> = units.iter().filter_map(IpathUnit::new).collect();
    let paths = if across.is_empty() { with_paths(&units)? } else { Vec::new() };
    known(&units, args.function.as_deref())?;
    let other = folder::open(other, &[])?;
    same_builds(&file, &other)?;
    let binaries = loaded.recovered().iter().map(|(binary, _)| binary.path().to_owned()).collect();
    let other = load(&other, &Binaries { binaries }, Reader::of(args.json))?;
    let other = other.units();
    if !across.is_empty() {
        let pairs = pairs_across(&across, &other);
        return args.output.write_either(args.json, |out| {
            if args.json {
                return ipath::json::write_cover(&pairs, |symbol| options.wanted(symbol), out);
            }
            pairs.iter().try_for_each(|(run, other)| ipath::text::write_cover(run, other, options, out))
        });
    }
    let pairs = pairs(paths, with_paths(&other)?);
    args.output.write_either(args.json, |out| {
        if args.json {
            return json::write_cover(&pairs, |symbol| options.wanted(symbol), out);
        }
        pairs.iter().try_for_each(|(run, other)| text::write_cover(run, other, options, out))
    })
}

/// `cotree diff --paths`: the paths that only one of two runs took.
pub fn diff(
    before: (&ProfileFile, &Loaded),
    after: (&ProfileFile, &Loaded),
    options: &text::PathsOptions,
    as_json: bool,
    output: &Output,
) -> Result<()> {
    same_builds(before.0, after.0)?;
    let units = [before.1.units(), after.1.units()];
    let across: Vec<IpathUnit<'_>> = units[0].iter().filter_map(IpathUnit::new).collect();
    if !across.is_empty() {
        known(&units[0], options.function.as_deref())?;
        let pairs = pairs_across(&across, &units[1]);
        return output.write_either(as_json, |out| {
            if as_json {
                return ipath::json::write_diff(&pairs, |symbol| options.wanted(symbol), out);
            }
            pairs.iter().try_for_each(|(before, after)| ipath::text::write_diff(before, after, options, out))
        });
    }
    let [of_before, of_after] = [with_paths(&units[0])?, with_paths(&units[1])?];
    known(&units[0], options.function.as_deref())?;
    let pairs = pairs(of_before, of_after);
    output.write_either(as_json, |out| {
        if as_json {
            return json::write_spectrum(&pairs, |symbol| options.wanted(symbol), out);
        }
        pairs.iter().try_for_each(|(before, after)| text::write_spectrum(before, after, options, out))
    })
}

/// The units whose paths were counted; there must be one.
fn with_paths<'a>(units: &'a [Unit<'a>]) -> Result<Vec<PathUnit<'a>>> {
    let paths: Vec<_> = units.iter().filter_map(PathUnit::new).collect();
    match units.first() {
        Some(unit) if paths.is_empty() && IpathUnit::new(unit).is_some() => Err(miette!(
            "the paths of {} go across functions, and this is about paths within functions (--profile path)",
            unit.profile.binary.display()
        )),
        Some(unit) if paths.is_empty() => Err(miette!(
            "the profile of {} has no paths ({}): build with `cotree --profile path` in front of the compiler, and run the program again",
            unit.profile.binary.display(),
            unit.profile.method.method().title()
        )),
        _ => Ok(paths),
    }
}

/// Checks that a pattern matches some function that does not exist only as inlined copies.
fn known(units: &[Unit<'_>], pattern: Option<&str>) -> Result<()> {
    let Some(pattern) = pattern else { return Ok(()) };
    let mut functions = units.iter().flat_map(Unit::functions);
    if functions.any(|f| matches(pattern, &f.facts.symbol)) {
        return Ok(());
    }
    if means_a_function(units, pattern) {
        bail!("{pattern} was inlined wherever it is called: its lines are in the paths of the functions around it");
    }
    Err(no_such_function(units, pattern))
}

/// Checks that two profiles are of one build: each build numbers its paths anew.
fn same_builds(a: &ProfileFile, b: &ProfileFile) -> Result<()> {
    let lacks = |of: &ProfileFile, unit| !of.units.iter().any(|other| other.unit == unit);
    for (one, other) in [(a, b), (b, a)] {
        let Some(unit) = one.units.iter().find(|counts| lacks(other, counts.unit)) else { continue };
        let found: Vec<String> = other.units.iter().map(|counts| counts.unit.to_string()).collect();
        bail!(
            "{} is of build {}, but {} is of build {}: paths are numbered anew in each build; run the same binary for both",
            one.path.display(),
            unit.unit,
            other.path.display(),
            found.join(", ")
        );
    }
    Ok(())
}

/// Units of the same build, whose paths go across functions.
fn pairs_across<'a>(these: &[IpathUnit<'a>], those: &'a [Unit<'a>]) -> Vec<(IpathUnit<'a>, IpathUnit<'a>)> {
    let partner = |unit: &IpathUnit<'_>| {
        let same = |other: &IpathUnit<'_>| other.unit.profile.unit == unit.unit.profile.unit;
        those.iter().filter_map(IpathUnit::new).find(same)
    };
    these.iter().filter_map(|unit| Some((*unit, partner(unit)?))).collect()
}

/// Units of the same build.
fn pairs<'a>(these: Vec<PathUnit<'a>>, those: Vec<PathUnit<'a>>) -> Vec<(PathUnit<'a>, PathUnit<'a>)> {
    let partner = |unit: &PathUnit<'a>| {
        let same = |other: &&PathUnit<'a>| other.unit.profile.unit == unit.unit.profile.unit;
        those.iter().find(same).cloned()
    };
    these.into_iter().filter_map(|unit| partner(&unit).map(|other| (unit, other))).collect()
}
