//! The executables of benchmarks that cargo has built.

use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An executable.
#[derive(Debug)]
pub struct Program {
    pub path: PathBuf,
    /// The name of the target, behind that of its package where others have the same.
    pub name: String,
    /// Is it a target of benchmarks, whose `main` may be its own?
    pub has_own_main: bool,
    package: String,
    version: String,
    manifest: PathBuf,
    /// The folder for what harnesses keep.
    scratch: PathBuf,
}

/// Parts of cargo's messages.
#[derive(Deserialize)]
struct Artifact {
    package_id: String,
    manifest_path: PathBuf,
    target: Target,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

impl Program {
    /// The executables that cargo's messages name.
    pub fn all(messages: &[u8], scratch: &Path) -> Vec<Self> {
        let text = String::from_utf8_lossy(messages);
        let artifacts = text.lines().filter_map(|line| serde_json::from_str::<Artifact>(line).ok());
        let programs = artifacts.filter_map(|artifact| {
            let (package, version) = named(&artifact.package_id);
            Some(Self {
                path: artifact.executable?,
                name: artifact.target.name,
                has_own_main: artifact.target.kind.iter().any(|kind| kind == "bench"),
                package,
                version,
                manifest: artifact.manifest_path,
                scratch: scratch.to_owned(),
            })
        });
        let mut programs: Vec<Self> = programs.collect();
        // Those of a library or a program are rare, and often have the name of a target of benchmarks.
        let names: Vec<(String, bool)> =
            programs.iter().map(|program| (program.name.clone(), program.has_own_main)).collect();
        for program in &mut programs {
            let is_like =
                |(name, of_bench): &&(String, bool)| *name == program.name && (*of_bench || !program.has_own_main);
            if names.iter().filter(is_like).count() > 1 {
                program.name = format!("{} {}", program.package, program.name);
            }
        }
        programs.sort_by(|one, other| one.name.cmp(&other.name));
        programs
    }

    /// The executable in the folder of its package, as cargo starts it.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        let folder = self.manifest.parent().unwrap_or(Path::new("."));
        command.current_dir(folder).env("CARGO_MANIFEST_DIR", folder);
        command.env("CARGO_PKG_NAME", &self.package).env("CARGO_PKG_VERSION", &self.version);
        if std::env::var_os("CRITERION_HOME").is_none() {
            // Else it asks cargo, and reads an answer that is longer in longer folders.
            command.env("CRITERION_HOME", self.scratch.join("criterion"));
        }
        command
    }
}

/// Name and version of a package's id: `…#NAME@VERSION`, `…/NAME#VERSION`, or `NAME VERSION (…)` of older cargos.
fn named(id: &str) -> (String, String) {
    let Some((place, fragment)) = id.rsplit_once('#') else {
        let mut words = id.split(' ').map(str::to_owned);
        return (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    };
    match fragment.split_once('@') {
        Some((name, version)) => (name.to_owned(), version.to_owned()),
        None => (place.rsplit('/').next().unwrap_or_default().to_owned(), fragment.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_name_packages() {
        for id in ["path+file:///tmp/x#bp@0.1.0", "path+file:///tmp/bp#0.1.0", "bp 0.1.0 (path+file:///tmp/bp)"] {
            assert_eq!(named(id), ("bp".to_owned(), "0.1.0".to_owned()), "{id}");
        }
    }
}
