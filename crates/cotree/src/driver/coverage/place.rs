//! The folder of coverage below cargo's target folder: what is built there, the profiles, and the programs that they
//! are of.

use super::line::Asked;
use crate::driver::Error;
use crate::driver::cargo_line::{Line, current_folder};
use crate::driver::cargo_workspace::Workspace;
use crate::lines;
use cotree_profile::binary::BinaryFile;
use cotree_profile::file::ProfileFile;
use cotree_profile::raw::is_finished;
use cotree_report::terminal::counted;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The folder of coverage.
pub struct Place {
    folder: PathBuf,
    /// The target folder.
    pub target: PathBuf,
}

impl Place {
    /// The place for what a line of cargo's asks for. The option that names another target folder goes from the line.
    pub fn of(line: &mut Line) -> Result<Self, Error> {
        let named = line.values("--target-dir").pop();
        let folder = current_folder()?;
        let target = match named {
            Some(named) => folder.join(named),
            // The variables of `show-env` name our own.
            None => match std::env::var_os(TARGET) {
                Some(target) => target.into(),
                None => Workspace::ask(line, &folder)?.target_directory,
            },
        };
        let ends = line.rest.iter().position(|word| word == "--").unwrap_or(line.rest.len());
        let mut kept = Vec::new();
        let mut words = line.rest.drain(..).enumerate();
        while let Some((at, word)) = words.next() {
            match word.to_str() {
                Some("--target-dir") if at < ends => drop(words.next()),
                Some(text) if at < ends && text.starts_with("--target-dir=") => {}
                _ => kept.push(word),
            }
        }
        drop(words);
        line.rest = kept;
        Ok(Self { folder: target.join("cotree").join("coverage"), target })
    }

    /// Where cargo builds.
    pub fn build(&self) -> PathBuf {
        self.folder.join("build")
    }

    /// The profiles.
    pub fn profiles(&self) -> PathBuf {
        self.folder.join("profiles")
    }

    /// The programs that were built, and those of documentation tests.
    pub fn programs(&self) -> PathBuf {
        self.folder.join("programs")
    }

    /// The folder that gets the folder `html` with pages.
    pub fn pages(&self) -> PathBuf {
        self.folder.clone()
    }

    /// The pattern of the profiles' names.
    pub fn pattern(&self) -> OsString {
        // Four files per build are enough for many processes at a time.
        format!("{}/%n.%4m.cotree", self.profiles().display().to_string().replace('%', "%%")).into()
    }

    /// Makes the folders.
    pub fn create(&self) -> Result<(), Error> {
        for folder in [self.profiles(), self.programs()] {
            fs::create_dir_all(&folder).map_err(Error::file("create", folder))?;
        }
        Ok(())
    }

    /// Removes what earlier runs have left.
    pub fn remove_runs(&self) -> Result<(), Error> {
        [self.profiles(), self.programs()].iter().try_for_each(|folder| remove(folder))
    }

    /// `cargo cotree coverage clean`
    pub fn clean(&self, asked: &Asked, cargo: &Line) -> miette::Result<ExitCode> {
        if asked.has("profraw-only") {
            remove(&self.profiles())?;
        } else if cargo.own().any(|word| word == "--workspace") {
            self.remove_runs()?;
            remove_programs(&self.build())?;
        } else {
            remove(&self.folder)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Keeps programs under names that no later build takes.
    pub fn keep_all(&self, programs: impl IntoIterator<Item = PathBuf>) -> Result<(), Error> {
        programs.into_iter().try_for_each(|program| self.keep(&program))
    }

    fn keep(&self, program: &Path) -> Result<(), Error> {
        // What is not profiled has nothing to tell.
        let Ok(unit) = BinaryFile::unit_of(program) else { return Ok(()) };
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        let kept = self.programs().join(format!("{unit}-{name}"));
        match fs::hard_link(program, &kept) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(_) => fs::copy(program, &kept).map(drop).map_err(Error::file("copy", program)),
            Ok(()) => Ok(()),
        }
    }

    /// Keeps the programs that the profiles are of.
    pub fn keep_those_that_ran(&self) -> Result<(), Error> {
        let profiles = self.files()?.into_iter().filter_map(|path| ProfileFile::open(&path).ok());
        for counts in profiles.flat_map(|profile| profile.units) {
            // The file may be another build's by now.
            if BinaryFile::unit_of(&counts.binary).is_ok_and(|unit| unit == counts.unit) {
                self.keep(&counts.binary)?;
            }
        }
        Ok(())
    }

    /// The profiles of processes that were killed or still run.
    pub fn unfinished(&self) -> Result<Vec<PathBuf>, Error> {
        let mut unfinished = self.files()?;
        unfinished.retain(|path| {
            let live = path.extension().is_some_and(|extension| extension == "live") && !is_finished(path);
            // A process may have been killed before it wrote anything.
            live && ProfileFile::open(path).is_ok()
        });
        if !unfinished.is_empty() {
            lines::note(format_args!(
                "note: {} did not end (killed, or still running): all counts but for what was running at that moment",
                counted(unfinished.len() as u128, "process")
            ));
        }
        Ok(unfinished)
    }

    fn files(&self) -> Result<Vec<PathBuf>, Error> {
        let folder = self.profiles();
        let unreadable = |error| Error::file("read", &folder)(error);
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(unreadable)?,
        };
        let mut files = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>().map_err(unreadable)?;
        files.sort();
        Ok(files)
    }
}

/// The variable of `show-env` that says which target folder the folder of coverage is in.
pub const TARGET: &str = "COTREE_COVERAGE_TARGET";

/// Removes a folder, if there is one.
fn remove(folder: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::file("remove", folder)(error)),
        _ => Ok(()),
    }
}

/// Removes the profiled programs in a folder, so that those which are built no more do not count.
fn remove_programs(folder: &Path) -> Result<(), Error> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(Error::file("read", folder))?,
    };
    for entry in entries {
        let entry = entry.map_err(Error::file("read", folder))?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(Error::file("read", folder))?);
        if kind.is_dir() {
            remove_programs(&path)?;
        } else if kind.is_file() && BinaryFile::unit_of(&path).is_ok() {
            fs::remove_file(&path).map_err(Error::file("remove", &path))?;
        }
    }
    Ok(())
}
