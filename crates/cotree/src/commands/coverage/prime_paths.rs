//! `cotree coverage --prime-paths`: how many prime paths of each function ran, from traces.

use super::super::input::{Binaries, Input, Reader};
use super::super::into_report;
use super::super::sources::SourceArgs;
use super::super::vouched::{Doubted, Vouched};
use super::programs::find_binaries;
use super::questions::{GATES, WHOLE};
use super::share::share;
use crate::folder::Folder;
use crate::lines;
use clap::Args;
use cotree_core::method::Method;
use cotree_profile::binary::UnitId;
use cotree_profile::coverage::{CoverageMap, CoverageMapError};
use cotree_profile::file::{ProfileFile, ProfileFormat};
use cotree_profile::method::trace::UnitTables;
use cotree_profile::method::trace::prime_paths::mark;
use cotree_profile::method::trace::streams::Streams;
use cotree_profile::method::trace::thread::Thread;
use cotree_profile::recover::Recovery;
use cotree_report::method::trace::prime_paths::{PrimePathTable, UnitPaths};
use cotree_report::names::Names;
use cotree_report::terminal::counted;
use cotree_report::unit::Unit;
use miette::{Result, miette};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Options of what is shown instead of lines and regions, but for [`GATES`] and [`WHOLE`].
const OTHERS: [&str; 7] =
    ["fail_under_lines", "by_test", "tests_for", "diff", "against", "function_ends", "no_markers"];

/// Options of prime paths.
#[derive(Args, Debug)]
pub struct PrimePathArgs {
    /// Tell how many prime paths of each function ran
    ///
    /// Needs traces: build with --coverage --profile trace.
    #[arg(long, conflicts_with_all = GATES, conflicts_with_all = WHOLE, conflicts_with_all = OTHERS)]
    pub prime_paths: bool,
    /// With --prime-paths: list the N shortest paths of each function that did not run
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "3", requires = "prime_paths", hide_short_help = true)]
    show_missing_paths: Option<usize>,
    /// With --prime-paths: leave out functions that have more prime paths
    #[arg(long, value_name = "N", default_value_t = 10_000, requires = "prime_paths", value_parser = clap::value_parser!(u32).range(1..=100_000_000), hide_short_help = true)]
    path_limit: u32,
    /// With --prime-paths: end with 1 if less than this share of the paths ran
    #[arg(long, value_name = "PERCENT", value_parser = share, requires = "prime_paths", hide_short_help = true)]
    pub fail_under_paths: Option<f64>,
}

/// The runs of one build.
struct Build {
    recovery: Recovery,
    paths: UnitPaths,
}

impl PrimePathArgs {
    /// Reads the traces of all profiles.
    ///
    /// # Errors
    /// If a profile or a program can't be read, or if a profile has no trace.
    pub fn read(
        &self,
        profiles: &[PathBuf],
        binaries: &[PathBuf],
        sources: &SourceArgs,
        wanted: impl Fn(&str) -> bool,
        names: Names,
        vouched: Vouched,
    ) -> Result<PrimePathTable> {
        let most = usize::try_from(self.path_limit).unwrap_or(usize::MAX);
        let mut files: Vec<Option<PathBuf>> = Vec::new();
        for path in profiles {
            if path.is_dir() {
                files.extend(Folder::read(path)?.files().iter().cloned().map(Some));
            } else {
                files.push(Some(path.clone()));
            }
        }
        if profiles.is_empty() {
            files.push(None);
        }
        let mut named = BTreeMap::new();
        for path in binaries {
            find_binaries(path, true, &mut named)?;
        }
        let mut builds: BTreeMap<UnitId, Build> = BTreeMap::new();
        let mut doubted = Doubted::default();
        for profile in files {
            let binaries = Binaries { binaries: named.values().cloned().collect() };
            let loaded = Input { profile, binaries }.load_with(Reader::Program, sources)?;
            let path = loaded.path().to_owned();
            let merged = ProfileFile::open(&path).map_err(into_report)?.kind == ProfileFormat::Merged;
            let streams = Streams::open(&path).map_err(into_report)?;
            for recovery in loaded.into_recovered() {
                if merged || recovery.1.method.method() != Method::Trace {
                    return Err(miette!(
                        "{} has no trace of one run, which tells prime paths: build with `cotree --coverage --profile trace cc`, and \
                         name the profiles of the runs",
                        path.display()
                    ));
                }
                doubted.add(&recovery);
                let unit = recovery.0.unit();
                let build = builds.entry(unit).or_insert_with(|| {
                    let paths = UnitPaths::new(&Unit::new(recovery.0.map(), &recovery.1), most, &wanted);
                    Build { recovery, paths }
                });
                let tables = UnitTables::new(&build.recovery.0)
                    .map_err(|why| miette!("no trace of {}: {why}", path.display()))?;
                let threads: Vec<Thread<'_>> =
                    streams.iter().map(|stream| Thread::new(&tables, &streams, stream)).collect();
                mark(&tables, &streams, &threads, &mut build.paths.functions);
            }
        }
        let mut table = PrimePathTable::new(most);
        for Build { recovery: (binary, profile), paths } in builds.values() {
            let unit = Unit::new(binary.map(), profile);
            table.add(&unit, paths, names, self.show_missing_paths.unwrap_or(0));
            match CoverageMap::open(binary.path()) {
                Ok(map) => table.add_map(&unit, &map, names, &wanted),
                Err(CoverageMapError::NoMap { .. }) => {}
                Err(error) => return Err(into_report(error)),
            }
        }
        let unused = named.keys().filter(|unit| !builds.contains_key(unit)).count();
        if unused > 0 {
            let programs = counted(unused as u128, "program");
            lines::note(format_args!("note: left out: {programs} without a trace"));
        }
        table.remarks().iter().for_each(|remark| lines::note(format_args!("note: {remark}")));
        vouched.say(None, doubted)?;
        if table.is_empty() {
            return Err(miette!("no function of these sources carries probes: see --file and --ignore-filename-regex"));
        }
        Ok(table)
    }
}
