//! The programs whose coverage is asked for: profiles of several builds, each read with its own binary.
//!
//! `cotree merge` refuses another build of a binary, since its counters mean something else. Coverage has no such
//! limit: each build has a map of its own, and what they count is added up by file, function and version of the
//! function.

use super::super::coverage_html::Ran;
use super::super::edited::Edited;
use super::super::input::{Binaries, Input, Loaded, Reader, warn_of_gone};
use super::super::into_report;
use super::super::source_names::SourceNames;
use super::super::sources::SourceArgs;
use super::super::vouched::{Doubted, Vouched};
use super::collected::{Build, Collected};
use crate::{lines, progress};
use cotree_profile::binary::{BinaryFile, UnitId};
use cotree_profile::bounds::Bounds;
use cotree_profile::counts::UnitCounts;
use cotree_profile::coverage::{CounterTable, CoverageMap, CoverageMapError, name_hash};
use cotree_profile::recover::{Recovery, UnitError, open_binary, recover};
use cotree_report::covered::{CoverageCounters, coverage_counters};
use cotree_report::region_coverage::{Cuts, certain_cuts, cuts, doc_tests};
use cotree_report::terminal::counted;
use cotree_report::unit::Unit;
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Whether a program that did not run counts.
pub type Unused<'a> = &'a dyn Fn(UnitId) -> bool;

/// What is read.
#[derive(Clone, Copy)]
pub struct Given<'a> {
    /// Profiles, and folders of profiles; none means the newest one of the current folder.
    pub profiles: &'a [PathBuf],
    /// Programs, and folders of programs, that the profiles may be of.
    pub binaries: &'a [PathBuf],
    /// Which of them count if no profile is of them.
    pub unused: Unused<'a>,
    /// Where sources are.
    pub sources: &'a SourceArgs,
    /// Whether each test is kept by itself.
    pub by_test: bool,
}

/// Programs with their counters.
#[derive(Default)]
pub struct Programs {
    programs: Vec<Program>,
    /// By the name of a test: programs, by their places in the list, with what is certain to have been counted in it.
    tests: BTreeMap<String, BTreeMap<usize, CounterTable>>,
    /// What is to be said of all of them, once.
    not_counted: u64,
    without_places: u64,
    conditions: u64,
    lacking: u64,
    /// Functions that keep a branch of an `if constexpr` which may not come out at its end.
    kept: u64,
    /// Lines that count more executions than any of their instructions.
    doubtful: u64,
    doubted: Doubted,
    names: SourceNames,
    edited: Edited,
    units: BTreeSet<UnitId>,
    /// What pages say of the runs.
    pub ran: Ran,
}

/// A program with its counters.
struct Program {
    map: CoverageMap,
    /// What is certain to have been counted.
    least: CounterTable,
    /// What may have been counted at most; none if that is the same.
    most: Option<CounterTable>,
}

impl Programs {
    /// Reads profiles, and says on standard error what is to be known of their counts.
    ///
    /// # Errors
    /// As [`Self::load`]; also if no program has a coverage map, or if counts must be exact and are not.
    pub fn read(given: Given<'_>, vouched: Vouched) -> Result<Self> {
        let mut programs = Self::load(given)?;
        let Self { not_counted, without_places, conditions, lacking, kept, doubtful, .. } = programs;
        let all = CoverageCounters { not_counted, ..CoverageCounters::default() };
        let cuts = Cuts { without_places, conditions, lacking, kept, doubtful, ..Cuts::default() };
        let remarks: Vec<String> = all.remark().into_iter().chain(cuts.remarks()).collect();
        remarks.iter().for_each(|remark| lines::note(format_args!("note: {remark}")));
        programs.ran.notes.extend(remarks);
        vouched.say(None, programs.doubted)?;
        if programs.programs.is_empty() {
            return Err(miette!(
                "the program has no coverage map that is counted: build it with `cotree --coverage cc` (docs/coverage.md)"
            ));
        }
        Ok(programs)
    }

