//! The pages of coverage in a real browser, from a disk: no page says an error, scripts do what readers ask for, and
//! nothing is too wide for a small window.

use crate::browser::Browser;
use crate::programs::{self, Program, Workload};
use crate::real::Context;
use crate::suite::Suite;
use crate::{command, workspace};
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::process::Command;

/// Adds all cases.
pub fn add(suite: &mut Suite, context: &Context) {
    match programs::lua(&context.sources, Workload::Tiny) {
        Ok(lua) => {
            let context = context.clone();
            suite.add("pages in a browser", move || check(&lua, &context));
        }
        Err(error) => suite.add("pages in a browser", move || Err(error)),
    }
}

/// A browser takes seconds to start, so not every page is opened.
const MOST: usize = 6;

fn check(program: &Program, context: &Context) -> Result<String> {
    let folder = workspace::scratch().join("pages");
    workspace::fresh(&folder)?;
    let (ours, profile) = (folder.join("ours"), folder.join("run.cotree"));
    command::succeed(&mut program.build(context.cotree_cc(&["--coverage"], program.cxx), &["-O1", "-g"], &ours))?;
    let mut run = Command::new(&ours);
    let run = run.args(&program.runs[0]).current_dir(&folder).env("COTREE_FILE", &profile);
    command::output(run.env("COTREE_TEST", "a <test>"))?;
    let mut cotree = context.cotree();
    command::succeed(cotree.args(["coverage", "--html", "--by-test", "--output-dir"]).arg(&folder).arg(&profile))?;
    let html = folder.join("html");
    let browser = Browser { folder: folder.clone() };
    let mut pages = vec![html.join("index.html")];
    for entry in fs::read_dir(html.join("files"))? {
        pages.push(entry?.path());
    }
    // As they are, in a small window and a large one.
    let vm = pages.iter().find(|page| page.to_string_lossy().contains("lvm.c")).context("no page of lvm.c")?.clone();
    for page in pages.iter().take(MOST).chain([&vm]) {
        let dom = browser.dom(page, "1280,900")?;
        ensure!(dom.contains("class=\"js\""), "{}: the script did not run", page.display());
    }
    for size in ["400,850", "2560,1300"] {
        for page in [&pages[0], &vm] {
            browser.dom(page, size)?;
        }
    }
    // As readers use them: the script that asks is allowed where the page's own is.
    let script = html.join("page.js");
    let text = fs::read_to_string(&script)?;
    fs::write(&script, text.clone() + include_str!("../programs/pages.js"))?;
    let overview = "sorted:true direction:descending back:true found:lvm.c folded:true theme:dark";
    ensure!(browser.answers(&pages[0])? == overview, "{}", browser.answers(&pages[0])?);
    let source = "steps:true open:true tests:a &lt;test&gt; keys:true wide:true theme:dark";
    ensure!(browser.answers(&vm)? == source, "{}", browser.answers(&vm)?);
    // An error of a page is seen, and what is not its own does not run.
    fs::write(&script, text + "document.body.append(nothing);")?;
    ensure!(browser.dom(&vm, "1280,900").is_err(), "an error of the page's script is not seen");
    fs::write(&vm, fs::read_to_string(&vm)?.replace("<body", "<script>document.title = 'mine'</script><body"))?;
    let refused = browser.dom(&vm, "1280,900").err().context("a script in the page was not refused")?;
    ensure!(refused.to_string().contains("Content Security Policy"), "{refused}");
    fs::remove_dir_all(&folder)?;
    Ok(format!("{} pages", pages.len()))
}
