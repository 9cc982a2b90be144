//! Real programs: what they do is unchanged under cotree, and every count of their profiles is the one that redundant
//! counters of the same run found (`--verify`).

use crate::programs::{self, Program, Workload};
use crate::sources::Sources;
use crate::suite::Suite;
use crate::tools::Clang;
use crate::{command, tools, workspace};
use anyhow::{Context as _, Result, anyhow, bail, ensure};
use cotree_options::clear_environment;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, OnceLock};

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

    /// What a list of cases needs: nothing is fetched.
    pub fn for_list(cotree: PathBuf, all: bool) -> Result<Context> {
        Ok(Context { cotree, clang: Clang::newest()?, sources: Sources::unfetched(), all })
    }

    /// `cotree`, with nothing of the environment's in its way.
    pub fn cotree(&self) -> Command {
        let mut command = Command::new(&self.cotree);
        clear_environment(&mut command);
        command.env("COTREE_CC", self.clang.c()).env("COTREE_CXX", self.clang.cxx());
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
    /// More options of the compiler, such as `-static`.
    flags: &'static [&'static str],
}

const LEVELS: [&str; 5] = ["-O0", "-O1", "-O2", "-O3", "-Os"];

/// Profiles of paths across functions.
pub const ACROSS: [&str; 4] = ["ipath", "ipath-piecewise", "ipath-hybrid=leaf", "ipath-hybrid=file"];

/// What is checked of them each time: programs, levels and methods.
const ACROSS_USUALLY: [(&str, &str, &str); 4] = [
    ("lua", "-O2", "ipath"),
    ("lua", "-O0", "ipath-piecewise"),
    ("lua-c++", "-O2", "ipath-hybrid=leaf"),
    ("bzip2", "-O2", "ipath-hybrid=file"),
];

/// Event counts of all kinds but the user's own.
const EVENTS: &str = "events=instructions,loads,stores,calls,branches,float,allocations,syscalls";

/// What is checked of them each time: programs and levels.
const EVENTS_USUALLY: [(&str, &str); 3] = [("lua", "-O2"), ("lua-c++", "-O2"), ("bzip2", "-O2")];

/// Adds all cases.
pub fn add(suite: &mut Suite, context: &Context) {
    let c = match programs::all_c(&context.sources, Workload::Full) {
        Ok(programs) => programs,
        Err(error) => return suite.add("real programs", move || Err(error)),
    };
    let cxx = programs::lua_cxx(&context.sources, Workload::Full);
    for program in c.into_iter().chain(cxx) {
        let expected = Expected::default();
        for variant in variants(&program, context) {
            add_case(suite, context, &program, variant, &expected);
        }
    }
    let Ok(traced) = traced(&context.sources) else { return };
    for program in traced {
        let expected = Expected::default();
        for level in ["-O0", "-O2"] {
            if context.all || TRACED_USUALLY.contains(&(program.name, level)) {
                let variant = Variant { level, method: "trace", options: &[], clang: context.clang, flags: &[] };
                add_case(suite, context, &program, variant, &expected);
            }
        }
    }
}

fn add_case(suite: &mut Suite, context: &Context, program: &Program, variant: Variant, expected: &Expected) {
    let name = variant.name(program);
    let (program, context, expected) = (program.clone(), context.clone(), expected.clone());
    suite.add(name.clone(), move || check(&program, &variant, &context, &expected, &name));
}

/// Programs whose traces are counted: they are short, since every block is followed.
fn traced(sources: &Sources) -> Result<Vec<Program>> {
    let mut programs = programs::all_c(sources, Workload::Tiny)?;
    programs.push(programs::lua_cxx(sources, Workload::Tiny)?);
    programs.push(programs::clipper(sources, Workload::Tiny));
    Ok(programs)
}

/// The programs for which it is done each time.
const TRACED_USUALLY: [(&str, &str); 1] = [("clipper", "-O2")];

/// What a program does in each of its runs when it is built without cotree and without optimisations: found once, for
/// all builds of ours.
#[derive(Clone, Default)]
pub struct Expected(Arc<OnceLock<Result<Vec<Output>, String>>>);

impl Expected {
    /// The outputs; `find` is asked for them once.
    pub fn or_find(&self, find: impl FnOnce() -> Result<Vec<Output>>) -> Result<&[Output]> {
        let found = self.0.get_or_init(|| find().map_err(|error| format!("{error:#}")));
        found.as_deref().map_err(|error| anyhow!("without cotree: {error}"))
    }
}

fn variants(program: &Program, context: &Context) -> Vec<Variant> {
    let usual = Variant { level: "-O2", method: "edge", options: &[], clang: context.clang, flags: &[] };
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
    for level in ["-O0", "-O2"] {
        if context.all || EVENTS_USUALLY.contains(&(program.name, level)) {
            variants.push(Variant { method: EVENTS, level, ..usual });
        }
    }
    for (level, method) in ["-O0", "-O2"].into_iter().flat_map(|level| ACROSS.map(|method| (level, method))) {
        if context.all || ACROSS_USUALLY.contains(&(program.name, level, method)) {
            variants.push(Variant { method, level, ..usual });
        }
    }
    if context.all {
        for clang in Clang::installed().into_iter().filter(|clang| *clang != context.clang) {
            variants.push(Variant { clang, ..usual });
        }
        if tools::find("ld.gold").is_some() {
            variants.push(Variant { flags: &["-fuse-ld=gold"], ..usual });
        }
        if tools::find("ld.mold").is_some() {
            variants.push(Variant { flags: &["-fuse-ld=mold"], ..usual });
        }
        variants.push(Variant { flags: &["-static"], ..usual });
        variants.push(Variant { flags: &["-ffunction-sections", "-Wl,--gc-sections"], ..usual });
    }
    variants
}

impl Variant {
    fn name(&self, program: &Program) -> String {
        let method = self.method.split("=instructions").next().unwrap_or(self.method);
        let mut name = format!("verify {} {} {method} {}", program.name, self.level, self.clang.c());
        for option in self.options.iter().chain(self.flags) {
            name += " ";
            name += option;
        }
        name
    }
}

fn check(program: &Program, variant: &Variant, context: &Context, expected: &Expected, name: &str) -> Result<String> {
    let folder = workspace::scratch().join("real").join(name.replace([' ', '='], "_"));
    workspace::fresh(&folder)?;
    let run = |executable: &Path, index: usize| {
        let profile = folder.join(format!("{index}.cotree"));
        let mut command = Command::new(executable);
        command::output(command.args(&program.runs[index]).current_dir(&folder).env("COTREE_FILE", profile))
    };
    let expected = expected.or_find(|| {
        let plain = folder.join("plain");
        command::succeed(&mut program.build(context.plain(program.cxx), &["-O0"], &plain))?;
        (0..program.runs.len()).map(|index| run(&plain, index)).collect()
    })?;
    let ours = folder.join("ours");
    let context = Context { clang: variant.clang, ..context.clone() };
    let compiler =
        context.cotree_cc(&[&["--verify", "--profile", variant.method], variant.options].concat(), program.cxx);
    let options = [&[variant.level], variant.flags].concat();
    command::succeed(&mut program.build(compiler, &options, &ours))?;
    let mut notes = Vec::new();
    for (index, expected) in expected.iter().enumerate() {
        same(expected, &run(&ours, index)?)?;
        notes.push(verified(&context, &folder.join(format!("{index}.cotree")))?);
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(notes.join("; "))
}

/// Checks for the same output, errors and status. Programs put their own name in messages.
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