    /// Reads profiles. Programs that no profile is of have not run, and count as well if they are `unused`.
    ///
    /// # Errors
    /// If a profile or a program can't be read, or if tests are asked for and there are none.
    pub fn load(given: Given<'_>) -> Result<Self> {
        let Given { profiles, binaries, unused, sources, by_test } = given;
        let mut programs = Self { names: sources.names(), ..Self::default() };
        let mut named = BTreeMap::new();
        for path in binaries {
            find_binaries(path, true, &mut named)?;
        }
        if by_test && profiles.is_empty() {
            return Err(miette!("name the profiles of the tests, or their folder: one profile tells no tests apart"));
        }
        if profiles.is_empty() {
            let binaries = Binaries { binaries: named.values().cloned().collect() };
            let newest = Input { profile: None, binaries }.load(Reader::Program)?;
            programs.ran.profiles.push(newest.path().to_owned());
            let path = newest.path().to_owned();
            if newest.recovered().iter().all(|(_, profile)| profile.exact()) {
                for recovery in newest.into_recovered() {
                    named.remove(&recovery.0.unit());
                    programs.add(recovery, None, Vec::new())?;
                }
            } else {
                programs.add_profiles(&[path], false, &mut named)?;
            }
        } else {
            programs.ran.profiles.extend_from_slice(profiles);
            programs.add_profiles(profiles, by_test, &mut named)?;
        }
        named.retain(|unit, _| unused(*unit));
        programs.add_unused(named.into_values())?;
        programs.name_sources();
        Ok(programs)
    }

    /// The tests, each with what the programs counted in it.
    pub fn tests(&self) -> impl Iterator<Item = (&str, Vec<(&CoverageMap, &CounterTable)>)> {
        let none: &CounterTable = &EMPTY;
        self.tests.iter().map(move |(name, counted)| {
            let table = |index| counted.get(&index).unwrap_or(none);
            let all = self.programs.iter().enumerate();
            (name.as_str(), all.map(|(index, program)| (&program.map, table(index))).collect())
        })
    }

    /// Each map with the counters that the profiles have for it.
    pub fn counted(&self) -> Vec<(&CoverageMap, &CounterTable)> {
        self.programs.iter().map(|program| (&program.map, &program.least)).collect()
    }

    /// Each map with the counters at most; none if all are exact.
    pub fn possible(&self) -> Option<Vec<(&CoverageMap, &CounterTable)>> {
        let most = |program: &'_ Program| program.most.is_some();
        self.programs.iter().any(most).then(|| {
            let all = self.programs.iter();
            all.map(|program| (&program.map, program.most.as_ref().unwrap_or(&program.least))).collect()
        })
    }

    /// The builds that profiles are of.
    pub fn units(&self) -> &BTreeSet<UnitId> {
        &self.units
    }

    /// The sources that were edited since the builds.
    pub fn edited(&self) -> &Edited {
        &self.edited
    }

    /// Gives each source file one name in all maps.
    fn name_sources(&mut self) {
        let names = self.names.of_all(self.programs.iter().flat_map(|program| &program.map.files));
        let files = self.programs.iter_mut().flat_map(|program| &mut program.map.files);
        files.zip(names).for_each(|(file, name)| *file = name);
    }

