//! A folder of profiles in the place of one: what its runs have counted, added up.
//!
//! The profiles directly in a folder that processes have finished count: `*.cotree`, and `*.live` of which the
//! file itself says so. All that is left out is said on standard error: profiles that are unfinished, snapshots and
//! sums (of the very same runs, perhaps), further names of a file that is there already, empty files,
//! and what is no profile. A profile that is damaged is an error: without it the sum is not that of the folder.

use crate::{coded, lines, progress};
use cotree_profile::binary::UnitId;
use cotree_profile::counts::UnitCounts;
use cotree_profile::error::ProfileError;
use cotree_profile::file::{ProfileFile, ProfileFormat};
use cotree_profile::merged::Merge;
use cotree_profile::raw::{is_finished, pool_of};
use cotree_report::terminal::{counted, grouped};
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use std::collections::hash_map::{Entry, HashMap};
use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The files of a folder that may be profiles, by name.
pub struct Folder {
    path: PathBuf,
    finished: Vec<PathBuf>,
    unfinished: usize,
    /// What is left out, and why.
    left_out: Vec<String>,
    sums: usize,
    /// Locks the folder: as long as it is there, no profile is added to a pool, where it would be read once more.
    _held: Option<File>,
}

/// How long the folder's lock is waited for. Who has it needs a millisecond.
const PATIENCE: Duration = Duration::from_secs(10);

/// Keeps processes that finish from adding to pools in the folder; they wait some seconds, and have their profiles by
/// themselves then. `None`: there are no locks in this file system, so nobody adds to pools there.
fn hold(path: &Path) -> Result<Option<File>> {
    let Ok(folder) = File::open(path) else { return Ok(None) };
    let begun = Instant::now();
    let _waiting = progress::phase("waiting for a process that adds its profile to the folder");
    loop {
        match folder.try_lock_shared() {
            Ok(()) => return Ok(Some(folder)),
            Err(TryLockError::Error(_)) => return Ok(None),
            Err(TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(5)),
            Err(TryLockError::WouldBlock) => {
                return Err(miette!(
                    "cannot read the folder {}: a process has been adding its profile to a pool there for ten seconds, and may have been stopped; let it go on or end it",
                    path.display()
                ));
            }
        }
    }
}

fn is_profile(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "cotree")
}

impl Folder {
    /// Looks into a folder.
    pub fn read(path: &Path) -> Result<Self> {
        let unreadable = || format!("cannot read the folder {}", path.display());
        let mut folder = Self::of(path, hold(path)?);
        for entry in fs::read_dir(path).into_diagnostic().wrap_err_with(unreadable)? {
            let file = entry.into_diagnostic().wrap_err_with(unreadable)?.path();
            match file.extension().and_then(|extension| extension.to_str()) {
                Some("cotree") if !file.is_dir() => folder.finished.push(file),
                // The program took away its own right to give it its name, or closed the way to the folder.
                Some("live") if is_finished(&file) => folder.finished.push(file),
                Some("live") => folder.unfinished += 1,
                // It is taken with its pool, which is not there yet if the very first process was killed.
                Some("joining") => folder.finished.extend(pool_of(&file).filter(|pool| is_profile(pool))),
                _ => {}
            }
        }
        folder.finished.sort();
        folder.finished.dedup();
        Ok(folder)
    }

    fn of(path: &Path, held: Option<File>) -> Self {
        let path = path.to_owned();
        Self { path, finished: Vec::new(), unfinished: 0, left_out: Vec::new(), sums: 0, _held: held }
    }

    /// The finished ones.
    pub fn files(&self) -> &[PathBuf] {
        &self.finished
    }

    /// Hands the profiles of runs to `take`, one by one; says then what was left out.
    pub fn each(mut self, mut take: impl FnMut(Result<ProfileFile, ProfileError>) -> Result<()>) -> Result<()> {
        let mut found = false;
        let mut names: HashMap<(u64, u64), PathBuf> = HashMap::new();
        let files = std::mem::take(&mut self.finished);
        let reading = progress::phase_of("reading profiles", files.len());
        for file in files.into_iter().map(settled) {
            reading.step();
            if let Ok(metadata) = fs::metadata(&file) {
                if !metadata.is_file() {
                    self.left_out.push(format!("{} is no file", file.display()));
                    continue;
                }
                match names.entry((metadata.dev(), metadata.ino())) {
                    // It got its final name while the folder was read.
                    Entry::Occupied(other) if *other.get() == file => continue,
                    Entry::Occupied(other) => {
                        self.left_out.push(format!("{} is {} by another name", file.display(), other.get().display()));
                        continue;
                    }
                    Entry::Vacant(name) => {
                        name.insert(file.clone());
                    }
                }
            }
            match ProfileFile::open(&file) {
                Ok(profile) if profile.kind == ProfileFormat::Merged => {
                    self.sums += 1;
                    self.left_out.push(format!("{} is a sum of runs: name it to take it", file.display()));
                }
                Ok(profile) if profile.units.iter().all(|counts| counts.runs.snapshots > 0) => {
                    self.left_out.push(format!("{} is a snapshot of a run: name it to take it", file.display()));
                }
                Err(error @ (ProfileError::NotAProfile { .. } | ProfileError::Empty { .. })) => {
                    self.left_out.push(error.to_string());
                }
                result => {
                    found = true;
                    take(result)?;
                }
            }
        }
        drop(reading);
        self.say();
        if found { Ok(()) } else { Err(self.nothing()) }
    }

