//! The pages of `cotree html` in a real browser: what they show is what the exports say.

use crate::browser::Browser;
use crate::programs::{self, Program, Workload};
use crate::real::Context;
use crate::suite::Suite;
use crate::{command, web, workspace};
use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

/// Adds the case.
pub fn add(suite: &mut Suite, context: &Context) {
    match programs::lua(&context.sources, Workload::Tiny) {
        Ok(lua) => {
            let (program, with) = (lua.clone(), context.clone());
            suite.add("pages of a profile in a browser", move || check(&program, &with));
            let with = context.clone();
            suite.add("pages of a trace in a browser", move || check_trace(&lua, &with));
            let context = context.clone();
            suite.add("pages of a crash in a browser", move || check_crash(&context));
        }
        Err(error) => suite.add("pages of profiles in a browser", move || Err(error)),
    }
}

/// What the pages say (`programs/report_pages.js`). Counts are digits.
#[derive(Deserialize)]
struct Answers {
    /// Address, name, instructions and entries.
    functions: Vec<(String, String, String, String)>,
    found: Vec<String>,
    blocks: Vec<(usize, String)>,
    edges: Vec<(u64, Option<u64>, String)>,
    unfolded: usize,
    folded: usize,
    opened: usize,
    zoomed: bool,
    here: bool,
    lines: Vec<(u32, String)>,
    path: String,
    refused: String,
    /// What the outermost boxes of the flame graph cost.
    flame: Vec<String>,
    /// How many boxes are as wide as the picture when one is widened.
    widest: usize,
}

fn check(program: &Program, context: &Context) -> Result<String> {
    let folder = workspace::scratch().join("report-pages");
    workspace::fresh(&folder)?;
    let (ours, profile) = (folder.join("ours"), folder.join("run.cotree"));
    command::succeed(&mut program.build(context.cotree_cc(&[], program.cxx), &["-O2", "-g"], &ours))?;
    let mut run = Command::new(&ours);
    command::output(run.args(&program.runs[0]).current_dir(&folder).env("COTREE_FILE", &profile))?;
    let pages = folder.join("pages");
    command::succeed(context.cotree().args(["html", "-o"]).arg(&pages).arg(&profile))?;
    let exported = |format: &str| command::text(context.cotree().args(["export", "--format", format]).arg(&profile));

    let browser = Browser { folder: folder.clone() };
    let page = pages.join("index.html");
    for size in ["400,850", "1280,900", "2560,1300"] {
        let dom = browser.dom(&page, size)?;
        ensure!(dom.contains("luaV_execute"), "the overview has no functions");
    }
    let answers = asked(&browser, &pages, include_str!("../programs/report_pages.js"))?;
    let answers: Answers = serde_json::from_str(&plain(&answers))?;
    let compared = compare_functions(&answers, &serde_json::from_str(&exported("json")?)?)?;
    compare_lines(&answers, &exported("lcov")?)?;
    ensure!(answers.found == ["luaV_execute"], "found: {:?}", answers.found);
    let [folded, opened, all] = [answers.folded, answers.opened, answers.unfolded];
    ensure!(folded < opened && opened < all, "{folded}, {opened} and {all} nodes");
    ensure!(answers.zoomed && answers.here, "zoomed: {}, a line is marked: {}", answers.zoomed, answers.here);
    ensure!(answers.refused.contains("can't be read"), "{}", answers.refused);
    let views = check_access(&browser, &pages)?;
    fs::remove_dir_all(&folder)?;
    Ok(format!("{compared}; {views} views"))
}

/// What pages answer to a script that is added to theirs.
fn asked(browser: &Browser, pages: &Path, script: &str) -> Result<String> {
    let program = pages.join("report.js");
    let own = fs::read_to_string(&program)?;
    fs::write(&program, format!("{own}\n{script}"))?;
    let answers = browser.answers(&pages.join("index.html"));
    fs::write(&program, own)?;
    answers
}

