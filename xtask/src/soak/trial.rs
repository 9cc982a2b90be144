//! One program in one build: compiled, linked, run, and held against its own tally and against plain clang.

use super::builds::Level;
use super::counts::Counts;
use super::ingredients::Doubts;
use super::program::Program;
use super::recipe::{Ending, Recipe};
use crate::command::{self, ending, last_lines};
use crate::tools::Clang;
use crate::{deadline, workspace};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

/// Programs run for milliseconds; the machine may be busy.
const LONGEST_RUN: Duration = Duration::from_secs(60);
const LONGEST_BUILD: Duration = Duration::from_secs(300);

/// In what way a build is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A count under "exact" is not what happened.
    WrongCount,
    /// The program prints something else, or does something else.
    Behaviour,
    /// The program ends otherwise.
    Ending,
    /// The program, or cotree, does not end.
    Hang,
    /// A profile is missing or can't be read.
    Profile,
    /// `cotree verify` finds a difference.
    Verify,
    /// A count is declared not to be exact for no reason.
    Declared,
    /// The program can't be built.
    Build,
}

/// What is wrong with a build.
#[derive(Clone, Debug)]
pub struct Fault {
    pub kind: Kind,
    pub text: String,
}

fn fault(kind: Kind, text: impl Into<String>) -> Fault {
    Fault { kind, text: text.into() }
}

/// A folder, and the tools to build programs there.
pub struct Workshop {
    pub folder: PathBuf,
    cotree: PathBuf,
    clang: Clang,
}

/// A program, with what plain clang's build of it does.
pub struct Subject<'a> {
    pub recipe: &'a Recipe,
    pub program: Program,
    reference: Ran,
}

/// A run that has ended.
struct Ran {
    output: Output,
    tally: Vec<u64>,
}

impl Workshop {
    /// Makes the folder, and compiles what all programs have in common.
    pub fn new(folder: PathBuf, cotree: PathBuf) -> Result<Workshop> {
        workspace::fresh(&folder)?;
        let workshop = Workshop { folder, cotree, clang: Clang::newest()? };
        fs::write(workshop.folder.join("soak.h"), include_str!("../../programs/soak/soak.h"))?;
        fs::write(workshop.folder.join("soak.c"), include_str!("../../programs/soak/soak.c"))?;
        let clang = workshop.clang.c();
        command::succeed(workshop.command(&clang).args(["-O1", "-fPIC", "-w", "-c", "soak.c", "-o", "soak.o"]))?;
        Ok(workshop)
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.folder);
        command
    }

    /// `cotree` with these options and the driver of the program's language.
    fn driver(&self, at: &str, options: &str, cxx: bool) -> Command {
        let mut command = self.command(&self.cotree);
        command.args(["--at", at]).args(options.split_whitespace()).arg(if cxx { "c++" } else { "cc" });
        command
    }

    /// Writes the sources, and lets plain clang's build of them run.
    pub fn subject<'a>(&self, recipe: &'a Recipe) -> Result<Subject<'a>> {
        let program = Program::of(recipe);
        for (name, text) in &program.files {
            fs::write(self.folder.join(name), text)?;
        }
        let compiler = if recipe.cxx() { self.clang.cxx() } else { self.clang.c() };
        for (name, _) in &program.files {
            let compiler = if is_cxx(name) { self.clang.cxx() } else { self.clang.c() };
            let mut compile = self.command(compiler);
            command::succeed(compile.args(["-O1", "-w", "-pthread", "-fexceptions", "-c", name, "-o", &object(name)]))?;
        }
        let mut link = self.command(compiler);
        command::succeed(link.args(["-pthread", "-o", "plain", "soak.o"]).args(objects(&program)))?;
        let reference = deadline::within(LONGEST_RUN, || self.run("plain"))?;
        let ends = ending(&reference.output);
        ensure!(!(96..=99).contains(&ends), "the program can't run: it ended with {ends}");
        let killed = recipe.ending == Ending::Killed && ends == -9;
        let signalled = matches!(recipe.ending, Ending::Early(_)) && [-6, -10, -11, -14, -15].contains(&ends);
        ensure!(ends >= 0 || killed || signalled, "plain clang's build ended with {ends}");
        Ok(Subject { recipe, program, reference })
    }

    /// Compiles the sources for profiles.
    pub fn compile(&self, subject: &Subject, level: Level) -> Result<(), Fault> {
        for (name, _) in &subject.program.files {
            let mut compile = self.driver(level.at, "", is_cxx(name));
            compile.args([level.level, "-g", "-w", "-pthread", "-fexceptions", "-c", name, "-o", &object(name)]);
            build(&mut compile)?;
        }
        Ok(())
    }

    /// Links, runs and checks one build; gives how many numbers agree.
    pub fn check(&self, subject: &Subject, level: Level, options: &str) -> Result<usize, Fault> {
        let recipe = subject.recipe;
        let mut link = self.driver(level.at, options, recipe.cxx());
        link.args([level.level, "-g", "-pthread", "-o", "program", "soak.o"]).args(objects(&subject.program));
        build(&mut link)?;
        let profiles = self.folder.join("profiles");
        workspace::fresh(&profiles).map_err(|error| fault(Kind::Build, format!("{error:#}")))?;
        let ran = deadline::within(LONGEST_RUN, || self.run("program"))
            .map_err(|error| fault(Kind::Hang, format!("{error:#}")))?;
        same_behaviour(subject, &ran)?;
        if options.contains("none") || options.contains("--use") {
            return Ok(0);
        }
        let counts = self.counts(recipe, &profiles)?;
        let (agree, wrong) = counts.compare(&subject.program, &ran.tally, level.as_written());
        if !wrong.is_empty() {
            return Err(fault(Kind::WrongCount, wrong.join("\n")));
        }
        let strict = match recipe.doubts() {
            // A ring holds what came last, and says so.
            _ if options.contains("trace-ring") => false,
            Doubts::Never => true,
            Doubts::InTraces => !options.contains("trace"),
            Doubts::Allowed => false,
        };
        if options.contains("--verify") {
            for profile in finished(&profiles)? {
                let mut verify = self.command(&self.cotree);
                verify.arg("verify").args(strict.then_some("--strict")).arg(&profile);
                let output = self.tool(&mut verify)?;
                if !output.status.success() {
                    return Err(fault(Kind::Verify, last_lines(&output, 12)));
                }
            }
        }
        if strict && !counts.flaws.is_empty() {
            return Err(fault(Kind::Declared, format!("not vouched for: {:?}", counts.flaws)));
        }
        Ok(agree)
    }

    fn tool(&self, command: &mut Command) -> Result<Output, Fault> {
        deadline::within(LONGEST_BUILD, || command::output(command))
            .map_err(|error| fault(Kind::Hang, format!("{error:#}")))
    }

    /// What all profiles of a run say.
    fn counts(&self, recipe: &Recipe, profiles: &Path) -> Result<Counts, Fault> {
        let all = finished(profiles)?;
        if all.is_empty() {
            return Err(fault(Kind::Profile, "there is no profile"));
        }
        let live: Vec<&PathBuf> = all.iter().filter(|path| path.extension().is_some_and(|e| e == "live")).collect();
        if !live.is_empty() && recipe.doubts() == Doubts::Never {
            return Err(fault(Kind::Profile, format!("unfinished: {live:?}")));
        }
        let mut counts = Counts::default();
        for profile in &all {
            let output = self.tool(self.command(&self.cotree).args(["export", "--format", "json"]).arg(profile))?;
            if !output.status.success() {
                return Err(fault(Kind::Profile, last_lines(&output, 12)));
            }
            counts.add(&output.stdout).map_err(|error| fault(Kind::Profile, format!("{error:#}")))?;
        }
        Ok(counts)
    }

    fn run(&self, program: &str) -> Result<Ran> {
        let tally = self.folder.join("tally.bin");
        if tally.exists() {
            fs::remove_file(&tally)?;
        }
        let mut command = self.command(self.folder.join(program));
        command.env("SOAK_TALLY", &tally).env("COTREE_FILE", self.folder.join("profiles/%p.cotree"));
        let output = command::output(&mut command)?;
        let tally = fs::read(&tally).context("the program left no tally")?;
        let words = tally.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().expect("eight bytes")));
        Ok(Ran { output, tally: words.collect() })
    }
}