    /// Adds up what the profiles have of each build. What has been run goes from `named`.
    fn add_profiles(
        &mut self,
        profiles: &[PathBuf],
        by_test: bool,
        named: &mut BTreeMap<UnitId, PathBuf>,
    ) -> Result<()> {
        let candidates: Vec<PathBuf> = named.values().cloned().collect();
        let Collected { builds, units_of, mut tests } = Collected::read(profiles, &candidates, by_test)?;
        let all = builds.len();
        let mut gone: BTreeMap<UnitId, UnitError> = BTreeMap::new();
        let mut doc_tests = 0u64;
        let reading = progress::phase_of("reading programs", all);
        for (unit, Build { sums, profile }) in builds {
            reading.step();
            let binary = named.remove(&unit);
            for counts in sums.finish() {
                match open_binary(&profile, &counts, binary.as_slice()) {
                    Ok(binary) => {
                        let recovered = recover(&binary, &counts).map_err(into_report)?;
                        let bounds = Bounds::of(&binary, &counts, &recovered);
                        self.add((binary, recovered), bounds, tests.remove(&unit).unwrap_or_default())?;
                    }
                    Err(UnitError::BinaryGone { binary, .. }) if is_of_doc_test(&binary) => doc_tests += 1,
                    Err(error @ (UnitError::BinaryGone { .. } | UnitError::OtherBuild { .. })) => {
                        gone.insert(unit, error);
                    }
                    Err(error) => return Err(into_report(error)),
                }
            }
        }
        drop(reading);
        if doc_tests > 0 {
            lines::note(format_args!(
                "warning: left out: what {} ran, since rustdoc has removed the programs (`cargo cotree coverage` keeps them, \
                 with Rust 1.89 or newer and no runner of your own)",
                counted(doc_tests.into(), "documentation test")
            ));
        }
        // A folder may hold profiles of older builds. A profile that is named must be read.
        for (path, units) in units_of {
            let other_build = |unit: &&UnitId| matches!(gone.get(unit), Some(UnitError::OtherBuild { .. }));
            let lost = units.iter().find(other_build).filter(|_| !path.is_dir());
            let all_gone = units.iter().all(|unit| gone.contains_key(unit));
            if let Some(error) = lost.or(units.first().filter(|_| all_gone)).and_then(|unit| gone.remove(unit)) {
                return Err(into_report(error));
            }
        }
        self.ran.notes.extend(gone.values().map(|error| format!("left out: {error}")));
        warn_of_gone(&gone.into_values().collect::<Vec<_>>(), all);
        Ok(())
    }

    /// Adds a build that has run, with what each test has counted of it.
    fn add(&mut self, recovery: Recovery, bounds: Option<Bounds>, tests: Vec<(String, UnitCounts)>) -> Result<()> {
        self.doubted.add(&recovery);
        self.units.insert(recovery.0.unit());
        self.ran.add(&recovery);
        let path = recovery.0.path().to_owned();
        let (binary, recovered) = recovery;
        let (least, most) = match bounds {
            Some(Bounds { least, most }) => (least, Some(most)),
            None => (recovered, None),
        };
        let loaded = Loaded::of_sums(path.clone(), vec![(binary, least)], &self.names);
        let units = loaded.units_with_blocks()?;
        let counted = coverage_counters(&units);
        let mut map = match CoverageMap::open(&path) {
            Ok(map) => map,
            Err(CoverageMapError::NoMap { .. }) => return Ok(()),
            Err(error) => return Err(into_report(error)),
        };
        // Without functions that are counted, either none of those of the map is linked, which all are missed, or the
        // program was built with the compiler's own coverage.
        if counted.functions.is_empty() && map.has_own_counters {
            return Ok(());
        }
        self.edited.add(loaded.binaries());
        self.not_counted += counted.not_counted;
        if is_of_doc_test(&path) {
            doc_tests::leave_out(&mut map);
        }
        let mut least = CounterTable::default();
        let not_known = fill(&mut least, &counted, &units, &map, cuts)?;
        self.without_places += not_known.without_places;
        self.conditions += not_known.conditions;
        self.lacking += not_known.lacking;
        self.kept += not_known.kept;
        self.doubtful += not_known.doubtful;
        let at_most = |units: &[Unit<'_>]| {
            let mut table = CounterTable::default();
            fill(&mut table, &coverage_counters(units), units, &map, certain_cuts)?;
            Ok::<_, miette::Report>(table)
        };
        let unit_of = |profile| loaded.binaries().map(|binary| Unit::new(binary.map(), profile)).collect::<Vec<_>>();
        let most = match &most {
            Some(most) => Some(at_most(&unit_of(most))?),
            None if not_known.least_known > 0 => Some(at_most(&units)?),
            None => None,
        };
        let binary = loaded.binaries().next();
        for (test, counts) in tests {
            let Some(binary) = binary else { continue };
            let recovered = recover(binary, &counts).map_err(into_report)?;
            let profile = Bounds::of(binary, &counts, &recovered).map_or(recovered, |bounds| bounds.least);
            let units = [Unit::new(binary.map(), &profile)];
            // What did not run in a test is not kept.
            let mut counted = coverage_counters(&units);
            counted.functions.retain(|_, values| values.iter().any(|&value| value > 0));
            let table = self.tests.entry(test).or_default().entry(self.programs.len()).or_default();
            fill(table, &counted, &units, &map, cuts)?;
        }
        self.programs.push(Program { map, least, most });
        Ok(())
    }

