//! The coverage of projects that are built by their own build systems and run by their own tests, as docs/coverage.md
//! tells it, held against clang's own coverage of the same runs: each file has the same lines, functions, regions and
//! branches, and as many of them ran, but where llvm-cov is wrong.
//!
//! Where it is wrong stands in the list of projects, file by file. Both builds are of the same sources in the same
//! folder, one after the other, so that paths and what depends on them are the same.

mod list;

use crate::coverage_of_programs::{Files, SHARES, files};
use crate::real::Context;
use crate::suite::Suite;
use crate::{command, workspace};
use anyhow::{Result, ensure};
use cotree_options::clear_environment;
use list::{PROJECTS, Project, Wrong};
use object::{Object as _, ObjectKind};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Adds a case for each project.
pub fn add(suite: &mut Suite, context: &Context) {
    for project in &PROJECTS {
        let context = context.clone();
        suite.add(format!("coverage of project {}", project.name), move || check(&context, project));
    }
}

fn check(context: &Context, project: &Project) -> Result<String> {
    let place = Place::new(context, project)?;
    let ours = place.ours(context, project)?;
    let theirs = place.theirs(context, project)?;
    let note = compare(project, &ours, &theirs)?;
    fs::remove_dir_all(&place.folder)?;
    Ok(note)
}

/// A folder of its own for a project, with the tools of both builds in `bin`.
struct Place {
    folder: PathBuf,
    /// The sources as they are published.
    published: PathBuf,
    /// Where they are built.
    source: PathBuf,
}

impl Place {
    fn new(context: &Context, project: &Project) -> Result<Place> {
        let folder = workspace::scratch().join("coverage-of-projects").join(project.name.replace([' ', ','], "_"));
        workspace::fresh(&folder)?;
        let tools = folder.join("bin");
        command::succeed(context.cotree().arg("install-tools").arg(&tools))?;
        for (name, clang) in [("cc", context.clang.c()), ("c++", context.clang.cxx())] {
            let script = format!("#!/bin/sh\nexec {clang} -fprofile-instr-generate -fcoverage-mapping \"$@\"\n");
            let tool = tools.join(format!("covered-{name}"));
            fs::write(&tool, script)?;
            fs::set_permissions(&tool, fs::Permissions::from_mode(0o755))?;
        }
        let source = folder.join("build");
        let published = project.source.get(&folder)?;
        Ok(Place { folder, published, source })
    }

    /// Builds the project and runs its tests, each with variables in the environment: those of the build have profiles
    /// go nowhere, those of the tests have them kept.
    fn run(&self, context: &Context, project: &Project, variables: &[(&str, &str)], run: (&str, &Path)) -> Result<()> {
        if self.source.exists() {
            fs::remove_dir_all(&self.source)?;
        }
        // With the times of files, or `make` makes `configure` anew.
        command::succeed(Command::new("cp").arg("-a").arg(&self.published).arg(&self.source))?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::iter::once(self.folder.join("bin")).chain(std::env::split_paths(&path));
        let path = std::env::join_paths(path)?;
        let (variable, pattern) = run;
        for (script, pattern) in [(project.build, Path::new("")), (project.test, pattern)] {
            // Tests of interrupts need them, which a shell in the background ignores.
            let mut shell = Command::new("env");
            clear_environment(&mut shell);
            shell
                .args(["--default-signal=INT", "bash", "-e", "-c", script])
                .current_dir(&self.source)
                .env("PATH", &path);
            shell.envs(variables.iter().copied()).env(variable, pattern);
            shell.env("COTREE_CC", context.clang.c()).env("COTREE_CXX", context.clang.cxx());
            for inherited in ["MAKEFLAGS", "CFLAGS", "CXXFLAGS", "LDFLAGS"] {
                shell.env_remove(inherited);
            }
            command::succeed(&mut shell)?;
        }
        Ok(())
    }

    fn ours(&self, context: &Context, project: &Project) -> Result<Files> {
        let toolchain =
            format!("-DCMAKE_TOOLCHAIN_FILE={}", command::text(context.cotree().arg("cmake-toolchain"))?.trim());
        let variables = [
            ("CC", "cotree-cc"),
            ("CXX", "cotree-c++"),
            ("AR", "cotree-ar"),
            ("RANLIB", "cotree-ranlib"),
            ("NM", "cotree-nm"),
            ("TOOLCHAIN", &toolchain),
            ("COTREE_COVERAGE", "on"),
        ];
        let profiles = self.folder.join("profiles");
        self.run(context, project, &variables, ("COTREE_FILE", &profiles.join("%n.%p.cotree")))?;
        let mut coverage = context.cotree();
        coverage.args(["coverage", "--json", "--no-markers"]).arg(&profiles);
        let document: Value = serde_json::from_str(&command::text(&mut coverage)?)?;
        files(&document["files"], "path", |file| file, "total")
    }

