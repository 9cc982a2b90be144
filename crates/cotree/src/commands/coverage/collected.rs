//! Profiles, each read once: what they have counted of each build, and which test they are of.

use super::super::into_report;
use crate::folder::{self, Folder};
use crate::{lines, progress};
use cotree_profile::binary::UnitId;
use cotree_profile::counts::UnitCounts;
use cotree_profile::file::{ProfileFile, ProfileFormat};
use cotree_profile::merged::Merge;
use cotree_report::terminal::counted;
use miette::{Result, miette};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What profiles have counted.
#[derive(Default)]
pub struct Collected {
    /// By build.
    pub builds: BTreeMap<UnitId, Build>,
    /// The builds that each of the given files and folders has counts of.
    pub units_of: Vec<(PathBuf, BTreeSet<UnitId>)>,
    /// By build: what each test has counted, if that is asked for.
    pub tests: BTreeMap<UnitId, Vec<(String, UnitCounts)>>,
}

/// What profiles have counted of one build.
pub struct Build {
    /// The sums.
    pub sums: Sums,
    /// The first of these profiles.
    pub profile: PathBuf,
}

/// Sums of profiles of one build. Of runs that were cut off less is known, so they are added up by themselves.
#[derive(Default)]
pub struct Sums {
    finished: Option<Merge>,
    cut_off: Option<Merge>,
}

impl Sums {
    fn add(&mut self, path: &Path, kind: ProfileFormat, counts: UnitCounts, candidates: &[PathBuf]) -> Result<()> {
        let sum = if counts.runs.cut_off > 0 { &mut self.cut_off } else { &mut self.finished };
        let sum = sum.get_or_insert_with(|| Merge::with_binaries(candidates));
        sum.add(ProfileFile { path: path.to_owned(), kind, units: vec![counts] }, 1).map_err(into_report)
    }

    fn all(self) -> impl Iterator<Item = Merge> {
        self.finished.into_iter().chain(self.cut_off)
    }

    /// The sum of the runs that ended, and that of the others.
    pub fn finish(self) -> impl Iterator<Item = UnitCounts> {
        self.all().flat_map(Merge::finish)
    }

    fn have_counted_traces(&self) -> bool {
        self.finished.iter().chain(&self.cut_off).any(Merge::has_counted_traces)
    }
}

/// What the profiles of tests have counted, until all are read.
#[derive(Default)]
struct Tests {
    counts: BTreeMap<(String, UnitId), (Sums, PathBuf)>,
    unnamed: u64,
    sums: u64,
}

impl Collected {
    /// Adds up profiles and those of folders; `candidates` are binaries that they may be of. With `by_test`, each test
    /// is kept by itself as well.
    ///
    /// # Errors
    /// If a profile can't be read.
    pub fn read(profiles: &[PathBuf], candidates: &[PathBuf], by_test: bool) -> Result<Self> {
        let mut collected = Self::default();
        let mut tests = by_test.then(Tests::default);
        for path in profiles {
            let mut units = BTreeSet::new();
            let mut take = |profile: ProfileFile| {
                units.extend(profile.units.iter().map(|counts| counts.unit));
                match &mut tests {
                    Some(tests) => tests.add(profile, candidates, &mut collected),
                    None => collected.add(profile, candidates),
                }
            };
            let _reading = progress::phase("reading profiles");
            if path.is_dir() {
                Folder::read(path)?.each(|profile| take(profile.map_err(into_report)?))?;
            } else {
                take(ProfileFile::open(path).map_err(into_report)?)?;
            }
            collected.units_of.push((path.clone(), units));
        }
        if let Some(tests) = tests {
            tests.finish(candidates, &mut collected)?;
        }
        if collected.builds.values().any(|build| build.sums.have_counted_traces())
            && profiles.iter().any(|path| path.is_dir())
        {
            folder::say_traces_are_counted();
        }
        Ok(collected)
    }

    fn add(&mut self, ProfileFile { path, kind, units }: ProfileFile, candidates: &[PathBuf]) -> Result<()> {
        for counts in units {
            let new = || Build { sums: Sums::default(), profile: path.clone() };
            let build = self.builds.entry(counts.unit).or_insert_with(new);
            build.sums.add(&path, kind, counts, candidates)?;
        }
        Ok(())
    }
}

impl Tests {
    /// Adds a profile to its test, or to the sum of all if it is of none.
    fn add(&mut self, profile: ProfileFile, candidates: &[PathBuf], collected: &mut Collected) -> Result<()> {
        let names: BTreeSet<&String> = profile.units.iter().flat_map(|counts| &counts.tests).collect();
        let name = match names.into_iter().collect::<Vec<_>>()[..] {
            [name] => name.clone(),
            [] => {
                self.unnamed += 1;
                return collected.add(profile, candidates);
            }
            _ => {
                self.sums += 1;
                return collected.add(profile, candidates);
            }
        };
        for counts in profile.units {
            let new = || (Sums::default(), profile.path.clone());
            let (sums, _) = self.counts.entry((name.clone(), counts.unit)).or_insert_with(new);
            sums.add(&profile.path, profile.kind, counts, candidates)?;
        }
        Ok(())
    }

    /// Adds all tests to the sum, and says what is of none.
    fn finish(self, candidates: &[PathBuf], collected: &mut Collected) -> Result<()> {
        if self.sums > 0 {
            let sums = counted(self.sums.into(), "sum");
            lines::note(format_args!(
                "note: left out: {sums} of several tests: take the profiles that they were made of"
            ));
        }
        if self.counts.is_empty() {
            return Err(miette!(
                "no profile has the name of a test: run each test with COTREE_TEST set to its name (docs/coverage.md)"
            ));
        }
        if self.unnamed > 0 {
            let profiles = counted(self.unnamed.into(), "profile");
            lines::note(format_args!(
                "note: left out: {profiles} without the name of a test (COTREE_TEST was not set)"
            ));
        }
        for ((name, unit), (sums, path)) in self.counts {
            for counts in sums.finish() {
                let units = vec![counts.clone()];
                collected.add(ProfileFile { path: path.clone(), kind: ProfileFormat::Merged, units }, candidates)?;
                collected.tests.entry(unit).or_default().push((name.clone(), counts));
            }
        }
        Ok(())
    }
}
