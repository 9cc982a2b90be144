//! Pages of a trace: steps, moments when a line ran, and the timeline.

use super::asked::{asked, check_access};
use crate::browser::Browser;
use crate::programs::Program;
use crate::real::Context;
use crate::{command, workspace};
use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

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

/// The walk of a reader through the trace of Lua, against `cotree trace --by line`.
pub fn check(program: &Program, context: &Context) -> Result<String> {
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
    let script = format!("const WANTED = {wanted:?};\n{}", include_str!("../../programs/report_trace.js"));
    let browser = Browser { folder: folder.clone() };
    let answers: Traced = asked(&browser, &pages, &script)?;
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
