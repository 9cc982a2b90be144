//! `cotree diff`: shows what changed between two profiles.

use super::input::{Binaries, Loaded, Reader, load_with};
use super::output::{Looks, Output};
use super::sources::{FileSources, SourceArgs};
use super::vouched::Vouched;
use super::{edited, paths, trace};
use crate::folder;
use clap::Args;
use cotree_core::facts::events::EventKind;
use cotree_core::method::Method;
use cotree_profile::recover::UnitProfile;
use cotree_report::diff;
use cotree_report::method::path::text;
use cotree_report::names::Names;
use cotree_report::unit::Unit;
use miette::{Result, miette};
use std::path::PathBuf;

/// Arguments of `cotree diff`.
#[derive(Args, Debug)]
pub struct DiffArgs {
    /// The profile before, or a folder of profiles to be added up
    before: PathBuf,
    /// The profile after, or a folder of profiles to be added up
    after: PathBuf,
    /// The binary of the profile before, if it is no longer where it was
    #[arg(long, value_name = "FILE")]
    binary_before: Vec<PathBuf>,
    /// The binary of the profile after, if it is no longer where it was
    #[arg(long, value_name = "FILE")]
    binary_after: Vec<PathBuf>,
    /// Compare paths: show those that only one of the two runs took (both of one build with --profile path)
    #[arg(long)]
    paths: bool,
    /// Compare traces: show where the two runs diverge, and how each goes on (both of one build with --profile trace)
    #[arg(long, conflicts_with_all = ["paths", "json"])]
    trace: bool,
    /// How many blocks of each trace are shown before and after the point where they diverge
    #[arg(long, value_name = "N", default_value_t = 10, requires = "trace")]
    context: u64,
    /// Only paths of functions whose symbol or name contains PATTERN (`=NAME`: is exactly NAME)
    #[arg(short, long, value_name = "PATTERN", requires = "paths")]
    function: Option<String>,
    /// Write JSON
    #[arg(long)]
    json: bool,
    /// Rows per list; 0 shows all
    #[arg(short = 'n', long, default_value_t = 20, value_name = "N")]
    top: usize,
    /// Show long paths whole
    #[arg(short, long, requires = "paths")]
    verbose: bool,
    /// Show linker symbols as they are
    #[arg(long)]
    no_demangle: bool,
    #[command(flatten)]
    vouched: Vouched,
    #[command(flatten)]
    sources: SourceArgs,
    #[command(flatten)]
    looks: Looks,
    #[command(flatten)]
    output: Output,
}

/// The units of a profile that has counts of blocks, of calls, or of the instructions of functions.
pub(super) fn units(loaded: &Loaded) -> Result<Vec<Unit<'_>>> {
    let all = loaded.recovered();
    if counts_only(loaded, Method::Calls) {
        return Ok(loaded.units());
    }
    if !counts_only(loaded, Method::EventsCalls) {
        return loaded.units_with_blocks();
    }
    let counts = |profile: &UnitProfile| {
        profile.method.events().is_some_and(|events| events.kinds.contains(&EventKind::Instructions))
    };
    match all.iter().find(|(_, profile)| !counts(profile)) {
        Some((_, profile)) => Err(miette!(
            "the profile of {} has no counts of instructions, by which functions are compared: build it with --profile \
             events-calls=instructions",
            profile.binary.display()
        )),
        None => Ok(loaded.units()),
    }
}

/// Checks that both profiles can be compared.
pub(super) fn of_one_method(before: &Loaded, after: &Loaded) -> Result<()> {
    for (method, what) in [(Method::EventsCalls, "events of calls"), (Method::Calls, "counts of calls")] {
        let of_calls =
            |loaded: &Loaded| loaded.recovered().iter().any(|(_, profile)| profile.method.method() == method);
        if of_calls(before) != of_calls(after) {
            return Err(miette!(
                "one of the profiles has {what} and the other has other counts: compare two of one method"
            ));
        }
    }
    Ok(())
}

/// Was the whole profile made by this method?
fn counts_only(loaded: &Loaded, method: Method) -> bool {
    let all = loaded.recovered();
    !all.is_empty() && all.iter().all(|(_, profile)| profile.method.method() == method)
}

/// Runs `cotree diff`.
pub fn run(args: &DiffArgs) -> Result<()> {
    let (before_file, after_file) =
        (folder::open(&args.before, &args.binary_before)?, folder::open(&args.after, &args.binary_after)?);
    let names = if args.no_demangle { Names::Raw } else { Names::Demangled };
    if args.trace {
        let (before, after) = ((&before_file, &args.binary_before[..]), (&after_file, &args.binary_after[..]));
        return trace::diff(before, after, names, args.context, &args.output);
    }
    let reader = Reader::of(args.json);
    let before = load_with(&before_file, &Binaries { binaries: args.binary_before.clone() }, reader, &args.sources)?;
    let after = load_with(&after_file, &Binaries { binaries: args.binary_after.clone() }, reader, &args.sources)?;
    for (path, loaded) in [(&args.before, &before), (&args.after, &after)] {
        args.vouched.check_of(Some(path), loaded.recovered())?;
    }
    let style = args.looks.style(&args.output);
    if args.paths {
        let options = text::PathsOptions {
            top: args.top,
            function: args.function.clone(),
            verbose: args.verbose,
            names,
            style,
            ..text::PathsOptions::default()
        };
        return paths::diff((&before_file, &before), (&after_file, &after), &options, args.json, &args.output);
    }
    of_one_method(&before, &after)?;
    // The sources of the profile before may be gone, as there may be a new version.
    edited::note(after.binaries(), None);
    let difference = diff::compare(&units(&before)?, &units(&after)?, &FileSources::default());
    if args.json {
        return args.output.write(|out| diff::write_json(&difference, out));
    }
    let options = diff::DiffOptions { top: args.top, names, style };
    args.output.write_text(|out| diff::write_text(&difference, &options, out))
}
