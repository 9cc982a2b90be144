//! The commands' inputs: profiles with their binaries, and source files.

use super::into_report;
use super::source_names::SourceNames;
use super::sources::SourceArgs;
use crate::{folder, lines, progress};
use clap::Args;
use cotree_core::method::Method;
use cotree_profile::binary::BinaryFile;
use cotree_profile::file::{ProfileFile, ProfileFormat};
use cotree_profile::method::trace::streams::Streams;
use cotree_profile::raw::is_finished;
use cotree_profile::recover::{Recovery, UnitError, UnitProfile, recover_remaining};
use cotree_report::costs::{Costs, counted_calls, summed, traced};
use cotree_report::files::FilePattern;
use cotree_report::names::{matches, similar_names};
use cotree_report::report::nothing_counted;
use cotree_report::unit::Unit;
use cotree_report::visible;
use miette::{Result, miette};
use std::borrow::Cow;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What the user sees while counts are recovered, or traces counted.
const RECOVERING: &str = "reading the profile and its program";

/// A profile and where its binaries are.
#[derive(Args, Clone, Debug)]
pub struct Input {
    /// The profile, or a folder of profiles to add up [default: the newest *.cotree in the current directory]
    pub profile: Option<PathBuf>,
    #[command(flatten)]
    pub binaries: Binaries,
}

/// Where the binaries of a profile are.
#[derive(Args, Clone, Debug)]
pub struct Binaries {
    /// The binary that was run, if it is no longer where it was; repeat it for each shared library of the profile
    #[arg(long = "binary", value_name = "FILE")]
    pub binaries: Vec<PathBuf>,
}

/// Who reads what a command makes of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// People: control characters in names, paths and command lines are made visible.
    Person,
    /// Programs: names are as they are, escaped by the rules of the format.
    Program,
}

impl Reader {
    /// The reader of a format that can hold any name, or of one that can't.
    pub fn of(escapes: bool) -> Self {
        if escapes { Self::Program } else { Self::Person }
    }

    /// Makes control characters of a map visible, if people read it.
    pub fn show_map(self, binary: &mut BinaryFile) {
        if self == Self::Person {
            binary.for_each_text(visible::show);
        }
    }

    /// Makes control characters of what a profile says visible, if people read it.
    pub fn show_profile(self, profile: &mut UnitProfile) {
        if self == Self::Person
            && let Cow::Owned(shown) = visible::name(&profile.binary.to_string_lossy())
        {
            profile.binary = shown.into();
        }
    }
}

/// A recovered profile with its binaries.
pub struct Loaded {
    path: PathBuf,
    kind: ProfileFormat,
    recovered: Vec<Recovery>,
}

impl Loaded {
    fn new(
        path: PathBuf,
        kind: ProfileFormat,
        mut recovered: Vec<Recovery>,
        reader: Reader,
        names: &SourceNames,
    ) -> Self {
        name_sources(names, recovered.iter_mut().map(|(binary, _)| binary));
        for (binary, profile) in &mut recovered {
            reader.show_map(binary);
            reader.show_profile(profile);
        }
        Self { path, kind, recovered }
    }

    /// Profiles that were recovered from sums.
    pub fn of_sums(path: PathBuf, recovered: Vec<Recovery>, names: &SourceNames) -> Self {
        Self::new(path, ProfileFormat::Merged, recovered, Reader::Program, names)
    }

    /// What lines and functions have cost: from the trace of one run, if there is one, else from counts of blocks.
    pub fn with_costs<T>(&self, use_it: impl FnOnce(&Costs<'_>) -> Result<T>) -> Result<T> {
        match self.recovered.as_slice() {
            [(binary, profile)] if profile.method.method() == Method::Trace && self.kind == ProfileFormat::Raw => {
                let streams = Streams::open(&self.path).map_err(into_report)?;
                let units = self.units();
                let reading = progress::phase("reading the trace");
                let costs = traced::costs(&units, binary, &streams).map_err(into_report)?;
                drop(reading);
                use_it(&costs)
            }
            all if !all.is_empty() && all.iter().all(|(_, profile)| profile.method.method() == Method::Calls) => {
                let units = self.units();
                match counted_calls::costs(&units) {
                    Some(costs) => use_it(&costs),
                    None => use_it(&Costs::new(&self.units_with_blocks()?)),
                }
            }
            all if all.iter().all(|(_, profile)| profile.method.method() == Method::EventsCalls) => {
                let units = self.units();
                match summed::costs(&units) {
                    Some(costs) => use_it(&costs),
                    None => use_it(&Costs::new(&self.units_with_blocks()?)),
                }
            }
            _ => {
                let units = self.units_with_blocks()?;
                use_it(&Costs::new(&units))
            }
        }
    }

    /// Gives the profile away, one entry per link unit.
    pub fn into_recovered(self) -> Vec<Recovery> {
        self.recovered
    }

    /// The profile, one entry per link unit, each with its binary.
    pub fn recovered(&self) -> &[(BinaryFile, UnitProfile)] {
        &self.recovered
    }

    /// Whether the profile is of one run or a sum.
    pub fn kind(&self) -> ProfileFormat {
        self.kind
    }

    /// Where the profile is, or the folder or first of several profiles that were added up.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The binaries of its link units.
    pub fn binaries(&self) -> impl Iterator<Item = &BinaryFile> {
        self.recovered.iter().map(|(binary, _)| binary)
    }

    /// The link units of the profile, for a view of blocks or edges.
    pub fn units_with_blocks(&self) -> Result<Vec<Unit<'_>>> {
        let has_none = |(_, profile): &&(BinaryFile, UnitProfile)| {
            let method = profile.method.method();
            let counted = method.promises().blocks || profile.functions.iter().any(Option::is_some);
            !method.is_none() && !counted
        };
        if let Some((_, profile)) = self.recovered.iter().find(has_none) {
            return Err(miette!(
                "the {} of {} has no counts of blocks, lines and edges: build it with --profile {} for these, or see `cotree report`",
                profile.method.method().title(),
                profile.binary.display(),
                Method::names(|entry| entry.promises.blocks)
            ));
        }
        let units = self.units();
        for unit in &units {
            if let Some(why) = nothing_counted(unit) {
                lines::note(format_args!(
                    "cotree: warning: nothing was counted in {}: {why}",
                    unit.profile.binary.display()
                ));
            }
        }
        Ok(units)
    }

