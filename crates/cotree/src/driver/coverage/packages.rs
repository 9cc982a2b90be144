//! Which source files are the workspace's own: those of its members, without what lies in their folders and is another
//! package's.

use super::line::Asked;
use super::place::Place;
use crate::driver::Error;
use crate::driver::cargo_line::Line;
use crate::driver::cargo_workspace::answer;
use miette::{Result, miette};
use regex_lite::escape;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The parts of `cargo metadata`'s answer that we need, with the packages that others depend on.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    workspace_members: Vec<String>,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    manifest_path: PathBuf,
}

impl Package {
    fn folder(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(Path::new("/"))
    }
}

/// What is shown: files in one of the folders whose path the pattern does not match.
pub struct Shown {
    /// The folders.
    pub folders: Vec<PathBuf>,
    /// A regular expression.
    pub ignored: Option<String>,
}

/// Finds out which files are to be shown.
///
/// # Errors
/// If cargo can't tell, or does not know a package that is named.
pub fn shown(asked: &Asked, cargo: &Line, place: &Place) -> Result<Shown> {
    if ["no-default-ignore-filename-regex", "disable-default-ignore-filename-regex"].iter().any(|name| asked.has(name))
    {
        return Ok(Shown { folders: Vec::new(), ignored: None });
    }
    let Metadata { packages, workspace_members } = ask(cargo)?;
    let is_member = |package: &&Package| workspace_members.contains(&package.id);
    let named = |names: Vec<&str>| -> Result<Vec<&Package>> {
        let mut found = Vec::new();
        for name in names {
            let of_name: Vec<_> = packages.iter().filter(|package| package.name == name).collect();
            if of_name.is_empty() {
                return Err(miette!("there is no package {name} in the workspace or among what it depends on"));
            }
            found.extend(of_name);
        }
        Ok(found)
    };
    let dependencies = named(asked.values("dep-coverage").collect())?;
    if !dependencies.is_empty() {
        let folders = dependencies.iter().map(|package| package.folder().to_owned()).collect();
        return Ok(Shown { folders, ignored: None });
    }
    let excluded = cargo.values("--exclude");
    let excluded = asked.values("exclude-from-report").chain(excluded.iter().map(String::as_str));
    let excluded: Vec<&Path> = named(excluded.collect())?.into_iter().map(Package::folder).collect();
    let mut folders: Vec<PathBuf> =
        packages.iter().filter(is_member).map(|package| package.folder().to_owned()).collect();
    folders.retain(|folder| !excluded.contains(&folder.as_path()));
    let mut ignored = vec![inside(&place.target, "")];
    for folder in &folders {
        // Code that tests is no code that is tested.
        ignored.push(inside(folder, "(?:tests|examples|benches)/"));
        let others = packages.iter().filter(|package| !folders.iter().any(|folder| package.folder() == folder));
        let within = others.filter(|package| package.folder().starts_with(folder));
        ignored.extend(within.map(|package| inside(package.folder(), "")));
    }
    Ok(Shown { folders, ignored: Some(ignored.join("|")) })
}

/// A pattern of paths in a folder, and there in further folders whose names the pattern `more` matches.
fn inside(folder: &Path, more: &str) -> String {
    let folder = escape(&folder.display().to_string());
    if more.is_empty() { format!("^{folder}/") } else { format!("^{folder}/(?:.*/)?{more}") }
}

fn ask(cargo: &Line) -> Result<Metadata> {
    let mut command = cargo.cargo();
    command.args(["metadata", "--format-version=1"]);
    for option in ["--manifest-path", "--config"] {
        for value in cargo.values(option) {
            command.args([option, &value]);
        }
    }
    for option in ["--offline", "--locked", "--frozen"] {
        command.args(cargo.own().find(|word| *word == option));
    }
    let text = answer(&mut command)?;
    let unusable =
        |error: serde_json::Error| Error::Answer { command: "cargo metadata".into(), reason: error.to_string() };
    Ok(serde_json::from_str(&text).map_err(unusable)?)
}
