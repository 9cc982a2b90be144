//! A user's folder, and commands run in it as from the user's shell.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder with sources, and the cotree that was just built.
pub struct Project {
    dir: TempDir,
}

impl Project {
    pub fn new(files: &[(&str, &str)]) -> Project {
        let project = Project { dir: TempDir::new().expect("a folder") };
        for (name, text) in [("tmp/.keep", ""), ("cache/.keep", "")].iter().chain(files) {
            let path = project.path(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        project
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Leaves the folder where it is.
    pub fn keep(self) -> PathBuf {
        self.dir.keep()
    }

    pub fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.current_dir(self.dir.path());
        command.env("TMPDIR", self.path("tmp")).env("XDG_CACHE_HOME", self.path("cache")).env("LC_ALL", "C");
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            // What cargo sets for tests is not what a user's shell has.
            if name.starts_with("COTREE_") || name.starts_with("CARGO") && name != "CARGO_HOME" {
                command.env_remove(name);
            }
        }
        command
    }

    pub fn cotree(&self, line: &str) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_cotree"));
        command.args(line.split_whitespace());
        command
    }

    pub fn ok(&self, line: &str) -> String {
        succeed(&mut self.cotree(line))
    }

    pub fn fails(&self, line: &str) -> String {
        let output = self.cotree(line).output().expect("cotree starts");
        assert!(!output.status.success(), "{line}");
        // miette breaks lines.
        String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ").replace("│ ", "")
    }

    pub fn run(&self, program: &str) -> String {
        succeed(&mut self.command(self.path(program)))
    }

    pub fn is_profiled(&self, program: &str) -> bool {
        let data = fs::read(self.path(program)).expect("a program");
        data.windows(11).any(|window| window == b".cotree.map")
    }

    /// Nothing of ours stays in the folder for temporary files.
    pub fn clean(&self) {
        let names = fs::read_dir(self.path("tmp")).expect("a folder").map(|entry| entry.expect("an entry").file_name());
        let left: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with("cotree")).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

/// What it prints; it must end well.
pub fn succeed(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(status.success(), "{command:?}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).expect("text")
}