    /// The link units of the profile.
    pub fn units(&self) -> Vec<Unit<'_>> {
        self.recovered.iter().map(|(binary, profile)| Unit::new(binary.map(), profile)).collect()
    }
}

impl Input {
    /// Opens the profile only.
    pub fn open(&self) -> Result<ProfileFile> {
        let path = match &self.profile {
            Some(path) if is_source(path) && !path.is_dir() => {
                return Err(miette!(
                    "{0} is a source file, and a profile is named here (*.cotree): `cotree annotate --file {0}` shows the lines of one",
                    path.display()
                ));
            }
            Some(path) => {
                note_newer_run(path);
                path.clone()
            }
            None => {
                let found = by_age(Path::new("."))?;
                let newest = found.first().ok_or_else(no_profile)?;
                newest.note_newer(&found);
                newest.path.clone()
            }
        };
        folder::open(&path, &self.binaries.binaries)
    }

    /// Opens and recovers the profile, whose sources are where they were.
    pub fn load(&self, reader: Reader) -> Result<Loaded> {
        self.load_with(reader, &SourceArgs::default())
    }

    /// Opens and recovers the profile.
    pub fn load_with(&self, reader: Reader, sources: &SourceArgs) -> Result<Loaded> {
        if self.profile.is_some() || !self.binaries.binaries.is_empty() {
            return load_with(&self.open()?, &self.binaries, reader, sources);
        }
        // If no profile is named, take the newest whose binary exists.
        let mut first_error = None;
        let all = by_age(Path::new("."))?;
        for found in &all {
            let path = found.path.clone();
            let recovering = progress::phase(RECOVERING);
            let file = ProfileFile::open(&path).map_err(into_report)?;
            let result = recover_remaining(&file, &[]);
            drop(recovering);
            match result {
                Ok((recovered, gone)) => {
                    if first_error.is_some() {
                        lines::note(format_args!(
                            "note: this is {}: the binaries of newer profiles are gone",
                            path.display()
                        ));
                    }
                    found.note_newer(&all);
                    warn_of_gone(&gone, file.units.len());
                    return Ok(Loaded::new(path, file.kind, recovered, reader, &sources.names()));
                }
                Err(error @ UnitError::BinaryGone { .. }) => {
                    first_error.get_or_insert(error);
                }
                Err(error) => return Err(into_report(error)),
            }
        }
        Err(first_error.map_or_else(no_profile, into_report))
    }
}

/// Refuses a source file in the place of bitcode.
pub fn expect_bitcode(path: &Path) -> Result<()> {
    if !is_source(path) {
        return Ok(());
    }
    Err(miette!(
        "{} is a source file, and bitcode is read here: compile it with `cotree cc -c`, `cotree c++ -c` or `rustc --emit llvm-bc`, and \
         name what that writes",
        path.display()
    ))
}

/// Is it the name of a source file?
fn is_source(path: &Path) -> bool {
    const ENDINGS: [&str; 10] = ["c", "cc", "cpp", "cxx", "C", "h", "hh", "hpp", "hxx", "rs"];
    path.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| ENDINGS.contains(&ending))
}

/// Recovers a profile. Link units whose binaries are gone are left out with a warning, if there are others.
pub fn load(file: &ProfileFile, binaries: &Binaries, reader: Reader) -> Result<Loaded> {
    load_with(file, binaries, reader, &SourceArgs::default())
}