    /// Adds programs that have not run.
    fn add_unused(&mut self, binaries: impl Iterator<Item = PathBuf>) -> Result<()> {
        for path in binaries {
            match CoverageMap::open(&path) {
                Ok(map) => self.programs.push(Program { map, least: CounterTable::default(), most: None }),
                Err(CoverageMapError::NoMap { .. }) => {}
                Err(error) => return Err(into_report(error)),
            }
        }
        Ok(())
    }
}

/// What the cuts of a program leave open.
#[derive(Default)]
struct NotKnown {
    /// Functions that were left early and have no known lines.
    without_places: u64,
    /// Regions of which only the least and the most is known.
    least_known: u64,
    /// Conditions whose outcomes count as the counters say.
    conditions: u64,
    /// Functions that were left early and lack counters.
    lacking: u64,
    /// Functions that keep a branch of an `if constexpr` which may not come out at its end.
    kept: u64,
    /// Lines that count more executions than any of their instructions.
    doubtful: u64,
}

/// Finds what counters say too much.
type FindCuts = for<'u> fn(&Unit<'u>, &CoverageMap) -> Cuts<'u>;

/// Adds the counters of a program to a table, with what is too much in them.
fn fill(
    table: &mut CounterTable,
    counted: &CoverageCounters<'_>,
    units: &[Unit<'_>],
    map: &CoverageMap,
    cuts: FindCuts,
) -> Result<NotKnown> {
    for (function, values) in &counted.functions {
        table.add(name_hash(&function.name), function.hash, values).into_diagnostic()?;
    }
    for (function, counts) in &counted.vectors {
        table.add_vectors(name_hash(&function.name), function.hash, counts);
    }
    let mut not_known = NotKnown::default();
    for unit in units {
        let cuts = cuts(unit, map);
        not_known.without_places += cuts.without_places;
        not_known.least_known += cuts.least_known;
        not_known.conditions += cuts.conditions;
        not_known.lacking += cuts.lacking;
        not_known.kept += cuts.kept;
        not_known.doubtful += cuts.doubtful;
        for (function, corrections) in &cuts.functions {
            table.correct(name_hash(&function.name), function.hash, corrections);
        }
    }
    Ok(not_known)
}

/// What a program has counted that did not run.
static EMPTY: LazyLock<CounterTable> = LazyLock::new(CounterTable::default);

/// Is it the program of a documentation test? rustdoc gives all of them one name, and cargo gives it to none.
fn is_of_doc_test(program: &Path) -> bool {
    program.file_name().is_some_and(|name| name.to_string_lossy().ends_with("rust_out"))
}

/// Finds the profiled programs and libraries at a path: itself, or all in a folder. A file that is `named` must be one.
///
/// # Errors
/// If the path can't be read, or is a named file and no profiled program.
pub(super) fn find_binaries(path: &Path, named: bool, found: &mut BTreeMap<UnitId, PathBuf>) -> Result<()> {
    let unreadable = || format!("cannot look for programs in {}", path.display());
    let data = if named { fs::metadata(path) } else { fs::symlink_metadata(path) };
    let data = data.into_diagnostic().wrap_err_with(unreadable)?;
    if data.is_dir() {
        for entry in fs::read_dir(path).into_diagnostic().wrap_err_with(unreadable)? {
            find_binaries(&entry.into_diagnostic().wrap_err_with(unreadable)?.path(), false, found)?;
        }
    } else if named || data.is_file() {
        match BinaryFile::unit_of(path) {
            Ok(unit) => drop(found.entry(unit).or_insert_with(|| path.to_owned())),
            Err(error) if named => return Err(into_report(error)),
            // Whatever else is in a folder.
            Err(_) => {}
        }
    }
    Ok(())
}