    fn say(&self) {
        /// More than these are only counted.
        const NAMED: usize = 5;
        for why in self.left_out.iter().take(NAMED) {
            lines::note(format_args!("note: left out: {why}"));
        }
        if self.left_out.len() > NAMED {
            lines::note(format_args!("note: left out: {} files in all", grouped(self.left_out.len() as u128)));
        }
        if self.unfinished > 0 {
            lines::note(format_args!(
                "note: left out: {} (*.live) in {}: their programs still run or were killed; name them to take what they have",
                counted(self.unfinished as u128, "unfinished profile"),
                self.path.display()
            ));
        }
    }

    fn nothing(&self) -> miette::Report {
        let more = if self.sums > 0 { ", only sums of runs: name these" } else { "" };
        miette!("there is no profile of a run (*.cotree) in the folder {}{more}", self.path.display())
    }
}

/// Where a finished profile is by now: it may have got its final name since the folder was read.
fn settled(file: PathBuf) -> PathBuf {
    let is_live = file.extension().is_some_and(|extension| extension == "live");
    if !is_live || file.exists() {
        return file;
    }
    // PATTERN.PROCESS.live
    let named = file.with_extension("").with_extension("");
    if named.exists() { named } else { file }
}

/// Opens a profile, or adds up those of a folder: of each binary the runs of its newest build.
/// `binaries`: where binaries may be that are no longer where they ran.
pub fn open(path: &Path, binaries: &[PathBuf]) -> Result<ProfileFile> {
    let mut profile = open_all_builds(path, binaries)?;
    if path.is_dir() {
        profile.units = newest(profile.units);
    }
    Ok(profile)
}

/// Opens a profile, or adds up those of a folder: of each binary the runs of all its builds, each build by itself.
pub fn open_all_builds(path: &Path, binaries: &[PathBuf]) -> Result<ProfileFile> {
    if !path.is_dir() {
        return ProfileFile::open(path).map_err(coded::report);
    }
    let mut builds = Builds::new(binaries);
    Folder::read(path)?.each(|profile| builds.add(profile.map_err(coded::report)?))?;
    Ok(builds.finish(path.to_owned()))
}

/// Adds up several profiles, and those of folders: of each binary the runs of its newest build.
/// `binaries`: where binaries may be that are no longer where they ran.
pub fn open_several(paths: &[PathBuf], binaries: &[PathBuf]) -> Result<ProfileFile> {
    let mut builds = Builds::new(binaries);
    for path in paths {
        if path.is_dir() {
            Folder::read(path)?.each(|profile| builds.add(profile.map_err(coded::report)?))?;
        } else {
            builds.add(ProfileFile::open(path).map_err(coded::report)?)?;
        }
    }
    let mut sum = builds.finish(paths.first().cloned().unwrap_or_default());
    sum.units = newest(sum.units);
    Ok(sum)
}

/// What runs of several builds have counted, added up for each.
struct Builds<'b> {
    binaries: &'b [PathBuf],
    sums: BTreeMap<UnitId, Merge>,
    /// The files that have been added, by device and number.
    added: HashSet<(u64, u64)>,
}

impl<'b> Builds<'b> {
    fn new(binaries: &'b [PathBuf]) -> Self {
        Self { binaries, sums: BTreeMap::new(), added: HashSet::new() }
    }

    /// Adds a profile, once whatever it is called and however often.
    fn add(&mut self, profile: ProfileFile) -> Result<()> {
        if let Ok(file) = fs::metadata(&profile.path)
            && !self.added.insert((file.dev(), file.ino()))
        {
            lines::note(format_args!("note: left out: {} is there already", profile.path.display()));
            return Ok(());
        }
        for counts in profile.units {
            let sum = self.sums.entry(counts.unit).or_insert_with(|| Merge::with_binaries(self.binaries));
            let unit = ProfileFile { path: profile.path.clone(), kind: profile.kind, units: vec![counts] };
            sum.add(unit, 1).map_err(coded::report)?;
        }
        Ok(())
    }

    /// The sums; says what those of traces do not have.
    fn finish(self, path: PathBuf) -> ProfileFile {
        if self.sums.values().any(Merge::has_counted_traces) {
            say_traces_are_counted();
        }
        let units = self.sums.into_values().flat_map(Merge::finish).collect();
        ProfileFile { path, kind: ProfileFormat::Merged, units }
    }
}

/// Says once what sums of traces do not have.
pub fn say_traces_are_counted() {
    lines::note(format_args!(
        "note: what the traces count is added up; the order in which things happened is only in the profiles of single runs"
    ));
}

/// Leaves out builds of a binary that was built anew later on.
fn newest(units: Vec<UnitCounts>) -> Vec<UnitCounts> {
    let age = |counts: &UnitCounts| counts.ended_ns.max(counts.started_ns);
    let mut newest: BTreeMap<PathBuf, UnitCounts> = BTreeMap::new();
    for counts in units {
        let path = counts.binary.clone();
        let old = match newest.remove(&path) {
            Some(known) if age(&known) > age(&counts) => {
                newest.insert(path, known);
                Some(counts)
            }
            known => {
                newest.insert(path, counts);
                known
            }
        };
        if let Some(old) = old {
            let runs = counted(u128::from(old.runs.total()), "run");
            let binary = old.binary.display();
            lines::note(format_args!("note: left out: {runs} of an older build of {binary} ({})", old.unit));
        }
    }
    let mut units: Vec<_> = newest.into_values().collect();
    units.sort_by_key(|counts| counts.unit);
    units
}