/// Recovers a profile, some of whose sources may have moved.
pub fn load_with(file: &ProfileFile, binaries: &Binaries, reader: Reader, sources: &SourceArgs) -> Result<Loaded> {
    let recovering = progress::phase(RECOVERING);
    let (recovered, gone) = recover_remaining(file, &binaries.binaries).map_err(into_report)?;
    drop(recovering);
    warn_of_gone(&gone, file.units.len());
    Ok(Loaded::new(file.path.clone(), file.kind, recovered, reader, &sources.names()))
}

/// Gives each source file one name in the maps of all binaries.
pub fn name_sources<'a>(names: &SourceNames, binaries: impl Iterator<Item = &'a mut BinaryFile>) {
    let binaries: Vec<_> = binaries.collect();
    let mut all = names.of_all(binaries.iter().flat_map(|binary| &binary.map().program.files)).into_iter();
    for binary in binaries {
        let own = all.by_ref().take(binary.map().program.files.len()).collect();
        binary.rename_files(own);
    }
}

/// Says which binaries are left out.
pub fn warn_of_gone(gone: &[UnitError], all: usize) {
    /// More than these are documentation tests.
    const NAMED: usize = 5;
    for error in gone.iter().take(NAMED) {
        lines::note(format_args!("warning: left out: {error}"));
    }
    if gone.len() > NAMED {
        lines::note(format_args!("warning: left out: {} of {all} binaries in all", gone.len()));
    }
}

/// The error for a pattern that matches no function of any unit.
pub fn no_such_function(units: &[Unit<'_>], pattern: &str) -> miette::Report {
    let symbols = units.iter().flat_map(|unit| unit.functions()).flat_map(|function| {
        let inlined = function.facts.inlined.iter().map(|copy| copy.symbol.as_str());
        std::iter::once(function.facts.symbol.as_str()).chain(inlined)
    });
    let all = "`cotree report -n 0` lists those that ran, `-v` the others too";
    match similar_names(pattern, symbols).as_slice() {
        [] => miette!("there is no function {pattern}: {all}"),
        names => miette!("there is no function {pattern}: did you mean {}? ({all})", names.join(" or ")),
    }
}

/// Does a pattern match any function, or an inlined copy of one?
pub fn means_a_function(units: &[Unit<'_>], pattern: &str) -> bool {
    units.iter().flat_map(|unit| unit.functions()).any(|function| {
        matches(pattern, &function.facts.symbol)
            || function.facts.inlined.iter().any(|copy| matches(pattern, &copy.symbol))
    })
}

/// Reads a pattern for source files.
pub fn file_pattern(text: &str) -> Result<FilePattern, String> {
    FilePattern::new(text, &std::env::current_dir().unwrap_or_default())
}

/// A profile that was found in a folder.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Found {
    /// The process has finished it.
    finished: bool,
    modified: SystemTime,
    path: PathBuf,
}

impl Found {
    /// Says which run was cut off, or still goes on, and is newer than this one that is shown.
    fn note_newer(&self, all: &[Self]) {
        let newer = all.iter().filter(|other| !other.finished && other.modified > self.modified);
        if let Some(newer) = newer.max_by_key(|other| other.modified).filter(|_| self.finished) {
            lines::note(format_args!(
                "note: this is {}; {} is newer: its run was cut off (killed, crashed) or still goes on; name it to see what it has",
                self.path.display(),
                newer.path.display()
            ));
        }
    }
}

/// Says which run that would have taken the name of this profile was cut off, if it is newer.
fn note_newer_run(profile: &Path) {
    let folder = profile.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (Some(name), Ok(modified)) = (profile.file_name(), fs::metadata(profile).and_then(|data| data.modified()))
    else {
        return;
    };
    let of_name = |path: &Path| {
        path.file_name()
            .is_some_and(|own| own.as_bytes().strip_prefix(name.as_bytes()).is_some_and(|rest| rest.starts_with(b".")))
    };
    // A folder that can't be read hides nothing that was asked for.
    let mut found = by_age(folder).unwrap_or_default();
    found.retain(|found| of_name(&found.path));
    Found { finished: true, modified, path: profile.to_owned() }.note_newer(&found);
}

/// The profiles of a folder, the newest first. Those of runs that were cut off come after all others.
fn by_age(folder: &Path) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    let entries = fs::read_dir(folder).map_err(|e| miette!("cannot look for profiles in {}: {e}", folder.display()))?;
    for entry in entries.flatten() {
        let path = entry.path();
        let finished = match path.extension().and_then(|e| e.to_str()) {
            Some("cotree") => true,
            Some("live") => is_finished(&path),
            _ => continue,
        };
        let Ok(modified) = entry.metadata().and_then(|m| m.modified()) else { continue };
        let path = path.strip_prefix(".").map(Path::to_owned).unwrap_or(path);
        found.push(Found { finished, modified, path });
    }
    found.sort_by(|a, b| b.cmp(a));
    Ok(found)
}

fn no_profile() -> miette::Report {
    miette!(
        "there is no profile (*.cotree) in the current directory: run a program built with cotree first, or name its profile"
    )
}
