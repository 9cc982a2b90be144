//! A shell in a terminal, in the folder of a page.

use crate::project::Project;
use regex_lite::Regex;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// The folder of a page.
pub struct Session {
    project: Project,
    /// The path of the folder, without links.
    folder: PathBuf,
}

/// What pages call that folder.
const FOLDER: &str = "/home/you/cotree";

/// What separates the output of commands.
const SEPARATOR: char = '\u{1e}';

/// What became of a command.
pub struct Ran {
    pub status: i32,
    pub lines: Vec<String>,
}

impl Ran {
    pub fn text(&self) -> String {
        self.lines.join("\n")
    }
}

impl Session {
    /// A folder with what a checkout of cotree has for readers.
    pub fn new(root: &Path) -> Session {
        let project = Project::new(&[("home/.keep", "")]);
        fs::create_dir(project.path("examples")).expect("a folder");
        for entry in fs::read_dir(root.join("examples")).expect("a folder") {
            let path = entry.expect("an entry").path();
            fs::copy(&path, project.path("examples").join(path.file_name().expect("a name"))).expect("a file");
        }
        symlink(root, project.path("home/cotree")).expect("a link");
        let folder = project.path("").canonicalize().expect("a folder");
        Session { project, folder }
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.project.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    /// Runs commands in one shell.
    pub fn run<'a>(&self, commands: impl Iterator<Item = &'a str> + Clone) -> Vec<Ran> {
        let mut script = format!("stty cols {} rows 50; ulimit -c 0; exec < /dev/null\n", super::COLUMNS);
        for command in commands.clone() {
            script += &format!("{command}\nprintf '\\036%d\\n\\036' $?\n");
        }
        self.write("tmp/session", &script);
        // `script` makes the terminal.
        let mut shell = self.project.command("script");
        shell.args(["--quiet", "--command", "bash tmp/session", "/dev/null"]).stdin(Stdio::null());
        let home = |name: &str, folder: &str| {
            let home = || Path::new(&std::env::var_os("HOME").unwrap_or_default()).join(folder);
            std::env::var_os(name).map_or_else(home, PathBuf::from)
        };
        shell.env("CARGO_HOME", home("CARGO_HOME", ".cargo")).env("RUSTUP_HOME", home("RUSTUP_HOME", ".rustup"));
        let tools = Path::new(env!("CARGO_BIN_EXE_cotree")).parent().expect("a folder").to_owned();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = [self.project.path("home/.local/bin"), tools].into_iter().chain(std::env::split_paths(&path));
        shell.env("PATH", std::env::join_paths(path).expect("paths")).env("HOME", self.project.path("home"));
        shell.env("SHELL", "/bin/bash").env("TERM", "dumb").env("NO_COLOR", "1").env("LC_ALL", "C.UTF-8");
        shell.env("CARGO_TERM_COLOR", "never").env("CARGO_TERM_PROGRESS_WHEN", "never");
        let output = shell.output().expect("`script` of util-linux");
        let printed = String::from_utf8_lossy(&output.stdout).replace('\r', "");
        let mut pieces = printed.split(SEPARATOR);
        let mut ran = Vec::new();
        for command in commands {
            let text = pieces.next().unwrap_or_default();
            let status = pieces.next().and_then(|status| status.trim().parse().ok());
            let status = status.unwrap_or_else(|| panic!("`{command}` ended the shell: {printed}"));
            ran.push(Ran { status, lines: text.lines().map(|line| self.as_shown(line)).collect() });
        }
        ran
    }

    /// A line as a page shows it: the folder has the name that pages give it, and an interactive shell tells of a
    /// signal in fewer words than a script does.
    fn as_shown(&self, line: &str) -> String {
        let line = line.replace(&*self.folder.to_string_lossy(), FOLDER);
        let told = Regex::new(r"^tmp/session: line [0-9]+: +(?:[0-9]+ (\w+(?: \w+)*)  .*|(.*))$").expect("a pattern");
        told.replace(&line, "$1$2").trim_end().to_owned()
    }
}
