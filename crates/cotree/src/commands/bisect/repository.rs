//! A git repository: its commits, and folders with their files.

use cotree_report::benchmark::Commit;
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Variables by which git tells programs that it starts where its repository is. In a folder of our own they are wrong.
const GIT_VARIABLES: [&str; 4] = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"];

/// A repository, and a place in it.
pub struct Repository {
    /// The folder of the files.
    pub top: PathBuf,
    /// The present folder in it.
    pub place: PathBuf,
}

impl Repository {
    /// The repository of the present folder.
    ///
    /// # Errors
    /// If there is none, or no git.
    pub fn here() -> Result<Self> {
        let mut command = Command::new("git");
        let text = answer(command.args(["rev-parse", "--show-toplevel", "--show-prefix"]))?;
        let mut lines = text.lines();
        let (top, place) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        if top.is_empty() {
            return Err(miette!("the repository has no files: run this in a folder with its files"));
        }
        Ok(Self { top: top.into(), place: place.into() })
    }

    /// The commits from one to a later one, both among them, oldest first: of a merge only the side that it was merged
    /// into.
    ///
    /// # Errors
    /// If there are no such commits, or one does not lead to the other.
    pub fn commits(&self, good: &str, bad: &str) -> Result<Vec<Commit>> {
        let [first, last] = [self.resolved(good)?, self.resolved(bad)?];
        if first == last {
            return Err(miette!("{good} and {bad} are the same commit"));
        }
        let is_ancestor = self.git().args(["merge-base", "--is-ancestor", &first, &last]).status();
        if !is_ancestor.into_diagnostic()?.success() {
            return Err(miette!(
                "{good} does not lead to {bad}: give a good commit from which the bad one comes, as \
                 $(git merge-base {good} {bad})"
            ));
        }
        let range = format!("{first}..{last}");
        let mut all = self.list(&["-1", &first])?;
        all.extend(self.list(&["--first-parent", "--ancestry-path", "--reverse", &range])?);
        Ok(all)
    }

    /// Has a folder hold the files of a commit, and whatever builds have left there before.
    ///
    /// # Errors
    /// If git can't do it, in its words.
    pub fn check_out(&self, commit: &Commit, folder: &Path) -> Result<()> {
        if folder.join(".git").exists() {
            answer(in_folder(folder).args(["checkout", "--quiet", "--force", "--detach", &commit.id]))?;
        } else {
            // What is left of one that was removed by hand.
            answer(self.git().args(["worktree", "prune"]))?;
            let add = ["worktree", "add", "--quiet", "--force", "--detach"].map(OsStr::new);
            answer(self.git().args(add).arg(folder).arg(&commit.id))?;
        }
        if folder.join(".gitmodules").exists() {
            answer(in_folder(folder).args(["submodule", "--quiet", "update", "--init", "--recursive", "--force"]))?;
        }
        Ok(())
    }

    /// Removes such a folder.
    ///
    /// # Errors
    /// If git can't do it.
    pub fn remove(&self, folder: &Path) -> Result<()> {
        answer(self.git().args(["worktree", "remove", "--force", "--force"]).arg(folder)).map(drop)
    }

    fn git(&self) -> Command {
        let mut command = Command::new("git");
        command.current_dir(&self.top);
        command
    }

    /// The full name of a commit.
    fn resolved(&self, revision: &str) -> Result<String> {
        let name = format!("{revision}^{{commit}}");
        let found = answer(self.git().args(["rev-parse", "--verify", "--quiet", "--end-of-options", &name]));
        found.map(|id| id.trim().to_owned()).map_err(|_| miette!("there is no commit {revision}"))
    }

    fn list(&self, what: &[&str]) -> Result<Vec<Commit>> {
        let format = "--format=%H%x00%h%x00%s%x00%an%x00%as%x00%P";
        let text = answer(self.git().args(["rev-list", format]).args(what))?;
        // A line of its own stands before each.
        let lines = text.lines().filter(|line| line.contains('\0'));
        lines.map(|line| commit(line).ok_or_else(|| miette!("git said of a commit: {line}"))).collect()
    }
}

/// Git, in a folder of ours.
fn in_folder(folder: &Path) -> Command {
    let mut command = Command::new("git");
    outside_of_git(command.current_dir(folder));
    command
}

/// Has a command that runs in a folder of ours find the repository by that folder.
pub fn outside_of_git(command: &mut Command) {
    for name in GIT_VARIABLES {
        command.env_remove(name);
    }
}

fn commit(line: &str) -> Option<Commit> {
    let mut parts = line.split('\0').map(str::to_owned);
    Some(Commit {
        id: parts.next()?,
        short: parts.next()?,
        subject: parts.next()?,
        author: parts.next()?,
        day: parts.next()?,
        parents: parts.next()?.split_whitespace().count(),
    })
}

/// What git answers; an error in its words.
fn answer(command: &mut Command) -> Result<String> {
    let output = command.output().into_diagnostic().wrap_err("cannot start git, which knows the commits")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(miette!("git: {}", said.trim().trim_start_matches("fatal: ")));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