/// Text of an attribute as it was.
fn plain(attribute: &str) -> String {
    attribute.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// What axe finds in all views.
#[derive(Deserialize)]
struct Access {
    views: usize,
    found: Vec<String>,
}

/// Fails if axe finds something serious in a view. Gives how many views there are.
fn check_access(browser: &Browser, pages: &Path) -> Result<usize> {
    let answers = asked(browser, pages, &(web::axe()? + include_str!("../programs/report_axe.js")))?;
    let access: Access = serde_json::from_str(&plain(&answers))?;
    ensure!(access.found.is_empty(), "axe finds:\n{}", access.found.join("\n"));
    Ok(access.views)
}

/// A moment of a trace, as the page tells it.
#[derive(Debug, Deserialize, PartialEq)]
struct Moment {
    block: u64,
    place: String,
    stack: Vec<String>,
    marked: String,
}

/// What the page of a trace says (`programs/report_trace.js`).
#[derive(Deserialize)]
struct Traced {
    opened: Moment,
    boxes: usize,
    start: Moment,
    lines: Vec<String>,
    back: Vec<String>,
    end: Moment,
    first: Moment,
    second: Moment,
    #[serde(rename = "firstAgain")]
    first_again: Moment,
    last: Moment,
    out: Moment,
    zoomed: bool,
}

/// A row of `cotree trace --by line --json`.
#[derive(Deserialize)]
struct Row {
    event: String,
    number: u64,
    depth: usize,
    file: Option<String>,
    line: Option<u32>,
}

fn check_trace(program: &Program, context: &Context) -> Result<String> {
    let folder = workspace::scratch().join("report-trace");
    workspace::fresh(&folder)?;
    let ours = folder.join("ours");
    command::succeed(&mut program.build(
        context.cotree_cc(&["--profile", "trace"], program.cxx),
        &["-O1", "-g"],
        &ours,
    ))?;
    let profile = |name: &str| folder.join(name).with_extension("cotree");
    for (name, runs) in [("all", program.runs[0].len()), ("few", program.runs[0].len().min(3))] {
        let mut run = Command::new(&ours);
        command::output(run.args(&program.runs[0][..runs]).current_dir(&folder).env("COTREE_FILE", profile(name)))?;
    }
    let (pages, file) = (folder.join("pages"), profile("few"));
    let mut html = context.cotree();
    command::succeed(html.args(["html", "-o"]).arg(&pages).arg("--against").arg(profile("all")).arg(&file))?;
    let text = command::text(context.cotree().args(["trace", "--by", "line", "--json", "--thread", "1"]).arg(&file))?;
    let rows: Vec<Row> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let lines: Vec<&Row> = rows.iter().filter(|row| row.event == "line").collect();
    let place = |row: &Row| {
        let path = row.file.as_deref().unwrap_or_default();
        format!("{}:{}", path.rsplit('/').next().unwrap_or(path), row.line.unwrap_or(0))
    };
    // A line that is neither rare nor everywhere.
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    lines.iter().for_each(|row| *times.entry(place(row)).or_default() += 1);
    let seldom = times.iter().filter(|(place, times)| place.starts_with("lgc.c:") && **times > 2);
    let wanted = seldom.min_by_key(|(_, times)| **times).context("no line of lgc.c ran thrice")?.0;
    let ran: Vec<usize> = (0..lines.len()).filter(|&at| place(lines[at]) == *wanted).collect();
    let script = format!("const WANTED = {wanted:?};\n{}", include_str!("../programs/report_trace.js"));
    let browser = Browser { folder: folder.clone() };
    let answers: Traced = serde_json::from_str(&plain(&asked(&browser, &pages, &script)?))?;
    let places: Vec<String> = lines.iter().map(|row| place(row)).collect();
    ensure!(answers.boxes > 50, "{} boxes are drawn", answers.boxes);
    ensure!(answers.opened == answers.end, "{:?} is not the end, {:?}", answers.opened, answers.end);
    let tells = |moment: &Moment, at: usize| {
        let row = lines[at];
        let depth = moment.stack.len();
        let line = row.line.is_some_and(|line| moment.marked == line.to_string());
        moment.place == places[at] && moment.block == row.number && depth == row.depth + 1 && line
    };
    for (name, moment, at) in [
        ("start", &answers.start, 0),
        ("end", &answers.end, lines.len() - 1),
        ("first", &answers.first, ran[0]),
        ("second", &answers.second, ran[1]),
        ("first again", &answers.first_again, ran[0]),
        ("last", &answers.last, ran[ran.len() - 1]),
    ] {
        ensure!(tells(moment, at), "{name}: {moment:?} is not {} in block {}", places[at], lines[at].number);
    }
    let behind: Vec<&String> = places[1..].iter().take(answers.lines.len()).collect();
    ensure!(answers.lines.iter().collect::<Vec<_>>() == behind, "forwards: {:?}, not {behind:?}", answers.lines);
    let before: Vec<&String> = places[..answers.lines.len()].iter().rev().collect();
    ensure!(answers.back.iter().collect::<Vec<_>>() == before, "backwards: {:?}, not {before:?}", answers.back);
    // Out of a function is the last line of what called it.
    let last = ran[ran.len() - 1];
    let caller = lines[..last].iter().rposition(|row| row.depth < lines[last].depth).context("a caller")?;
    ensure!(tells(&answers.out, caller), "out: {:?} is not {}", answers.out, places[caller]);
    ensure!(answers.zoomed, "the timeline does not zoom");
    let views = check_access(&browser, &pages)?;
    fs::remove_dir_all(&folder)?;
    Ok(format!("{} lines, {views} views", lines.len()))
}

/// What the pages of a crash say (`programs/report_crash.js`).
#[derive(Deserialize)]
struct Crash {
    overview: String,
    end: String,
    said: String,
    stack: Vec<String>,
    back: usize,
    set: String,
    branch: String,
}

/// The walk of docs/finding-a-crash.md: Lua 5.2.4 crashes in `debug.getlocal`.
fn check_crash(context: &Context) -> Result<String> {
    let folder = workspace::scratch().join("report-crash");
    workspace::fresh(&folder)?;
    let sources = context.sources.lua_that_crashes();
    let script = folder.join("crash.lua");
    fs::write(&script, include_str!("../programs/crash.lua"))?;
    let ours = folder.join("lua");
    let mut build = context.cotree_cc(&["--profile", "trace"], false);
    build.args(["-O0", "-g", "-w", "-DLUA_USE_LINUX", "-I"]).arg(&sources).arg("-o").arg(&ours);
    build.arg(workspace::root().join("xtask/programs/lua_driver.c")).args(context.sources.files(&sources, &["c"])?);
    command::succeed(build.args(["-lm", "-ldl"]))?;
    let profile = folder.join("crash.cotree");
    let mut run = Command::new(&ours);
    let ended = run.arg("1").arg(&script).current_dir(&folder).env("COTREE_FILE", &profile).output()?;
    ensure!(ended.status.signal() == Some(SIGSEGV), "it ended with {}", ended.status);
    let pages = folder.join("pages");
    command::succeed(context.cotree().args(["html", "-o"]).arg(&pages).arg(&profile))?;
    let browser = Browser { folder: folder.clone() };
    let crash: Crash =
        serde_json::from_str(&plain(&asked(&browser, &pages, include_str!("../programs/report_crash.js"))?))?;
    ensure!(crash.overview.contains("a signal ended what was under way at ldebug.c:168"), "{}", crash.overview);
    ensure!(crash.end == "ldebug.c:168", "the trace opens at {}", crash.end);
    ensure!(crash.said.contains("A signal ended the thread here"), "{}", crash.said);
    ensure!(crash.stack[..2] == ["lua_getlocal", "db_getlocal"], "under way: {:?}", crash.stack);
    ensure!(crash.set == "ldebug.c:122" && crash.branch.contains("true 0"), "{}: {}", crash.set, crash.branch);
    ensure!(crash.branch.contains("false 2"), "{}", crash.branch);
    fs::remove_dir_all(&folder)?;
    Ok(format!("{} lines back", crash.back))
}

/// The signal that ends a program which accesses memory that it does not have.
const SIGSEGV: i32 = 11;

/// Functions by name, and blocks and edges of the one whose page was opened, against the export.
fn compare_functions(answers: &Answers, export: &Value) -> Result<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut expected: BTreeMap<String, [u128; 2]> = BTreeMap::new();
    let mut wanted = None;
    for function in list(&export["units"][0]["functions"]) {
        let name = function["name"].as_str().context("a name")?.to_owned();
        let own = expected.entry(name.clone()).or_default();
        own[0] += u128::from(function["events"]["instructions"].as_u64().unwrap_or(0));
        own[1] += u128::from(function["entries"].as_u64().unwrap_or(0));
        for copy in list(&function["inlined"]) {
            let copies = expected.entry(copy["name"].as_str().context("a name")?.to_owned()).or_default();
            copies[1] += u128::from(copy["entries"].as_u64().unwrap_or(0));
        }
        if name == "luaV_execute" {
            wanted = Some(function);
        }
    }
    let mut shown: BTreeMap<String, [u128; 2]> = BTreeMap::new();
    for (_, name, instructions, entries) in &answers.functions {
        let sum = shown.entry(name.clone()).or_default();
        for (sum, text) in sum.iter_mut().zip([instructions, entries]) {
            *sum +=
                if text.is_empty() { 0 } else { text.parse::<u128>().with_context(|| format!("{name}: {text}"))? };
        }
    }
    let known = |name: &str, amounts: &[u128; 2]| shown.get(name) == Some(amounts) || *amounts == [0; 2];
    let differs = expected.iter().find(|(name, amounts)| !known(name, amounts));
    ensure!(differs.is_none(), "{differs:?} is shown as {:?}", differs.map(|(name, _)| shown.get(name)));

    let function = wanted.context("the export has no luaV_execute")?;
    let blocks = list(&function["blocks"]);
    ensure!(blocks.len() == answers.blocks.len(), "{} of {} blocks", answers.blocks.len(), blocks.len());
    for (block, count) in &answers.blocks {
        ensure!(blocks[*block]["count"].as_u64() == count.parse().ok(), "block {block}: {count}");
    }
    let mut edges: BTreeMap<(u64, Option<u64>), u64> = BTreeMap::new();
    for edge in list(&function["edges"]) {
        let ends = (edge["from"].as_u64().context("a block")?, edge["to"].as_u64());
        *edges.entry(ends).or_default() += edge["count"].as_u64().context("a count")?;
    }
    let drawn: BTreeMap<_, u64> =
        (answers.edges.iter()).map(|(from, to, count)| Ok(((*from, *to), count.parse()?))).collect::<Result<_>>()?;
    let differs: Vec<_> = edges.iter().filter(|(ends, count)| drawn.get(ends) != Some(count)).take(3).collect();
    ensure!(differs.is_empty() && drawn.len() == edges.len(), "edges: {differs:?}");
    // Boxes that are too narrow to be seen are left out.
    let whole: u128 = expected.values().map(|[instructions, _]| instructions).sum();
    let boxes: u128 = answers.flame.iter().map(|total| total.parse::<u128>()).sum::<Result<_, _>>()?;
    ensure!(boxes <= whole && boxes * 100 > whole * 99, "the flame graph has {boxes} instructions of {whole}");
    ensure!(answers.widest > 0, "no box of the flame graph is widened");
    Ok(format!("{} functions, {} blocks, {} edges", shown.len(), blocks.len(), edges.len()))
}

/// The lines of the file whose page was opened, against the tracefile.
fn compare_lines(answers: &Answers, tracefile: &str) -> Result<()> {
    let name = Path::new(&answers.path).file_name().context("a file")?.to_string_lossy().into_owned();
    let mut inside = false;
    let mut expected = BTreeSet::new();
    for record in tracefile.lines() {
        match record.split_once(':') {
            Some(("SF", path)) => inside = path.ends_with(&format!("/{name}")),
            Some(("DA", line)) if inside => {
                expected.extend(line.split_once(',').map(|(line, count)| (line.to_owned(), count.to_owned())));
            }
            _ => {}
        }
    }
    let never = |count: &str| count.trim_end_matches('×').trim().to_owned();
    let shown: BTreeSet<_> = answers.lines.iter().map(|(line, count)| (line.to_string(), never(count))).collect();
    let differs: Vec<_> = expected.symmetric_difference(&shown).take(4).collect();
    ensure!(differs.is_empty() && !shown.is_empty(), "lines of {name}: {differs:?}");
    Ok(())
}
