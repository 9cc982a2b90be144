//! Building a program in two versions, with options of cotree's, and running it.

use super::damage;
use crate::programs::Program;
use crate::real::Context;
use crate::rust_programs::Package;
use crate::{command, workspace};
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A program with some work.
#[derive(Clone)]
pub enum Work {
    /// C or C++.
    C(Program),
    /// Rust.
    Rust(Package),
}

impl Work {
    /// The program's name.
    pub fn name(&self) -> &'static str {
        match self {
            Work::C(program) => program.name,
            Work::Rust(package) => package.name,
        }
    }

    /// How often it is run.
    pub fn runs(&self) -> usize {
        match self {
            Work::C(program) => program.runs.len(),
            Work::Rust(package) => package.runs.len(),
        }
    }

    /// Runs it in a folder, where it may leave a profile.
    pub fn run(&self, executable: &Path, index: usize, folder: &Path, profile: &Path) -> Result<Output> {
        match self {
            Work::C(program) => {
                let mut command = Command::new(executable);
                command.args(&program.runs[index]).current_dir(folder).env("COTREE_FILE", profile);
                command::output(&mut command)
            }
            Work::Rust(package) => package.run(executable, index, folder, profile),
        }
    }
}

/// Versions of a program.
#[derive(Clone, Copy)]
pub enum Version {
    /// As it was published.
    Published,
    /// With some more code in many functions ([`damage::with_more_code`]).
    Changed,
}

/// The optimisation level of C programs.
const LEVEL: &str = "-O2";

/// Builds one program, again and again. Of C, what is compiled is bitcode, which all builds share; cargo sees what they
/// share.
pub struct Builder<'a> {
    context: &'a Context,
    work: &'a Work,
    /// `-flto`, or nothing.
    flag: &'a str,
    folder: PathBuf,
    /// For C, the objects of both versions.
    objects: [Vec<PathBuf>; 2],
}

impl<'a> Builder<'a> {
    /// Compiles what builds share, in a folder.
    pub fn new(context: &'a Context, work: &'a Work, flag: &'a str, folder: &Path) -> Result<Builder<'a>> {
        let mut builder = Builder { context, work, flag, folder: folder.to_owned(), objects: [Vec::new(), Vec::new()] };
        match work {
            Work::C(program) => {
                builder.objects[Version::Published as usize] = builder.compile(program, &folder.join("objects"))?;
                let changed = builder.changed(program)?;
                builder.objects[Version::Changed as usize] =
                    builder.compile(&changed, &folder.join("changed-objects"))?;
            }
            Work::Rust(package) => {
                for version in [Version::Published, Version::Changed] {
                    package.unpack(&builder.source(version))?;
                }
                damage::change_package(&builder.source(Version::Changed))?;
            }
        }
        Ok(builder)
    }

    /// The program without cotree, and hardly optimised.
    pub fn plain(&self) -> Result<PathBuf> {
        let plain = self.folder.join("plain");
        match self.work {
            Work::C(program) => {
                command::succeed(&mut program.build(self.context.plain(program.cxx), &["-O0"], &plain))?;
            }
            Work::Rust(package) => {
                let target = self.folder.join("plain-target");
                let source = self.source(Version::Published);
                let (mut build, built) = package.build(workspace::cargo(), &source, &target, "0");
                command::succeed(build.arg("--quiet"))?;
                fs::copy(built, &plain)?;
            }
        }
        Ok(plain)
    }

    /// `cotree OPTIONS …`: what it said, and the program, if there is one.
    pub fn build(&self, version: Version, options: &[&str], name: &str) -> Result<(Output, PathBuf)> {
        let executable = self.folder.join(name);
        if executable.exists() {
            fs::remove_file(&executable)?;
        }
        match self.work {
            Work::C(program) => {
                let mut level = vec![LEVEL];
                level.extend(Some(self.flag).filter(|flag| !flag.is_empty()));
                let linker = self.context.cotree_cc(options, program.cxx);
                let objects = &self.objects[version as usize];
                Ok((command::output(&mut program.link(linker, &level, objects, &executable))?, executable))
            }
            Work::Rust(package) => {
                let mut cotree = self.context.cotree();
                cotree.args(options).arg("cargo");
                // Cargo would take one version for the other.
                let target = self.source(version).with_extension("target");
                let (mut build, built) = package.build_profiled(cotree, &self.source(version), &target, "3");
                // What a refused build leaves there is that of the last one.
                if built.exists() {
                    fs::remove_file(&built)?;
                }
                let output = command::output(&mut build)?;
                if output.status.success() {
                    fs::copy(&built, &executable).with_context(|| format!("no {}", built.display()))?;
                }
                Ok((output, executable))
            }
        }
    }

    /// Where cargo finds a version.
    fn source(&self, version: Version) -> PathBuf {
        self.folder.join(match version {
            Version::Published => "source",
            Version::Changed => "changed-source",
        })
    }

    fn compile(&self, program: &Program, folder: &Path) -> Result<Vec<PathBuf>> {
        fs::create_dir_all(folder)?;
        let mut objects = Vec::new();
        for source in &program.sources {
            // By their sources' names, as a build system does it: profiles of other versions are found by them.
            let mut object = folder.join(source.file_name().context("a source has a name")?);
            object.set_extension("o");
            ensure!(!objects.contains(&object), "{} has two sources of one name", program.name);
            command::succeed(&mut program.compile(
                self.context.cotree_cc(&[], program.cxx),
                &[LEVEL],
                source,
                &object,
            ))?;
            objects.push(object);
        }
        Ok(objects)
    }

    /// The program, of sources with more code. They find their neighbours where these are.
    fn changed(&self, program: &Program) -> Result<Program> {
        let mut changed = program.clone();
        for (number, source) in changed.sources.iter_mut().enumerate() {
            // A source that includes another by its name does not find its copy beside it.
            let folder = self.folder.join("changed-sources").join(number.to_string());
            fs::create_dir_all(&folder)?;
            if source.extension().is_some_and(|extension| extension == "S") {
                continue;
            }
            let (parent, name) = source.parent().zip(source.file_name()).context("a source has a place")?;
            changed.flags.push(format!("-I{}", parent.display()));
            let text = String::from_utf8_lossy(&fs::read(&*source)?).into_owned();
            let copy = folder.join(name);
            fs::write(&copy, damage::with_more_code(&text))?;
            *source = copy;
        }
        changed.flags.dedup();
        Ok(changed)
    }
}
