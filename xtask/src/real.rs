//! Real programs: what they do is unchanged under cotree, and every count of their profiles is the one that redundant
//! counters of the same run found (`--verify`).

use crate::programs::{self, Program, Workload};
use crate::rust_programs;
use crate::sources::Sources;
use crate::suite::Suite;
use crate::tools::Clang;
use crate::{command, tools, workspace};
use anyhow::{Context as _, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What all suites share.
#[derive(Clone)]
pub struct Context {
    /// The cotree under test.
    pub cotree: PathBuf,
    /// The compiler behind it, and the reference.
    pub clang: Clang,
    /// Sources of real programs.
    pub sources: Sources,
    /// The full matrix is wanted.
    pub all: bool,
}

impl Context {
    /// Fetches sources and looks for tools.
    pub fn new(cotree: PathBuf, all: bool) -> Result<Context> {
        Ok(Context { cotree, clang: Clang::newest()?, sources: Sources::fetch()?, all })
    }

    /// `cotree`, with nothing of the environment's in its way.
    pub fn cotree(&self) -> Command {
        let mut command = Command::new(&self.cotree);
        command.env("COTREE_CC", self.clang.c()).env("COTREE_CXX", self.clang.cxx());
        for name in [
            "COTREE_PROFILE",
            "COTREE_VERIFY",
            "COTREE_FILE",
            "COTREE_AT",
            "COTREE_THREADS",
            "COTREE_WEIGHTS",
            "COTREE_PATH_METRIC",
            "COTREE_PATH_ARRAY",
            "COTREE_PATH_LIMIT",
        ] {
            command.env_remove(name);
        }
        command
    }

    /// `cotree OPTIONS cc` or `c++`.
    pub fn cotree_cc(&self, options: &[&str], cxx: bool) -> Command {
        let mut command = self.cotree();
        command.args(options).arg(if cxx { "c++" } else { "cc" });
        command
    }

    /// The clang behind it, alone.
    pub fn plain(&self, cxx: bool) -> Command {
        Command::new(if cxx { self.clang.cxx() } else { self.clang.c() })
    }
}

/// One build of one program to check.
#[derive(Clone)]
struct Variant {
    level: &'static str,
    method: &'static str,
    /// More options of cotree.
    options: &'static [&'static str],
    clang: Clang,
    /// More options for both builds, such as `-static`, and for ours alone, such as `-fuse-ld=gold`.
    both: &'static [&'static str],
    ours: &'static [&'static str],
}

const LEVELS: [&str; 5] = ["-O0", "-O1", "-O2", "-O3", "-Os"];

/// Adds all cases, those first that take longest.
pub fn add(suite: &mut Suite, context: &Context) {
    rust_programs::add(suite, context);
    let c = match programs::all_c(&context.sources, Workload::Full) {
        Ok(programs) => programs,
        Err(error) => return suite.add("real programs", move || Err(error)),
    };
    let cxx = programs::lua_cxx(&context.sources, Workload::Full);
    for program in c.into_iter().chain(cxx) {
        for variant in variants(&program, context) {
            let name = variant.name(&program);
            let (program, context) = (program.clone(), context.clone());
            suite.add(name.clone(), move || check(&program, &variant, &context, &name));
        }
    }
}

