//! The builds of one program, and what they execute.

use super::super::build::strip;
use super::super::campaign;
use super::super::instructions;
use super::super::subject::Subject;
use super::Figures;
use crate::real::Context;
use crate::rust_programs::Package;
use crate::{command, workspace};
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Counts what `--use` needs.
const FOR_PGO: &str = "--for-pgo";

/// What builds print, as a hash.
type Printed = String;

/// The builds of a program, in a folder of its own.
pub struct Builds<'a> {
    context: &'a Context,
    subject: &'a Subject,
    folder: PathBuf,
}

/// Whether modules are compiled as one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lto {
    Off,
    On,
}

impl<'a> Builds<'a> {
    /// None yet.
    pub fn new(context: &'a Context, subject: &'a Subject) -> Result<Builds<'a>> {
        let folder = workspace::scratch().join("bench-pgo").join(subject.name());
        workspace::fresh(&folder)?;
        Ok(Builds { context, subject, folder })
    }

    /// Removes all files.
    pub fn remove(self) -> Result<()> {
        Ok(fs::remove_dir_all(self.folder)?)
    }

    /// By cotree.
    pub fn ours(&self) -> Result<(Figures, Printed)> {
        let objects = self.objects(&[])?;
        let (plain, printed) = self.count(&self.by_cotree(&objects, &["--profile", "none"], Lto::Off, "none")?)?;
        let joined = self.by_cotree(&objects, &["--profile", "none"], Lto::On, "none-joined")?;
        let objects = self.objects(&[FOR_PGO])?;
        let trained = |lto, name: &str| -> Result<String> {
            let counted = self.by_cotree(&objects, &[FOR_PGO], lto, name)?;
            Ok(campaign::profiles(self.context, self.subject, &counted)?.display().to_string())
        };
        let profile = trained(Lto::Off, "counted")?;
        let profile_joined = if self.trains_twice() { trained(Lto::On, "counted-joined")? } else { profile.clone() };
        let used = self.by_cotree(&objects, &["--use", &profile], Lto::Off, "used")?;
        let used_joined = self.by_cotree(&objects, &["--use", &profile_joined], Lto::On, "used-joined")?;
        let count = |executable: &Path| self.count_same(executable, &printed);
        let figures = Figures {
            plain,
            joined: count(&joined)?,
            by_profile: count(&used)?,
            by_profile_joined: count(&used_joined)?,
        };
        Ok((figures, printed))
    }

    /// By clang or rustc alone.
    pub fn peer(&self) -> Result<(Figures, Printed)> {
        let (plain, printed) = self.count(&self.by_peer(&[], Lto::Off, "alone")?)?;
        let joined = self.by_peer(&[], Lto::On, "alone-joined")?;
        let [generate, by] = match self.subject {
            Subject::C(_) => ["-fprofile-generate", "-fprofile-use="],
            Subject::Rust(_) => ["-Cprofile-generate", "-Cprofile-use="],
        };
        let trained = |lto, name: &str| -> Result<String> {
            Ok(format!("{by}{}", self.trained(&self.by_peer(&[generate], lto, name)?)?.display()))
        };
        let option = trained(Lto::Off, "alone-counted")?;
        let option_joined =
            if self.trains_twice() { trained(Lto::On, "alone-counted-joined")? } else { option.clone() };
        let used = self.by_peer(&[&option], Lto::Off, "alone-used")?;
        let used_joined = self.by_peer(&[&option_joined], Lto::On, "alone-used-joined")?;
        let count = |executable: &Path| self.count_same(executable, &printed);
        let figures = Figures {
            plain,
            joined: count(&joined)?,
            by_profile: count(&used)?,
            by_profile_joined: count(&used_joined)?,
        };
        Ok((figures, printed))
    }

    /// Whether a build with `-flto` needs a profile of its own: cargo names functions after all settings of its
    /// profile.
    fn trains_twice(&self) -> bool {
        matches!(self.subject, Subject::Rust(_))
    }

    /// The bitcode that cotree's builds of a C program with these options start from.
    fn objects(&self, options: &[&str]) -> Result<Vec<PathBuf>> {
        let Subject::C(program) = self.subject else { return Ok(Vec::new()) };
        let folder = self.folder.join("objects");
        workspace::fresh(&folder)?;
        let mut objects = Vec::new();
        for (index, source) in program.sources.iter().enumerate() {
            let object = folder.join(format!("{index}.o"));
            let compiler = self.context.cotree_cc(options, program.cxx);
            command::succeed(&mut program.compile(compiler, &["-O2"], source, &object))?;
            objects.push(object);
        }
        Ok(objects)
    }

    fn by_cotree(&self, objects: &[PathBuf], options: &[&str], lto: Lto, name: &str) -> Result<PathBuf> {
        match self.subject {
            Subject::C(program) => {
                let executable = self.folder_of(name)?.join("program");
                let linker = self.context.cotree_cc(options, program.cxx);
                let flags: &[&str] = if lto == Lto::On { &["-O2", "-flto"] } else { &["-O2"] };
                command::succeed(&mut program.link(linker, flags, objects, &executable))?;
                Ok(executable)
            }
            Subject::Rust(package) => {
                let mut cotree = self.context.cotree();
                cotree.args(options).arg("cargo");
                self.by_cargo(package, cotree, Package::build_profiled, &[], lto, name)
            }
        }
    }

    fn by_peer(&self, options: &[&str], lto: Lto, name: &str) -> Result<PathBuf> {
        match self.subject {
            Subject::C(program) => {
                let executable = self.folder_of(name)?.join("program");
                let mut flags = vec!["-O2"];
                flags.extend(options);
                if lto == Lto::On {
                    flags.push("-flto");
                }
                command::succeed(&mut program.build(self.context.plain(program.cxx), &flags, &executable))?;
                Ok(executable)
            }
            Subject::Rust(package) => self.by_cargo(package, workspace::cargo(), Package::build, options, lto, name),
        }
    }

    fn by_cargo(
        &self,
        package: &Package,
        cargo: Command,
        build: fn(&Package, Command, &Path, &Path, &str) -> (Command, PathBuf),
        flags: &[&str],
        lto: Lto,
        name: &str,
    ) -> Result<PathBuf> {
        let source = self.folder.join("source");
        if !source.exists() {
            package.unpack(&source)?;
        }
        let folder = self.folder_of(name)?;
        let (mut command, built) = build(package, cargo, &source, &folder.join("target"), "3");
        if !flags.is_empty() {
            command.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
        }
        if lto == Lto::On {
            command.env("CARGO_PROFILE_RELEASE_LTO", "fat");
        }
        command::succeed(&mut command)?;
        let executable = folder.join("program");
        fs::copy(&built, &executable).with_context(|| format!("{} was not built", built.display()))?;
        Ok(executable)
    }

    /// An empty folder for a build.
    fn folder_of(&self, name: &str) -> Result<PathBuf> {
        let folder = self.folder.join(name);
        workspace::fresh(&folder)?;
        Ok(folder)
    }

    /// Runs a build of clang's or rustc's that counts, and makes one profile of all runs.
    fn trained(&self, executable: &Path) -> Result<PathBuf> {
        let folder = executable.parent().context("an executable is in a folder")?;
        let profile = folder.join("all.profdata");
        let mut merge = Command::new(self.context.clang.llvm("llvm-profdata"));
        merge.arg("merge").arg("-o").arg(&profile);
        for (index, arguments) in self.subject.runs().iter().enumerate() {
            let raw = folder.join(format!("{index}.profraw"));
            let mut run = Command::new(executable);
            command::output(run.args(arguments).current_dir(folder).env("LLVM_PROFILE_FILE", &raw))?;
            merge.arg(raw);
        }
        command::succeed(&mut merge)?;
        Ok(profile)
    }

    fn count(&self, executable: &Path) -> Result<(u64, Printed)> {
        let folder = executable.parent().context("an executable is in a folder")?;
        // Old versions of valgrind fail on recent debug information.
        let stripped = folder.join("stripped");
        strip("-g", executable, &stripped)?;
        instructions::count(&stripped, self.subject, folder)
    }

    fn count_same(&self, executable: &Path, printed: &Printed) -> Result<u64> {
        let (count, other) = self.count(executable)?;
        ensure!(other == *printed, "{} prints something else than the plain build", executable.display());
        Ok(count)
    }
}
