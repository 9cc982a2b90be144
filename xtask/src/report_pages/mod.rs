//! The pages of `cotree html` in a real browser: what they show is what the exports say.

mod asked;
mod crash;
mod figures;
mod hostile;
mod large;
mod subject;
mod trace;

use crate::browser::Browser;
use crate::programs::{self, Program, Workload};
use crate::real::Context;
use crate::suite::Suite;
use anyhow::{Result, ensure};
use asked::{asked, check_access};
use figures::Profiles;
use serde::Deserialize;
use std::fs;
use subject::Subject;

/// Adds all cases.
pub fn add(suite: &mut Suite, context: &Context) {
    match programs::lua(&context.sources, Workload::Tiny) {
        Ok(lua) => {
            let (program, with) = (lua.clone(), context.clone());
            suite.add("pages of a profile in a browser", move || check(program, &with));
            let bzip2 = programs::bzip2(&context.sources, Workload::Tiny);
            let ordinary = [Subject { shorter: Some(3), ..Subject::new(lua.clone(), "path") }];
            let more = [Subject::new(lua.clone(), "ipath"), Subject { calls: true, ..Subject::new(bzip2, "edge") }];
            for subject in ordinary.into_iter().chain(more.into_iter().filter(|_| context.all)) {
                subject::add(suite, subject, context);
            }
            let with = context.clone();
            suite.add("pages of a trace in a browser", move || trace::check(&lua, &with));
            let with = context.clone();
            suite.add("pages of a crash in a browser", move || crash::check(&with));
            let context = context.clone();
            suite.add("pages of hostile names in a browser", move || hostile::check(&context));
        }
        Err(error) => suite.add("pages of profiles in a browser", move || Err(error)),
    }
    if context.all {
        large::add(suite, context);
    }
}

/// What the pages do (`programs/report_pages.js`).
#[derive(Deserialize)]
struct Answers {
    found: Vec<String>,
    unfolded: usize,
    folded: usize,
    opened: usize,
    zoomed: bool,
    here: bool,
    refused: String,
    /// How many boxes of the flame graph are as wide as the picture when one is widened.
    widest: usize,
}

/// Pages of Lua: their figures, and what they do.
fn check(lua: Program, context: &Context) -> Result<String> {
    let folder = subject::fresh("report-pages")?;
    subject::profile(&Subject::new(lua, "edge"), "edge", &[("run.cotree", usize::MAX)], context, &folder)?;
    let (pages, run) = (folder.join("pages"), folder.join("run.cotree"));
    let said = figures::check(&Profiles::of(&run), &pages, context)?.text;

    let browser = Browser { folder: folder.clone() };
    let page = pages.join("index.html");
    for size in ["400,850", "1280,900", "2560,1300"] {
        let dom = browser.dom(&page, size)?;
        ensure!(dom.contains("luaV_execute"), "the overview has no functions");
    }
    let answers: Answers = asked(&browser, &pages, include_str!("../../programs/report_pages.js"))?;
    ensure!(answers.found == ["luaV_execute"], "found: {:?}", answers.found);
    let [folded, opened, all] = [answers.folded, answers.opened, answers.unfolded];
    ensure!(folded < opened && opened < all, "{folded}, {opened} and {all} nodes");
    ensure!(answers.zoomed && answers.here, "zoomed: {}, a line is marked: {}", answers.zoomed, answers.here);
    ensure!(answers.refused.contains("can't be read"), "{}", answers.refused);
    ensure!(answers.widest > 0, "no box of the flame graph is widened");
    let views = check_access(&browser, &pages)?;
    fs::remove_dir_all(&folder)?;
    Ok(format!("{said}; {views} views"))
}