/// Output, end and tally are those of plain clang's build.
fn same_behaviour(subject: &Subject, ran: &Ran) -> Result<(), Fault> {
    let reference = &subject.reference;
    let (ours, theirs) = (ending(&ran.output), ending(&reference.output));
    if ours != theirs {
        let said = last_lines(&ran.output, 6);
        return Err(fault(Kind::Ending, format!("it ended with {ours}, and plain clang's with {theirs}; {said}")));
    }
    let text = |output: &Output| format!("{:?}", last_lines(output, 6));
    if !subject.recipe.varies() && text(&ran.output) != text(&reference.output) {
        let (ours, theirs) = (text(&ran.output), text(&reference.output));
        return Err(fault(Kind::Behaviour, format!("it wrote {ours}, and plain clang's {theirs}")));
    }
    let differs = (0..subject.program.places.len()).find(|&slot| ran.tally[slot] != reference.tally[slot]);
    if let Some(slot) = differs.filter(|_| !subject.recipe.varies()) {
        let (ours, theirs) = (ran.tally[slot], reference.tally[slot]);
        let place = subject.program.place(slot);
        return Err(fault(Kind::Behaviour, format!("{place} ran {ours} times, in plain clang's build {theirs} times")));
    }
    Ok(())
}

/// The profiles in a folder.
fn finished(profiles: &Path) -> Result<Vec<PathBuf>, Fault> {
    let unreadable = |error: std::io::Error| fault(Kind::Profile, error.to_string());
    let entries = fs::read_dir(profiles).map_err(unreadable)?;
    let paths: Result<BTreeMap<PathBuf, ()>, _> = entries.map(|entry| entry.map(|entry| (entry.path(), ()))).collect();
    Ok(paths.map_err(unreadable)?.into_keys().collect())
}

fn build(command: &mut Command) -> Result<(), Fault> {
    deadline::within(LONGEST_BUILD, || command::succeed(command))
        .map(drop)
        .map_err(|error| fault(Kind::Build, format!("{error:#}")))
}

fn is_cxx(name: &str) -> bool {
    name.ends_with(".cpp")
}

fn object(name: &str) -> String {
    format!("{name}.o")
}

fn objects(program: &Program) -> Vec<String> {
    program.files.iter().map(|(name, _)| object(name)).collect()
}
