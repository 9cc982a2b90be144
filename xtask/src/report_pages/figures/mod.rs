//! Figures of the pages: each is read in a browser, and held against an export of the same profile.
//!
//! | figures | against |
//! | --- | --- |
//! | functions, blocks, edges, inlined copies, calls by their lines | the JSON export |
//! | loops, trips, outcomes of branches | the JSON export |
//! | how often lines ran, and how many of a file | lcov |
//! | what lines and files cost | callgrind |
//! | costs with all that was called | `cotree costs --json` |
//! | calls and callers | a profile of calls (`--profile calls`) of the same run |
//! | paths, and what they go through | `cotree paths --json` |
//! | what differs from another run | `cotree diff --json`, and the exports of that run |
//! | the flame graph | the stacks of the export for speedscope |
//! | totals | the JSON export, and `cotree report` |

mod against;
mod costs;
mod exported;
mod flame;
mod functions;
mod lines;
mod natural_loops;
mod overview;
mod paths;
mod shown;
mod spent;
mod tracefile;

use super::asked::asked;
use crate::browser::Browser;
use crate::command;
use crate::real::Context;
use anyhow::{Context as _, Result, ensure};
use costs::CostsJson;
use exported::Export;
use functions::{Compared, Functions};
use lines::Lines;
use shown::{Shown, Table};
use std::path::Path;
use tracefile::Tracefile;

/// Profiles of one program.
pub struct Profiles<'a> {
    /// The profile whose pages are read.
    pub profile: &'a Path,
    /// The profile of another run, with which they compare it.
    pub before: Option<&'a Path>,
    /// A profile of calls, of the same sources and run.
    pub calls: Option<&'a Path>,
}

impl<'a> Profiles<'a> {
    /// A profile alone.
    pub fn of(profile: &'a Path) -> Profiles<'a> {
        Profiles { profile, before: None, calls: None }
    }
}

/// What was compared.
pub struct Said {
    /// How many functions have pages.
    pub functions: usize,
    pub text: String,
}

/// How much is read of large programs: rows of tables by clicks on "Show more", pages of functions and files, and the
/// blocks of graphs that are drawn unfolded.
const PLAN: &str = "const PLAN = { clicks: 12, functions: 40, files: 60, blocks: 400 };\n";

/// Writes pages into a folder and checks what they show.
pub fn check(profiles: &Profiles<'_>, pages: &Path, context: &Context) -> Result<Said> {
    let profile = profiles.profile;
    let mut html = context.cotree();
    html.args(["html", "-o"]).arg(pages);
    if let Some(before) = profiles.before {
        html.arg("--against").arg(before);
    }
    command::succeed(html.arg(profile))?;
    let browser = Browser { folder: pages.parent().context("a folder")?.to_owned() };
    let script = PLAN.to_owned() + include_str!("../../../programs/report_figures.js");
    let shown: Shown = asked(&browser, pages, &script)?;

    let export = Export::of(profile, context)?;
    let before = profiles.before.map(|before| Export::of(before, context)).transpose()?;
    let calls = profiles.calls.map(|calls| Export::of(calls, context)).transpose()?;
    let costs = CostsJson::of(profile, context)?;
    let tracefile = Tracefile::of(profile, context)?;
    let tracefile_before = profiles.before.map(|before| Tracefile::of(before, context)).transpose()?;
    let spent = spent::of(profile, context)?;
    let whole = export.whole();
    let kind = "IR instructions";

    let report = command::text(context.cotree().arg("report").arg(profile))?;
    overview::totals(&shown, &export, &report).context("totals")?;
    let table = Table::find(&shown.tables, "Functions").context("no table of functions")?;
    let rows = overview::functions(table, kind, &export, costs.as_ref()).context("the table of functions")?;
    let hottest = Table::find(&shown.tables, "Hottest loops");
    let loops = overview::loops(hottest, &export).context("the table of loops")?;
    let files = overview::files(&shown, kind, &tracefile, &spent, whole).context("the table of files")?;

    let lines = Lines::new(&export, &tracefile, tracefile_before.as_ref(), &spent);
    let mut figures = 0;
    for page in &shown.files {
        figures += lines.check(&page.path, &page.lines)?;
    }
    let functions = Functions {
        export: &export,
        before: before.as_ref(),
        calls: calls.as_ref(),
        costs: costs.as_ref(),
        lines: &lines,
        kind,
    };
    let mut compared = Compared::default();
    for page in &shown.functions {
        functions.check(page, &mut compared)?;
    }
    let Compared { blocks, edges, calls, callers, inlined, figures: more } = compared;
    figures += more;
    let mut said = format!(
        "{rows} functions, {loops} loops and {files} files; {} pages of functions with {blocks} blocks, {edges} edges, \
         {calls} calls, {callers} callers and {inlined} inlined copies; {figures} figures of lines",
        shown.functions.len(),
    );
    if let Some(page) = &shown.paths {
        let exported = paths::of(profile, context)?;
        let before = profiles.before.map(|before| paths::of(before, context)).transpose()?;
        let rows = paths::check(page, &export, &exported, before.as_ref()).context("paths")?;
        said += &format!("; {rows} paths");
    }
    ensure!(shown.compare.is_some() == profiles.before.is_some(), "a page of what differs");
    if let Some((tables, before)) = shown.compare.as_ref().zip(profiles.before) {
        let rows = against::check(tables, before, profile, context).context("what differs")?;
        said += &format!("; {rows} differences");
    }
    let boxes = flame::check(&shown.flame, profile, kind, whole, context).context("the flame graph")?;
    Ok(Said { functions: export.sources.len(), text: format!("{said}; {boxes} boxes") })
}
