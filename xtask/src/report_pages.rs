//! The pages of `cotree html` in a real browser: what they show is what the exports say.

use crate::browser::Browser;
use crate::programs::{self, Program, Workload};
use crate::real::Context;
use crate::suite::Suite;
use crate::{command, workspace};
use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Adds the case.
pub fn add(suite: &mut Suite, context: &Context) {
    match programs::lua(&context.sources, Workload::Tiny) {
        Ok(lua) => {
            let context = context.clone();
            suite.add("pages of a profile in a browser", move || check(&lua, &context));
        }
        Err(error) => suite.add("pages of a profile in a browser", move || Err(error)),
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
    let script = pages.join("report.js");
    fs::write(&script, fs::read_to_string(&script)? + include_str!("../programs/report_pages.js"))?;
    let answers = browser.answers(&page)?;
    let plain = answers.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let answers: Answers = serde_json::from_str(&plain)?;
    let compared = compare_functions(&answers, &serde_json::from_str(&exported("json")?)?)?;
    compare_lines(&answers, &exported("lcov")?)?;
    ensure!(answers.found == ["luaV_execute"], "found: {:?}", answers.found);
    let [folded, opened, all] = [answers.folded, answers.opened, answers.unfolded];
    ensure!(folded < opened && opened < all, "{folded}, {opened} and {all} nodes");
    ensure!(answers.zoomed && answers.here, "zoomed: {}, a line is marked: {}", answers.zoomed, answers.here);
    ensure!(answers.refused.contains("can't be read"), "{}", answers.refused);
    fs::remove_dir_all(&folder)?;
    Ok(compared)
}

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