fn variants(program: &Program, context: &Context) -> Vec<Variant> {
    let usual = Variant { level: "-O2", method: "edge", options: &[], clang: context.clang, both: &[], ours: &[] };
    let both_levels = ["sqlite", "lua", "lua-c++"].contains(&program.name);
    let mut variants: Vec<Variant> = match (context.all, both_levels) {
        (true, _) => LEVELS.to_vec(),
        (false, true) => vec!["-O0", "-O2"],
        (false, false) => vec!["-O2"],
    }
    .into_iter()
    .map(|level| Variant { level, ..usual })
    .collect();
    if program.name == "lua" || context.all {
        for method in ["vertex", "vertex-edge", "block"] {
            variants.push(Variant { method, ..usual });
        }
    }
    let cycles = &["--path-metric", "cycles"];
    if context.all {
        for method in ["path", "path-context"] {
            variants.push(Variant { method, ..usual });
            variants.push(Variant { method, level: "-O0", ..usual });
        }
        variants.push(Variant { method: "path", options: &["--path-array", "0"], ..usual });
        for level in ["-O0", "-O2"] {
            variants.push(Variant { method: "path", options: cycles, level, ..usual });
        }
    } else if program.name == "lua" {
        variants.push(Variant { method: "path", ..usual });
    } else if program.name == "bzip2" {
        variants.push(Variant { method: "path", options: cycles, ..usual });
    }
    if context.all {
        for clang in Clang::installed().into_iter().filter(|clang| *clang != context.clang) {
            variants.push(Variant { clang, ..usual });
        }
        if tools::find("ld.gold").is_some() {
            variants.push(Variant { ours: &["-fuse-ld=gold"], ..usual });
        }
        if tools::find("ld.mold").is_some() {
            variants.push(Variant { ours: &["-fuse-ld=mold"], ..usual });
        }
        variants.push(Variant { both: &["-static"], ..usual });
        variants.push(Variant { both: &["-ffunction-sections", "-Wl,--gc-sections"], ..usual });
    }
    variants
}

impl Variant {
    fn name(&self, program: &Program) -> String {
        let mut name = format!("verify {} {} {} {}", program.name, self.level, self.method, self.clang.c());
        for option in self.options.iter().chain(self.both).chain(self.ours) {
            name += " ";
            name += option;
        }
        name
    }
}

fn check(program: &Program, variant: &Variant, context: &Context, name: &str) -> Result<String> {
    let context = Context { clang: variant.clang, ..context.clone() };
    let folder = workspace::scratch().join("real").join(name.replace([' ', '='], "_"));
    workspace::fresh(&folder)?;
    let (ours, plain) = (folder.join("ours"), folder.join("plain"));
    let both = [&[variant.level], variant.both].concat();
    command::succeed(&mut program.build(context.plain(program.cxx), &both, &plain))?;
    let compiler =
        context.cotree_cc(&[&["--verify", "--profile", variant.method], variant.options].concat(), program.cxx);
    command::succeed(&mut program.build(compiler, &[&both, variant.ours].concat(), &ours))?;
    let mut notes = Vec::new();
    for (index, arguments) in program.runs.iter().enumerate() {
        let profile = folder.join(format!("{index}.cotree"));
        let expected = command::output(Command::new(&plain).args(arguments).current_dir(&folder))?;
        let found =
            command::output(Command::new(&ours).args(arguments).current_dir(&folder).env("COTREE_FILE", &profile))?;
        same(&expected, &found)?;
        notes.push(verified(&context, &profile)?);
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(notes.join("; "))
}

/// The same output, errors and status. Programs put their own name in messages.
pub fn same(expected: &Output, found: &Output) -> Result<()> {
    let (before, after) = (command::ending(expected), command::ending(found));
    ensure!(before == after, "it ended with {after} and not {before}\n{}", command::last_lines(found, 10));
    ensure!(expected.stdout == found.stdout, "it wrote other output:\n{}", command::last_lines(found, 20));
    let errors = |output: &Output| {
        let text = String::from_utf8_lossy(&output.stderr);
        ["/plain", "/ours", "plain:", "ours:"].iter().fold(text.into_owned(), |text, name| text.replace(name, ""))
    };
    ensure!(errors(expected) == errors(found), "it wrote other errors:\n{}", command::last_lines(found, 10));
    Ok(())
}

/// `cotree verify --strict`: no count differs, and no function is excepted.
pub fn verified(context: &Context, profile: &Path) -> Result<String> {
    let output = command::output(context.cotree().args(["verify", "--strict"]).arg(profile))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let verdict = text.lines().last().context("cotree verify printed nothing")?;
    if !output.status.success() {
        bail!("{}", command::last_lines(&output, 15));
    }
    ensure!(verdict.starts_with("OK: ") && !verdict.contains(" 0 blocks"), "nothing was compared: {verdict}");
    ensure!(verdict.contains("; 0 functions not vouched for"), "{verdict}");
    Ok(verdict.trim_start_matches("OK: ").split(" compared").next().unwrap_or_default().to_owned())
}
