//! Lua asks for its own events: at points of its interpreter that look random, and until limits strike.
//!
//! The oracle of queries is the same interpreter with an addition at every stretch of code (the naive placement), where
//! nothing is ever lacking. Both do the same only if no hash is that of an address, so Lua is changed for these cases.

use super::{COSTS, KINDS, folder, same_addresses};
use crate::programs::{self, Program, Workload};
use crate::real::Context;
use crate::rust_programs::copy;
use crate::sources::Sources;
use crate::suite::Suite;
use crate::{command, workspace};
use anyhow::{Context as _, Result, bail, ensure};
use std::fs;
use std::path::Path;

/// An addition at every stretch of code.
const NAIVE: &str = "--cotree-event-placement=blocks";

/// How often Lua asks at least.
const QUERIES: usize = 1000;

/// Where it may: a file, a text in it, and what stands there instead. `ask` is in the driver.
const POINTS: [(&str, &str, &str); 5] = [
    ("lvm.c", "#define vmfetch()\t{ \\\n", "#define vmfetch()\t{ COTREE_ASK(\"fetch\"); \\\n"),
    (
        "ldo.c",
        "CallInfo *luaD_precall (lua_State *L, StkId func, int nresults) {\n",
        "CallInfo *luaD_precall (lua_State *L, StkId func, int nresults) {\n COTREE_ASK(\"call\");\n",
    ),
    (
        "ltable.c",
        "const TValue *luaH_get (Table *t, const TValue *key) {\n",
        "const TValue *luaH_get (Table *t, const TValue *key) {\n COTREE_ASK(\"get\");\n",
    ),
    (
        "lgc.c",
        "static lu_mem propagatemark (global_State *g) {\n",
        "static lu_mem propagatemark (global_State *g) {\n COTREE_ASK(\"mark\");\n",
    ),
    (
        "lstrlib.c",
        "static const char *match (MatchState *ms, const char *s, const char *p) {\n",
        "static const char *match (MatchState *ms, const char *s, const char *p) {\n COTREE_ASK(\"match\");\n",
    ),
];

/// What is checked each time: cases and levels.
const USUALLY: [(&str, &str); 3] = [("queries lua", "-O2"), ("limits lua", "-O0"), ("limits lua-c++", "-O2")];

/// Adds the cases.
pub fn add(suite: &mut Suite, context: &Context) {
    for level in ["-O0", "-O2"] {
        let usual = |name: &str| context.all || USUALLY.contains(&(name, level));
        if usual("queries lua") {
            let (theirs, case) = (context.clone(), format!("queries lua {level}"));
            suite.add(case.clone(), move || queries(level, &theirs, &case));
        }
        for (name, cxx) in [("limits lua", false), ("limits lua-c++", true)] {
            if usual(name) {
                let (theirs, case) = (context.clone(), format!("{name} {level}"));
                suite.add(case.clone(), move || limits(cxx, level, &theirs, &case));
            }
        }
    }
}

/// The interpreter as the suites build it, but for hashes of addresses. Its sources are copied to the folder.
pub(super) fn without_addresses(sources: &Sources, workload: Workload, folder: &Path) -> Result<Program> {
    let changed = folder.join("lua-sources");
    copy(&sources.lua(), &changed)?;
    replace(&changed, "llimits.h", "((unsigned int)((L_P2I)(p) & UINT_MAX))", "77u")?;
    let mut program = programs::lua(sources, workload)?;
    for source in &mut program.sources {
        if let Ok(name) = source.strip_prefix(sources.lua()) {
            *source = changed.join(name);
        }
    }
    program.flags.retain(|flag| !flag.starts_with("-I"));
    program.flags.push(format!("-I{}", changed.display()));
    program.flags.push(format!("-I{}", workspace::root().join("include").display()));
    Ok(program)
}

/// Replaces a text that must be there.
fn replace(folder: &Path, file: &str, old: &str, new: &str) -> Result<()> {
    let path = folder.join(file);
    let text = fs::read_to_string(&path).with_context(|| format!("no {}", path.display()))?;
    if text.matches(old).count() != 1 {
        bail!("{file} is not the one that we know: {old:?} is not in it, or several times");
    }
    Ok(fs::write(path, text.replace(old, new))?)
}

/// The interpreter with another driver.
fn with_driver(context: &Context, driver: &str, cxx: bool, folder: &Path) -> Result<Program> {
    let mut program = without_addresses(&context.sources, Workload::Small, folder)?;
    program.sources[0] = workspace::program_file(driver);
    program.libraries.push("-lpthread");
    program.cxx = cxx;
    if cxx {
        program.flags.splice(0..0, ["-x".to_owned(), "c++".to_owned()]);
    }
    Ok(program)
}

