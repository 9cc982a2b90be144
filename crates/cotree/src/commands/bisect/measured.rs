//! What a command measures in the files of a commit.

use super::repository::{Repository, outside_of_git};
use super::{History, SAVE_BASELINE};
use crate::commands::stat::gate::read_baseline;
use crate::driver::unpack::{cache_folder, is_private, key};
use cotree_report::benchmark::{Baseline, Commit};
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, TryLockError};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

/// A command in a folder where commits are checked out, and what it has measured.
pub struct Bench<'a> {
    repository: &'a Repository,
    command: &'a [OsString],
    interrupted: &'a AtomicBool,
    /// The folder of what is kept.
    folder: PathBuf,
    /// Locked as long as this runs.
    _lock: File,
}

/// What came of a commit.
pub enum Outcome {
    Measured(Baseline),
    /// Why it could not be measured.
    Not(String),
    /// Somebody at the keyboard has interrupted it.
    Interrupted,
}

impl<'a> Bench<'a> {
    /// A command, and what it has measured in an earlier run of cotree.
    ///
    /// # Errors
    /// If there is no folder to keep that in, or another process is about it.
    pub fn new(repository: &'a Repository, command: &'a [OsString], interrupted: &'a AtomicBool) -> Result<Self> {
        let cotree = std::env::current_exe().into_diagnostic().wrap_err("cannot find the cotree executable")?;
        let mut hasher = DefaultHasher::new();
        (key(&cotree), &repository.top, &repository.place, command).hash(&mut hasher);
        let folder = cache_folder()
            .ok_or_else(|| miette!("there is no folder to keep what is measured: set HOME or XDG_CACHE_HOME"))?
            .join("bisect")
            .join(format!("{:016x}", hasher.finish()));
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        made.into_diagnostic().wrap_err_with(|| format!("cannot create {}", folder.display()))?;
        if !is_private(&folder) {
            return Err(miette!("others can write to {}: remove it", folder.display()));
        }
        // Not the folder itself: who records a baseline in it locks that.
        let lock = File::create(folder.join("lock"));
        let lock = lock.into_diagnostic().wrap_err_with(|| format!("cannot write in {}", folder.display()))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { repository, command, interrupted, folder, _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(miette!("another `cotree bisect` of this command is under way")),
            Err(TryLockError::Error(error)) => {
                Err(error).into_diagnostic().wrap_err_with(|| format!("cannot lock {}", folder.display()))
            }
        }
    }

    /// Measures a commit, unless it was measured before. Builds of others stay in the folder for it to build upon;
    /// `afresh`: nothing is there but its files, and it counts as measured before only if that was so then.
    ///
    /// # Errors
    /// If nothing could be measured, whatever the commit.
    pub fn measure(&self, commit: &Commit, again: bool, afresh: bool) -> Result<Outcome> {
        let kept = self.kept_of(commit);
        if !again
            && (!afresh || self.is_afresh(commit))
            && let Ok(baseline) = read_baseline(&kept)
        {
            return Ok(Outcome::Measured(baseline));
        }
        if afresh {
            self.clear()?;
        }
        if let Err(error) = self.repository.check_out(commit, &self.tree()) {
            return Ok(Outcome::Not(format!("{error:#}")));
        }
        let place = self.tree().join(&self.repository.place);
        if !place.is_dir() {
            return Ok(Outcome::Not(format!("it has no folder {}", self.repository.place.display())));
        }
        let fresh = self.folder.join("measuring.json");
        remove(&fresh)?;
        let log = kept.with_extension("log");
        let status = self.execute(&place, &fresh, &log)?;
        if self.interrupted.load(Ordering::Relaxed) {
            return Ok(Outcome::Interrupted);
        }
        if !status.success() {
            return Ok(Outcome::Not(format!("the command ended with {status}: {} has what it said", log.display())));
        }
        if !fresh.exists() {
            return Ok(Outcome::Not(format!(
                "the command recorded no benchmark: it must run `cotree stat` or `cargo cotree bench` with the variable \
                 {SAVE_BASELINE} of its environment, and without --save-baseline ({} has what it said)",
                log.display()
            )));
        }
        let baseline = read_baseline(&fresh)?;
        let mark = self.mark_of(commit);
        remove(&mark)?;
        fs::rename(&fresh, &kept).into_diagnostic().wrap_err_with(|| format!("cannot write {}", kept.display()))?;
        if afresh {
            let marked = File::create(&mark);
            marked.into_diagnostic().wrap_err_with(|| format!("cannot write {}", mark.display()))?;
        }
        Ok(Outcome::Measured(baseline))
    }

    /// Whether a commit was measured with nothing but its files.
    pub fn is_afresh(&self, commit: &Commit) -> bool {
        self.mark_of(commit).exists()
    }

    /// How many commits of a history have been measured, and need not be again.
    pub fn count_kept(&self, history: &History) -> usize {
        history.commits.iter().filter(|commit| self.kept_of(commit).exists()).count()
    }

    /// Removes the folder of the files. What was measured stays.
    ///
    /// # Errors
    /// If git can't do it.
    pub fn clear(&self) -> Result<()> {
        if !self.tree().exists() {
            return Ok(());
        }
        let removed = self.repository.remove(&self.tree());
        removed.wrap_err_with(|| format!("cannot remove {}", self.tree().display()))
    }

    fn execute(&self, place: &Path, fresh: &Path, log: &Path) -> Result<ExitStatus> {
        let said = File::create(log).into_diagnostic().wrap_err_with(|| format!("cannot write {}", log.display()))?;
        let both = said.try_clone().into_diagnostic()?;
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]).current_dir(place).env(SAVE_BASELINE, fresh);
        outside_of_git(&mut command);
        let started = command.stdin(Stdio::null()).stdout(said).stderr(both).status();
        started.into_diagnostic().wrap_err_with(|| format!("cannot start {}", Path::new(&self.command[0]).display()))
    }

    /// The folder with the files of a commit.
    fn tree(&self) -> PathBuf {
        self.folder.join("tree")
    }

    /// Where it is kept what a commit costs.
    fn kept_of(&self, commit: &Commit) -> PathBuf {
        self.folder.join(&commit.id).with_extension("json")
    }

    /// Where it is marked that it was measured with nothing but its files.
    fn mark_of(&self, commit: &Commit) -> PathBuf {
        self.kept_of(commit).with_extension("afresh")
    }
}

/// Removes a file, if there is one: what it says is of another commit.
fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).into_diagnostic().wrap_err_with(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}
