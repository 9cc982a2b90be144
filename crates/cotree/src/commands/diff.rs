//! `cotree diff`: what changed between two profiles.

use super::input::{Binaries, SourceArgs, load};
use super::output::{Looks, Output};
use super::told;
use clap::Args;
use cotree_profile::file::ProfileFile;
use cotree_report::diff;
use cotree_report::names::Names;
use miette::Result;
use std::path::PathBuf;

/// Arguments of `cotree diff`.
#[derive(Args, Debug)]
pub struct DiffArgs {
    /// The profile before
    before: PathBuf,
    /// The profile after
    after: PathBuf,
    /// The binary of the profile before, if it is no longer where it was
    #[arg(long, value_name = "FILE")]
    binary_before: Vec<PathBuf>,
    /// The binary of the profile after, if it is no longer where it was
    #[arg(long, value_name = "FILE")]
    binary_after: Vec<PathBuf>,
    /// Write JSON
    #[arg(long)]
    json: bool,
    /// Rows per list; 0 shows all
    #[arg(short = 'n', long, default_value_t = 20, value_name = "N")]
    top: usize,
    /// Show linker symbols as they are
    #[arg(long)]
    no_demangle: bool,
    #[command(flatten)]
    sources: SourceArgs,
    #[command(flatten)]
    looks: Looks,
    #[command(flatten)]
    output: Output,
}

/// Runs `cotree diff`.
pub fn run(args: &DiffArgs) -> Result<()> {
    let open = |path: &PathBuf, binaries: &[PathBuf]| {
        let file = ProfileFile::open(path).map_err(told)?;
        load(&file, &Binaries { binaries: binaries.to_vec() })
    };
    let before = open(&args.before, &args.binary_before)?;
    let after = open(&args.after, &args.binary_after)?;
    let difference = diff::compare(&before.units(), &after.units(), &args.sources.sources());
    if args.json {
        return args.output.write(|out| diff::write_json(&difference, out));
    }
    let options = diff::Options {
        top: args.top,
        names: if args.no_demangle { Names::Raw } else { Names::Demangled },
        style: args.looks.style(&args.output),
    };
    args.output.write(|out| diff::write_text(&difference, &options, out))
}