/// What the program prints at the same addresses.
fn printed(executable: &Path, arguments: &[String], folder: &Path) -> Result<String> {
    let mut command = same_addresses();
    command.arg(executable).args(arguments).current_dir(folder).env("COTREE_FILE", folder.join("run.cotree"));
    command::text(&mut command)
}

/// Every answer is that of the naive counter.
fn queries(level: &str, context: &Context, case: &str) -> Result<String> {
    let folder = folder(case)?;
    let mut program = with_driver(context, "lua_queries.c", false, &folder)?;
    for (file, old, new) in POINTS {
        replace(&folder.join("lua-sources"), file, old, new)?;
    }
    let costs = folder.join("costs");
    fs::write(&costs, COSTS)?;
    let costs = costs.display().to_string();
    program.flags.extend(["-include".to_owned(), workspace::program_file("lua_queries.h").display().to_string()]);
    let answers = |name: &str, options: &[&str], flags: &[&str]| -> Result<String> {
        let executable = folder.join(name);
        let events = format!("events={KINDS}");
        let compiler = context.cotree_cc(&[&["--profile", &events, "--event-costs", &costs], options].concat(), false);
        command::succeed(&mut program.build(compiler, &[&[level], flags].concat(), &executable))?;
        printed(&executable, &program.runs[0], &folder)
    };
    let naive = answers("naive", &[], &[NAIVE])?;
    let asked = naive.lines().filter(|line| line.starts_with("asked ")).count();
    ensure!(asked >= QUERIES, "Lua asked {asked} times");
    for (file, _, new) in POINTS {
        let point = new.split('"').nth(1).context("a point has a name")?;
        ensure!(naive.contains(&format!("asked in {point}: ")), "Lua did not ask in {file}");
    }
    same("planned", &naive, &answers("planned", &[], &[])?)?;
    if context.all {
        same("without flow between functions", &naive, &answers("alone", &["--interprocedural-flow", "off"], &[])?)?;
        same("with limits", &naive, &answers("limits", &["--event-limit"], &[])?)?;
    }
    fs::remove_dir_all(&folder)?;
    Ok(naive.lines().last().unwrap_or_default().to_owned())
}

fn same(build: &str, naive: &str, found: &str) -> Result<()> {
    let mut pairs = naive.lines().zip(found.lines()).enumerate();
    if let Some((number, (expected, other))) = pairs.find(|(_, (expected, found))| expected != found) {
        bail!("{build}: answer {number} is not {expected:?} but {other:?}");
    }
    ensure!(naive == found, "{build}: {} lines and not {}", found.lines().count(), naive.lines().count());
    Ok(())
}

/// Limits strike at the same places: in two runs, and in threads that do the same.
fn limits(cxx: bool, level: &str, context: &Context, case: &str) -> Result<String> {
    let folder = folder(case)?;
    let program = with_driver(context, "lua_limits.c", cxx, &folder)?;
    let executable = folder.join("limits");
    let compiler = context.cotree_cc(&["--profile", "events=instructions,allocations", "--event-limit"], cxx);
    command::succeed(&mut program.build(compiler, &[level], &executable))?;
    let run = || printed(&executable, &program.runs[0], &folder);
    let first = run()?;
    same("the second run", &first, &run()?)?;
    // Each thread prints its own part, which begins with its number.
    let parts: Vec<&str> =
        first.split("thread ").skip(1).filter_map(|part| part.split_once('\n')).map(|(_, part)| part).collect();
    ensure!(parts.len() == 4 && parts.iter().all(|part| *part == parts[0]), "threads differ:\n{first}");
    let strikes: Vec<[u64; 2]> = parts[0].lines().filter_map(strike).collect();
    ensure!(strikes.len() > 20, "only {} limits have struck\n{first}", strikes.len());
    for [limit, at] in &strikes {
        ensure!((0..1000).contains(&(at.wrapping_sub(*limit))), "the limit {limit} has struck at {at}");
    }
    fs::remove_dir_all(&folder)?;
    Ok(format!("{} limits in {} threads", strikes.len(), parts.len()))
}

/// `struck at 10005 for 10000, …`: the limit, and where it has struck.
fn strike(line: &str) -> Option<[u64; 2]> {
    let (at, limit) = line.strip_prefix("struck at ")?.split_once(',')?.0.split_once(" for ")?;
    Some([limit.parse().ok()?, at.parse().ok()?])
}