    fn theirs(&self, context: &Context, project: &Project) -> Result<Files> {
        let variables = [
            ("CC", "covered-cc"),
            ("CXX", "covered-c++"),
            ("AR", "ar"),
            ("RANLIB", "ranlib"),
            ("NM", "nm"),
            ("TOOLCHAIN", ""),
        ];
        let (raw, list, merged) = (self.folder.join("raw"), self.folder.join("list"), self.folder.join("merged"));
        self.run(context, project, &variables, ("LLVM_PROFILE_FILE", &raw.join("%m.%p.profraw")))?;
        let tool = |name: &str| Command::new(context.clang.llvm(name));
        let all: Vec<String> =
            fs::read_dir(&raw)?.map(|entry| Ok(entry?.path().display().to_string())).collect::<Result<_>>()?;
        fs::write(&list, all.join("\n"))?;
        // A process that was killed may leave an empty file.
        let mut merge = tool("llvm-profdata");
        merge.args(["merge", "--failure-mode=all", "-f"]).arg(&list).arg("-o").arg(&merged);
        command::succeed(&mut merge)?;
        let ran = self.ran()?;
        let mut export = tool("llvm-cov");
        export.args(["export", "-summary-only", "-instr-profile"]).arg(&merged);
        for program in programs(&self.source)? {
            if program.file_name().is_some_and(|name| ran.contains(&*name.to_string_lossy())) {
                export.arg("-object").arg(program);
            }
        }
        let document: Value = serde_json::from_str(&command::text(&mut export)?)?;
        files(&document["data"][0]["files"], "filename", |file| &file["summary"], "count")
    }

    /// The names of the programs and libraries that left profiles of ours: those that ran.
    fn ran(&self) -> Result<BTreeSet<String>> {
        let mut names = BTreeSet::new();
        for entry in fs::read_dir(self.folder.join("profiles"))? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            // NAME.PID.cotree
            names.extend(name.rsplitn(3, '.').nth(2).map(str::to_owned));
        }
        Ok(names)
    }
}

/// The linked programs and libraries of a build that have a coverage map, by name. (Of functions that have one counter
/// llvm-cov takes the record of the first program that has any, also if that program does not use it.)
fn programs(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() {
            found.extend(programs(&path)?);
        } else if kind.is_file() {
            let data = fs::read(&path)?;
            let is_linked = |file: &object::File<'_>| {
                matches!(file.kind(), ObjectKind::Executable | ObjectKind::Dynamic)
                    && file.section_by_name("__llvm_covmap").is_some()
            };
            if data.starts_with(b"\x7fELF") && object::File::parse(&*data).is_ok_and(|file| is_linked(&file)) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Holds ours against theirs, file by file.
fn compare(project: &Project, ours: &Files, theirs: &Files) -> Result<String> {
    let (mut fewer, mut more, mut all) = (0, 0, 0);
    let mut wrong = Vec::new();
    for path in ours.keys().chain(theirs.keys()).collect::<BTreeSet<_>>() {
        let (Some(ours), Some(theirs)) = (ours.get(path), theirs.get(path)) else {
            wrong.push(format!("{} is in one of both alone", path.display()));
            continue;
        };
        let wrong_by = project.wrong.iter().find(|(wrong, _)| path.ends_with(wrong)).map(|(_, by)| *by);
        for ((word, ours), theirs) in SHARES.iter().zip(ours).zip(theirs) {
            let covered = match wrong_by {
                None => ours.0 == theirs.0,
                Some(Wrong::LeftEarly) => ours.0 <= theirs.0,
                Some(Wrong::Lost) => ours.0 >= theirs.0,
                Some(Wrong::Several | Wrong::Time) => true,
            };
            if ours.1 != theirs.1 || !covered {
                wrong.push(format!("{word} of {}: {ours:?}, and llvm-cov has {theirs:?}", path.display()));
            }
        }
        fewer += theirs[0].0.saturating_sub(ours[0].0);
        more += ours[0].0.saturating_sub(theirs[0].0);
        all += ours[0].1;
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    ensure!(all > 500, "only {all} lines are compared");
    Ok(format!("{} files, {all} lines; {fewer} fewer and {more} more ran than llvm-cov says", ours.len()))
}
