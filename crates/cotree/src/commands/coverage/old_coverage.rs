//! The coverage before: an older profile, or a tracefile of lcov.

use super::super::edited::Edited;
use super::super::sources::{FileSources, SourceArgs};
use super::excluded::exclude;
use super::git_texts::{self, Texts};
use super::programs::{Given, Programs};
use cotree_profile::binary::UnitId;
use cotree_profile::error::ProfileError;
use cotree_profile::file::ProfileFile;
use cotree_profile::regular;
use cotree_report::names::Names;
use cotree_report::region_coverage::RegionCoverage;
use cotree_report::region_coverage::records::records;
use cotree_report::source::{SourceText, Sources};
use cotree_report::tracefile::FileRecords;
use cotree_report::tracefile_reader::TracefileReader;
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The coverage before.
pub enum OldCoverage {
    /// An older profile, with its programs.
    Profile(Box<Programs>),
    /// What tracefiles say.
    Tracefile(Vec<FileRecords>),
}

/// Larger files are not taken for tracefiles.
const LARGEST: u64 = 1 << 30;

impl OldCoverage {
    /// Reads profiles, folders of profiles, or tracefiles.
    ///
    /// # Errors
    /// If one is neither, or can't be read.
    pub fn read(old: &[PathBuf], binaries: &[PathBuf], sources: &SourceArgs) -> Result<Self> {
        let mut texts = Vec::new();
        for path in old {
            texts.extend(tracefile(path)?.map(|text| (path, text)));
        }
        if texts.is_empty() {
            let given = Given { profiles: old, binaries, unused: &|_| false, sources, by_test: false };
            let programs = Programs::load(given).wrap_err("cannot read what ran before")?;
            return Ok(Self::Profile(Box::new(programs)));
        }
        if texts.len() < old.len() {
            return Err(miette!("--against takes profiles or tracefiles, not both at once"));
        }
        let recorded: Vec<String> = texts
            .iter()
            .flat_map(|(_, text)| text.lines().filter_map(|line| line.strip_prefix("SF:")))
            .map(|path| path.trim_end().to_owned())
            .collect();
        let names: BTreeMap<&str, String> =
            recorded.iter().map(String::as_str).zip(sources.names().of_all(&recorded)).collect();
        let mut reader = TracefileReader::default();
        for (path, text) in &texts {
            let read = reader.read(text, |path| names.get(path).cloned().unwrap_or_else(|| path.to_owned()));
            read.into_diagnostic().wrap_err_with(|| format!("cannot read {}", path.display()))?;
        }
        Ok(Self::Tracefile(reader.finish()))
    }

    /// The builds that it is of.
    pub fn units(&self) -> &BTreeSet<UnitId> {
        static NONE: BTreeSet<UnitId> = BTreeSet::new();
        match self {
            Self::Profile(programs) => programs.units(),
            Self::Tracefile(_) => &NONE,
        }
    }

    /// What the programs say of their sources. `None`: a tracefile says nothing.
    pub fn edited(&self) -> Option<&Edited> {
        match self {
            Self::Profile(programs) => Some(programs.edited()),
            Self::Tracefile(_) => None,
        }
    }

    /// The paths of its files.
    pub fn paths(&self) -> Vec<String> {
        match self {
            Self::Profile(programs) => RegionCoverage::new(&programs.counted()).paths().map(str::to_owned).collect(),
            Self::Tracefile(files) => files.iter().map(|file| file.path.clone()).collect(),
        }
    }

    /// What it says of all files. `texts` are sources that are no longer what was built then; where `markers` count,
    /// they are looked for there.
    pub fn records(&self, names: Names, markers: bool, texts: &Texts) -> Vec<FileRecords> {
        match self {
            Self::Profile(programs) => {
                let mut coverage = RegionCoverage::new(&programs.counted());
                if markers {
                    // Mistakes of the sources before are nobody's concern.
                    drop(exclude(&mut coverage, &SourcesBefore { texts, edited: programs.edited() }, |_| true));
                }
                records(&coverage, |_| true, names).collect()
            }
            Self::Tracefile(files) => {
                let mut files = files.clone();
                let functions = files.iter_mut().flat_map(|file| &mut file.functions);
                functions.for_each(|function| function.name = names.show(&function.name));
                files
            }
        }
    }
}

/// Reads a tracefile. `None`: it is a profile, or a folder of profiles.
fn tracefile(path: &Path) -> Result<Option<String>> {
    if path.is_dir() {
        return Ok(None);
    }
    let Err(ProfileError::NotAProfile { .. }) = ProfileFile::open(path) else { return Ok(None) };
    let bytes = regular::read(path, LARGEST).into_diagnostic();
    let bytes = bytes.wrap_err_with(|| format!("cannot read {}", path.display()))?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if text.lines().any(|line| line.starts_with("SF:")) {
        return Ok(Some(text));
    }
    Err(miette!(
        "{} is neither a profile (*.cotree) nor a tracefile of lcov, which has lines that begin with `SF:`",
        path.display()
    ))
}

/// The sources of an older build.
struct SourcesBefore<'a> {
    texts: &'a Texts,
    edited: &'a Edited,
}

impl Sources for SourcesBefore<'_> {
    fn text(&self, path: &str) -> Option<Rc<SourceText>> {
        let bytes = match self.edited.checksum(path) {
            Some(sum) => git_texts::text(self.texts, path, sum),
            None => FileSources::bytes(path).filter(|_| self.edited.fault(path).is_none()),
        };
        bytes.map(|bytes| Rc::new(SourceText::new(&bytes)))
    }
}
