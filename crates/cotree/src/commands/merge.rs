//! `cotree merge`: adds up the profiles of many runs.

use super::input::Binaries;
use super::into_report;
use super::vouched::Vouched;
use crate::folder::{Folder, say_traces_are_counted};
use crate::{lines, progress};
use clap::Args;
use cotree_profile::atomic::Over;
use cotree_profile::error::ProfileError;
use cotree_profile::file::ProfileFile;
use cotree_profile::merged::{self, Merge};
use cotree_profile::recover::recover_remaining;
use miette::{Result, miette};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Arguments of `cotree merge`.
#[derive(Args, Debug)]
pub struct MergeArgs {
    /// Profiles, raw or merged, and folders of raw ones; FILE:W multiplies each count of FILE by W
    #[arg(value_name = "FILE[:W]")]
    profiles: Vec<PathBuf>,
    /// A profile whose counts are multiplied by W
    #[arg(long, value_name = "W,FILE", value_parser = parse_weighted)]
    weighted_input: Vec<(u64, PathBuf)>,
    /// The merged profile
    #[arg(short, long, value_name = "FILE", default_value = "merged.cotree")]
    output: PathBuf,
    /// Overwrite the output even if it is a file of another kind
    #[arg(long, hide_short_help = true)]
    force: bool,
    /// Keep the counts of several link units (a program and its libraries) in one file
    #[arg(long)]
    several_units: bool,
    /// Skip profiles that cannot be used, with a warning for each
    #[arg(long)]
    keep_going: bool,
    #[command(flatten)]
    binaries: Binaries,
    #[command(flatten)]
    vouched: Vouched,
}

fn parse_weighted(text: &str) -> Result<(u64, PathBuf), String> {
    let (weight, path) = text.split_once(',').ok_or("it must be W,FILE")?;
    match weight.parse() {
        Ok(0) | Err(_) => Err(format!("the weight {weight} is no whole number from 1 on: weighted counts stay exact")),
        Ok(weight) => Ok((weight, path.into())),
    }
}

/// Reads `FILE:W`, unless there is a file of exactly that name.
fn weight_of(path: &Path) -> (u64, PathBuf) {
    let bytes = path.as_os_str().as_bytes();
    let split = bytes.iter().rposition(|&b| b == b':').filter(|_| !path.exists());
    let weighted = split.and_then(|at| {
        let weight = std::str::from_utf8(&bytes[at + 1..]).ok()?.parse().ok().filter(|&w| w > 0)?;
        Some((weight, PathBuf::from(OsStr::from_bytes(&bytes[..at]))))
    });
    weighted.unwrap_or_else(|| (1, path.to_owned()))
}

/// Runs `cotree merge`.
pub fn run(args: &MergeArgs) -> Result<()> {
    let inputs = args.profiles.iter().map(|p| weight_of(p)).chain(args.weighted_input.iter().cloned());
    let binaries = &args.binaries.binaries;
    let mut merge = Merge::with_binaries(binaries);
    merge.several_units = args.several_units;
    let mut added = 0u64;
    let adding = progress::phase("adding up profiles");
    for (weight, path) in inputs {
        let mut add = |profile: Result<ProfileFile, ProfileError>| {
            adding.step();
            match profile.and_then(|profile| merge.add(profile, weight)) {
                Ok(()) => added += 1,
                Err(error) if args.keep_going => lines::note(format_args!("warning: left out: {error}")),
                Err(error) => return Err(into_report(error)),
            }
            Ok(())
        };
        if path.is_dir() {
            Folder::read(&path)?.each(add)?;
        } else {
            add(ProfileFile::open(&path))?;
        }
    }
    drop(adding);
    if args.output.as_os_str() == "-" {
        return Err(miette!("a merged profile goes into a file, not to standard output: name one with -o"));
    }
    if added == 0 {
        return Err(miette!("there is no profile to merge: name some"));
    }
    if merge.has_counted_traces() {
        say_traces_are_counted();
    }
    let writing = progress::phase("writing the sum");
    merged::write_over(&args.output, Over::forced(args.force), &merge.finish()).map_err(into_report)?;
    // Which functions are concerned is known where the binaries are still there.
    let merged = ProfileFile::open(&args.output).map_err(into_report)?;
    let recovered = recover_remaining(&merged, binaries).map(|(recovered, _)| recovered).unwrap_or_default();
    drop(writing);
    args.vouched.check(&recovered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_stand_before_or_behind() {
        assert_eq!(weight_of(Path::new("a.cotree:3")), (3, "a.cotree".into()));
        assert_eq!(weight_of(Path::new("a:b.cotree")), (1, "a:b.cotree".into()));
        assert_eq!(weight_of(Path::new("a.cotree:0")), (1, "a.cotree:0".into()));
        assert_eq!(parse_weighted("5,a,b"), Ok((5, "a,b".into())));
        assert!(parse_weighted("0.5,a").is_err());
        assert!(parse_weighted("0,a").is_err());
    }
}
