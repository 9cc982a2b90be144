//! One program in one build: compiled, linked, run, and held against its own tally and against plain clang.

use super::builds::{Build, Level, Variant};
use super::counts::Counts;
use super::ingredients::{Doubts, Timing};
use super::program::{LIBRARY, Program};
use super::recipe::{Ending, Recipe};
use crate::command::{self, ending, last_lines};
use crate::tools::Clang;
use crate::{deadline, workspace};
use anyhow::{Context, Result, ensure};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

/// Programs run for milliseconds; the machine may be busy.
const LONGEST_RUN: Duration = Duration::from_secs(60);
const LONGEST_BUILD: Duration = Duration::from_secs(300);

/// How a build is wrong.
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
    /// Where LLVM is: cotree asks rustc each time unless it is told.
    llvm: Option<PathBuf>,
}

/// A program, with what plain clang's build of it does.
pub struct Subject<'a> {
    pub recipe: &'a Recipe,
    pub program: Program,
    reference: Ran,
    /// The level of which there is an edge profile of it, and what that says.
    own: RefCell<Option<(Level, Counts)>>,
    /// There is one of the next seed's program.
    other: Cell<bool>,
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
        let workshop = Workshop { folder, cotree, clang: Clang::newest()?, llvm: llvm()? };
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
    fn driver(&self, level: Level, options: &str, cxx: bool) -> Command {
        let mut command = self.command(&self.cotree);
        if let Some(llvm) = &self.llvm {
            command.env("COTREE_LLVM", llvm);
        }
        if let Some(clang) = level.clang {
            command.env("COTREE_CC", clang.c());
        }
        command.args(["--at", level.at]).args(options.split_whitespace()).arg(if cxx { "c++" } else { "cc" });
        command
    }

    /// Writes the sources, and lets plain clang's build of them run.
    pub fn subject<'a>(&self, recipe: &'a Recipe) -> Result<Subject<'a>> {
        let program = Program::of(recipe);
        for (name, text) in &program.files {
            fs::write(self.folder.join(name), text)?;
        }
        let compiler = |cxx: bool| if cxx { self.clang.cxx() } else { self.clang.c() };
        for (name, _) in &program.files {
            let mut compile = self.command(compiler(is_cxx(name)));
            command::succeed(compile.arg("-O1").args(compiling(name)))?;
        }
        for (output, options) in linking(recipe, &program, "plain") {
            let mut link = self.command(compiler(recipe.cxx()));
            command::succeed(link.args(options).args(["-o", output]))?;
        }
        let reference = deadline::within(LONGEST_RUN, || self.run("plain", "profiles"))?;
        let ends = ending(&reference.output);
        ensure!(!(96..=99).contains(&ends), "the program can't run: it ended with {ends}");
        let killed = recipe.ending == Ending::Killed && ends == -9;
        let signalled = matches!(recipe.ending, Ending::Early(_)) && [-6, -10, -11, -14, -15].contains(&ends);
        ensure!(ends >= 0 || killed || signalled, "plain clang's build ended with {ends}");
        Ok(Subject { recipe, program, reference, own: RefCell::new(None), other: Cell::new(false) })
    }

    /// Compiles the sources for profiles.
    pub fn compile(&self, subject: &Subject, level: Level) -> Result<(), Fault> {
        for (name, _) in &subject.program.files {
            let mut compile = self.driver(level, "", is_cxx(name));
            compile.args([level.level, "-g"]).args(compiling(name));
            if level.keeps_frames() {
                compile.arg("-fno-optimize-sibling-calls");
            }
            build(&mut compile)?;
        }
        Ok(())
    }

    fn link(&self, subject: &Subject, Build { level, variant }: Build, program: &str) -> Result<(), Fault> {
        for (output, options) in linking(subject.recipe, &subject.program, program) {
            let mut link = self.driver(level, variant.options, subject.recipe.cxx());
            link.args([level.level, "-g"]).args(variant.driver.split_whitespace()).args(options).args(["-o", output]);
            build(&mut link)?;
        }
        Ok(())
    }

    /// Runs a build into a folder of profiles.
    fn runs(&self, subject: &Subject, program: &str, profiles: &str) -> Result<Ran, Fault> {
        let ran = deadline::within(LONGEST_RUN, || self.run(program, profiles))
            .map_err(|error| fault(Kind::Hang, format!("{error:#}")))?;
        same_behaviour(subject, &ran)?;
        Ok(ran)
    }

    fn empty(&self, name: &str) -> Result<PathBuf, Fault> {
        let folder = self.folder.join(name);
        workspace::fresh(&folder).map_err(|error| fault(Kind::Build, format!("{error:#}")))?;
        Ok(folder)
    }

    /// Merges the profiles of a folder into a file.
    fn merge(&self, profiles: &Path, merged: &str) -> Result<(), Fault> {
        let mut merge = self.command(&self.cotree);
        merge.args(["merge", "--several-units", "-o", merged]).args(finished(profiles)?);
        let output = self.tool(&mut merge)?;
        if output.status.success() { Ok(()) } else { Err(fault(Kind::Profile, last_lines(&output, 12))) }
    }

    /// Makes `own.cotree`, an edge profile of the program at this level.
    fn own(&self, subject: &Subject, level: Level) -> Result<(), Fault> {
        if subject.own.borrow().as_ref().is_none_or(|(made, _)| *made != level) {
            let profiles = self.empty("own")?;
            self.link(subject, Build { level, variant: Variant::EDGE }, "counted")?;
            self.runs(subject, "counted", "own")?;
            self.merge(&profiles, "own.cotree")?;
            let counts = self.counts(&[self.folder.join("own.cotree")])?;
            subject.own.replace(Some((level, counts)));
        }
        Ok(())
    }

    /// Makes `other.cotree`, an edge profile of another program.
    fn other(&self, subject: &Subject, level: Level) -> Result<(), Fault> {
        if !subject.other.replace(true) {
            let not_made = |error: anyhow::Error| fault(Kind::Build, format!("of the next seed: {error:#}"));
            let recipe = Recipe::of(subject.recipe.seed + 1);
            let workshop = Workshop::new(self.folder.join("other"), self.cotree.clone()).map_err(not_made)?;
            let other = workshop.subject(&recipe).map_err(not_made)?;
            workshop.compile(&other, level)?;
            workshop.own(&other, level)?;
            fs::rename(workshop.folder.join("own.cotree"), self.folder.join("other.cotree"))
                .map_err(|error| not_made(error.into()))?;
        }
        Ok(())
    }

    /// Links, runs and checks one build; gives how many numbers agree.
    pub fn check(&self, subject: &Subject, build: Build) -> Result<usize, Fault> {
        let (recipe, Build { level, variant }) = (subject.recipe, build);
        let is_of_events = variant.options.contains("--profile events") && level.keeps_frames();
        if variant.options.contains("own.cotree") || is_of_events {
            self.own(subject, level)?;
        }
        if variant.options.contains("other.cotree") {
            self.other(subject, level)?;
        }
        self.link(subject, build, "program")?;
        let profiles = self.empty("profiles")?;
        let mut ran = self.runs(subject, "program", "profiles")?;
        if variant.merged {
            let again = self.runs(subject, "program", "profiles")?;
            ran.tally.iter_mut().zip(&again.tally).for_each(|(tally, more)| *tally += more);
        }
        if variant.options.contains("none") || variant.options.contains("--use") {
            return Ok(0);
        }
        let (of_runs, profiles) = (finished(&profiles)?, profiles);
        let strict = recipe.doubts_of(variant) == Doubts::Never;
        if of_runs.is_empty() {
            return Err(fault(Kind::Profile, "there is no profile"));
        }
        let live: Vec<&PathBuf> = of_runs.iter().filter(|path| path.extension().is_some_and(|e| e == "live")).collect();
        if !live.is_empty() && recipe.doubts() == Doubts::Never {
            return Err(fault(Kind::Profile, format!("unfinished: {live:?}")));
        }
        let counts = if variant.merged {
            self.merge(&profiles, "merged.cotree")?;
            self.counts(&[self.folder.join("merged.cotree")])?
        } else {
            self.counts(&of_runs)?
        };
        let (mut agree, mut wrong) = counts.compare(&subject.program, &ran.tally, level.merges_lines());
        let comparable = is_of_events && recipe.timing() == Timing::Nothing;
        if let Some((_, edges)) = subject.own.borrow().as_ref().filter(|_| comparable) {
            let (more, others) = counts.compare_events(edges);
            agree += more;
            wrong.extend(others);
        }
        if !wrong.is_empty() {
            return Err(fault(Kind::WrongCount, wrong.join("\n")));
        }
        if variant.options.contains("--verify") {
            for profile in &of_runs {
                let mut verify = self.command(&self.cotree);
                verify.arg("verify").args(strict.then_some("--strict")).arg(profile);
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

    /// What all of these profiles say.
    fn counts(&self, profiles: &[PathBuf]) -> Result<Counts, Fault> {
        let mut counts = Counts::default();
        for profile in profiles {
            let export = |format: &str| {
                let output = self.tool(self.command(&self.cotree).args(["export", "--format", format]).arg(profile))?;
                if output.status.success() {
                    Ok(output.stdout)
                } else {
                    Err(fault(Kind::Profile, last_lines(&output, 12)))
                }
            };
            counts.add(&export("json")?).map_err(|error| fault(Kind::Profile, format!("{error:#}")))?;
            if counts.has_lines() {
                counts.add_lines(&String::from_utf8_lossy(&export("lcov")?));
            }
        }
        Ok(counts)
    }

    fn run(&self, program: &str, profiles: &str) -> Result<Ran> {
        let tally = self.folder.join("tally.bin");
        if tally.exists() {
            fs::remove_file(&tally)?;
        }
        let mut command = self.command(self.folder.join(program));
        command.env("SOAK_TALLY", &tally).env("COTREE_FILE", self.folder.join(profiles).join("%p.cotree"));
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

/// The LLVM of rustc, where cotree would find it.
fn llvm() -> Result<Option<PathBuf>> {
    let sysroot = command::text(Command::new("rustc").args(["--print", "sysroot"]))?;
    let libraries = fs::read_dir(Path::new(sysroot.trim()).join("lib"))?;
    let paths: Vec<PathBuf> = libraries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    let is_llvm =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libLLVM.so."));
    Ok(paths.into_iter().find(is_llvm))
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

/// How a file is compiled.
fn compiling(name: &str) -> Vec<String> {
    let mut options = vec!["-w", "-pthread", "-fexceptions"];
    if is_cxx(name) {
        options.push("-std=gnu++20");
    }
    if LIBRARY.contains(&name) {
        options.push("-fPIC");
    }
    [options, vec!["-c", name, "-o", &object(name)]].concat().into_iter().map(str::to_owned).collect()
}

/// What is linked, and how: the shared library if there is one, and the executable.
fn linking<'a>(recipe: &Recipe, program: &Program, executable: &'a str) -> Vec<(&'a str, Vec<String>)> {
    let objects = |of_library: bool| {
        let names = program.files.iter().map(|(name, _)| *name);
        names.filter(move |name| LIBRARY.contains(name) == of_library).map(object)
    };
    let options = |options: &[&str], of_library: bool| -> Vec<String> {
        options.iter().map(|&option| option.to_owned()).chain(objects(of_library)).collect()
    };
    if recipe.has_library() {
        let library = ("library.so", options(&["-pthread", "-shared"], true));
        vec![library, (executable, options(&["-pthread", "-rdynamic", "soak.o"], false))]
    } else {
        vec![(executable, options(&["-pthread", "soak.o"], false))]
    }
}
