//! What rustc and cargo say of a build before it begins: the compiler's version, the packages of the workspace.

use super::Error;
use super::cargo_line::Line;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The compiler that cargo will use.
pub struct Rustc {
    /// The machine that builds.
    pub host: String,
    /// Major and minor version.
    pub version: (u32, u32),
    /// Does it take what is not stable?
    pub nightly: bool,
}

impl Rustc {
    /// Asks the compiler of the toolchain that is asked for.
    pub fn ask(line: &Line) -> Result<Rustc, Error> {
        let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        line.choose_toolchain(&mut command);
        let text = answer(command.arg("-vV"))?;
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        let version = |release: &str| {
            let mut numbers = release.split('.').map_while(|number| number.parse().ok());
            Some((numbers.next()?, numbers.next()?))
        };
        let nightly = field("release").is_some_and(|release| release.contains("nightly") || release.contains("dev"));
        let rustc = field("host").zip(field("release").and_then(version));
        let rustc = rustc.map(|(host, version)| Rustc { host: host.to_owned(), version, nightly });
        rustc.ok_or_else(|| Error::Answer { command: "rustc -vV".into(), reason: "no host or no release".into() })
    }
}

/// The parts of `cargo metadata`'s answer that we need.
#[derive(Deserialize)]
pub struct Workspace {
    pub workspace_root: PathBuf,
    pub target_directory: PathBuf,
    /// The members of the workspace.
    pub packages: Vec<Package>,
}

#[derive(Deserialize)]
pub struct Package {
    manifest_path: PathBuf,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
}

impl Workspace {
    /// The folders of the members.
    pub fn folders(&self) -> Vec<PathBuf> {
        self.packages.iter().filter_map(|package| package.manifest_path.parent().map(Path::to_owned)).collect()
    }

    /// Is a member a procedural macro?
    pub fn has_macros(&self) -> bool {
        let targets = self.packages.iter().flat_map(|package| &package.targets);
        targets.flat_map(|target| &target.kind).any(|kind| kind == "proc-macro")
    }

    /// Asks cargo for the workspace that it would build in a folder.
    pub fn ask(line: &Line, folder: &Path) -> Result<Workspace, Error> {
        let mut command = line.cargo();
        command.args(["metadata", "--no-deps", "--format-version=1"]);
        for option in ["--manifest-path", "--config"] {
            for value in line.values(option) {
                command.args([option, &value]);
            }
        }
        // Cargo would report this too, but without what it means for cotree.
        let named = !line.values("--manifest-path").is_empty();
        if !named && !folder.ancestors().any(|folder| folder.join("Cargo.toml").exists()) {
            return Err(Error::NoPackage { folder: folder.to_owned() });
        }
        let text = answer(&mut command)?;
        serde_json::from_str(&text)
            .map_err(|error| Error::Answer { command: "cargo metadata".into(), reason: error.to_string() })
    }
}

/// Runs a command and returns what it prints. Its messages go to our standard error.
pub fn answer(command: &mut Command) -> Result<String, Error> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output =
        command.stderr(Stdio::inherit()).output().map_err(|error| Error::Start { tool: name.clone(), error })?;
    let fail = |reason: String| Error::Answer { command: name, reason };
    if !output.status.success() {
        return Err(fail(format!("{}; its messages, if any, stand above", output.status)));
    }
    String::from_utf8(output.stdout).map_err(|error| fail(error.to_string()))
}
